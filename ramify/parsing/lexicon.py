"""Lexicon: what a parser knows by number: words, characters, tags and relations; and words with pretrained vectors."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ramify.errors import ModelError
from ramify.formats.files import whole_file
from ramify.trees import Tree

PAD, UNK, ROOT = 0, 1, 2  # the first words, and the first characters
SPECIAL = ("<pad>", "<unk>", "<root>")
LONGEST = 30  # characters of a word that are read: its first and last ones, half each
_PARTS = ("words", "characters", "tags", "labels", "pretrained")


@dataclass(frozen=True)
class Lexicon:
    """Words are lower-cased, characters are not. The first two with a pretrained vector have none."""

    words: tuple[str, ...]
    characters: tuple[str, ...]
    tags: tuple[str, ...]
    labels: tuple[str, ...]
    pretrained: tuple[str, ...] = SPECIAL[:2]
    index: Mapping[str, Mapping[str, int]] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        index = {part: {name: i for i, name in enumerate(getattr(self, part))} for part in _PARTS}
        for part in _PARTS:
            if len(index[part]) != len(getattr(self, part)):
                raise ValueError(f"one of the {part} occurs twice")
        if self.words[:3] != SPECIAL or self.characters[:3] != SPECIAL or self.pretrained[:2] != SPECIAL[:2]:
            raise ValueError(f"words and characters start with {', '.join(SPECIAL)}")
        if not self.tags or not self.labels:
            raise ValueError("there are no tags or no labels")
        object.__setattr__(self, "index", index)

    @classmethod
    def of(cls, trees: Iterable[Tree], min_count: int, pretrained: Sequence[str] = ()) -> Lexicon:
        """What these trees know; words that occur no more than `min_count` times are not kept."""
        words: Counter[str] = Counter()
        characters: Counter[str] = Counter()
        tags: Counter[str] = Counter()
        labels: Counter[str] = Counter()
        for tree in trees:
            words.update(map(str.lower, tree.forms))
            characters.update("".join(tree.forms))
            tags.update(tree.upos)
            labels.update(tree.deprels)
        kept = [word for word, count in words.most_common() if count > min_count and word not in SPECIAL]
        return cls(
            (*SPECIAL, *kept),
            (*SPECIAL, *sorted(characters)),
            tuple(sorted(tags)),
            tuple(sorted(labels)),
            (*SPECIAL[:2], *(word for word in pretrained if word not in SPECIAL[:2])),
        )

    def word(self, form: str) -> int:
        return self._of("words", form.lower())

    def vector(self, form: str) -> int:
        """The number of a form's vector, in its own case or else in lower case."""
        index = self.index["pretrained"]
        return index.get(form, index.get(form.lower(), UNK))

    def spelling(self, form: str) -> list[int]:
        """Its characters between two marks; of a very long word those at both ends."""
        if len(form) > LONGEST:
            form = form[: LONGEST // 2] + form[-LONGEST // 2 :]
        return [ROOT, *(self._of("characters", character) for character in form), ROOT]

    def _of(self, part: str, name: str) -> int:
        return self.index[part].get(name, UNK)

    def save(self, path: Path) -> None:
        """Write it as JSON with a line for each kind."""
        parts = (f"{json.dumps(part)}: {json.dumps(getattr(self, part), ensure_ascii=False)}" for part in _PARTS)
        with whole_file(path) as out:
            out.write("{\n" + ",\n".join(parts) + "\n}\n")

    @classmethod
    def load(cls, path: Path) -> Lexicon:
        try:
            parts: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
            if not all(type(name) is str for part in _PARTS for name in parts[part]):
                raise ValueError("what has a number is text")
            return cls(*(tuple(parts[part]) for part in _PARTS))
        except FileNotFoundError:
            raise ModelError(f"{path.parent} is not whole: {path.name} is missing") from None
        except (ValueError, KeyError, TypeError) as error:
            raise ModelError(f"{path} is no vocabulary of a parser: {error!r}") from None
