"""Pretrained word vectors: text files such as GloVe's, a word and its numbers on each line."""

from __future__ import annotations

from itertools import chain
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from ramify.corpus.structure import Array
from ramify.corpus.vocabulary import ROOT, UNK, Vocabulary
from ramify.errors import FormatError
from ramify.formats.files import text_chunks


def read_vectors(path: str | Path, vocabulary: Vocabulary, size: int) -> tuple[Tensor, Tensor]:
    """The words of the vocabulary that the file knows [K], and their vectors [K, S].

    A word that is not there in its own case takes the vector of its lower-cased form. Where none is known, the
    file is refused.
    """
    wanted: dict[str, list[int]] = {}
    for i, word in enumerate(vocabulary.words):
        if i not in (UNK, ROOT):
            wanted.setdefault(word, []).append(i)
            wanted.setdefault(word.lower(), []).append(i)
    found: dict[int, Array] = {}
    exact: set[int] = set()
    held = ""
    number = 0
    for chunk in chain(text_chunks(path), ["\n"]):
        *lines, held = (held + chunk).split("\n")
        for line in lines:
            number += 1
            if number == 1:
                line = line.removeprefix("\ufeff")  # a byte order mark
            word, _, numbers = line.rstrip().partition(" ")
            header = number == 1 and word.isdigit() and numbers.isdigit()  # word2vec's: words and size
            if header or word not in wanted:
                continue
            try:
                with np.errstate(over="ignore"):  # it is infinite then
                    vector = np.array(numbers.split(), np.float32)
            except ValueError:
                if numbers.count(" ") >= size:  # of several words, as a few of GloVe's are: none of ours
                    continue
                raise FormatError(f"the vector of {word!r} is not all numbers", str(path), number) from None
            if len(vector) != size:
                message = f"the vector of {word!r} has {len(vector)} numbers, the embedding {size}: set --embedding"
                raise FormatError(message, str(path), number)
            if not np.isfinite(vector).all():
                raise FormatError(f"the vector of {word!r} has values that are no finite numbers", str(path), number)
            for i in wanted[word]:
                own = vocabulary.words[i] == word
                if own or i not in exact:
                    found[i] = vector
                if own:
                    exact.add(i)
    if not found:
        message = f"no word of the vocabulary is here: each line is a word and its {size} numbers, with spaces between"
        raise FormatError(message, str(path))
    ids = sorted(found)
    return torch.tensor(ids, dtype=torch.long), torch.from_numpy(np.stack([found[i] for i in ids]))
