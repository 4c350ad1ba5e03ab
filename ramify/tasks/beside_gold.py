"""Sentences of a system beside those of the gold standard: one for one, in the same order, with the same words."""

from __future__ import annotations

from collections.abc import Sequence

from ramify.corpus.structure import Array
from ramify.errors import FormatError
from ramify.formats.kbest import KBest
from ramify.tasks.attachment import attachments
from ramify.trees import Tree


def counts_beside_gold(gold: Sequence[Tree], lists: Sequence[KBest]) -> list[Array]:
    """The counts of all candidates, a table [candidates, counts] for each sentence.

    Refused are other words, missing and additional sentences. The order decides what belongs together, as many parsers
    give names of their own; where words differ, the names tell what has happened.
    """
    system = [kbest.candidates[0].tree for kbest in lists]
    differs = (i for i, (ours, theirs) in enumerate(zip(gold, system, strict=False)) if ours.forms != theirs.forms)
    i = next(differs, min(len(gold), len(system)))
    if i < max(len(gold), len(system)):
        raise _mismatch(gold, system, [kbest.sent_id for kbest in lists], i)
    return [
        attachments(tree, [candidate.tree for candidate in kbest.candidates])
        for tree, kbest in zip(gold, lists, strict=True)
    ]


def _mismatch(gold: Sequence[Tree], system: Sequence[Tree], names: Sequence[str], i: int) -> FormatError:
    """What is wrong where the sentences i are the first ones that differ."""
    ours, theirs = gold[i] if i < len(gold) else None, system[i] if i < len(system) else None
    in_gold, in_system = {tree.sent_id for tree in gold}, set(names)
    if ours is not None and (theirs is None or (names[i] in in_gold and ours.sent_id not in in_system)):
        message = f"this sentence of the gold standard, number {i + 1:,}, is missing in {system[0].source}"
        return FormatError(message, ours.source, ours.line, ours.sent_id)
    assert theirs is not None
    place = theirs.source, theirs.line, theirs.sent_id
    if ours is None or (ours.sent_id in in_system and names[i] not in in_gold):
        return FormatError(f"this sentence is not in the gold standard {gold[0].source}: leave it out", *place)
    where = f"the gold standard, {ours.address}: both sides need the same tokens"
    if len(ours) != len(theirs):
        return FormatError(f"{len(theirs)} words here, and {len(ours)} in {where}", *place)
    word, wanted, found = next(
        (n, a, b) for n, (a, b) in enumerate(zip(ours.forms, theirs.forms, strict=True), 1) if a != b
    )
    return FormatError(f"word {word} is {found!r} here, and {wanted!r} in {where}", *place)
