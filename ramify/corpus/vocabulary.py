"""Vocabulary: the words that a model knows, by number, with their counts."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from ramify.errors import CallError, StoreError
from ramify.formats.files import whole_file

UNK, ROOT = 0, 1  # the first two word ids; 0 is also the label of every relation that is not known
UNK_WORD, ROOT_WORD = "<unk>", "<root>"

Counts = np.ndarray[tuple[int], np.dtype[np.int64]]


@dataclass(frozen=True)
class Vocabulary:
    """Words by falling count after UNK and ROOT, and the dependency relations (labels) that were seen.

    ROOT is a word of the vocabulary, as in the original: its count is the number of sentences. UNK has the summed
    count of all words that were left out.
    """

    words: tuple[str, ...]
    counts: Counts
    labels: tuple[str, ...] = (UNK_WORD,)
    lowercase: bool = False
    min_count: int = 0
    index: Mapping[str, int] = field(init=False, repr=False, compare=False)
    label_index: Mapping[str, int] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        if self.words[:2] != (UNK_WORD, ROOT_WORD) or len(self.words) != len(self.counts):
            raise ValueError(f"a vocabulary starts with {UNK_WORD} and {ROOT_WORD} and has a count for each word")
        if self.labels[:1] != (UNK_WORD,):
            raise ValueError(f"the labels of a vocabulary start with {UNK_WORD}")
        index = {word: i for i, word in enumerate(self.words)}
        if len(index) != len(self.words):
            raise ValueError("a word occurs twice in the vocabulary")
        index[ROOT_WORD] = UNK  # in a text it is an unknown word: nothing but the tree's own ROOT has this id
        object.__setattr__(self, "index", index)
        object.__setattr__(self, "label_index", {label: i for i, label in enumerate(self.labels)})

    def __len__(self) -> int:
        return len(self.words)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Vocabulary) and self.to_json() == other.to_json()

    def normal(self, forms: Iterable[str]) -> Iterable[str]:
        """Forms as the vocabulary spells them."""
        return map(str.lower, forms) if self.lowercase else forms

    def ids(self, forms: Iterable[str]) -> list[int]:
        """The word ids of forms; UNK for those that are not known."""
        return [self.index.get(form, UNK) for form in self.normal(forms)]

    @classmethod
    def from_counts(
        cls,
        counts: Mapping[str, int],
        sentences: int,
        *,
        labels: Sequence[str] = (),
        lowercase: bool = False,
        min_count: int = 0,
        max_size: int | None = None,
    ) -> Vocabulary:
        """Keep the words that occur more than `min_count` times, at most `max_size` with UNK and ROOT included.

        Where the size is reached, rarer words go first, and of equally frequent ones those that were met later.
        """
        if max_size is not None and max_size < 2:
            raise CallError(f"a vocabulary holds UNK and ROOT at least: {max_size} words are too few")
        special = {UNK_WORD, ROOT_WORD}
        kept = [word for word, count in counts.items() if count > min_count and word not in special]
        kept.sort(key=lambda word: -counts[word])  # stable: equals stay in the order of the text
        if max_size is not None:
            kept = kept[: max_size - 2]
        unknown = sum(counts.values()) - sum(counts[word] for word in kept)
        return cls(
            (UNK_WORD, ROOT_WORD, *kept),
            np.array([unknown, sentences, *(counts[word] for word in kept)], np.int64),
            (UNK_WORD, *(label for label in labels if label != UNK_WORD)),
            lowercase,
            min_count,
        )

    def to_json(self) -> dict[str, Any]:
        return {
            "lowercase": self.lowercase,
            "min_count": self.min_count,
            "labels": list(self.labels),
            "words": list(zip(self.words, self.counts.tolist(), strict=True)),
        }

    def save(self, path: str | Path) -> None:
        """Write the vocabulary as JSON with a line for each word, so that it can be read and searched as text."""
        parts = self.to_json()
        words = parts.pop("words")
        head = ",\n".join(f"{json.dumps(key)}: {json.dumps(value, ensure_ascii=False)}" for key, value in parts.items())
        body = ",\n".join(json.dumps(pair, ensure_ascii=False) for pair in words)
        with whole_file(path) as out:
            out.write(f'{{\n{head},\n"words": [\n{body}\n]\n}}\n')

    @classmethod
    def load(cls, path: str | Path) -> Vocabulary:
        path = Path(path)
        try:
            parts = json.loads(path.read_text(encoding="utf-8"))
            words, counts = zip(*parts["words"], strict=True)
            labels, lowercase, min_count = parts["labels"], parts["lowercase"], parts["min_count"]
            if not all(type(word) is str for word in (*words, *labels)) or type(lowercase) is not bool:
                raise ValueError("words and labels are text, lowercase is true or false")
            if not all(type(count) is int and count >= 0 for count in (*counts, min_count)):
                raise ValueError("counts are whole numbers, 0 or more")
            return cls(words, np.array(counts, np.int64), tuple(labels), lowercase, min_count)
        except FileNotFoundError:
            raise CallError(f"no such vocabulary: {path}") from None
        except (ValueError, KeyError, TypeError, OverflowError) as error:
            raise StoreError(f"{path} is no vocabulary: {error}") from None
