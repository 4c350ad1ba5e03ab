"""ramify draw: trees as text, SVG or LaTeX."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator
from enum import StrEnum
from itertools import islice
from pathlib import Path
from typing import Annotated

import typer

from ramify.cli.common import (
    CharacterEncoding,
    InputFormat,
    NonProjectiveOption,
    OnError,
    OnErrorOption,
    Output,
    Treebank,
    note,
    on_errors,
)
from ramify.errors import CallError
from ramify.formats import Sentence, read_sentences
from ramify.formats.conllu import MISC
from ramify.formats.files import STDIN, bare_suffix, whole_file
from ramify.trees import NonProjective, Tree
from ramify.trees.pictures import Row, draw_latex, draw_svg, draw_text, edge_row, level_row, upos_row, value_row


class Picture(StrEnum):
    TEXT = "text"
    SVG = "svg"
    LATEX = "latex"


_SUFFIXES = {".svg": Picture.SVG, ".tex": Picture.LATEX, ".txt": Picture.TEXT, "": Picture.TEXT}


def draw(
    treebank: Treebank,
    first: Annotated[int, typer.Option("--from", min=1, help="The first sentence to draw, counted from 1.")] = 1,
    number: Annotated[int, typer.Option("--number", "-n", min=1, help="How many sentences to draw.")] = 1,
    sent_id: Annotated[str | None, typer.Option("--sent-id", help="Draw the sentence of this sent_id.")] = None,
    edge_types: Annotated[bool, typer.Option("--edge-types", help="Show LEFT, RIGHT, NX-LEFT, NX-RIGHT.")] = False,
    levels: Annotated[bool, typer.Option("--levels", help="Show the length of each word's dependency path.")] = False,
    upos: Annotated[bool, typer.Option("--upos", help="Show the part of speech.")] = False,
    values: Annotated[
        list[str] | None, typer.Option("--values", help="Show what MISC gives under this key, such as Surprisal.")
    ] = None,
    picture: Annotated[
        Picture | None, typer.Option("--output-format", help="text, svg or latex, where no suffix tells.")
    ] = None,
    width: Annotated[
        int | None, typer.Option("--width", min=20, help="Columns of a text picture.", show_default="the terminal's")
    ] = None,
    standalone: Annotated[bool, typer.Option("--standalone", help="LaTeX: a document that compiles.")] = False,
    output: Output = None,
    input_format: InputFormat = None,
    encoding: CharacterEncoding = "utf-8",
    nonprojective: NonProjectiveOption = NonProjective.KEEP,
    on_error: OnErrorOption = OnError.STOP,
) -> None:
    """Draw trees as text, SVG or LaTeX (tikz-dependency)."""
    output = None if str(output) == STDIN else output
    chosen = picture or _by_suffix(output)
    if chosen is Picture.LATEX and standalone and number > 1:
        raise CallError("a standalone picture holds one tree: leave out --standalone or -n")
    with on_errors(on_error) as handle:
        sentences = read_sentences(treebank, input_format, encoding=encoding, on_error=handle)
        drawn: list[tuple[Tree, list[Row]]] = []
        left_out = 0
        for sentence in _chosen(sentences, sent_id, first, number, treebank):
            tree = nonprojective.take(sentence.tree)
            if tree is None:
                left_out += 1
                continue
            rows = [row for wanted, row in ((upos, upos_row), (edge_types, edge_row), (levels, level_row)) if wanted]
            drawn.append((tree, [row(tree) for row in rows] + [_misc_row(sentence, key) for key in values or []]))
    if left_out:
        note(f"{left_out:,} non-projective sentence{'s' * (left_out != 1)} left out")
    if not drawn:
        raise CallError("there is no tree to draw")
    if chosen is Picture.SVG:
        text = draw_svg(drawn)
    elif chosen is Picture.LATEX:
        text = "\n\n".join(draw_latex(tree, rows, standalone=standalone) for tree, rows in drawn)
    else:
        columns = width or (shutil.get_terminal_size().columns if output is None and sys.stdout.isatty() else None)
        text = "\n\n".join(_heading(tree) + draw_text(tree, rows, width=columns) for tree, rows in drawn)
    with whole_file(output or "-") as out:
        out.write(text.rstrip("\n") + "\n")


def _by_suffix(output: Path | None) -> Picture:
    suffix = "" if output is None else bare_suffix(output)
    if suffix not in _SUFFIXES:
        known = ", ".join(filter(None, _SUFFIXES))
        raise CallError(f"no picture has the suffix {suffix!r}; known are {known} (or name an --output-format)")
    return _SUFFIXES[suffix]


def _chosen(
    sentences: Iterator[Sentence], sent_id: str | None, first: int, number: int, treebank: str
) -> list[Sentence]:
    if sent_id is not None:
        found = list(islice((sentence for sentence in sentences if sentence.tree.sent_id == sent_id), 1))
        missing = f"no sentence of {treebank} has the sent_id {sent_id}"
    else:
        found = list(islice(sentences, first - 1, first - 1 + number))
        missing = f"{treebank} has no sentence {first}"
    if not found:
        raise CallError(missing)
    return found


def _heading(tree: Tree) -> str:
    return f"{tree.address}\n" if tree.address else ""


def _misc_row(sentence: Sentence, key: str) -> Row:
    """What MISC says of each word under a key: `Surprisal=4.2|SpaceAfter=No`."""
    found = [dict(pair.partition("=")[::2] for pair in row[MISC].split("|")).get(key) for row in sentence.rows]
    if not any(found):
        raise CallError(f"no word of {sentence.tree.address} has {key}= in MISC")
    return value_row(key, found, sentence.tree)
