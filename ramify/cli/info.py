"""ramify info: what a store says of itself, after a check of every byte."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from ramify.cli.common import Json


def info(
    store: Annotated[Path, typer.Argument(help="A corpus store.", metavar="STORE", show_default=False)],
    as_json: Json = False,
) -> None:
    """Check a store and say where it comes from."""
    from ramify.corpus.store import open_store, read_meta

    corpus = open_store(store)
    meta = read_meta(store)
    if as_json:
        print(json.dumps(meta, indent=2, ensure_ascii=False))
        return
    about = meta["about"]
    lines = [
        f"store of {meta['sentences']:,} sentences and {meta['words']:,} words, all checksums right",
        f"made by Ramify {meta['ramify']}, store version {meta['version']}",
        f"vocabulary of {meta['vocabulary']:,} words and {len(corpus.vocabulary.labels):,} relations",
        f"{meta['held_out']:,} sentences held out",
        "options: " + ", ".join(f"{name} {value}" for name, value in about["options"].items()),
        "left out: " + ", ".join(f"{count:,} {name.replace('_', ' ')}" for name, count in about["left_out"].items()),
        *(f"from {source['name']}: {source['sentences']:,} sentences" for source in about["sources"]),
    ]
    print("\n".join(lines))
