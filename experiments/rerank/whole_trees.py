"""A treebank as a model of whole trees reads it: words with their tags, and an end on both sides of every word.

P(S|T) says how likely words are in a tree, not how likely the tree is: nothing is paid for a dependent that is not
there. Here every word also has a first dependent `<l>` beyond all its left ones and a last one `<r>` beyond all its
right ones. At every step of a path the model then says whether another dependent comes, so the product over all words
and ends is P(S, T), as in generative parsing. The tags are the gold ones, which the parser was given, too.
"""

from __future__ import annotations

from collections import Counter
from functools import cache

from ramify.formats import read
from ramify.trees import Tree

OFTEN = 5  # pairs of word and tag that occur no more often in ewt:train are seen as the tag alone


def whole(tree: Tree) -> Tree:
    """The tree with tags and ends."""
    return with_ends(with_tags(tree))


def with_tags(tree: Tree) -> Tree:
    """`dog/NN` for the word, and `<NN>` where it is rare."""
    known = _counts()
    pairs = zip(tree.forms, tree.xpos, strict=True)
    forms = tuple(f"{word}/{tag}" if known[word, tag] > OFTEN else f"<{tag}>" for word, tag in pairs)
    return Tree(forms, tree.heads, sent_id=tree.sent_id)


def with_ends(tree: Tree) -> Tree:
    """`<l>` before a word and its left dependents, `<r>` behind it and its right ones."""
    n = len(tree)
    before: list[list[int]] = [[] for _ in range(n + 1)]
    behind: list[list[int]] = [[] for _ in range(n + 1)]
    for word in range(1, n + 1):
        family = [word, *(each for each, head in enumerate(tree.heads, 1) if head == word)]
        before[min(family)].append(word)
        behind[max(family)].append(word)
    rows: list[tuple[str, int]] = []
    place = [0] * (n + 1)
    for word in range(1, n + 1):
        rows += [("<l>", head) for head in before[word]]
        rows.append((tree.forms[word - 1], tree.heads[word - 1]))
        place[word] = len(rows)
        rows += [("<r>", head) for head in behind[word]]
    return Tree(tuple(form for form, _ in rows), tuple(place[head] for _, head in rows), sent_id=tree.sent_id)


@cache
def _counts() -> Counter[tuple[str, str]]:
    return Counter(pair for tree in read("ewt:train") for pair in zip(tree.forms, tree.xpos, strict=True))
