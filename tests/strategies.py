"""Random trees and random treebank texts, for every test that wants some."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import NamedTuple

from hypothesis import strategies as st

from ramify.errors import TreeError
from ramify.trees import Tree

FORMS = st.text(st.sampled_from("aZ5-.,()'/#= é日\u0301\u00a0\u2028"), min_size=1, max_size=5)
LABELS = st.sampled_from(["nsubj", "obl:in", "dep", "_"])


@st.composite
def random_trees(draw: st.DrawFn, size: int = 12) -> Tree:
    """Any tree, projective or not, with one root or several: each word hangs on one that was placed before it."""
    order = draw(st.integers(1, size).flatmap(lambda n: st.permutations(range(1, n + 1))))
    heads = [0] * len(order)
    for i, word in enumerate(order):
        heads[word - 1] = draw(st.sampled_from([0, *order[:i]]))
    return _with_words(draw, heads)


@st.composite
def random_projective_trees(draw: st.DrawFn, size: int = 12) -> Tree:
    """Spans cut into neighbouring subtrees, each of which is cut again on both sides of its root."""
    heads = [0] * draw(st.integers(1, size))
    spans = [(1, len(heads) + 1, 0)]
    while spans:
        low, high, head = spans.pop()
        if low == high:
            continue
        end = draw(st.integers(low + 1, high))
        root = draw(st.integers(low, end - 1))
        heads[root - 1] = head
        spans += [(end, high, head), (root + 1, end, root), (low, root, root)]
    return _with_words(draw, heads)


def _with_words(draw: st.DrawFn, heads: list[int]) -> Tree:
    n = len(heads)
    forms = draw(st.lists(FORMS, min_size=n, max_size=n))
    deprels, upos, xpos = (draw(st.lists(LABELS, min_size=n, max_size=n)) for _ in range(3))
    return Tree(forms, heads, deprels, upos, xpos)


def all_trees(longest: int) -> Iterator[Tree]:
    """Every tree of at most so many words, out of all lists of heads."""
    for n in range(1, longest + 1):
        for heads in itertools.product(range(n + 1), repeat=n):
            try:
                yield Tree(["w"] * n, heads)
            except TreeError:
                continue


def descends(tree: Tree, word: int, ancestor: int) -> bool:
    """The slow twin of every clever way to ask: walk up and see."""
    while word not in (0, ancestor):
        word = tree.heads[word - 1]
    return word == ancestor


class Text(NamedTuple):
    """A CoNLL-U file, and what a reader must see in it."""

    text: str
    trees: list[Tree]  # with sent_id and line


_COMMENTS = st.sampled_from(
    ["#", "# text = a\tb", "# newdoc id = d", "#text=x = y", "# text = not # sent_id = this", "# 1\t2"]
)
_SENT_IDS = st.sampled_from([("", ""), ("# sent_id = s1", "s1"), ("#sent_id=a b/k_1  ", "a b/k_1")])
_MISC = st.sampled_from(["_", "SpaceAfter=No", "Gloss=a=b==|X=é", "", "Ref=1\u20282"])


@st.composite
def conllu_texts(draw: st.DrawFn) -> Text:
    """CoNLL-U with all that is allowed in it: comments, multiword tokens, empty nodes, BOM, CRLF, blank lines."""
    parts = [draw(st.sampled_from(["", "\ufeff"])), draw(st.sampled_from(["", "\n", "\n\n", "\r\n\n"]))]
    trees = []
    count = draw(st.integers(1, 4))
    for i in range(count):
        end = draw(st.sampled_from(["\n", "\r\n"]))
        tree = draw(random_trees(5))
        comment, sent_id = draw(_SENT_IDS)
        comments = draw(st.lists(_COMMENTS, max_size=3))
        if comment:
            comments.insert(draw(st.integers(0, len(comments))), comment)
        line = 1 + "".join(parts).count("\n")
        trees.append(Tree(tree.forms, tree.heads, tree.deprels, tree.upos, tree.xpos, sent_id, "", line))
        parts.append(end.join([*comments, *_token_lines(draw, tree)]))
        last = i == count - 1
        parts.append(end * draw(st.integers(0 if last else 2, 4)))
    return Text("".join(parts), trees)


def _token_lines(draw: st.DrawFn, tree: Tree) -> Iterator[str]:
    covered = 0
    for word in range(len(tree) + 1):
        if word:
            form, deprel, upos, xpos = tree.words[word - 1]
            head = tree.heads[word - 1]
            yield f"{word}\t{form}\tlemma\t{upos}\t{xpos}\t_\t{head}\t{deprel}\t_\t{draw(_MISC)}"
        for empty in range(1, draw(st.sampled_from([0, 0, 0, 1, 2])) + 1):
            yield f"{word}.{empty}\tgone\t_\t_\t_\t_\t_\t_\t{word}:dep\t_"
        if covered <= word < len(tree) and draw(st.sampled_from([False, False, True])):
            covered = draw(st.integers(word + 1, len(tree)))
            yield f"{word + 1}-{covered}\tboth\t_\t_\t_\t_\t_\t_\t_\t_"
