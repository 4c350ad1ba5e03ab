"""Tokens: sentences whose trees are not yet known. Every word hangs on ROOT until a parser says better."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import chain
from pathlib import Path

from ramify.errors import FormatError
from ramify.formats.blocks import BOM, blocks
from ramify.formats.conllu import HEAD, ID, OnError, Sentence, parse_sentence, stop
from ramify.formats.files import Progress, display_name, text_chunks
from ramify.formats.registry import Format, input_format, read_sentences
from ramify.trees import ROOT, Tree

_COLUMNS = 10
_BETWEEN = re.compile(r"[ \t]+")


def read_tokens(
    source: str | Path,
    format: Format | None = None,
    *,
    encoding: str = "utf-8",
    on_error: OnError = stop,
    progress: Progress | None = None,
) -> Iterator[Sentence]:
    """The sentences of a treebank file. In CoNLL-U, HEAD may hold anything: it is not looked at."""
    if (format or input_format(source)) is not Format.CONLLU:
        yield from read_sentences(source, format, encoding=encoding, on_error=on_error, progress=progress)
        return
    name = display_name(source)
    for text, line in blocks(text_chunks(source, encoding, progress), name):
        try:
            sentence = parse_sentence((_without_heads(text), line), name)
        except FormatError as error:
            on_error(error)
        else:
            yield sentence


def _without_heads(text: str) -> str:
    lines = text.split("\n")
    for i, line in enumerate(lines):
        fields = line.split("\t")
        if len(fields) == _COLUMNS and fields[ID].isdigit():
            fields[HEAD] = str(ROOT)
            lines[i] = "\t".join(fields)
    return "\n".join(lines)


def read_lines(source: str | Path, *, encoding: str = "utf-8", progress: Progress | None = None) -> Iterator[Sentence]:
    """The sentences of a text with one on each line, its tokens parted by spaces; blank lines are none.

    They are called s1, s2, ... by the number of their line.
    """
    name = display_name(source)
    held, number, found = "", 0, False
    for chunk in chain(text_chunks(source, encoding, progress), ["\n"]):
        *lines, held = (held + chunk).split("\n")
        for line in lines:
            number += 1
            tokens = tuple(filter(None, _BETWEEN.split(line.strip("\r" + BOM))))
            if tokens:
                found = True
                heads = (ROOT,) * len(tokens)
                yield Sentence.from_tree(Tree(tokens, heads, sent_id=f"s{number}", source=name, line=number))
    if not found:
        raise FormatError("the file is empty: it has no sentence", name)
