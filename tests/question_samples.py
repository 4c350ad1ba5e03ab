"""Questions made from treebank sentences: a word is taken out, and candidates are put in its place."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from corpus_twins import random_tree
from small_runs import some_trees

from ramify.formats.parses import Parses
from ramify.formats.questions import Question, letter
from ramify.trees import Tree

WORDS = ["the", "and", "Iraq", "sleeps", "blorbs", "gnarfs"]  # the last two are words of no vocabulary


def some_questions(n: int = 8, seed: int = 0) -> tuple[list[Question], list[Parses]]:
    """Questions of three candidates with a parse of each; the parses of a question differ."""
    random = np.random.default_rng(seed)
    questions, parses = [], []
    for number, tree in enumerate(some_trees(n), 1):
        place = int(random.integers(len(tree)))
        candidates = (tree.forms[place], *random.permutation(WORDS)[:2].tolist())
        before, after = " ".join(tree.forms[:place]), " ".join(tree.forms[place + 1 :])
        questions.append(Question(str(number), f"{before} ", f" {after}", candidates, "a", "questions.csv", number + 1))
        trees = []
        for i, candidate in enumerate(candidates):
            forms = (*tree.forms[:place], candidate, *tree.forms[place + 1 :])
            heads = tree.heads if i == 0 else random_tree(random, len(tree), 9).heads
            trees.append([replace(tree, forms=forms, heads=heads, sent_id=f"q{number}{letter(i)}")])
        parses.append(Parses(trees))
    return questions, parses


def as_conllu(trees: list[Tree]) -> str:
    parts = []
    for tree in trees:
        if tree.sent_id:
            parts.append(f"# sent_id = {tree.sent_id}")
        for word, (form, head) in enumerate(zip(tree.forms, tree.heads, strict=True), 1):
            parts.append(f"{word}\t{form}\t_\t_\t_\t_\t{head}\t_\t_\t_")
        parts.append("")
    return "\n".join([*parts, ""])


def as_csv(questions: list[Question]) -> str:
    import csv
    import io

    out = io.StringIO(newline="")
    write = csv.writer(out, lineterminator="\n")
    most = max(len(question.candidates) for question in questions)
    write.writerow(["id", "question", *(f"{letter(i)})" for i in range(most))])
    for question in questions:
        write.writerow([question.id, f"{question.before}_____{question.after}", *question.candidates])
    return out.getvalue()
