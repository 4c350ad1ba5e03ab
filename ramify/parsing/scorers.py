"""Scorers: from states [B, T, D] to what arcs, next siblings and relations are worth.

Each has a loss (a sum over what it is asked for) and what decoding needs. All are probabilities of one choice: of a
word's head, of what comes next on a side of a head, of an arc's relation.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional

from ramify.parsing.encoder import same_dropout
from ramify.parsing.examples import NOTHING

NEVER = -1e9  # the score of what cannot be; finite, so that no gradient is lost


class Role(nn.Module):
    """What words are in one role (as heads, as dependents): a layer of its own."""

    def __init__(self, width: int, size: int, dropout: float) -> None:
        super().__init__()
        self.linear = nn.Linear(width, size)
        self.dropout = dropout

    def forward(self, states: Tensor) -> Tensor:
        return same_dropout(functional.leaky_relu(self.linear(states), 0.1), self.dropout, self.training)


def _with_one(states: Tensor) -> Tensor:
    return functional.pad(states, (0, 1), value=1.0)


class Arcs(nn.Module):
    """log P(head | dependent), from a biaffine product (Dozat and Manning 2017)."""

    def __init__(self, width: int, size: int, dropout: float) -> None:
        super().__init__()
        self.heads, self.dependents = Role(width, size, dropout), Role(width, size, dropout)
        self.weight = nn.Parameter(torch.empty(size, size + 1))
        nn.init.normal_(self.weight, std=size**-0.5)

    def forward(self, states: Tensor, lengths: Tensor) -> Tensor:
        """Scores [B, T, T] (head, dependent) before they are normalised over heads."""
        scores = self.heads(states) @ self.weight @ _with_one(self.dependents(states)).transpose(1, 2)
        place = torch.arange(states.shape[1], device=states.device)
        impossible = (place[:, None] == place) | (place[:, None] >= lengths[:, None, None])
        masked: Tensor = scores.masked_fill(impossible, NEVER)
        return masked

    def loss(self, states: Tensor, lengths: Tensor, heads: Tensor) -> Tensor:
        return functional.cross_entropy(self(states, lengths), heads, ignore_index=NOTHING, reduction="sum")

    def log_probabilities(self, states: Tensor, lengths: Tensor) -> Tensor:
        """[B, T, T] (head, dependent)."""
        found: Tensor = self(states, lengths).log_softmax(1)
        return found


class Siblings(nn.Module):
    """log P(next | head, its last dependent so far, side): the next dependent on that side, or that there is none.

    The head and its last dependent make a query [R] together, which each candidate, and the end, answers to. So the
    score is a sum over R of what three words contribute.
    """

    def __init__(self, width: int, size: int, dropout: float) -> None:
        super().__init__()
        self.size = size
        self.heads, self.last = nn.Linear(width, 2 * size), nn.Linear(width, 2 * size)  # left, right
        self.next = Role(width, size, dropout)
        self.none_yet = nn.Parameter(torch.zeros(2, size))  # in place of a last dependent
        self.end = nn.Parameter(torch.zeros(2, size))

    def _sides(self, states: Tensor) -> tuple[Tensor, Tensor]:
        """What words are as heads and as last dependents [B, T, 2, R]."""
        shape = (*states.shape[:2], 2, self.size)
        return self.heads(states).view(shape), self.last(states).view(shape)

    def _log_probabilities(self, query: Tensor, states: Tensor, end: Tensor, at: Tensor, possible: Tensor) -> Tensor:
        """Of all candidates [B, Q, T] to queries [B, Q, R]; the end stands at the place of the head, `at`."""
        query = functional.leaky_relu(query, 0.1)
        scores = query @ self.next(states).transpose(1, 2)
        ends = (query * end).sum(-1, keepdim=True)
        scores = torch.where(at, ends, scores)
        return scores.masked_fill(~(possible | at), NEVER).log_softmax(-1)

    def loss(self, states: Tensor, lengths: Tensor, events: Tensor) -> Tensor:
        head, last, side, following = events.unbind(-1)  # [B, E] each
        heads, lasts = self._sides(states)
        rows = torch.arange(len(states), device=states.device)[:, None]
        nearer = torch.where((last == head)[..., None], self.none_yet[side], lasts[rows, last, side])
        place = torch.arange(states.shape[1], device=states.device)
        possible = _possible(place, last[..., None], side[..., None], lengths[:, None, None])
        found = self._log_probabilities(
            heads[rows, head, side] + nearer, states, self.end[side], place == head[..., None], possible
        )
        return functional.nll_loss(found.transpose(1, 2), following, ignore_index=NOTHING, reduction="sum")

    def forward(self, states: Tensor, lengths: Tensor) -> Tensor:
        """Scores [B, T, T, T] (head, dependent, nearer sibling) as the decoder of `sibling.py` reads them.

        That a side has no dependents costs nothing there: so it is taken off what the closest dependent is worth. What
        it would cost on all sides is added where every tree passes once, at ROOT's dependent.
        """
        b, t = states.shape[:2]
        heads, lasts = self._sides(states)
        place = torch.arange(t, device=states.device)
        side = (place > place[:, None]).long()  # [T, T] of (head, last)
        here = place[:, None].expand(t, t)
        query = heads[:, here, side] + lasts[:, place.expand(t, t), side]
        flat = side.reshape(-1)
        possible = _possible(place, place.repeat(t)[:, None], flat[:, None], lengths[:, None, None])
        at = place == here.reshape(-1, 1)
        found = self._log_probabilities(query.view(b, t * t, -1), states, self.end[flat], at, possible)
        scores = found.view(b, t, t, t).transpose(2, 3).contiguous()
        both = torch.arange(2, device=states.device).repeat(t)
        whose = place.repeat_interleave(2)
        possible = _possible(place, whose[:, None], both[:, None], lengths[:, None, None])
        at = place == whose[:, None]
        query = (heads + self.none_yet).view(b, 2 * t, -1)
        first = self._log_probabilities(query, states, self.end[both], at, possible)
        none = first[:, torch.arange(2 * t, device=states.device), whose]  # [B, 2T] that a side has no dependent
        first = (first - none[..., None]).view(b, t, 2, t)
        scores[:, place, :, place] = torch.where(side.bool(), first[:, :, 1], first[:, :, 0]).transpose(0, 1)
        scores[:, 0, 1:, 0] += none.masked_fill(whose >= lengths[:, None], 0.0).sum(1, keepdim=True)
        return scores


def _possible(place: Tensor, last: Tensor, side: Tensor, lengths: Tensor) -> Tensor:
    """Which words may come after the last one on a side."""
    return torch.where(side == 1, (place > last) & (place < lengths), (place < last) & (place > 0))


class Labels(nn.Module):
    """log P(relation | head, dependent), from a biaffine product for each relation."""

    def __init__(self, width: int, size: int, n_labels: int, dropout: float) -> None:
        super().__init__()
        self.heads, self.dependents = Role(width, size, dropout), Role(width, size, dropout)
        self.weight = nn.Parameter(torch.empty(size + 1, n_labels, size + 1))
        nn.init.normal_(self.weight, std=1 / size)

    def _of_dependents(self, states: Tensor) -> Tensor:
        """[B, T, L, size + 1]"""
        return (_with_one(self.dependents(states)) @ self.weight.flatten(1)).view(
            *states.shape[:2], *self.weight.shape[1:]
        )

    def loss(self, states: Tensor, heads: Tensor, labels: Tensor) -> Tensor:
        rows = torch.arange(len(states), device=states.device)[:, None]
        of_heads = _with_one(self.heads(states))[rows, heads.clamp(min=0)]
        scores = (self._of_dependents(states) @ of_heads[..., None])[..., 0]
        return functional.cross_entropy(scores.transpose(1, 2), labels, ignore_index=NOTHING, reduction="sum")

    def best(self, states: Tensor, root: int | None) -> Tensor:
        """The best relation [B, T, T] of each (head, dependent). That of ROOT's dependent is its own."""
        of_heads = _with_one(self.heads(states)).transpose(1, 2)[:, None]
        scores = self._of_dependents(states) @ of_heads  # [B, dependents, L, heads]
        if root is not None:
            scores[:, :, root, 1:] = NEVER
            scores[:, :, root, 0] = -NEVER
        return scores.argmax(2).transpose(1, 2)
