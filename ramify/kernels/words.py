"""Scores of a few words for each row, y_w = W_w . h, as NCE needs them; the gradient of W touches those rows alone.

On the CPU compiled loops read each row of W once where it lies, in place of copying N x (k + 1) rows of it together,
and sum the gradient for each word that occurs, so it comes out without repetitions.
"""

from __future__ import annotations

from typing import Any

import numba
import numpy as np
import torch
from torch import Tensor
from torch.autograd.function import once_differentiable
from torch.nn import functional

from ramify.corpus.structure import Array
from ramify.kernels.products import as_they_are

torch.sparse.check_sparse_tensor_invariants.disable()  # as is the default, of which it would warn


def score_words(h: Tensor, weight: Tensor, words: Tensor) -> Tensor:
    """The scores [N, K] of the words [N, K] of each row of h [N, D]; weight is [V, D]."""
    with as_they_are(h):
        found: Tensor = _ScoreWords.apply(h, weight, words)  # type: ignore[no-untyped-call]
    return found


class _ScoreWords(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, h: Tensor, weight: Tensor, words: Tensor) -> Tensor:
        ctx.save_for_backward(h, weight, words)
        if h.is_cuda:
            return torch.bmm(functional.embedding(words, weight), h[:, :, None])[:, :, 0]
        scores = h.new_empty(words.shape)
        _dot(h.detach().numpy(), weight.detach().numpy(), words.numpy(), scores.numpy())
        return scores

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, d_scores: Tensor) -> Any:
        h, weight, words = ctx.saved_tensors
        d_scores = d_scores.contiguous()
        if h.is_cuda:
            dh = torch.bmm(d_scores[:, None], functional.embedding(words, weight))[:, 0]
            values = d_scores[:, :, None] * h[:, None]
            return dh, torch.ops.aten.embedding_dense_backward(values, words, len(weight), -1, False), None
        dh = torch.empty_like(h)
        _weighted_rows(d_scores.numpy(), weight.detach().numpy(), words.numpy(), dh.numpy())
        flat = words.numpy().ravel()
        order = np.argsort(flat, kind="stable")
        found, first = np.unique(flat[order], return_index=True)
        values = h.new_empty(len(found), h.shape[1])
        _sum_by_word(d_scores.numpy().ravel(), h.detach().numpy(), order, np.append(first, len(flat)), values.numpy())
        index = torch.from_numpy(found)[None]
        d_weight = torch.sparse_coo_tensor(index, values, weight.shape, check_invariants=False, is_coalesced=True)
        return dh, d_weight, None


# Sums may be taken in any order, which is what vectorising needs; NaN and infinity stay what they are.
_parallel = numba.njit(nogil=True, cache=True, parallel=True, fastmath={"reassoc", "contract", "arcp", "nsz"})


@_parallel
def _dot(h: Array, weight: Array, words: Array, scores: Array) -> None:
    for n in numba.prange(len(h)):
        for k in range(words.shape[1]):
            row = weight[words[n, k]]
            total = h.dtype.type(0)
            for d in range(h.shape[1]):
                total += row[d] * h[n, d]
            scores[n, k] = total


@_parallel
def _weighted_rows(by: Array, weight: Array, words: Array, total: Array) -> None:
    for n in numba.prange(len(by)):
        total[n] = 0
        for k in range(words.shape[1]):
            row, scale = weight[words[n, k]], by[n, k]
            for d in range(total.shape[1]):
                total[n, d] += scale * row[d]


@_parallel
def _sum_by_word(by: Array, h: Array, order: Array, first: Array, total: Array) -> None:
    per_row = len(by) // max(1, len(h))
    for word in numba.prange(len(total)):
        total[word] = 0
        for at in order[first[word] : first[word + 1]]:
            scale, row = by[at], h[at // per_row]
            for d in range(total.shape[1]):
                total[word, d] += scale * row[d]
