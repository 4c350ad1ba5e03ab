"""The verbs, in the order in which a newcomer meets them."""

from __future__ import annotations

from typing import Annotated

import typer

from ramify import __version__
from ramify.cli import (
    bench,
    compare,
    complete,
    convert,
    demo,
    draw,
    encode,
    eval_parse,
    evaluate,
    info,
    parse,
    rerank,
    score,
    stats,
    train,
    train_parser,
)
from ramify.parsing.recipe import ParserRecipe

app = typer.Typer(
    name="ramify",
    help="A language model that grows dependency trees top-down.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _version(asked: bool) -> None:
    if asked:
        print(f"ramify {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", help="Print the version.", callback=_version, is_eager=True)
    ] = False,
) -> None:
    """A language model that grows dependency trees top-down."""


for verb in (
    demo.demo,
    draw.draw,
    stats.stats,
    convert.convert,
    encode.encode,
    train.with_recipe_options(train.train),
    evaluate.evaluate,
    score.score,
    complete.complete,
    compare.compare,
    train.with_recipe_options(train_parser.train_parser, ParserRecipe),
    parse.parse,
    eval_parse.eval_parse,
    rerank.rerank,
    info.info,
):
    app.command()(verb)
app.add_typer(bench.app, name="bench")
