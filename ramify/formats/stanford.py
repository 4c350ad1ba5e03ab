"""The Stanford tuples of the original code: one sentence a line, a label, a tab, and one tuple for each word.

    0<TAB>nsubj(sleeps-2, She-1) root(ROOT-0, sleeps-2)

The label means nothing to the model; it is kept as the comment `# label`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from ramify.errors import FormatError, TreeError
from ramify.formats.conllu import OnError, Sentence, stop
from ramify.formats.files import Progress, display_name, text_chunks
from ramify.trees import ROOT, Tree

_TUPLE = re.compile(
    r"(?P<rel>[^\s(]+)\((?P<head>\S+?)-(?P<h>\d{1,9})(?P<hc>'*), (?P<dep>\S+?)-(?P<d>\d{1,9})(?P<dc>'*)\)(?:\s+|$)"
)


def read_stanford(
    source: str | Path, *, encoding: str = "utf-8", on_error: OnError = stop, progress: Progress | None = None
) -> Iterator[Sentence]:
    """The sentences of a file of Stanford tuples, as CoNLL-U."""
    name = display_name(source)
    found = False
    for number, line in enumerate(_lines(text_chunks(source, encoding, progress)), 1):
        found = True
        try:
            sentence = parse_line(line.lstrip("\ufeff") if number == 1 else line, number, name)
        except FormatError as error:
            on_error(error)
        else:
            yield sentence
    if not found:
        raise FormatError("the file is empty: it has no sentence", name)


def _lines(chunks: Iterable[str]) -> Iterator[str]:
    held = ""
    for chunk in chunks:
        *whole, held = (held + chunk).split("\n")
        yield from whole
    if held:
        yield held


def parse_line(line: str, number: int, source: str) -> Sentence:
    """One line of tuples as a sentence."""
    label, tab, tuples = line.rstrip("\r\n").partition("\t")
    if not tab or "\t" in tuples:
        raise FormatError("a line holds a label, one tab, and tuples such as nsubj(sleeps-2, She-1)", source, number)
    words: dict[int, tuple[str, int, str]] = {}
    named: dict[int, str] = {}  # forms as the heads of others
    place = 0
    while place < len(tuples):
        match = _TUPLE.match(tuples, place)
        if not match:
            raise FormatError(f"{tuples[place : place + 40]!r} is no tuple rel(head-i, dependent-j)", source, number)
        place = match.end()
        if match["hc"] or match["dc"]:
            raise FormatError(f"{match[0].strip()} has a copied word: basic dependencies are needed", source, number)
        word, head = int(match["d"]), int(match["h"])
        if word == ROOT:
            raise FormatError(f"{match[0].strip()} gives ROOT a head: 0 is ROOT, words count from 1", source, number)
        if word in words:
            raise FormatError(f"word {word} has two heads: basic dependencies are needed", source, number)
        words[word] = match["dep"], head, match["rel"]
        if named.setdefault(head, match["head"]) != match["head"]:
            raise FormatError(f"word {head} is {named[head]!r} and {match['head']!r}", source, number)
    missing = next((word for word in range(1, len(words) + 1) if word not in words), None)
    if missing:
        raise FormatError(f"word {missing} has no tuple, so it has no head", source, number)
    for head, form in named.items():
        if head != ROOT and head in words and words[head][0] != form:
            raise FormatError(f"word {head} is {words[head][0]!r} and {form!r}", source, number)
    forms, heads, rels = zip(*(words[word] for word in sorted(words)), strict=True) if words else ((), (), ())
    try:
        tree = Tree(forms, heads, rels, source=source, line=number)
    except TreeError as error:
        raise FormatError(error.message, source, number) from None
    return Sentence.from_tree(tree, [f"# label = {label}"] if label else [])


def render_stanford(sentence: Sentence) -> str:
    """A sentence as a line of tuples; its label is that of the comment, or 0."""
    tree = sentence.tree
    for form, rel in zip(tree.forms, tree.deprels, strict=True):
        message = ""
        if re.search(r"\s", form):
            message = f"Stanford tuples cannot hold the space in {form!r}"
        elif not re.fullmatch(r"[^\s(]+", rel):
            message = f"Stanford tuples cannot hold the relation {rel!r}"
        if message:
            raise FormatError(message, tree.source, tree.line, tree.sent_id)
    named = ["ROOT", *tree.forms]
    tuples = (
        f"{rel}({named[head]}-{head}, {form}-{word})"
        for word, (form, head, rel) in enumerate(zip(tree.forms, tree.heads, tree.deprels, strict=True), 1)
    )
    return f"{sentence.comment('label') or 0}\t{' '.join(tuples)}\n"
