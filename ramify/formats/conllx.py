"""CoNLL-X, the format before CoNLL-U: ten columns, tabs or runs of spaces, and nothing but words.

PHEAD and PDEPREL, which nobody fills today, are left out; all other columns have their place in CoNLL-U.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from ramify.errors import FormatError
from ramify.formats.blocks import Block, blocks, unpadded
from ramify.formats.conllu import DEPREL, OnError, Sentence, parse_sentence, stop
from ramify.formats.files import Progress, display_name, text_chunks

_COLUMNS = 10


def read_conllx(
    source: str | Path, *, encoding: str = "utf-8", on_error: OnError = stop, progress: Progress | None = None
) -> Iterator[Sentence]:
    """The sentences of a CoNLL-X file, their texts turned into CoNLL-U."""
    name = display_name(source)
    for block in blocks(text_chunks(source, encoding, progress), name):
        try:
            sentence = parse_block(block, name)
        except FormatError as error:
            on_error(error)
        else:
            yield sentence


def parse_block(block: Block, source: str, comments: tuple[str, ...] = ()) -> Sentence:
    """One block of CoNLL-X as a sentence, with comments added."""
    text, line = unpadded(block)
    lines = text.split("\n")
    first = next((i for i, row in enumerate(lines) if not row.startswith("#")), len(lines))
    given = lines[:first]  # not in the format, but seen: `# ...` lines at the top
    rows = [_row(row, line + i, source) for i, row in enumerate(lines[first:], first)]
    body = "\n".join([*comments, *given, *("\t".join(row) for row in rows)])
    try:
        return parse_sentence((body + "\n\n", line), source)
    except FormatError as error:  # the words stand on other lines there than here
        raise FormatError(error.message, source, error.line - len(comments), error.sent_id) from None


def _row(text: str, line: int, source: str) -> list[str]:
    row = text.split("\t") if "\t" in text else text.split()
    if len(row) != _COLUMNS:
        found = f"{len(row)} column{'s' * (len(row) != 1)}"
        raise FormatError(f"{found} instead of {_COLUMNS} (separated by tabs or spaces)", source, line)
    return [*row[: DEPREL + 1], "_", "_"]


def render_conllx(sentence: Sentence) -> str:
    """A sentence as a block of CoNLL-X: words only, without comments."""
    lines = []
    for row in sentence.rows:
        if any(" " in field for field in row[: DEPREL + 1]):
            field = next(field for field in row if " " in field)
            raise FormatError(
                f"CoNLL-X cannot hold the space in {field!r}",
                sentence.tree.source,
                sentence.tree.line,
                sentence.tree.sent_id,
            )
        lines.append("\t".join([*row[: DEPREL + 1], "_", "_"]))
    return "\n".join(lines) + "\n\n"
