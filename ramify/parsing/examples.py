"""Examples: sentences as numbers, and batches of them in which all sentences are as long as the longest.

Letters: B sentences, T places of the longest (ROOT at 0), U different forms, C characters, E = 3T events: a dependent
as the next one on its side, or the end of a side.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch
from torch import Tensor

from ramify.corpus.compiled import compiled
from ramify.corpus.structure import Array
from ramify.parsing.lexicon import PAD, ROOT, Lexicon
from ramify.trees import Tree

NOTHING = -100  # what no loss is asked for
_ON_DEVICE = ("words", "vectors", "forms", "spellings", "heads", "labels", "tags", "events")


@dataclass(frozen=True)
class Examples:
    """Sentences as flat arrays; sentence i has the words offsets[i] to offsets[i + 1]."""

    offsets: Array
    words: Array
    vectors: Array
    forms: Array  # rows of `spellings`
    spellings: Array  # [U, C]
    heads: Array
    labels: Array
    tags: Array

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @property
    def lengths(self) -> Array:
        return np.diff(self.offsets)


def examples_of(trees: Sequence[Tree], lexicon: Lexicon) -> Examples:
    """Trees as numbers; labels and tags that the lexicon does not know have none."""
    number: dict[str, int] = {}
    forms = np.array([number.setdefault(form, len(number)) for tree in trees for form in tree.forms], np.int64)
    spelled = [lexicon.spelling(form) for form in number]
    spellings = np.full((len(spelled), max(map(len, spelled), default=1)), PAD, np.int64)
    for row, spelling in zip(spellings, spelled, strict=True):
        row[: len(spelling)] = spelling
    labels, tags = lexicon.index["labels"], lexicon.index["tags"]
    return Examples(
        np.cumsum([0, *map(len, trees)]),
        np.array([lexicon.word(form) for form in number], np.int64)[forms],
        np.array([lexicon.vector(form) for form in number], np.int64)[forms],
        forms,
        spellings,
        np.array([head for tree in trees for head in tree.heads], np.int64),
        np.array([labels.get(label, NOTHING) for tree in trees for label in tree.deprels], np.int64),
        np.array([tags.get(tag, NOTHING) for tree in trees for tag in tree.upos], np.int64),
    )


@dataclass(frozen=True)
class Batch:
    """Some sentences, longest first. The lengths stay on the host, where packing needs them."""

    sentences: Array  # [B]
    lengths: Tensor  # [B] with ROOT
    words: Tensor  # [B, T]
    vectors: Tensor  # [B, T]
    forms: Tensor  # [B, T] rows of spellings
    spellings: Tensor  # [U, C]
    heads: Tensor  # [B, T]
    labels: Tensor  # [B, T]
    tags: Tensor  # [B, T]
    events: Tensor  # [B, E, 4] head; nearer sibling, or the head; side; next sibling, or the head

    @property
    def n_words(self) -> int:
        return int(self.lengths.sum()) - len(self.lengths)

    def to(self, device: torch.device) -> Batch:
        """The same there; nobody waits for the copies."""
        if device.type == "cpu":
            return self
        there = {name: getattr(self, name).pin_memory().to(device, non_blocking=True) for name in _ON_DEVICE}
        return replace(self, **there)


def build(examples: Examples, chosen: Array) -> Batch:
    """These sentences as a batch, in their order, which is by falling length."""
    lengths = examples.lengths[chosen]
    b, t = len(chosen), int(lengths[0]) + 1
    columns = (examples.words, examples.vectors, examples.forms, examples.heads, examples.labels, examples.tags)
    fills = (PAD, PAD, NOTHING, NOTHING, NOTHING, NOTHING)
    filled = [np.full((b, t), fill, np.int64) for fill in fills]
    for row, (start, n) in enumerate(zip(examples.offsets[chosen].tolist(), lengths.tolist(), strict=True)):
        for here, column in zip(filled, columns, strict=True):
            here[row, 1 : n + 1] = column[start : start + n]
    words, vectors, forms, heads, labels, tags = filled
    words[:, 0] = ROOT
    used, where = np.unique(forms, return_inverse=True)  # the first is NOTHING, with a spelling of no characters
    spellings = np.concatenate([np.full((1, examples.spellings.shape[1]), PAD), examples.spellings[used[1:]]])
    spellings[0, 0] = ROOT
    longest = int((spellings != PAD).sum(1).max())
    events = np.zeros((b, 3 * t, 4), np.int64)
    find_events(heads, lengths, events)
    numbers = (words, vectors, where.reshape(b, t), spellings[:, :longest].copy(), heads, labels, tags, events)
    return Batch(chosen, torch.from_numpy(lengths + 1), *map(torch.from_numpy, numbers))


@compiled
def find_events(heads: Array, lengths: Array, events: Array) -> None:
    """Every dependent as the next one after its nearer sibling, and the end of every side [B, E, 4].

    Left of ROOT nothing can stand.
    """
    for row in range(len(heads)):
        n = lengths[row]
        found = 0
        for head in range(n + 1):
            for side in range(0 if head else 1, 2):
                before = head
                step = 1 if side else -1
                word = head + step
                while 1 <= word <= n:
                    if heads[row, word] == head:
                        _put(events[row, found], head, before, side, word)
                        found += 1
                        before = word
                    word += step
                _put(events[row, found], head, before, side, head)
                found += 1
        for empty in range(found, events.shape[1]):
            _put(events[row, empty], 0, 0, 0, NOTHING)


@compiled
def _put(event: Array, head: int, before: int, side: int, word: int) -> None:
    event[0], event[1], event[2], event[3] = head, before, side, word


def shuffled(examples: Examples, chosen: Array, most: int, seed: int, epoch: int) -> list[Array]:
    """The batches of an epoch: sentences of like length together, at most so many words in each, padding counted."""
    random = np.random.default_rng([seed, epoch])
    lengths = examples.lengths[chosen] * random.uniform(1, 1.2, len(chosen))
    batches = list(cut(examples, chosen[np.argsort(-lengths, kind="stable")], most))
    return [batches[i] for i in random.permutation(len(batches))]


def cut(examples: Examples, order: Array, most: int, power: int = 1) -> Iterator[Array]:
    """Sentences in this order, so many in a batch that B * T ** power stays within `most`; longest first in each."""
    lengths = examples.lengths[order]
    start, longest = 0, 0
    for end, length in enumerate(lengths.tolist()):
        wider = max(longest, length + 1)
        if end > start and (end - start + 1) * wider**power > most:
            yield _falling(order[start:end], lengths[start:end])
            start, wider = end, length + 1
        longest = wider
    if len(order):
        yield _falling(order[start:], lengths[start:])


def _falling(sentences: Array, lengths: Array) -> Array:
    falling: Array = sentences[np.argsort(-lengths, kind="stable")]
    return falling
