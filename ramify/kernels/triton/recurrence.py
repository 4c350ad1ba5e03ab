"""The recurrence on a GPU: one launch forward and one backward, whatever the number of levels.

As many blocks as the GPU can hold at once share the tiles of a level and wait for each other before the next, which
takes a microsecond or two; a launch for each level would take ten times that. States, gates and cells never leave the
cache between levels, and the backward pass gathers from successors, so nothing is added atomically and the same batch
gives the same bits.

Letters: N rows, L levels, Z sets of weights, D hidden size, T tiles, K successors at most.
"""

from __future__ import annotations

from typing import Any

import torch
import triton
import triton.language as tl
from torch import Tensor
from torch.autograd.function import once_differentiable

from ramify.kernels.products import narrow_dtype, wide_product
from ramify.kernels.rows import Rows, Tiles

# By the height of the tiles and the direction: columns of a tile, warps, steps of a product on their way at once, and
# how many bytes of a row each of these takes.
SHAPES = {
    (16, "forward"): (32, 4, 3, 128),
    (64, "forward"): (64, 8, 3, 128),
    (16, "backward"): (32, 4, 3, 256),
    (64, "backward"): (64, 8, 4, 128),
}
WIDE = 64  # columns of a tile where nothing is multiplied
AT_ONCE = tl.constexpr(2048)  # numbers that a block clears
PER_PROCESSOR = 1  # blocks on each multiprocessor


def recur(inputs: Tensor, weights: Tensor, initial: float, rows: Rows) -> Tensor:
    """The hidden states of all rows; see `eager.recur`. They are as narrow as autocast makes products."""
    keep = torch.is_grad_enabled()  # the gates, for the backward pass
    h: Tensor = _Recurrence.apply(rows, initial, narrow_dtype(weights), keep, weights, inputs)
    return h


class _Recurrence(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any, rows: Rows, initial: float, narrow: torch.dtype, keep: bool, weights: Tensor, inputs: Tensor
    ) -> Tensor:
        n, size = len(rows), weights.shape[2]
        factors = weights.to(narrow)
        h = torch.empty(n + 1, size, dtype=narrow, device=inputs.device)
        c = torch.empty(n + 1, size, dtype=torch.float32, device=inputs.device)
        gates = torch.empty(len(inputs) if keep else 0, 4 * size, dtype=narrow, device=inputs.device)
        tiles = _tiles(rows)
        _forward[(_blocks(inputs),)](
            inputs,
            factors,
            h,
            c,
            gates,
            rows.predecessor,
            tiles.tiles,
            tiles.levels,
            tiles.spare,
            torch.zeros(1, dtype=torch.int32, device=inputs.device),
            initial,
            keep,
            size,
            tiles.height,
            **_options(narrow, tiles.height, "forward"),
        )
        ctx.rows = rows
        ctx.save_for_backward(weights, factors, h, c, gates)
        return h

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, dh_out: Tensor) -> Any:
        rows: Rows = ctx.rows
        weights, factors, h, c, gates = ctx.saved_tensors
        size = h.shape[1]
        d_inputs = torch.empty_like(gates)  # in the order of the sets, as these
        dh_above, dc_above = torch.empty_like(c), torch.empty_like(c)  # what each row passes on to its predecessor
        tiles = _tiles(rows)
        _backward[(_blocks(h),)](
            dh_out.contiguous(),
            factors,
            c,
            gates,
            d_inputs,
            dh_above,
            dc_above,
            rows.predecessor,
            rows.successors,
            tiles.tiles,
            tiles.levels,
            tiles.spare,
            torch.zeros(1, dtype=torch.int32, device=h.device),
            rows.successors.shape[1],
            rows.sets,
            size,
            tiles.height,
            WIDE=WIDE,
            **_options(h.dtype, tiles.height, "backward"),
        )
        h_above = h.index_select(0, rows.predecessor.index_select(0, rows.order))
        d_weights = torch.empty_like(weights)
        for z, part in enumerate(rows.of_sets):
            wide_product(d_inputs[part].t(), h_above[part].t(), d_weights[z])
        return None, None, None, None, d_weights, d_inputs


def _tiles(rows: Rows) -> Tiles:
    if rows.tiles is None:
        raise ValueError("this kernel needs rows in tiles: rows.tiled()")
    return rows.tiles


def _blocks(beside: Tensor) -> int:
    """As many as run at once: they wait for each other."""
    if not beside.is_cuda:
        return 1
    return PER_PROCESSOR * torch.cuda.get_device_properties(beside.device).multi_processor_count


def _options(dtype: torch.dtype, height: int, direction: str) -> dict[str, Any]:
    wide = dtype == torch.float32
    width, warps, stages, depth = SHAPES[height, direction]
    tf32 = torch.backends.cuda.matmul.allow_tf32
    return {
        "WIDTH": width,
        "DEPTH": depth // dtype.itemsize,
        "PRECISION": "tf32" if wide and tf32 else "ieee",
        "num_warps": warps,
        "num_stages": stages,
        "launch_cooperative_grid": torch.cuda.is_available(),
    }


@triton.jit
def _wait_for_all(counter, arrived):
    """Every block has done what it does before this, and sees what the others did."""
    tl.debug_barrier()
    tl.atomic_add(counter, 1, sem="release")
    while tl.atomic_add(counter, 0, sem="acquire") < arrived:
        pass
    tl.debug_barrier()


@triton.jit
def _clear(x, begin, end, WIDTH: tl.constexpr, BLOCK: tl.constexpr):
    """Rows that are never computed are read all the same, by what comes after."""
    block, blocks = tl.program_id(0), tl.num_programs(0)
    last = end.to(tl.int64) * WIDTH
    for start in range(begin.to(tl.int64) * WIDTH + block * BLOCK, last, blocks * BLOCK):
        at = start + tl.arange(0, BLOCK)
        tl.store(x + at, tl.zeros((BLOCK,), x.dtype.element_ty), at < last)


@triton.jit
def _tanh(x):
    return 2 * tl.sigmoid(2 * x) - 1


@triton.jit(do_not_specialize=["initial"])
def _forward(
    inputs,  # [N, 4 D] in the order of the sets
    weights,  # [Z, 4 D, D]
    h,  # [N + 1, D]
    c,  # [N + 1, D]
    gates,  # [N, 4 D] in the order of the sets; i, f, o, u
    predecessor,  # [N + 1]
    tiles,  # [T, 4]
    levels,  # [L + 2] how many, and where the tiles of each begin
    spare,  # [1 + Z, 2]
    counter,
    initial,
    KEEP: tl.constexpr,  # the gates, for the backward pass
    D: tl.constexpr,
    HEIGHT: tl.constexpr,
    WIDTH: tl.constexpr,
    DEPTH: tl.constexpr,
    PRECISION: tl.constexpr,
):
    block, blocks = tl.program_id(0), tl.num_programs(0)
    across: tl.constexpr = (D + WIDTH - 1) // WIDTH
    for at in range(block, across, blocks):  # row 0
        columns = at * WIDTH + tl.arange(0, WIDTH)
        start = tl.zeros((WIDTH,), tl.float32) + initial
        tl.store(h + columns, start.to(h.dtype.element_ty), columns < D)
        tl.store(c + columns, start, columns < D)
    _clear(h, tl.load(spare), tl.load(spare + 1), D, AT_ONCE)
    arrived = blocks
    _wait_for_all(counter, arrived)
    n_levels = tl.load(levels)
    for level in range(n_levels):
        first, last = tl.load(levels + 1 + level), tl.load(levels + 2 + level)
        for item in range(first * across + block, last * across, blocks):
            tile = item // across
            row, count = tl.load(tiles + 4 * tile), tl.load(tiles + 4 * tile + 1)
            start, z = tl.load(tiles + 4 * tile + 2), tl.load(tiles + 4 * tile + 3)
            m = tl.arange(0, HEIGHT)
            columns = (item % across) * WIDTH + tl.arange(0, WIDTH)
            above = tl.load(predecessor + row + m, m < count, 0).to(tl.int64)[:, None] * D
            of_set = weights + z.to(tl.int64) * (4 * D * D) + columns[None, :] * D
            i = tl.zeros((HEIGHT, WIDTH), tl.float32)
            f = tl.zeros((HEIGHT, WIDTH), tl.float32)
            o = tl.zeros((HEIGHT, WIDTH), tl.float32)
            u = tl.zeros((HEIGHT, WIDTH), tl.float32)
            for begin in range(0, D, DEPTH):
                k = begin + tl.arange(0, DEPTH)
                a = tl.load(h + above + k[None, :], (m < count)[:, None] & (k < D)[None, :], 0.0, cache_modifier=".cg")
                there = (columns < D)[None, :] & (k < D)[:, None]
                w = of_set + k[:, None]
                i = tl.dot(a, tl.load(w, there, 0.0), i, input_precision=PRECISION)
                f = tl.dot(a, tl.load(w + D * D, there, 0.0), f, input_precision=PRECISION)
                o = tl.dot(a, tl.load(w + 2 * D * D, there, 0.0), o, input_precision=PRECISION)
                u = tl.dot(a, tl.load(w + 3 * D * D, there, 0.0), u, input_precision=PRECISION)
            there = (m < count)[:, None] & (columns < D)[None, :]
            place = (start + m).to(tl.int64)[:, None] * (4 * D) + columns[None, :]
            i = tl.sigmoid(i + tl.load(inputs + place, there, 0.0).to(tl.float32))
            f = tl.sigmoid(f + tl.load(inputs + place + D, there, 0.0).to(tl.float32))
            o = tl.sigmoid(o + tl.load(inputs + place + 2 * D, there, 0.0).to(tl.float32))
            u = _tanh(u + tl.load(inputs + place + 3 * D, there, 0.0).to(tl.float32))
            cell = f * tl.load(c + above + columns[None, :], there, 0.0, cache_modifier=".cg") + i * u
            here = (row + m).to(tl.int64)[:, None] * D + columns[None, :]
            tl.store(c + here, cell, there)
            tl.store(h + here, (o * _tanh(cell)).to(h.dtype.element_ty), there)
            if KEEP:
                narrow = gates.dtype.element_ty
                tl.store(gates + place, i.to(narrow), there)
                tl.store(gates + place + D, f.to(narrow), there)
                tl.store(gates + place + 2 * D, o.to(narrow), there)
                tl.store(gates + place + 3 * D, u.to(narrow), there)
        if level + 1 < n_levels:
            arrived += blocks
            _wait_for_all(counter, arrived)


@triton.jit
def _backward(
    dh_out,  # [N + 1, D]
    weights,  # [Z, 4 D, D]
    c,  # [N + 1, D]
    gates,  # [N, 4 D] in the order of the sets
    d_gates,  # likewise
    dh_above,  # [N + 1, D] what each row passes on to its predecessor
    dc_above,  # likewise
    predecessor,  # [N + 1]
    successors,  # [N + 1, K]
    tiles,  # [T, 4]
    levels,  # [L + 2] how many, and where the tiles of each begin
    spare,  # [1 + Z, 2]
    counter,
    K: tl.constexpr,
    Z: tl.constexpr,
    D: tl.constexpr,
    HEIGHT: tl.constexpr,
    WIDTH: tl.constexpr,
    WIDE: tl.constexpr,
    DEPTH: tl.constexpr,
    PRECISION: tl.constexpr,
):
    block, blocks = tl.program_id(0), tl.num_programs(0)
    across: tl.constexpr = (D + WIDTH - 1) // WIDTH
    across_wide: tl.constexpr = (D + WIDE - 1) // WIDE
    for z in range(Z):
        _clear(d_gates, tl.load(spare + 2 + 2 * z), tl.load(spare + 3 + 2 * z), 4 * D, AT_ONCE)
    arrived = 0
    n_levels = tl.load(levels)
    for back in range(n_levels):
        level = n_levels - 1 - back
        first, last = tl.load(levels + 1 + level), tl.load(levels + 2 + level)
        # The gradients of the gates, from above and from the rows that continue these.
        for item in range(first * across_wide + block, last * across_wide, blocks):
            tile = item // across_wide
            row, count, start = tl.load(tiles + 4 * tile), tl.load(tiles + 4 * tile + 1), tl.load(tiles + 4 * tile + 2)
            m = tl.arange(0, HEIGHT)
            columns = (item % across_wide) * WIDE + tl.arange(0, WIDE)
            there = (m < count)[:, None] & (columns < D)[None, :]
            here = (row + m).to(tl.int64)[:, None] * D + columns[None, :]
            dh = tl.load(dh_out + here, there, 0.0).to(tl.float32)
            dc = tl.zeros((HEIGHT, WIDE), tl.float32)
            for k in tl.static_range(K):
                after = tl.load(successors + (row + m) * K + k, m < count, 0)
                follows = there & (after > 0)[:, None]
                at = after.to(tl.int64)[:, None] * D + columns[None, :]
                dh += tl.load(dh_above + at, follows, 0.0, cache_modifier=".cg")
                dc += tl.load(dc_above + at, follows, 0.0, cache_modifier=".cg")
            place = (start + m).to(tl.int64)[:, None] * (4 * D) + columns[None, :]
            i = tl.load(gates + place, there, 0.0).to(tl.float32)
            f = tl.load(gates + place + D, there, 0.0).to(tl.float32)
            o = tl.load(gates + place + 2 * D, there, 0.0).to(tl.float32)
            u = tl.load(gates + place + 3 * D, there, 0.0).to(tl.float32)
            above = tl.load(predecessor + row + m, m < count, 0).to(tl.int64)[:, None] * D
            c_above = tl.load(c + above + columns[None, :], there, 0.0)
            t = _tanh(tl.load(c + here, there, 0.0))
            dc += dh * o * (1 - t * t)  # through h = o tanh(c)
            narrow = d_gates.dtype.element_ty
            tl.store(d_gates + place, (dc * u * i * (1 - i)).to(narrow), there)
            tl.store(d_gates + place + D, (dc * c_above * f * (1 - f)).to(narrow), there)
            tl.store(d_gates + place + 2 * D, (dh * t * o * (1 - o)).to(narrow), there)
            tl.store(d_gates + place + 3 * D, (dc * i * (1 - u * u)).to(narrow), there)
            tl.store(dc_above + here, dc * f, there)
        if level > 0:  # what the first level would pass on goes to row 0, a constant
            arrived += blocks
            _wait_for_all(counter, arrived)
            for item in range(first * across + block, last * across, blocks):
                tile = item // across
                row, count = tl.load(tiles + 4 * tile), tl.load(tiles + 4 * tile + 1)
                start, z = tl.load(tiles + 4 * tile + 2), tl.load(tiles + 4 * tile + 3)
                m = tl.arange(0, HEIGHT)
                columns = (item % across) * WIDTH + tl.arange(0, WIDTH)
                of_set = weights + z.to(tl.int64) * (4 * D * D) + columns[None, :]
                place = (start + m).to(tl.int64)[:, None] * (4 * D)
                total = tl.zeros((HEIGHT, WIDTH), tl.float32)
                for begin in range(0, 4 * D, DEPTH):
                    k = begin + tl.arange(0, DEPTH)
                    inside = (m < count)[:, None] & (k < 4 * D)[None, :]
                    a = tl.load(d_gates + place + k[None, :], inside, 0.0, cache_modifier=".cg")
                    w = tl.load(of_set + k[:, None] * D, (k < 4 * D)[:, None] & (columns < D)[None, :], 0.0)
                    total = tl.dot(a, w, total, input_precision=PRECISION)
                here = (row + m).to(tl.int64)[:, None] * D + columns[None, :]
                tl.store(dh_above + here, total, (m < count)[:, None] & (columns < D)[None, :])
            arrived += blocks
            _wait_for_all(counter, arrived)
