"""Session: from names of treebanks to a parser's trainer that is ready to run, fresh or resumed."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import torch

from ramify.corpus.encode import draw
from ramify.errors import CallError
from ramify.formats import read_sentences
from ramify.formats.files import whole_file
from ramify.model.folder import LOG, RECIPE, enough_memory
from ramify.parsing.examples import examples_of
from ramify.parsing.folder import read_config, write_config
from ramify.parsing.lexicon import Lexicon
from ramify.parsing.model import ParserModel
from ramify.parsing.recipe import ParserRecipe
from ramify.parsing.trainer import Data, ParserTrainer
from ramify.parsing.vectors import Vectors
from ramify.training.card import EWT_LICENCE
from ramify.training.recipe import Precision
from ramify.training.session import can_resume, check_folder, make_folder
from ramify.training.trainer import Watcher
from ramify.trees import Tree


@dataclass(frozen=True)
class ParserPlan:
    """What to train on, and where."""

    sources: list[str]
    valid: str | None = None
    hold_out: int | None = None
    vectors: Path | None = None
    device: str = "cpu"
    checkpoint_every: float = 600.0


@dataclass(frozen=True)
class Treebanks:
    """Trees to train on and trees to validate on."""

    training: list[Tree]
    valid: list[Tree]
    too_long: int
    lines: list[str]  # what the card says


def read_treebanks(plan: ParserPlan, recipe: ParserRecipe) -> Treebanks:
    """All trees of a plan; without a treebank for validation a twentieth of the sentences is held out."""
    lines = []
    trees: list[Tree] = []
    for source in plan.sources:
        own = [sentence.tree for sentence in read_sentences(source)]
        lines.append(f"trained on {source}: {len(own):,} sentences, {sum(map(len, own)):,} words")
        trees += own
    if plan.valid is not None:
        valid = [sentence.tree for sentence in read_sentences(plan.valid)]
        lines.append(f"validated on all of {plan.valid}")
    else:
        n = plan.hold_out or min(2000, max(1, len(trees) // 20))
        held_out = set(draw(len(trees), n, recipe.seed).tolist())
        valid = [tree for i, tree in enumerate(trees) if i in held_out]
        trees = [tree for i, tree in enumerate(trees) if i not in held_out]
        lines.append(f"validated on {n:,} sentences held out of them")
    kept = [tree for tree in trees if len(tree) <= recipe.max_length]
    if not kept:
        raise CallError("there is no sentence to train on: raise --max-length")
    if plan.vectors is not None:
        lines.append(f"word vectors from {plan.vectors}")
    if any("ewt:" in line for line in lines):
        lines.append(EWT_LICENCE)
    return Treebanks(kept, valid, len(trees) - len(kept), lines)


@enough_memory()
def start(
    plan: ParserPlan,
    recipe: ParserRecipe,
    treebanks: Treebanks,
    folder: Path,
    resume: bool = False,
    force: bool = False,
    watcher: Watcher | None = None,
) -> ParserTrainer:
    """A trainer whose folder is made and whose parameters are set; a checkpoint is there from the start."""
    begun = resume and can_resume(folder, read_config)
    if not resume:
        check_folder(folder, force)
    torch.manual_seed(recipe.seed)
    torch.set_float32_matmul_precision("high" if recipe.precision is Precision.TF32 else "highest")
    vectors = Vectors.read(plan.vectors) if plan.vectors is not None else Vectors()
    lexicon = Lexicon.of(treebanks.training, recipe.min_count, vectors.words)
    config = recipe.config(vectors.size)
    model = ParserModel(config, lexicon)
    vectors.put(model.encoder.vectors, lexicon)
    if vectors.size:
        forms = {form for tree in treebanks.training for form in tree.forms}
        watcher = watcher or Watcher()
        watcher.vectors(sum(lexicon.vector(form) > 1 for form in forms), len(forms))
    data = Data(
        examples_of(treebanks.training, lexicon),
        examples_of(treebanks.valid, lexicon),
        treebanks.valid,
        treebanks.lines,
    )
    trainer = ParserTrainer(
        model.to(torch.device(plan.device)),
        lexicon,
        recipe,
        data,
        folder,
        watcher=watcher,
        checkpoint_every=plan.checkpoint_every,
    )
    if begun:
        trainer.resume()
        return trainer
    if not resume:
        make_folder(folder)
    write_config(folder, config, lexicon)
    with whole_file(folder / RECIPE) as out:
        out.write(recipe.to_toml())
    (folder / LOG).write_text("", encoding="utf-8")
    trainer.save()
    return trainer
