"""Attachment: how much of a gold tree another tree of the same words has right, as counts that can be added up.

By the rule of the CoNLL 2018 shared task all words count for UAS and LAS, and CLAS is the F1 of content words: those
whose relation says so, in the gold tree on one side and in the system's on the other. By the paper's rule words are
left out whose gold tag (XPOS) is one of punctuation. Relations are compared without subtypes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ramify.corpus.structure import Array
from ramify.trees import Tree

PUNCTUATION = frozenset({"``", "''", ".", ",", ":"})  # of the Penn Treebank; brackets, $ and # are counted
# fmt: off
CONTENT = frozenset({
    "nsubj", "obj", "iobj", "csubj", "ccomp", "xcomp", "obl", "vocative", "expl", "dislocated", "advcl", "advmod",
    "discourse", "nmod", "appos", "nummod", "acl", "amod", "conj", "fixed", "flat", "compound", "list", "parataxis",
    "orphan", "goeswith", "reparandum", "root", "dep",
})
# fmt: on


class Attachment(NamedTuple):
    """The counts of one tree, or of many."""

    words: int
    heads: int  # words with the right head
    relations: int  # and the right relation
    content: int  # content words of both trees together
    content_right: int  # those of them that are right, counted on both sides
    kept: int  # words that the paper's rule keeps
    kept_heads: int
    kept_relations: int


FIGURES = {  # each a share of counts
    "uas": ("heads", "words"),
    "las": ("relations", "words"),
    "clas": ("content_right", "content"),
    "paper_uas": ("kept_heads", "kept"),
    "paper_las": ("kept_relations", "kept"),
}


def columns(figure: str) -> tuple[int, int]:
    """Which counts a figure is the share of, by their places."""
    right, of = FIGURES[figure]
    return Attachment._fields.index(right), Attachment._fields.index(of)


def attachment(gold: Tree, system: Tree) -> Attachment:
    """The counts of one tree; its words are those of the gold tree."""
    heads = relations = content = content_right = kept = kept_heads = kept_relations = 0
    for gold_head, head, gold_deprel, deprel, tag in zip(
        gold.heads, system.heads, gold.deprels, system.deprels, gold.xpos, strict=True
    ):
        wanted, found = gold_deprel.partition(":")[0], deprel.partition(":")[0]
        is_head = gold_head == head
        is_right = is_head and wanted == found
        heads += is_head
        relations += is_right
        content += (wanted in CONTENT) + (found in CONTENT)
        content_right += 2 * (is_right and wanted in CONTENT)
        if tag not in PUNCTUATION:
            kept += 1
            kept_heads += is_head
            kept_relations += is_right
    return Attachment(len(gold), heads, relations, content, content_right, kept, kept_heads, kept_relations)


def attachments(gold: Tree, candidates: Sequence[Tree]) -> Array:
    """The counts of several trees of one sentence [candidates, counts]."""
    return np.array([attachment(gold, tree) for tree in candidates], np.int64)
