"""ParserModel: an encoder, and all that is read off its states: arcs, siblings, relations, tags."""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional

from ramify.corpus.structure import Array
from ramify.parsing.encoder import Encoder
from ramify.parsing.examples import NOTHING, Batch
from ramify.parsing.lexicon import Lexicon
from ramify.parsing.recipe import ParserConfig
from ramify.parsing.scorers import Arcs, Labels, Role, Siblings

ROOT_LABEL = "root"


class Readings(NamedTuple):
    """What the model says of one sentence of n words."""

    scores: Array  # [n + 1, n + 1] or [n + 1, n + 1, n + 1], for the decoders
    labels: Array  # [n + 1, n + 1] the best relation of each (head, dependent)
    tags: Array  # [n]


class ParserModel(nn.Module):
    def __init__(self, config: ParserConfig, lexicon: Lexicon) -> None:
        super().__init__()
        self.config = config
        self.root = lexicon.index["labels"].get(ROOT_LABEL)
        width = 2 * config.hidden
        self.encoder = Encoder(config, lexicon)
        self.arcs = Arcs(width, config.arcs, config.dropout)
        self.siblings = Siblings(width, config.siblings, config.dropout) if config.order == 2 else None
        self.labels = Labels(width, config.labels, len(lexicon.labels), config.dropout)
        self.tags = nn.Sequential(
            Role(width, config.labels, config.dropout), nn.Linear(config.labels, len(lexicon.tags))
        )

    @property
    def n_parameters(self) -> int:
        return sum(parameter.numel() for parameter in self.parameters())

    @property
    def device(self) -> torch.device:
        return self.arcs.weight.device

    def loss(self, batch: Batch) -> Tensor:
        """The sum over all words, of heads, relations, tags and next siblings."""
        batch = batch.to(self.device)
        lengths = batch.lengths.to(self.device, non_blocking=True)
        first, states = self.encoder(batch)
        loss = self.arcs.loss(states, lengths, batch.heads) + self.labels.loss(states, batch.heads, batch.labels)
        tags = self.tags(first).transpose(1, 2)
        loss = loss + functional.cross_entropy(tags, batch.tags, ignore_index=NOTHING, reduction="sum")
        if self.siblings is not None:
            loss = loss + self.siblings.loss(states, lengths, batch.events)
        return loss

    @torch.no_grad()
    def read(self, batch: Batch) -> list[Readings]:
        """What it says of each sentence of a batch."""
        batch = batch.to(self.device)
        lengths = batch.lengths.to(self.device)
        first, states = self.encoder(batch)
        scores = self.arcs.log_probabilities(states, lengths)
        if self.siblings is not None:
            scores = scores.masked_fill(torch.eye(scores.shape[1], dtype=torch.bool, device=self.device), 0.0)
            scores = scores[..., None] + self.config.sibling_weight * self.siblings(states, lengths)
        labels = self.labels.best(states, self.root)
        tags = self.tags(first).argmax(2)
        found = [each.cpu().numpy() for each in (scores, labels, tags)]
        return [_of_one(row, length, *found) for row, length in enumerate(batch.lengths.tolist())]


def _of_one(row: int, length: int, scores: Array, labels: Array, tags: Array) -> Readings:
    inside = (slice(length),) * (scores.ndim - 1)
    return Readings(scores[row][inside].copy(), labels[row, :length, :length], tags[row, 1:length])
