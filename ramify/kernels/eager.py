"""The recurrence level by level, in plain tensor operations, with a backward pass of its own.

For each level and each set of weights one matrix product forward and one backward; everything that does not wait for
the level before is done once for all levels: the products of the inputs come in from outside, and the gradient of the
recurrent weights is one product for each set after the loop.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from ramify.kernels.products import as_they_are, product
from ramify.kernels.rows import Rows


def recur(inputs: Tensor, weights: Tensor, initial: float, rows: Rows) -> Tensor:
    """The hidden states of all rows.

    inputs: [N, 4 D] in the order of the sets: what the gates i, f, o and the candidate u get from outside.
    weights: [Z, 4 D, D], the recurrent weights. initial: the value of h and c in row 0.
    Returns h [N + 1, D].
    """
    with as_they_are(weights):
        h: Tensor = _Recurrence.apply(rows, initial, weights, inputs)  # type: ignore[no-untyped-call]
    return h


class _Recurrence(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, rows: Rows, initial: float, weights: Tensor, inputs: Tensor) -> Tensor:
        size = weights.shape[2]  # D
        ctx.dtype, inputs = inputs.dtype, inputs.to(weights.dtype)
        h = weights.new_empty(len(rows) + 1, size)
        c = torch.empty_like(h)
        tanh_c = torch.empty_like(h)
        gates = weights.new_empty(len(rows) + 1, 4 * size)  # i, f, o, u of each row
        h[0], c[0] = initial, initial
        for at in range(rows.n_levels):
            here = rows.level(at)
            above = rows.predecessor[here]
            h_above = h.index_select(0, above)
            for z in range(rows.sets):
                group = rows.group(at, z)
                n = group.stop - group.start
                if n:
                    first, start = group.start - here.start, rows.starts[at, z]
                    arriving = product(h_above[first : first + n], weights[z], inputs[start : start + n])
                    torch.sigmoid(arriving[:, : 3 * size], out=gates[group, : 3 * size])
                    torch.tanh(arriving[:, 3 * size :], out=gates[group, 3 * size :])
            i, f, o, u = gates[here].split(size, 1)
            cell = c[here]
            torch.mul(f, c.index_select(0, above), out=cell)
            cell.addcmul_(i, u)
            torch.tanh(cell, out=tanh_c[here])
            torch.mul(o, tanh_c[here], out=h[here])
        ctx.rows = rows
        ctx.save_for_backward(weights, h, c, tanh_c, gates)
        return h

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, dh_out: Tensor) -> Any:
        rows: Rows = ctx.rows
        weights, h, c, tanh_c, gates = ctx.saved_tensors
        size = weights.shape[2]
        d_gates = torch.empty_like(gates)
        # What each row passes on to its predecessor; row 0 stays zero and stands for successors that are not there.
        dh_above, dc_above = torch.empty_like(h), torch.empty_like(c)
        dh_above[0], dc_above[0] = 0, 0
        for at in reversed(range(rows.n_levels)):
            here = rows.level(at)
            after = rows.successors[here]
            dh = dh_out[here].clone()
            i, f, o, u = gates[here].split(size, 1)
            d_gate = d_gates[here]
            di, df, do, du = d_gate.split(size, 1)
            dc = dc_above.index_select(0, after[:, 0])
            dh += dh_above.index_select(0, after[:, 0])
            for k in range(1, after.shape[1]):
                dh += dh_above.index_select(0, after[:, k])
                dc += dc_above.index_select(0, after[:, k])
            t = tanh_c[here]
            torch.mul(dh, t, out=do)
            dc.addcmul_(dh.mul_(o), 1 - t * t)  # through h = o tanh(c)
            torch.mul(dc, u, out=di)
            torch.mul(dc, c.index_select(0, rows.predecessor[here]), out=df)
            torch.mul(dc, i, out=du)
            torch.mul(dc, f, out=dc_above[here])
            s = gates[here][:, : 3 * size]
            d_gate[:, : 3 * size].mul_(s * (1 - s))
            du.mul_(1 - u * u)
            for z in range(rows.sets):
                group = rows.group(at, z)
                if group.stop > group.start:
                    dh_above[group] = product(d_gates[group], weights[z].t())
        d_inputs, d_weights = d_gates.index_select(0, rows.order), torch.empty_like(weights)
        h_above = h.index_select(0, rows.predecessor.index_select(0, rows.order))
        for z, part in enumerate(rows.of_sets):
            d_weights[z] = product(d_inputs[part].t(), h_above[part].t())
        return None, None, d_weights, d_inputs.to(ctx.dtype)
