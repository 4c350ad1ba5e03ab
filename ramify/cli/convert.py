"""ramify convert: a treebank from one format to another."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Annotated

import typer

from ramify.cli.common import (
    CharacterEncoding,
    InputFormat,
    NonProjectiveOption,
    OnError,
    OnErrorOption,
    Output,
    Quiet,
    Treebank,
    note,
    on_errors,
    progress_bar,
)
from ramify.formats import Format, Sentence, read_sentences, write
from ramify.formats.conllu import HEAD
from ramify.formats.files import STDIN, total_bytes
from ramify.trees import NonProjective


def convert(
    treebank: Treebank,
    output: Output = None,
    output_format: Annotated[
        Format | None, typer.Option("--output-format", help="The new format, where the file's suffix does not tell.")
    ] = None,
    input_format: InputFormat = None,
    encoding: CharacterEncoding = "utf-8",
    nonprojective: NonProjectiveOption = NonProjective.KEEP,
    on_error: OnErrorOption = OnError.STOP,
    quiet: Quiet = False,
) -> None:
    """Convert a treebank to another format.

    Formats: CoNLL-U, CoNLL-X, Stanford tuples, and k-best lists in CoNLL-U or in the original's pair of files.

    Files ending in .gz, .xz or .zst are read and written compressed. CoNLL-U to CoNLL-U changes no byte.
    """
    left_out = 0
    printed = str(output or STDIN) == STDIN
    no_bar = quiet or (printed and sys.stdout.isatty())  # it would stand among the sentences

    def taken(sentences: Iterator[Sentence]) -> Iterator[Sentence]:
        nonlocal left_out
        for sentence in sentences:
            tree = nonprojective.take(sentence.tree)
            if tree is None:
                left_out += 1
            elif tree is sentence.tree:
                yield sentence
            else:
                yield sentence.with_column(HEAD, [str(head) for head in tree.heads])

    with on_errors(on_error) as handle, progress_bar("converting", total_bytes([treebank]), no_bar) as progress:
        sentences = read_sentences(treebank, input_format, encoding=encoding, on_error=handle, progress=progress)
        count = write(taken(sentences), output or "-", output_format, on_error=handle)
    if not printed:
        note(f"{count:,} sentences written to {output}", quiet)
    if left_out:
        note(f"{left_out:,} non-projective sentence{'s' * (left_out != 1)} left out")
