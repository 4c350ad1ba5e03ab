"""ramify train-parser: a dependency parser from treebanks."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from ramify.cli.common import Device, Quiet, Treebanks, note
from ramify.cli.train import watching


def train_parser(
    treebanks: Treebanks,
    output: Annotated[Path, typer.Option("--output", "-o", help="The folder of the parser.", show_default=False)],
    recipe: Annotated[Path | None, typer.Option("--recipe", help="A TOML file with some of the choices below.")] = None,
    valid: Annotated[
        str | None, typer.Option("--valid", help="A treebank for validation.", show_default="what is held out")
    ] = None,
    hold_out: Annotated[
        int | None, typer.Option("--hold-out", min=1, help="Without --valid: hold out this many sentences.")
    ] = None,
    vectors: Annotated[
        Path | None, typer.Option("--vectors", help="Pretrained vectors (GloVe text, .gz, .xz), left as they are.")
    ] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Go on from the checkpoint in the output folder.")] = False,
    checkpoint_every: Annotated[
        float, typer.Option("--checkpoint-every", min=0.0, help="Minutes between checkpoints.")
    ] = 10.0,
    device: Device = "auto",
    force: Annotated[bool, typer.Option("--force", help="Replace a parser that is already there.")] = False,
    quiet: Quiet = False,
    **chosen: Any,
) -> None:
    """Train a projective dependency parser, with tags and relations.

    Every field of a recipe can be set here. Ctrl-C writes a checkpoint; the same command with --resume goes on from it.
    The parameters of the epoch with the best LAS are kept.
    """
    from ramify.model.folder import CONFIG
    from ramify.parsing.recipe import load_parser_recipe
    from ramify.parsing.session import ParserPlan, read_treebanks, start
    from ramify.training.session import device_for
    from ramify.training.trainer import CHECKPOINT

    choices = load_parser_recipe(recipe, **{name: value for name, value in chosen.items() if value is not None})
    plan = ParserPlan(treebanks, valid, hold_out, vectors, device_for(device), checkpoint_every * 60)
    read = read_treebanks(plan, choices)
    if read.too_long:
        note(f"{read.too_long:,} sentences left out: too long", quiet)
    if resume and not (output / CHECKPOINT).is_file() and (output / CONFIG).is_file():
        note(f"{output} has no checkpoint yet: starting anew", quiet)
    with watching(choices, quiet, _line) as watcher:
        trainer = start(plan, choices, read, output, resume, force, watcher)
        note(f"parser-{choices.hidden}, {trainer.model.n_parameters:,} parameters, seed {choices.seed}", quiet)
        state = trainer.run()
    print(
        f"valid UAS {state.best_uas:.2f} LAS {state.best_las:.2f} after epoch {state.best_epoch + 1}, "
        f"{state.seconds / 60:.1f} minutes, in {output}"
    )


def _line(record: dict[str, Any]) -> str:
    """What is said of an epoch."""
    return (
        f"epoch {record['epoch']:>3}  train loss {record['train_loss']:.3f}  valid UAS {record['valid_uas']:.2f}"
        f"  LAS {record['valid_las']:.2f}  UPOS {record['valid_upos']:.2f}  lr {record['lr']:.2g}"
        f"  {record['seconds'] / 60:.1f} minutes"
    )
