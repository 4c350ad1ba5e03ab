"""Gradients of some rows of a large matrix: summed word by word, and taken off the rows where they lie.

A batch reads a few thousand rows of W_e, and NCE some of W_ho. Where words occur is known before the recurrence starts,
so they are sorted beside it. Some of a word's places are added up by one program, and its sums by another, all in the
order of the sorting: nothing is atomic, and the same batch gives the same bits.

Letters: V vocabulary, D size of a row, P places (rows that were read).
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from typing import Any

import torch
import triton
import triton.language as tl
from torch import Tensor
from torch.autograd.function import once_differentiable

from ramify.kernels.kept import Kept

PIECE = 32  # places that are added up by one program,
ROWS = 8  # so many at once: most words have few


@dataclass(frozen=True, eq=False)
class Places:
    """Where each word occurs."""

    words: Tensor  # [P] int32, sorted
    places: Tensor  # [P] int64: where each stood
    read: Tensor  # [P] the words as they stand; their memory must not be used again before they are sorted


@cache
def _side(device: torch.device) -> torch.cuda.Stream:
    return torch.cuda.Stream(device)


@contextmanager
def beside(x: Tensor) -> Iterator[None]:
    """What is launched in this block runs next to what follows it, until `wait_for` it."""
    if not x.is_cuda:
        yield
        return
    side = _side(x.device)
    side.wait_stream(torch.cuda.current_stream(x.device))
    with torch.cuda.stream(side):
        yield


def wait_for(x: Tensor) -> None:
    """What follows sees what was launched beside it."""
    if x.is_cuda:
        torch.cuda.current_stream(x.device).wait_stream(_side(x.device))


def sorted_places(words: Tensor) -> Places:
    """Of words [P] or [N, M]."""
    return Places(*torch.sort(words.flatten(), stable=True), words)


@dataclass(frozen=True, eq=False)
class RowGradient:
    """Of the rows of some words. A word's gradient stands at the first of its sorted places."""

    weight: Tensor  # [V, D]
    words: Tensor  # [P] int32, sorted
    values: Tensor  # [P, D]
    squares: Tensor  # [P]: of each word, 0 at its other places

    def square(self) -> Tensor:
        return self.squares.sum()

    def take_off(self, step: Tensor) -> None:
        size = self.weight.shape[1]
        if len(self.words):
            _take_off[(len(self.words),)](self.weight, self.words, self.values, step, size, _block(size))


def row_gradient(weight: Tensor, at: Places, source: Tensor, scale: Tensor | None = None, per: int = 1) -> RowGradient:
    """For each word the sum of source[place // per], times scale[place], over its places; source is [P / per, D]."""
    n, size = len(at.words), weight.shape[1]
    values = torch.empty(n, size, device=weight.device)
    squares = torch.empty(n, device=weight.device)
    if n:
        options = {"D": size, "BLOCK": _block(size), "PIECE": PIECE}
        scales, stride = source if scale is None else scale, source.stride(0)
        _sum_pieces[(n,)](
            source,
            scales,
            at.words,
            at.places,
            values,
            squares,
            n,
            stride,
            per,
            scale is not None,
            ROWS=ROWS,
            **options,
        )
        if n > PIECE:
            _sum_sums[(triton.cdiv(n, PIECE) - 1,)](at.words, values, squares, n, **options)
    return RowGradient(weight, at.words, values, squares)


def read_words(weight: Tensor, words: Tensor, dtype: torch.dtype, kept: Kept) -> Tensor:
    """weight[words] in `dtype`; the gradient of the weight is kept by rows."""
    places = None
    if weight.requires_grad:
        with beside(words):
            places = sorted_places(words)
    found: Tensor = _ReadWords.apply(weight, words, dtype, places, kept)
    return found


class _ReadWords(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any, weight: Tensor, words: Tensor, dtype: torch.dtype, places: Places | None, kept: Kept
    ) -> Tensor:
        ctx.weight, ctx.places, ctx.kept = weight, places, kept
        return weight.index_select(0, words).to(dtype)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, d_found: Tensor) -> Any:
        wait_for(d_found)
        ctx.kept.gradients.append(row_gradient(ctx.weight, ctx.places, d_found.contiguous()))
        return None, None, None, None, None


def _block(size: int) -> int:
    return int(triton.next_power_of_2(size))


@triton.jit
def _sum_pieces(
    source,  # [P / PER, STRIDE]
    scale,  # [P]
    words,  # [P] sorted
    places,  # [P]
    values,  # [P, D]
    squares,  # [P]
    n,
    stride,
    PER: tl.constexpr,
    SCALED: tl.constexpr,
    D: tl.constexpr,
    BLOCK: tl.constexpr,
    PIECE: tl.constexpr,
    ROWS: tl.constexpr,
):
    """A piece has one word, and does not go beyond a multiple of PIECE; its sum stands where it begins."""
    first = tl.program_id(0)
    word = tl.load(words + first)
    begins = tl.load(words + first - 1, first > 0, -1) != word
    if begins | (first % PIECE == 0):
        columns = tl.arange(0, BLOCK)
        end = tl.minimum((first // PIECE + 1) * PIECE, n)
        total = tl.zeros((BLOCK,), tl.float32)
        at = first
        while at < end:
            row = at + tl.arange(0, ROWS)
            mine = tl.load(words + row, row < end, -1) == word
            place = tl.load(places + row, mine, 0)
            there = mine[:, None] & (columns < D)[None, :]
            x = tl.load(source + (place // PER)[:, None] * stride + columns[None, :], there, 0.0).to(tl.float32)
            if SCALED:
                x *= tl.load(scale + place, mine, 0.0)[:, None]
            total += tl.sum(x, 0)
            at = tl.where(tl.sum(mine.to(tl.int32), 0) == ROWS, at + ROWS, end)
        tl.store(values + first.to(tl.int64) * D + columns, total, columns < D)
        tl.store(squares + first, tl.where(begins, tl.sum(total * total, 0), 0.0))
    else:
        tl.store(squares + first, 0.0)


@triton.jit
def _sum_sums(words, values, squares, n, D: tl.constexpr, BLOCK: tl.constexpr, PIECE: tl.constexpr):
    """The word that goes on beyond a multiple of PIECE, which is the first one within it."""
    begin = (tl.program_id(0) + 1) * PIECE
    word = tl.load(words + begin)
    goes_on = tl.load(words + begin - 1) == word
    earlier = (begin > PIECE) & (tl.load(words + tl.maximum(begin - PIECE - 1, 0)) == word)
    if goes_on & (not earlier):
        columns = tl.arange(0, BLOCK)
        before = tl.load(words + begin - PIECE + tl.arange(0, PIECE)) == word
        first = begin - tl.sum(before.to(tl.int32), 0)
        row = values + first.to(tl.int64) * D + columns
        total = tl.load(row, columns < D, 0.0)
        found = PIECE
        while found == PIECE:
            at = begin + tl.arange(0, PIECE) * PIECE
            mine = tl.load(words + at, at < n, -1) == word
            there = mine[:, None] & (columns < D)[None, :]
            total += tl.sum(tl.load(values + at.to(tl.int64)[:, None] * D + columns[None, :], there, 0.0), 0)
            found = tl.sum(mine.to(tl.int32), 0)
            begin += PIECE * PIECE
        tl.store(row, total, columns < D)
        tl.store(squares + first, tl.sum(total * total, 0))


@triton.jit
def _take_off(weight, words, values, step, D: tl.constexpr, BLOCK: tl.constexpr):
    first = tl.program_id(0)
    word = tl.load(words + first)
    if tl.load(words + first - 1, first > 0, -1) != word:
        columns = tl.arange(0, BLOCK)
        row = weight + word.to(tl.int64) * D + columns
        gradient = tl.load(values + first.to(tl.int64) * D + columns, columns < D)
        tl.store(row, tl.load(row, columns < D) - tl.load(step) * gradient, columns < D)
