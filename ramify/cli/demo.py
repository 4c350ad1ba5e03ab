"""ramify demo: what Ramify does, step by step, on the treebank that comes with it."""

from __future__ import annotations

import tempfile
import time
from pathlib import Path

from ramify.cli.common import Quiet, progress_bar
from ramify.formats import read
from ramify.formats.files import total_bytes
from ramify.trees import EdgeType, Tree, dependency_path, predecessors
from ramify.trees.pictures import draw_text, edge_row, level_row


def demo(quiet: Quiet = False) -> None:
    """Walk through Ramify on the bundled treebank.

    About half a minute the first time, while inner loops are compiled; seconds after that.
    """
    from ramify.cli.stats import table
    from ramify.corpus import Encoding, Loader, Schedule, encode_to_store
    from ramify.corpus.statistics import statistics

    _title("1. Read a treebank: English EWT, dev")
    trees = list(read("ewt:dev"))
    tree = _example(trees)
    print(f"{len(trees):,} trees; one of them, from {tree.address}:\n\n{' '.join(tree.forms)}")

    _title("2. Draw it, with the edge type and level of each word (ramify draw)")
    print(draw_text(tree, [edge_row(tree), level_row(tree)], width=100))

    _title("3. Dependency paths: all that the model sees before it predicts a word")
    for word in range(1, len(tree) + 1):
        print(f"  D({tree.forms[word - 1]}) = {_path(tree, word)}")

    _title("4. Encode the training part as a store (ramify encode), and count it (ramify stats)")
    with tempfile.TemporaryDirectory() as folder:
        with progress_bar("encoding", total_bytes(["ewt:train"]), quiet) as progress:
            corpus = encode_to_store(
                ["ewt:train"],
                Path(folder) / "ewt",
                Encoding(hold_out=500, lowercase=True),
                progress=progress,
            )
        print("\n".join(table(statistics(corpus), stored=True)))

        _title("5. A batch: 64 sentences, one row for each word, sorted by level and edge type")
        loader = Loader(corpus, Schedule(batch_size=64), threads=2)
        batch = next(loader.epoch())
        print(f"{len(batch)} sentences, {batch.n_words} words, {batch.n_levels} levels, {batch.n_chains} LD chains\n")
        print(f"{'level':<8}" + "".join(f"{edge!s:>10}" for edge in EdgeType))
        for level in range(1, batch.n_levels + 1):
            groups = [batch.rows(level, edge) for edge in EdgeType]
            print(f"{level:<8}" + "".join(f"{group.stop - group.start:>10}" for group in groups))
        start = time.perf_counter()
        words = sum(batch.n_words for batch in loader.epoch(1))
        rate = words / (time.perf_counter() - start)
        print(f"\nan epoch of {words:,} words in batches: {rate / 1e6:.1f} million words/s on this machine")


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
    print(f"\n{text}\n{'─' * len(text)}")
