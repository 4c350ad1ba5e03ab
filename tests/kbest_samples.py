"""K-best lists that a bad parser could have made: gold trees with words hung elsewhere."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import numpy as np
from small_runs import some_trees

from ramify.errors import TreeError
from ramify.formats import KBest, Sentence, group, parse_conllu, write
from ramify.trees import Tree


def damaged(tree: Tree, changes: int, random: np.random.Generator) -> Tree:
    """A tree of the same words in which some words have another head and relation."""
    heads, deprels = list(tree.heads), list(tree.deprels)
    for _ in range(changes):
        word = int(random.integers(len(tree)))
        tried = [*heads]
        tried[word] = int(random.integers(len(tree) + 1))
        try:
            Tree(tree.forms, tuple(tried))
        except TreeError:
            continue
        heads = tried
        deprels[word] = str(random.choice(["nsubj", "obj:x", "case", "punct"]))
    return Tree(tree.forms, tuple(heads), tuple(deprels), tree.upos, tree.xpos, tree.sent_id)


@cache
def some_lists(n: int = 12, seed: int = 5) -> tuple[tuple[Tree, ...], tuple[KBest, ...]]:
    """Gold trees, and lists of 1 to 6 candidates for them, some of them alike, with falling scores."""
    random = np.random.default_rng(seed)
    gold, texts = tuple(some_trees(n)), []
    for number, tree in enumerate(gold):
        size = number % 6 + 1
        candidates = [damaged(tree, int(random.integers(5)), random) for _ in range(size)]
        if size > 3:
            candidates[2] = candidates[0]
        scores = np.sort(random.normal(scale=3.0, size=size))[::-1].tolist()
        for rank, (candidate, score) in enumerate(zip(candidates, scores, strict=True), 1):
            text = Sentence.from_tree(candidate).with_comments(
                {"sent_id": f"{tree.sent_id}/k_{rank}", "parser_score": f"{score:.6f}"}
            )
            texts.append(text.text)
    return gold, tuple(group(parse_conllu("".join(texts), source="lists.conllu")))


def write_lists(folder: Path, n: int = 12) -> tuple[Path, Path]:
    """Both as files in CoNLL-U: the gold trees, and the lists."""
    gold, lists = some_lists(n)
    write(map(Sentence.from_tree, gold), folder / "gold.conllu")
    write((candidate for kbest in lists for candidate in kbest.candidates), folder / "lists.conllu")
    return folder / "gold.conllu", folder / "lists.conllu"
