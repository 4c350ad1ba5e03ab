"""Training on the CPU: full steps by NCE and by the softmax, and the tree recurrence beside torch.nn.LSTM in one run.

The NCE steps are those of a store (the paper: V = 65,536), or of the bundled EWT with a vocabulary of 10,000, as are
those by the softmax.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import torch

from ramify.benchmark.timing import median_seconds
from ramify.corpus import Corpus, Encoding, Schedule, encode, open_store
from ramify.kernels.choice import recur
from ramify.kernels.products import input_products
from ramify.kernels.rows import tree_rows
from ramify.model.folder import make_model
from ramify.training.recipe import load_recipe
from ramify.training.trainer import Trainer

SIZE, HIDDEN, SENTENCES, BATCHES = 200, 400, 64, 10


def report(store: Path | None) -> Iterator[str]:
    """The lines of the table."""
    yield f"threads: {torch.get_num_threads()}; S = {SIZE}, D = {HIDDEN}, {SENTENCES} sentences a batch\n"
    ewt = encode(["ewt:train"], Encoding(min_count=0, max_vocabulary=10_000))
    large = open_store(store) if store else ewt
    jobs: dict[str, Callable[[], object]] = {}
    words: dict[str, int] = {}
    for kind in ("ldtree", "tree", "lstm"):
        for objective, corpus in (("nce", large), ("nll", ewt)):
            if objective == "nll" and kind != "ldtree":
                continue
            name = f"{kind} step, {objective}, V = {len(corpus.vocabulary):,}"
            jobs[name], words[name] = full_steps(corpus, kind, objective)
    for name, (job, count) in recurrences(large).items():
        jobs[name], words[name] = job, count
    times = median_seconds(jobs)
    yield f"{'what':<44}{'seconds':>9}{'words/s':>10}"
    for name, seconds in times.items():
        yield f"{name:<44}{seconds:>9.3f}{words[name] / seconds:>10,.0f}"
    rate = {name: words[name] / seconds for name, seconds in times.items()}
    yield f"\ntree recurrence / nn.LSTM: {rate['tree recurrence alone'] / rate['torch.nn.LSTM alone']:.2f}"


def full_steps(corpus: Corpus, kind: str, objective: str) -> tuple[Callable[[], object], int]:
    """Steps as `ramify train` takes them: forward, backward, clip, SGD; the batches are built before."""
    recipe = load_recipe("paper-msr", model=kind, objective=objective, lr=0.1)
    model = make_model(recipe.config, corpus.vocabulary)
    trainer = Trainer(model, recipe, [corpus], (corpus, corpus.everything[:1]), Path())
    batches = [model.build(corpus, sentences) for sentences in some(corpus)]
    model.train()
    return lambda: [trainer.step(batch) for batch in batches], sum(batch.n_words for batch in batches)


def recurrences(corpus: Corpus) -> dict[str, tuple[Callable[[], object], int]]:
    """Forward and backward from given inputs, with the products of the inputs, in trees and in equally many words of
    equally long sentences."""
    lstm = torch.nn.LSTM(SIZE, HIDDEN)
    weight_x = (torch.randn(4, 4 * HIDDEN, SIZE) * 0.05).requires_grad_()
    weight_h = (torch.randn(4, 4 * HIDDEN, HIDDEN) * 0.05).requires_grad_()
    bias = torch.zeros(4, 4 * HIDDEN, requires_grad=True)
    trees: list[tuple[Any, torch.Tensor]] = []
    sequences = []
    model = make_model(load_recipe("paper-msr").config, corpus.vocabulary)
    for sentences in some(corpus):
        rows = tree_rows(model.build(corpus, sentences))
        trees.append((rows, torch.randn(len(rows), SIZE, requires_grad=True)))
        sequences.append(torch.randn(round(len(rows) / len(sentences)), len(sentences), SIZE, requires_grad=True))

    def tree() -> None:
        for rows, x in trees:
            inputs = input_products(x, weight_x, bias, rows, {})
            recur(inputs, weight_h, 0.01, rows)[1:].sum().backward()

    def sequence() -> None:
        for x in sequences:
            lstm(x)[0].sum().backward()

    return {
        "tree recurrence alone": (tree, sum(len(rows) for rows, _ in trees)),
        "torch.nn.LSTM alone": (sequence, sum(x.shape[0] * x.shape[1] for x in sequences)),
    }


def some(corpus: Corpus) -> list[Any]:
    plan = Schedule(SENTENCES).epoch(corpus, corpus.training)
    return [plan[i] for i in range(BATCHES)]
