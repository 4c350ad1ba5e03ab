"""The data that comes with Ramify, by name. English EWT is CC BY-SA 4.0: see ewt/README.md and ewt/LICENSE.txt."""

from __future__ import annotations

from pathlib import Path

_HERE = Path(__file__).parent

TREEBANKS = {f"ewt:{part}": _HERE / "ewt" / f"en_ewt-{part}.conllu.xz" for part in ("train", "dev", "test")}


def treebank(name: str) -> Path | None:
    """The file of a bundled treebank such as `ewt:dev`; None when the name is not one of ours."""
    return TREEBANKS.get(name)
