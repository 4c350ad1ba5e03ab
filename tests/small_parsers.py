"""Small parsers: enough to train in a blink."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import torch
from small_runs import some_trees

from ramify.parsing.examples import Batch, build, examples_of
from ramify.parsing.folder import write_config, write_weights
from ramify.parsing.lexicon import PAD, Lexicon
from ramify.parsing.model import ParserModel
from ramify.parsing.parser import Parser
from ramify.parsing.recipe import ParserRecipe
from ramify.parsing.session import ParserPlan, Treebanks, start
from ramify.parsing.trainer import ParserTrainer
from ramify.training.trainer import Interrupted, Watcher
from ramify.trees import Tree, lift

SIZES: dict[str, Any] = {
    "hidden": 12,
    "layers": 2,
    "words": 10,
    "characters": 6,
    "filters": 8,
    "arcs": 10,
    "siblings": 9,
    "labels": 7,
}
OPTIONS = [word for name, size in SIZES.items() for word in (f"--{name}", str(size))]


def some_projective(n: int = 10) -> list[Tree]:
    """Short trees that the parser can find: projective, with one root word."""
    return [lift(tree) for tree in some_trees(3 * n) if len(tree.roots) == 1][:n]


def small_parser(trees: list[Tree] | None = None, **choices: Any) -> Parser:
    """A parser with random parameters, large enough for different words to have different scores."""
    lexicon = Lexicon.of(trees or some_trees(), 0)
    torch.manual_seed(3)
    model = ParserModel(ParserRecipe(**(SIZES | choices)).config(0), lexicon)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.uniform_(-0.6, 0.6)
        for embedding in (model.encoder.words, model.encoder.spelling.embedding):
            embedding.weight[PAD] = 0.0  # as every training leaves it
    return Parser(model, lexicon)


def save_parser(folder: Path, parser: Parser) -> Path:
    folder.mkdir(exist_ok=True)
    write_config(folder, parser.model.config, parser.lexicon)
    write_weights(folder, parser.model)
    return folder


def batch_of(parser: Parser, trees: list[Tree]) -> Batch:
    """The trees, which come by falling length, as one batch."""
    examples = examples_of(trees, parser.lexicon)
    return build(examples, torch.arange(len(trees)).numpy())


def small_trainer(
    folder: Path,
    *,
    watcher: Watcher | None = None,
    resume: bool = False,
    trees: list[Tree] | None = None,
    device: str = "cpu",
    **choices: Any,
) -> ParserTrainer:
    trees = trees or some_projective(12)
    recipe = ParserRecipe(**(SIZES | {"batch_words": 60, "epochs": 3} | choices))
    treebanks = Treebanks(trees, trees, 0, ["trained on some trees"])
    return start(ParserPlan([], device=device), recipe, treebanks, folder, resume, watcher=watcher)


def broken_run(folder: Path, every: int, **choices: Any) -> ParserTrainer:
    """A run that is stopped after so many steps, again and again, and resumed each time in a new trainer."""
    resume = False
    while True:
        steps = iter(range(1, every))
        watcher = Watcher(stop=lambda steps=steps: next(steps, None) is None)  # type: ignore[misc]
        trainer = small_trainer(folder, watcher=watcher, resume=resume, **choices)
        try:
            trainer.run()
        except Interrupted:
            resume = True
        else:
            return trainer
