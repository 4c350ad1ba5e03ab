"""Matrix products: of any two matrices, and of the inputs of a recurrence with the weights of their sets."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from ramify.kernels.rows import Rows

# PyTorch leaves float32 products on the CPU to MKL, which does not use the widest vectors of processors that are not
# Intel's; oneDNN does, and is twice as fast there.
_ONEDNN = torch.backends.mkldnn.is_available() and hasattr(torch.ops.mkldnn, "_linear_pointwise")


def product(x: Tensor, w: Tensor, add: Tensor | None = None, out: Tensor | None = None) -> Tensor:
    """x w^T [N, M] of x [N, K] and w [M, K], and what is added: [N, M] or a bias [M]. Knows no gradient."""
    found: Tensor
    if not (_ONEDNN and x.device.type == "cpu" and x.dtype == w.dtype == torch.float32 and x.numel() and w.numel()):
        if out is not None and out.dtype != x.dtype:
            if add is not None and add.dtype == out.dtype:
                return torch.add(add, product(x, w), out=out)
            return out.copy_(product(x, w, add))
        return torch.mm(x, w.t(), out=out) if add is None else torch.addmm(add, x, w.t(), out=out)
    linear = torch.ops.mkldnn._linear_pointwise
    if add is None or add.dim() == 1:
        found = linear(x, w, add, "none", [], "")
    else:
        found = linear.binary(x, add, w, None, "add")
    return found if out is None else out.copy_(found)


def wide_product(x: Tensor, w: Tensor, out: Tensor) -> Tensor:
    """x w^T into a matrix that may be wider than x and w are: for gradients of weights."""
    if out.dtype == x.dtype or not x.is_cuda:
        return product(x, w, out=out)
    if not x.shape[1]:
        return out.zero_()
    return torch.mm(x, w.t(), out_dtype=out.dtype, out=out)


def add_wide_product(x: Tensor, w: Tensor, out: Tensor) -> Tensor:
    """The same, added to the matrix."""
    if out.dtype == x.dtype:
        return out.addmm_(x, w.t())
    if not x.is_cuda:
        return out.add_(product(x, w))
    return torch.addmm(out, x, w.t(), out_dtype=out.dtype, out=out)


def aligned(n: int) -> int:
    """The next multiple of 8 numbers, 16 bytes in bfloat16, without which loads and products are slow."""
    return -(-n // 8) * 8


def with_column(matrix: Tensor, column: Tensor | float, dtype: torch.dtype) -> Tensor:
    """A matrix [..., S] with a column more, as wide as the matrix units like; what is added beyond is 0."""
    size = matrix.shape[-1]
    wide = matrix.new_zeros(*matrix.shape[:-1], aligned(size + 1), dtype=dtype)
    wide[..., :size] = matrix
    wide[..., size] = column
    return wide


def narrow_dtype(x: Tensor) -> torch.dtype:
    """What autocast makes of the factors of a product."""
    device = x.device.type
    return torch.get_autocast_dtype(device) if torch.is_autocast_enabled(device) else x.dtype


def as_they_are(x: Tensor) -> torch.autocast:
    """A block in which autocast narrows nothing behind our back."""
    return torch.autocast(x.device.type, enabled=False)


def input_products(
    x: Tensor, weights: Tensor, bias: Tensor, rows: Rows, extra: dict[int, tuple[Tensor, Tensor]]
) -> Tensor:
    """What the gates get from outside: x_z W_z^T + b_z for each set z, and q V^T where extra[z] is (q, V).

    x [P, S] and the result [P, 4 D] are in the order of the sets; weights [Z, 4 D, S], bias [Z, 4 D], V [4 D, Q].
    """
    dtype = narrow_dtype(weights)
    pairs = [each for pair in extra.values() for each in pair]
    with as_they_are(x):
        found: Tensor = _InputProducts.apply(x, weights, bias, rows, dtype, list(extra), *pairs)  # type: ignore[no-untyped-call]
    return found


class _InputProducts(torch.autograd.Function):
    """One gradient for the weights of all sets, in place of Z to be added."""

    @staticmethod
    def forward(
        ctx: Any,
        x: Tensor,
        weights: Tensor,
        bias: Tensor,
        rows: Rows,
        dtype: torch.dtype,
        sets: list[int],
        *pairs: Tensor,
    ) -> Tensor:
        ctx.rows, ctx.sets, ctx.size = rows, sets, x.shape[1]
        ctx.wide, ctx.dtypes = weights.dtype, [x.dtype, *(q.dtype for q in pairs[::2])]
        narrow: Tensor | None = None
        if x.is_cuda:  # where sums over rows are slow, biases are a column more
            x, weights = with_column(x, 1.0, dtype), with_column(weights, bias, dtype)
        else:
            x, weights, narrow = x.to(dtype), weights.to(dtype), bias.to(dtype)
        pairs = tuple(each.to(dtype) for each in pairs)
        ctx.save_for_backward(x, weights, *pairs)
        # A GPU keeps what is narrow narrow, to move less; on the CPU the recurrence stays wide.
        found = x.new_empty(len(x), bias.shape[1], dtype=dtype if x.is_cuda else bias.dtype)
        for z, part in enumerate(rows.of_sets):
            product(x[part], weights[z], None if narrow is None else narrow[z], out=found[part])
        for z, q, of_q in zip(sets, pairs[::2], pairs[1::2], strict=True):
            part = rows.of_sets[z]
            product(q, of_q, found[part], out=found[part])
        return found

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, d_out: Tensor) -> Any:
        x, weights, *pairs = ctx.saved_tensors
        parts, size, wide = ctx.rows.of_sets, ctx.size, ctx.wide
        d_x, d_weights = x.new_empty(len(x), size), torch.empty_like(weights, dtype=wide)
        narrow = d_out.to(x.dtype)
        for z, part in enumerate(parts):
            product(narrow[part], weights[z, :, :size].t(), out=d_x[part])
            wide_product(narrow[part].t(), x[part].t(), d_weights[z])
        if x.is_cuda:
            d_weights, d_bias = d_weights[..., :size], d_weights[..., size]
        else:
            d_bias = torch.stack([torch.sum(d_out[part], 0, dtype=wide) for part in parts])
        d_pairs = []
        for z, dtype, q, of_q in zip(ctx.sets, ctx.dtypes[1:], pairs[::2], pairs[1::2], strict=True):
            part = narrow[parts[z]]
            d_pairs += [product(part, of_q.t()).to(dtype)]
            d_pairs += [wide_product(part.t(), q.t(), torch.empty_like(of_q, dtype=wide))]
        return d_x.to(ctx.dtypes[0]), d_weights, d_bias, None, None, None, *d_pairs
