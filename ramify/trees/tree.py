"""Tree: words and heads that are known to form a dependency tree.

Words are numbered 1..n in the order of the sentence; 0 is ROOT. A `Tree` cannot exist broken, so whoever holds one
need not ask whether heads are in range or every word is reachable.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from ramify.errors import TreeError

ROOT = 0


class Word(NamedTuple):
    """All that a tree knows of one word, apart from where it stands."""

    form: str
    deprel: str = "_"
    upos: str = "_"
    xpos: str = "_"


@dataclass(frozen=True, slots=True)
class Tree:
    """A dependency tree over the words 1..n: `heads[i]` is the head of word `i + 1`, 0 for a dependent of ROOT.

    Two trees are equal when their words and heads are; where they were read from does not count.
    """

    forms: tuple[str, ...]
    heads: tuple[int, ...]
    deprels: tuple[str, ...] = ()
    upos: tuple[str, ...] = ()
    xpos: tuple[str, ...] = ()
    sent_id: str = field(default="", compare=False)
    source: str = field(default="", compare=False)  # the file it was read from
    line: int = field(default=0, compare=False)  # and the line on which its sentence starts there

    def __post_init__(self) -> None:
        forms, heads, deprels, upos, xpos = self.forms, self.heads, self.deprels, self.upos, self.xpos
        if not (
            {type(forms), type(heads), type(deprels), type(upos), type(xpos)} == {tuple}
            and len(forms) == len(heads) == len(deprels) == len(upos) == len(xpos)
        ):
            self._complete()
        check_heads(self.heads)

    def _complete(self) -> None:
        """Make tuples of lists, and fill the columns that were left out."""
        n = len(self.forms)
        for column in ("forms", "heads", "deprels", "upos", "xpos"):
            values = tuple(getattr(self, column))
            if not values and column not in ("forms", "heads"):
                values = ("_",) * n
            if len(values) != n:
                raise TreeError(f"{n} forms but {len(values)} {column}")
            object.__setattr__(self, column, values)

    def __len__(self) -> int:
        return len(self.forms)

    @property
    def words(self) -> tuple[Word, ...]:
        return tuple(map(Word, self.forms, self.deprels, self.upos, self.xpos))

    @property
    def roots(self) -> tuple[int, ...]:
        """The dependents of ROOT: one by the paper's rule, sometimes more in real treebanks."""
        return tuple(word for word, head in enumerate(self.heads, 1) if head == ROOT)

    @property
    def address(self) -> str:
        """Where the tree comes from: `dev.conllu:14 (sent_id s3)`."""
        place = f"{self.source}:{self.line}" if self.line else self.source
        return f"{place} (sent_id {self.sent_id})".strip() if self.sent_id else place


def check_heads(heads: Sequence[int]) -> None:
    """Refuse heads that are not a tree under ROOT: a walk along the heads from any word must end there."""
    n = len(heads)
    if n == 0:
        raise TreeError("a tree needs at least one word")
    if min(heads) < 0 or max(heads) > n:
        word, head = next((w, h) for w, h in enumerate(heads, 1) if not 0 <= h <= n)
        raise TreeError(f"word {word} has head {head}, but the words are 1 to {n} and ROOT is 0", word)
    # Pointers to heads, doubled until they reach n words up: in a tree all end at ROOT, those of a cycle stay in it.
    stuck: Sequence[int]
    if n < 256:
        above = bytes((ROOT, *heads)).ljust(256, b"\0")
        for _ in range(n.bit_length()):
            above = above.translate(above)  # a table applied to itself, in one fast call
        stuck = above.strip(b"\0")
    else:
        stuck = [ROOT, *heads]
        for _ in range(n.bit_length()):
            stuck = [stuck[word] for word in stuck]
    if any(stuck):
        raise _cycle_error(heads, next(filter(None, stuck)))


def _cycle_error(heads: Sequence[int], start: int) -> TreeError:
    cycle = [start]
    while (word := heads[cycle[-1] - 1]) != start:
        cycle.append(word)
    cycle.sort()
    if len(cycle) == 1:
        message = f"word {start} is its own head"
    elif len(cycle) <= 6:
        message = f"words {', '.join(map(str, cycle[:-1]))} and {cycle[-1]} form a cycle"
    else:
        message = f"words {cycle[0]}, {cycle[1]}, {cycle[2]} and {len(cycle) - 3} more form a cycle"
    if ROOT not in heads:
        message += ", and no word has head 0: the sentence has no root"
    return TreeError(message, cycle[0])
