"""Every treebank format under its name: how a file's format is found, and the one way to read and to write."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from enum import StrEnum
from pathlib import Path

from ramify.errors import CallError, FormatError
from ramify.formats import conllu, conllx, files, kbest, stanford
from ramify.formats.blocks import BOM
from ramify.formats.conllu import OnError, Sentence, stop
from ramify.formats.files import Progress
from ramify.trees import NonProjective, Tree


class Format(StrEnum):
    CONLLU = "conllu"  # k-best lists included, by their slash ids
    CONLLX = "conllx"
    STANFORD = "stanford"
    MST = "mst"  # the original's k-best lists: CoNLL-X blocks and FILE.mstscores


_SUFFIXES = {
    ".conllu": Format.CONLLU,
    ".conll": Format.CONLLX,
    ".conllx": Format.CONLLX,
    ".dep": Format.STANFORD,
    ".tuples": Format.STANFORD,
}
_READERS: dict[Format, Callable[..., Iterator[Sentence]]] = {
    Format.CONLLU: conllu.read_conllu,
    Format.CONLLX: conllx.read_conllx,
    Format.STANFORD: stanford.read_stanford,
    Format.MST: kbest.read_mst,
}
_RENDERERS: dict[Format, Callable[[Sentence], str]] = {
    Format.CONLLU: lambda sentence: sentence.text,
    Format.CONLLX: conllx.render_conllx,
    Format.STANFORD: stanford.render_stanford,
}


def input_format(source: str | Path) -> Format:
    """The format that a file's suffix names. Standard input and unknown suffixes are taken as CoNLL-U."""
    found = _SUFFIXES.get(files.bare_suffix(source), Format.CONLLU)
    if found is Format.CONLLX and kbest.scores_file(source):
        return Format.MST
    return found


def output_format(target: str | Path) -> Format:
    """The format that a new file's suffix names; standard output is CoNLL-U."""
    if str(target) == files.STDIN:
        return Format.CONLLU
    suffix = files.bare_suffix(target)
    if suffix not in _SUFFIXES:
        raise CallError(f"no format has the suffix {suffix!r} of {target}; known are {', '.join(_SUFFIXES)}")
    return _SUFFIXES[suffix]


def read_sentences(
    source: str | Path,
    format: Format | None = None,
    *,
    encoding: str = "utf-8",
    on_error: OnError = stop,
    progress: Progress | None = None,
) -> Iterator[Sentence]:
    """The sentences of a treebank file in any format, of standard input (`-`) or of a bundled treebank (`ewt:dev`)."""
    chosen = Format(format) if format else input_format(source)  # its bare name will do
    return _READERS[chosen](source, encoding=encoding, on_error=on_error, progress=progress)


def read(
    source: str | Path,
    format: Format | None = None,
    *,
    encoding: str = "utf-8",
    on_error: OnError = stop,
    nonprojective: NonProjective = NonProjective.KEEP,
    progress: Progress | None = None,
) -> Iterator[Tree]:
    """The trees of a treebank: `for tree in ramify.read("ewt:dev"): ...`"""
    rule = NonProjective(nonprojective)
    for sentence in read_sentences(source, format, encoding=encoding, on_error=on_error, progress=progress):
        tree = sentence.tree if rule is NonProjective.KEEP else rule.take(sentence.tree)
        if tree is not None:
            yield tree


def write(
    sentences: Iterable[Sentence], target: str | Path, format: Format | None = None, *, on_error: OnError = stop
) -> int:
    """Write sentences in the format that the target's suffix names; their number is returned."""
    chosen = Format(format) if format else output_format(target)
    count = 0
    if chosen is Format.MST:
        if str(target) == files.STDIN:
            raise CallError("k-best lists in the original's form are two files: name the first with --output")

        def counted() -> Iterator[Sentence]:
            nonlocal count
            for sentence in sentences:
                count += 1
                yield sentence

        kbest.write_mst(counted(), target)
        return count
    render = _RENDERERS[chosen]
    gap = ""
    with files.whole_file(target) as out:
        for sentence in sentences:
            try:
                text = render(sentence)
            except FormatError as error:
                on_error(error)
                continue
            if count and chosen is Format.CONLLU:  # the sentence before may have been the last of another file
                text = gap + text.lstrip(BOM)
            out.write(text)
            gap = "" if text.endswith(("\n\n", "\n\r\n")) else "\n" if text.endswith("\n") else "\n\n"
            count += 1
    return count
