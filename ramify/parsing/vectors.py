"""Vectors: pretrained ones for all words of a file; what a treebank lacks, a text to be parsed may have."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from ramify.corpus.structure import Array
from ramify.errors import FormatError
from ramify.formats.files import text_chunks
from ramify.parsing.lexicon import Lexicon


@dataclass(frozen=True)
class Vectors:
    """Words and their vectors [W, S]; none at all where no file is given."""

    words: tuple[str, ...] = ()
    values: Array = field(default_factory=lambda: np.zeros((0, 0), np.float16))

    @property
    def size(self) -> int:
        return int(self.values.shape[1])

    def put(self, place: Tensor, lexicon: Lexicon) -> None:
        """Write them where a model has its vectors, in the order of the lexicon."""
        if self.size:
            rows = [lexicon.index["pretrained"][word] for word in self.words]
            place[rows] = torch.from_numpy(self.values)

    @classmethod
    def read(cls, path: Path) -> Vectors:
        """All of a text file such as GloVe's, a word and its numbers on each line."""
        words: dict[str, Array] = {}
        held, number, size = "", 0, 0
        for chunk in chain(text_chunks(path), ["\n"]):
            *lines, held = (held + chunk).split("\n")
            for line in lines:
                number += 1
                parts = line.removeprefix("\ufeff").rstrip().split(" ")
                if len(parts) < 2 or (number == 1 and len(parts) == 2):
                    continue  # a blank line, or word2vec's header: words and size
                size = size or len(parts) - 1
                if len(parts) > size + 1:
                    continue  # of several words, as a few of GloVe's are
                try:
                    vector = np.array(parts[1:], np.float32)
                except ValueError:
                    raise FormatError(f"the vector of {parts[0]!r} is not all numbers", str(path), number) from None
                if len(vector) != size or not np.abs(vector).max() < 65504:  # the largest float16
                    message = f"the vector of {parts[0]!r} should be {size} numbers, all of them finite"
                    raise FormatError(message, str(path), number)
                words.setdefault(parts[0], vector)
        if not words:
            raise FormatError(
                "there are no vectors: each line is a word and its numbers, with spaces between", str(path)
            )
        return cls(tuple(words), np.stack(list(words.values())).astype(np.float16))
