"""Text cut into sentences at its blank lines, with the number of each sentence's first line."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from ramify.errors import FormatError

Block = tuple[str, int]
"""A sentence exactly as it stands in the file, the blank lines after it (and before the first one) included; and the
number of the line on which that text starts."""

BOM = "\ufeff"
_BLANK = re.compile(r"\n(?:\r?\n)+")  # the end of a line, and the blank lines after it
_LONGEST = 64 << 20  # characters; a "sentence" beyond this is no treebank, and must not fill the memory


def blocks(chunks: Iterable[str], source: str = "") -> Iterator[Block]:
    """The sentences of a text. Joined, they are that text again, to the last byte."""
    held, line = "", 1  # text whose end is not yet known, and the line it starts on
    try:
        for chunk in chunks:
            searched = len(held.rstrip("\r\n"))  # a blank line may straddle two chunks
            held += chunk
            start = 0
            for end in _sentence_ends(held, searched):
                if end >= len(held) - 1 and held[end:] in ("", "\r"):
                    break  # more blank lines may follow in the next chunk
                text = held[start:end]
                if line == 1 and not text.strip("\r\n" + BOM):
                    continue  # blank lines at the top go with the first sentence
                yield text, line
                line += text.count("\n")
                start = end
            held = held[start:]
            if len(held) > _LONGEST:
                message = f"no blank line in {_LONGEST >> 20} million characters: this is no treebank"
                raise FormatError(message, source, line)
    except FormatError:  # a damaged file; the last whole sentence before the damage is not lost
        if _BLANK.search(held.lstrip("\r\n" + BOM)):
            yield held, line
        raise
    if line == 1 and not held.strip("\r\n" + BOM):
        raise FormatError("the file is empty: it has no sentence", source)
    if held:
        yield held, line


def unpadded(block: Block) -> tuple[str, int]:
    """The lines of a block without blank ones around them, and the number of the first."""
    body, line = block
    if "\r" in body:
        body = body.replace("\r\n", "\n").removesuffix("\r")
    if line == 1:
        body = body.lstrip(BOM)
        lines = body.lstrip("\n")
        line += len(body) - len(lines)
        body = lines
    return body.rstrip("\n"), line


def _sentence_ends(text: str, start: int) -> Iterator[int]:
    """The places behind each run of blank lines."""
    if "\r" in text:
        yield from (blank.end() for blank in _BLANK.finditer(text, start))
        return
    while (blank := text.find("\n\n", start)) >= 0:  # the same, several times faster
        start = blank + 2
        while text.startswith("\n", start):
            start += 1
        yield start
