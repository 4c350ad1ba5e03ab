"""ramify parse: trees for sentences, the best one or the k best."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import typer

from ramify.cli.common import (
    TREEBANK_HELP,
    CharacterEncoding,
    Device,
    InputFormat,
    OnError,
    OnErrorOption,
    Output,
    Quiet,
    note,
    on_errors,
    progress_bar,
)
from ramify.errors import CallError
from ramify.formats import Format, Sentence, write
from ramify.formats.files import STDIN, place_of, total_bytes
from ramify.formats.registry import output_format as format_of
from ramify.formats.tokens import read_lines, read_tokens


def parse(
    source: Annotated[
        str, typer.Argument(help=f"{TREEBANK_HELP} Only its tokens are read.", metavar="INPUT", show_default=False)
    ],
    parser: Annotated[Path, typer.Option("--parser", "-p", help="The folder of a parser.", show_default=False)],
    output: Output = None,
    k: Annotated[int, typer.Option("-k", min=1, help="How many trees for each sentence.")] = 1,
    text: Annotated[
        bool, typer.Option("--text", help="The input is text: a sentence on each line, spaces between its tokens.")
    ] = False,
    output_format: Annotated[
        Format | None, typer.Option("--output-format", help="The format, where the file's suffix does not tell.")
    ] = None,
    input_format: InputFormat = None,
    encoding: CharacterEncoding = "utf-8",
    on_error: OnErrorOption = OnError.STOP,
    threads: Annotated[
        int | None, typer.Option("--threads", min=1, help="Threads that look for trees.", show_default="all cores")
    ] = None,
    device: Device = "auto",
    quiet: Quiet = False,
) -> None:
    """Give each sentence its tree, or its k best trees: HEAD, DEPREL and UPOS; all else of the input is kept.

    Trees are projective and have one root word. With -k the candidates of sentence s1 are called s1/k_1, s1/k_2, ...,
    best first, all different, with their scores (natural logs) as # parser_score; -o FILE.conll writes them as the
    original's pair of files, CoNLL-X blocks and FILE.conll.mstscores. A short sentence may have fewer trees than that.
    """
    from ramify.parsing import load
    from ramify.parsing.parser import too_long
    from ramify.training.session import device_for

    chosen = _format(output, output_format, k)
    if text and input_format is not None:
        raise CallError("--text and --input-format: the input is one or the other")
    ours = load(parser, device_for(device))
    printed = str(output or STDIN) == STDIN
    no_bar = quiet or (printed and sys.stdout.isatty())
    started, sentences, trees = time.monotonic(), 0, 0
    with on_errors(on_error) as handle, progress_bar("parsing", total_bytes([source]), no_bar) as progress:

        def short_enough() -> Iterator[Sentence]:
            if text:
                given = read_lines(source, encoding=encoding, progress=progress)
            else:
                given = read_tokens(source, input_format, encoding=encoding, on_error=handle, progress=progress)
            for sentence in given:
                if error := too_long(sentence.tree):
                    handle(error)
                else:
                    yield sentence

        def candidates() -> Iterator[Sentence]:
            nonlocal sentences
            for found in ours.parse(short_enough(), k, threads):
                sentences += 1
                yield from found.candidates

        trees = write(candidates(), output or STDIN, chosen, on_error=handle)
    seconds = max(1e-9, time.monotonic() - started)
    note(f"{sentences:,} sentences, {trees:,} trees, {sentences / seconds:,.0f} sentences/s", quiet)


def _format(output: Path | None, asked: Format | None, k: int) -> Format:
    """The format to write; a file of CoNLL-X holds k-best lists only with their scores beside it."""
    if output is not None and str(output) != STDIN:
        place_of(output)  # what is wrong with it is said before the work begins
    chosen = asked or format_of(output or STDIN)
    if k > 1 and chosen is Format.CONLLX and asked is None:
        return Format.MST
    if k > 1 and chosen not in (Format.CONLLU, Format.MST):
        raise CallError(f"{chosen} has no place for k-best lists: write CoNLL-U, or --output-format mst")
    return chosen
