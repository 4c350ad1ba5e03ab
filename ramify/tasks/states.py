"""Hidden states of every word, for probing: one array for all words of a treebank, with where each stands."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np

from ramify.corpus.structure import Array
from ramify.formats import Sentence
from ramify.formats.files import place_of, whole_place
from ramify.tasks.score import LM


def write_states(lm: LM, sentences: Iterator[Sentence], target: Path) -> Iterator[Sentence]:
    """Pass the sentences on; after the last one the states of their words are in `target`, an .npz file.

    Its arrays: states [N, D], sentence [N] (0, 1, ...), word [N] (1..n), sent_ids.
    """
    place_of(target)  # what is wrong with it is said now and not after the last sentence
    return _written(lm, sentences, target)


def _written(lm: LM, sentences: Iterator[Sentence], target: Path) -> Iterator[Sentence]:
    states: list[Array] = []
    sent_ids: list[str] = []
    for sentence in sentences:
        states.append(lm.states(sentence.tree)[: len(sentence.tree)])
        sent_ids.append(sentence.tree.sent_id)
        yield sentence
    lengths = list(map(len, states))
    with whole_place(target) as place, place.open("wb") as out:  # a file, as to a name numpy would add a suffix
        np.savez_compressed(
            out,
            states=np.concatenate(states) if states else np.empty((0, lm.config.state), np.float32),
            sentence=np.repeat(np.arange(len(states)), lengths),
            word=np.concatenate([np.arange(1, n + 1) for n in lengths]) if states else np.empty(0, np.int64),
            sent_ids=np.array(sent_ids),
        )
