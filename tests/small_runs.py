"""Small corpora, models and runs: enough to train in a blink."""

from __future__ import annotations

from functools import cache
from itertools import islice
from pathlib import Path
from typing import Any

import torch

from ramify.corpus import Corpus, Encoding, encode_trees
from ramify.corpus.structure import Array
from ramify.formats import Sentence, read_sentences
from ramify.model.config import Kind, ModelConfig
from ramify.model.folder import make_model, write_config, write_weights
from ramify.tasks.score import LM
from ramify.training.recipe import Recipe
from ramify.training.trainer import Interrupted, Trainer, Watcher
from ramify.trees import Tree

torch.set_num_threads(1)  # for things so small, threads wait longer than they work

SMALL: dict[str, Any] = {"hidden": 8, "embedding": 8, "batch_size": 6, "epochs": 3, "window": 2}
OPTIONS = ["--hidden", "8", "--embedding", "8", "--projection", "8", "--batch-size", "8", "--epochs", "2"]  # of modern


@cache
def _first(n: int) -> tuple[Sentence, ...]:
    return tuple(islice((each for each in read_sentences("ewt:dev") if len(each.tree) < 20), n))


def some_sentences(n: int = 40) -> list[Sentence]:
    """The first short sentences of ewt:dev."""
    return list(_first(n))


def some_trees(n: int = 40) -> list[Tree]:
    return [sentence.tree for sentence in _first(n)]


def write_treebank(path: Path, n: int = 40, start: int = 0) -> Path:
    path.write_text("".join(sentence.text for sentence in some_sentences(start + n)[start:]), encoding="utf-8")
    return path


def small_corpus(n: int = 40, hold_out: int = 8, **options: Any) -> Corpus:
    return encode_trees(some_trees(n), Encoding(hold_out=hold_out, **options))


def small_trainer(
    folder: Path,
    corpora: Corpus | list[Corpus] | None = None,
    *,
    validation: tuple[Corpus, Array] | None = None,
    watcher: Watcher | None = None,
    resume: bool = False,
    **choices: Any,
) -> Trainer:
    """A trainer on a small corpus; `choices` are fields of the recipe, and weights and checkpoint_every."""
    own = {name: choices.pop(name) for name in ("weights", "checkpoint_every") if name in choices}
    recipe = Recipe(**(SMALL | choices))
    if not isinstance(corpora, list):
        corpora = [corpora or small_corpus()]
    first = corpora[0]
    torch.manual_seed(recipe.seed)
    model = make_model(recipe.config, first.vocabulary)
    model.initialise(recipe.init)
    trainer = Trainer(
        model, recipe, corpora, validation or (first, first.held_out), folder, watcher=watcher, threads=0, **own
    )
    if resume:
        trainer.resume()
    else:
        folder.mkdir(exist_ok=True)
        write_config(folder, recipe.config, first.vocabulary)
    return trainer


def broken_run(folder: Path, every: int, corpora: list[Corpus] | None = None, **choices: Any) -> Trainer:
    """A run that is stopped after so many steps, again and again, and resumed each time in a new trainer."""
    resume = False
    while True:
        steps = iter(range(1, every))
        watcher = Watcher(stop=lambda steps=steps: next(steps, None) is None)  # type: ignore[misc]
        trainer = small_trainer(folder, corpora, watcher=watcher, resume=resume, **choices)
        try:
            trainer.run()
        except Interrupted:
            resume = True
        else:
            return trainer


def small_lm(kind: str = "ldtree", trees: list[Tree] | None = None, **options: Any) -> LM:
    """A model with random parameters, large enough for different words to have different scores."""
    config = ModelConfig(Kind(kind), hidden=8, embedding=8, **options)
    vocabulary = encode_trees(trees or some_trees()).vocabulary
    torch.manual_seed(3)
    model = make_model(config, vocabulary)
    model.initialise(0.8)
    return LM(model, vocabulary)


def save_lm(folder: Path, lm: LM) -> Path:
    folder.mkdir(exist_ok=True)
    write_config(folder, lm.config, lm.vocabulary)
    write_weights(folder, lm.model)
    return folder
