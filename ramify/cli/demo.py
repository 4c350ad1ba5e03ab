"""ramify demo: what Ramify does, step by step, on the treebank that comes with it."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from ramify.cli.common import Quiet
from ramify.formats import read
from ramify.trees import EdgeType, Tree, dependency_path, predecessors
from ramify.trees.pictures import draw_text, edge_row, level_row, value_row

if TYPE_CHECKING:
    from ramify.corpus import Corpus

SIZE, EPOCHS, DROPOUT = 100, 3, 0.2  # small enough for about a minute on two cores and needs less dropout


def demo(quiet: Quiet = False) -> None:
    """Walk through Ramify on the bundled treebank: trees, batches, a model trained for about a minute, its scores."""
    trees = list(read("ewt:dev"))
    tree = _example(trees)
    _title("1. A tree of English EWT, with the edge type and level of each word (ramify draw)")
    print(f"{tree.address}\n\n{draw_text(tree, [edge_row(tree), level_row(tree)], width=100)}")

    _title("2. Dependency paths: all that the model sees before it predicts a word")
    for word in range(1, len(tree) + 1):
        print(f"  D({tree.forms[word - 1]}) = {_path(tree, word)}")

    from ramify.corpus import Encoding, encode

    _title("3. The treebank as numbers (ramify stats, ramify encode), and a batch of 64 sentences")
    corpus = encode(["ewt:train"], Encoding(min_count=1))
    print(f"{len(corpus):,} sentences, {corpus.n_words:,} words, vocabulary {len(corpus.vocabulary):,}\n")
    _show_batch(corpus)

    _title("4. Train a small LdTreeLSTM (ramify train)")
    with tempfile.TemporaryDirectory() as folder:
        _train_and_score(corpus, trees, tree, Path(folder) / "model", quiet)


def _train_and_score(corpus: Corpus, trees: list[Tree], tree: Tree, folder: Path, quiet: bool) -> None:
    from ramify.cli.train import display
    from ramify.corpus import Encoding, encode_trees
    from ramify.model.folder import make_model
    from ramify.tasks.evaluate import evaluate, unigram
    from ramify.tasks.score import load
    from ramify.tasks.signature import signature
    from ramify.training.recipe import load_recipe
    from ramify.training.session import Plan, start

    sizes = dict.fromkeys(("hidden", "embedding", "projection"), SIZE)
    recipe = load_recipe("modern", **sizes, epochs=EPOCHS, dropout_input=DROPOUT, dropout_output=DROPOUT)
    dev = encode_trees(trees, Encoding(vocabulary=corpus.vocabulary))
    with display(recipe, quiet) as watcher:
        start(Plan(["ewt:train"]), recipe, [corpus], (dev, dev.everything), folder, watcher=watcher).run()

    _title("5. Evaluate it on dev, beside two baselines (ramify evaluate)")
    lm = load(folder)
    fresh = make_model(recipe.config, corpus.vocabulary).eval()
    found = evaluate(lm.model, dev)
    for name, ppl in (
        ("untrained", evaluate(fresh, dev).ppl),
        ("word frequencies", unigram(corpus.vocabulary, dev).ppl),
        ("trained", found.ppl),
    ):
        print(f"{name:<20}perplexity {ppl:>9,.1f}")
    print(f"\n{signature(found, lm.config, len(lm.vocabulary))}")

    _title("6. How much each word surprises it, in bits, given the tree (ramify score)")
    score = lm.score(tree)
    print(draw_text(tree, [edge_row(tree), value_row("surprisal", score.surprisals.tolist(), tree)], width=100))
    print(f"\nlog P(S|T) = {score.logprob:.2f}")


def _show_batch(corpus: Corpus) -> None:
    from ramify.corpus import Loader, Schedule

    batch = next(Loader(corpus, Schedule(batch_size=64)).epoch())
    print(
        f"{batch.n_words} words, {batch.n_levels} levels, {batch.n_chains} chains of left dependents; words at once:\n"
    )
    print(f"{'level':<8}" + "".join(f"{edge!s:>10}" for edge in EdgeType))
    for level in range(1, batch.n_levels + 1):
        groups = [batch.rows(level, edge) for edge in EdgeType]
        print(f"{level:<8}" + "".join(f"{group.stop - group.start:>10}" for group in groups))


def _example(trees: list[Tree]) -> Tree:
    """The first short tree that has all four edge types."""
    return next(
        tree
        for tree in trees
        if 8 <= len(tree) <= 12 and len({step.edge for step in predecessors(tree)}) == len(EdgeType)
    )


def _path(tree: Tree, word: int) -> str:
    named = ["ROOT", *tree.forms]
    return " ".join(f"({named[step.word]}, {step.edge})" for step in dependency_path(tree, word))


def _title(text: str) -> None:
    print(f"\n{text}\n{'─' * len(text)}", flush=True)
