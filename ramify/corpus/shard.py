"""Shard: one treebank file as numbers of its own, before a vocabulary for all files exists.

Files are read side by side in several processes. Each gives its words the ids 0, 1, 2, ... in order of appearance;
`encode` then joins the shards in the order of the files, so the result does not depend on who was first.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from ramify.corpus.structure import Array
from ramify.errors import FormatError
from ramify.formats import Format, input_format, read
from ramify.formats.conllu import Columns, read_columns
from ramify.formats.files import Progress, display_name
from ramify.trees import NonProjective, Tree, is_projective


class FirstSeen(dict[str, int]):
    """Numbers strings in the order in which they are first asked for."""

    def __missing__(self, key: str) -> int:
        self[key] = number = len(self)
        return number


@dataclass(frozen=True)
class Reading:
    """How the trees of a file are taken."""

    format: Format | None = None
    encoding: str = "utf-8"
    lowercase: bool = False
    max_length: int | None = None
    nonprojective: NonProjective = NonProjective.KEEP
    skip_errors: bool = False


@dataclass
class Shard:
    """The kept sentences of one file, and the words and labels that their numbers stand for."""

    name: str
    words: Array  # int32, numbers into word_list
    heads: Array  # int32
    labels: Array  # int32, numbers into label_list
    lengths: Array  # int32
    word_list: list[str]
    counts: Array  # of each word, sentences that were too long or not projective included
    label_list: list[str]
    sentences_read: int = 0
    too_long: int = 0
    nonprojective: int = 0
    multi_root: int = 0
    errors: list[FormatError] = field(default_factory=list)  # the sentences that were skipped, if that was asked


def read_shard(source: str | Path, reading: Reading, progress: Progress | None = None) -> Shard:
    """Read one treebank file."""
    errors: list[FormatError] = []

    def skip(error: FormatError) -> None:
        if not reading.skip_errors:
            raise error
        errors.append(error)

    chosen = reading.format or input_format(source)
    trees: Iterable[Tree | Columns]
    if chosen == Format.CONLLU and reading.nonprojective == NonProjective.KEEP:
        trees = read_columns(source, encoding=reading.encoding, on_error=skip, progress=progress)
    else:
        trees = read(source, chosen, encoding=reading.encoding, on_error=skip, progress=progress)
    shard = shard_of(trees, reading, display_name(source))
    shard.errors = errors
    return shard


def shard_of(trees: Iterable[Tree | Columns], reading: Reading, name: str = "") -> Shard:
    """Number the words of trees."""
    word_ids, label_ids = FirstSeen(), FirstSeen()
    words, heads, labels, lengths, dropped = (array("i") for _ in range(5))
    sentences_read = too_long = nonprojective = multi_root = 0
    for tree in trees:
        sentences_read += 1
        multi_root += tree.heads.count(0) > 1
        ids = map(word_ids.__getitem__, map(str.lower, tree.forms) if reading.lowercase else tree.forms)
        if reading.max_length is not None and len(tree.forms) > reading.max_length:
            too_long += 1
            dropped.extend(ids)
            continue
        if reading.nonprojective != NonProjective.KEEP and isinstance(tree, Tree) and not is_projective(tree):
            nonprojective += 1
            taken = reading.nonprojective.take(tree)
            if taken is None:
                dropped.extend(ids)
                continue
            tree = taken
        words.extend(ids)
        heads.extend(tree.heads)
        labels.extend(map(label_ids.__getitem__, tree.deprels))
        lengths.append(len(tree.forms))
    counts = np.bincount(_numbers(words), minlength=len(word_ids))
    counts += np.bincount(_numbers(dropped), minlength=len(word_ids))
    return Shard(
        name,
        _numbers(words),
        _numbers(heads),
        _numbers(labels),
        _numbers(lengths),
        list(word_ids),
        counts,
        list(label_ids),
        sentences_read,
        too_long,
        nonprojective,
        multi_root,
    )


def _numbers(column: array[int]) -> Array:
    return np.frombuffer(column, np.int32) if column else np.empty(0, np.int32)
