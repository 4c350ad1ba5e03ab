"""Filling: what a parser found, written into sentences; all that it does not know of is kept."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from ramify.formats.conllu import DEPREL, HEAD, ID, UPOS, Sentence
from ramify.formats.kbest import SCORE
from ramify.trees import ROOT, Tree

if TYPE_CHECKING:
    from ramify.parsing.parser import Annotation

_REPLACED = re.compile(rf"#[ \t]*(sent_id|{SCORE})[ \t]*=")


def named(given: Sentence | Tree | Sequence[str], number: int, k: int) -> tuple[Sentence, str]:
    """What is to be parsed, as a sentence, and its name; without one it has its number where it needs a name."""
    if isinstance(given, Sentence):
        sentence = given
    elif isinstance(given, Tree):
        sentence = Sentence.from_tree(given)
    else:
        forms = tuple(given)
        sentence = Sentence.from_tree(Tree(forms, (ROOT,) * len(forms), sent_id=f"s{number}"))
    return sentence, sentence.tree.sent_id or (f"s{number}" if k > 1 else "")


def filled(sentence: Sentence, name: str, found: list[Annotation], k: int) -> tuple[Sentence, ...]:
    """The candidates of a sentence: one under its own name, or a k-best list with slash ids."""
    lines = [line for line in sentence.lines if not _REPLACED.match(line)]
    first = next(i for i, line in enumerate(lines) if not line.startswith("#"))
    comments, rows = lines[:first], [line.split("\t") for line in lines[first:]]
    words = [row for row in rows if row[ID].isdigit()]
    tree = sentence.tree
    candidates = []
    for rank, each in enumerate(found, 1):
        for row, head, deprel, upos in zip(words, each.heads, each.deprels, each.upos, strict=True):
            row[HEAD], row[DEPREL], row[UPOS] = str(head), deprel, upos
        own = f"{name}/k_{rank}" if k > 1 else name
        top = [f"# sent_id = {own}"] if own else []
        body = [*top, *comments, f"# {SCORE} = {each.score:.6f}", *("\t".join(row) for row in rows)]
        parsed = Tree(tree.forms, each.heads, each.deprels, each.upos, tree.xpos, own, tree.source, tree.line)
        candidates.append(Sentence("\n".join(body) + "\n\n", parsed))
    return tuple(candidates)
