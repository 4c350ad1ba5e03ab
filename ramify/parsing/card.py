"""The card of a parser: README.md in its folder, for whoever finds it there."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ramify import __version__
from ramify.formats.files import whole_file
from ramify.model.folder import CARD
from ramify.parsing.model import ParserModel
from ramify.parsing.recipe import ParserRecipe
from ramify.training.card import read_log

LOGGED = {  # what is read of a record, and its types
    "epoch": (int,),
    **dict.fromkeys(("lr", "train_loss", "valid_uas", "valid_las", "valid_upos"), (int, float)),
}
_ORDERS = {1: "first-order", 2: "second-order (head, dependent, adjacent sibling)"}


def write_card(folder: Path, model: ParserModel, recipe: ParserRecipe, data: list[str]) -> None:
    """Say in a parser's folder what it is, what it was trained on and how well it does."""
    parts = [
        f"# parser-{recipe.hidden}",
        f"A {_ORDERS[recipe.order]} projective dependency parser with {model.n_parameters:,} parameters, trained by "
        f"Ramify {__version__}.",
        "## Data",
        "\n".join(f"- {line}" for line in data),
        "## Figures",
        _figures(read_log(folder, LOGGED)),
        "## Recipe",
        f"```toml\n{recipe.to_toml()}```",
        "## Use",
        "```\nramify parse INPUT.conllu -p . -o OUT.conllu\n```",
    ]
    with whole_file(folder / CARD) as out:
        out.write("\n\n".join(parts) + "\n")


def best_of(records: list[dict[str, Any]]) -> dict[str, Any] | None:
    """The record of the epoch whose parameters were kept."""
    return max(records, key=lambda record: float(record["valid_las"]), default=None)


def _figures(records: list[dict[str, Any]]) -> str:
    best = best_of(records)
    if best is None:
        return "None yet: the first epoch is not over."
    rows = [
        f"| {each['epoch']} | {each['train_loss']:.4f} | {each['valid_uas']:.2f} | {each['valid_las']:.2f} "
        f"| {each['valid_upos']:.2f} |"
        for each in records
    ]
    return (
        f"On the validation data UAS {best['valid_uas']:.2f}, LAS {best['valid_las']:.2f}, UPOS "
        f"{best['valid_upos']:.2f} after epoch {best['epoch']}: tokens given, every word counted, whole relations. The "
        "parameters are those of this epoch.\n\n"
        "| epoch | train loss | UAS | LAS | UPOS |\n| ---: | ---: | ---: | ---: | ---: |\n" + "\n".join(rows)
    )
