"""ramify info: what a store, a model or a parser says of itself, after a check."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer

from ramify.cli.common import Json, print_json


def info(
    folder: Annotated[
        Path,
        typer.Argument(help="A corpus store, a model or a parser.", metavar="STORE|MODEL|PARSER", show_default=False),
    ],
    as_json: Json = False,
) -> None:
    """Check a store and say where it comes from; or show a model or a parser and how its training went."""
    from ramify.model.folder import CONFIG
    from ramify.parsing.folder import is_parser

    show = parser if is_parser(folder) else model if (folder / CONFIG).is_file() else store
    about, lines = show(folder)
    if as_json:
        print_json(about)
    else:
        print("\n".join(lines))


def store(folder: Path) -> tuple[dict[str, Any], list[str]]:
    """A store, as JSON and in lines; every byte is checked."""
    from ramify.corpus.store import open_store, read_meta

    corpus = open_store(folder)
    meta = read_meta(folder)
    about = meta["about"]
    return meta, [
        f"store of {meta['sentences']:,} sentences and {meta['words']:,} words, all checksums right",
        f"made by Ramify {meta['ramify']}, store version {meta['version']}",
        f"vocabulary of {meta['vocabulary']:,} words and {len(corpus.vocabulary.labels):,} relations",
        f"{meta['held_out']:,} sentences held out",
        "options: " + ", ".join(f"{name} {value}" for name, value in about.get("options", {}).items()),
        "left out: "
        + ", ".join(f"{count:,} {name.replace('_', ' ')}" for name, count in about.get("left_out", {}).items()),
        *(f"from {source['name']}: {source['sentences']:,} sentences" for source in about.get("sources", [])),
    ]


def model(folder: Path) -> tuple[dict[str, Any], list[str]]:
    """A model, as JSON and in lines; one whose first epoch is not over has no parameters yet."""
    from ramify.model.folder import RECIPE, WEIGHTS, load_model, make_model, read_config, read_vocabulary
    from ramify.training.card import read_data, read_log
    from ramify.training.recipe import load_recipe
    from ramify.training.session import is_finished
    from ramify.training.trainer import CHECKPOINT

    config = read_config(folder)
    if (folder / WEIGHTS).is_file():
        parameters = load_model(folder)[0].n_parameters
    else:
        parameters = make_model(config, read_vocabulary(folder)).n_parameters
    vocabulary = read_vocabulary(folder)
    recipe = load_recipe(folder / RECIPE) if (folder / RECIPE).is_file() else None
    log = read_log(folder)
    best = min(log, key=lambda record: float(record["valid_entropy"]), default=None)
    about: dict[str, Any] = {
        "kind": config.kind.number,
        "model": config.to_json(),
        "parameters": parameters,
        "vocabulary": len(vocabulary),
        "recipe": recipe and recipe.to_json(),
        "data": read_data(folder),
        "finished": is_finished(folder),
        "best": best,
        "log": log,
    }
    sizes = {"layers": config.layers, "embedding": config.embedding, "projection": config.projection}
    lines = [
        f"{config.kind}-{config.hidden}, {parameters:,} parameters; its numbers are {config.kind.number}",
        ", ".join(f"{name} {size}" for name, size in sizes.items() if size) + (", tied" if config.tied else ""),
        f"vocabulary of {len(vocabulary):,} words, "
        + ("lower-cased" if vocabulary.lowercase else "in their case")
        + f"; {len(vocabulary.labels):,} relations",
    ]
    if recipe is not None:
        rates = (recipe.dropout_input, recipe.dropout_between, recipe.dropout_output)
        lines.append(
            f"recipe: {recipe.objective}, {recipe.optimiser}, lr {recipe.lr:g} {recipe.decay}, "
            f"batches of {recipe.batch_size}, at most {recipe.epochs} epochs, "
            f"dropout {'/'.join(f'{rate:g}' for rate in rates)}, seed {recipe.seed}"
        )
    lines += about["data"]
    if not about["finished"]:
        lines.append("training is not finished" + ("; --resume goes on" if (folder / CHECKPOINT).is_file() else ""))
    if best is not None:
        lines += ["", f"{'epoch':>5}{'lr':>10}{'train loss':>12}{'valid ppl':>12}"]
        for record in log:
            mark = " *" if record is best else ""
            row = f"{record['epoch']:>5}{record['lr']:>10.2g}{record['train_loss']:>12.4f}{record['valid_ppl']:>12.2f}"
            lines.append(row + mark)
    return about, lines


def parser(folder: Path) -> tuple[dict[str, Any], list[str]]:
    """A parser, as JSON and in lines; one whose first epoch is not over has no parameters yet."""
    from ramify.model.folder import VOCABULARY
    from ramify.parsing.card import LOGGED, best_of
    from ramify.parsing.folder import read_config
    from ramify.parsing.lexicon import Lexicon
    from ramify.parsing.model import ParserModel
    from ramify.training.card import read_data, read_log
    from ramify.training.session import is_finished
    from ramify.training.trainer import CHECKPOINT

    config, lexicon = read_config(folder), Lexicon.load(folder / VOCABULARY)
    log = read_log(folder, LOGGED)
    best = best_of(log)
    about: dict[str, Any] = {
        "parser": asdict(config),
        "parameters": ParserModel(config, lexicon).n_parameters,
        "vocabulary": len(lexicon.words),
        "pretrained": len(lexicon.pretrained) - 2,
        "data": read_data(folder),
        "finished": is_finished(folder),
        "best": best,
        "log": log,
    }
    lines = [
        f"parser-{config.hidden}, {about['parameters']:,} parameters; order {config.order}, layers {config.layers}",
        f"vocabulary of {about['vocabulary']:,} words, {about['pretrained']:,} pretrained vectors; "
        f"{len(lexicon.labels)} relations, {len(lexicon.tags)} tags",
        *about["data"],
    ]
    if not about["finished"]:
        lines.append("training is not finished" + ("; --resume goes on" if (folder / CHECKPOINT).is_file() else ""))
    if best is not None:
        lines += ["", f"{'epoch':>5}{'train loss':>12}{'valid UAS':>11}{'LAS':>8}{'UPOS':>8}"]
        for each in log:
            mark = " *" if each is best else ""
            figures = f"{each['valid_uas']:>11.2f}{each['valid_las']:>8.2f}{each['valid_upos']:>8.2f}"
            lines.append(f"{each['epoch']:>5}{each['train_loss']:>12.4f}{figures}{mark}")
    return about, lines
