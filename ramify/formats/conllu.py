"""CoNLL-U, read sentence by sentence and written back to the last byte.

A `Sentence` keeps its text as it stands in the file (comments, multiword tokens, empty nodes, blank lines, line ends)
beside the `Tree` of its words. Edits touch the named field alone.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from threading import Lock
from typing import NamedTuple, TypeVar

from ramify.errors import FormatError, TreeError
from ramify.formats.blocks import BOM, Block, blocks, unpadded
from ramify.formats.files import Progress, display_name, text_chunks
from ramify.trees import Tree
from ramify.trees.tree import check_heads

ID, FORM, LEMMA, UPOS, XPOS, FEATS, HEAD, DEPREL, DEPS, MISC = range(10)
_COLUMNS = 10
_UNWRITABLE = re.compile(r"[\t\r\n]")
_MISSING_BLANK = "is the blank line between two sentences missing?"

OnError = Callable[[FormatError], None]  # called with each sentence that is refused; may raise


def stop(error: FormatError) -> None:
    """The default: the first malformed sentence ends the reading."""
    raise error


@dataclass(slots=True)
class Sentence:
    """One annotated sentence: its exact text in CoNLL-U, and the tree of its words."""

    text: str
    tree: Tree

    @property
    def lines(self) -> list[str]:
        """Comments and token lines, without line ends."""
        return unpadded((self.text, 1))[0].split("\n")

    @property
    def rows(self) -> list[list[str]]:
        """The ten fields of each word; multiword tokens and empty nodes are left out."""
        return [line.split("\t") for line in self.lines if _is_word(line)]

    def comment(self, key: str) -> str | None:
        """The value of the comment `# key = value`."""
        found = re.search(rf"^{BOM}?#[ \t]*{re.escape(key)}[ \t]*=[ \t]*(.*?)[ \t]*\r?$", self.text, re.MULTILINE)
        return found[1] if found else None

    def with_comment(self, key: str, value: str) -> Sentence:
        """The same sentence with the comment `# key = value`, in its old place or after the other comments."""
        return self.with_comments({key: value})

    def with_comments(self, values: Mapping[str, str]) -> Sentence:
        """The same with several comments."""
        top, lines = self._parts()
        for key, value in values.items():
            comment = f"# {key} = {value}"
            where = next(i for i, line in enumerate(lines) if not line.startswith("#"))
            end = "\r" if lines[where].endswith("\r") else ""
            for i, line in enumerate(lines[:where]):
                if re.match(rf"#[ \t]*{re.escape(key)}[ \t]*=", line):
                    lines[i] = comment + end
                    break
            else:
                lines.insert(where, comment + end)
        return self._edited(top, lines)

    def with_column(self, column: int, values: Sequence[str]) -> Sentence:
        """The same sentence with one field of every word replaced: `sentence.with_column(HEAD, heads)`."""
        if len(values) != len(self.tree):
            raise ValueError(f"{len(values)} values for {len(self.tree)} words")
        given = iter(values)
        top, lines = self._parts()
        for i, line in enumerate(lines):
            if _is_word(line):
                end = "\r" if line.endswith("\r") else ""
                fields = line.removesuffix("\r").split("\t")
                fields[column] = next(given)
                lines[i] = "\t".join(fields) + end
        return self._edited(top, lines)

    def _parts(self) -> tuple[str, list[str]]:
        """What stands before the first line (a byte order mark, blank lines), and the lines."""
        text = self.text.lstrip(BOM + "\r\n")
        return self.text[: len(self.text) - len(text)], text.split("\n")

    def _edited(self, top: str, lines: list[str]) -> Sentence:
        edited = parse_sentence(("\n".join(lines), self.tree.line), self.tree.source)
        return Sentence(top + edited.text, edited.tree)

    @classmethod
    def from_tree(cls, tree: Tree, comments: Iterable[str] = ()) -> Sentence:
        """A tree as a sentence of its own; `comments` are whole lines, put before `# sent_id` and `# text`.

        Refused is what would not be read back: an empty form, a tab in a field, a line end anywhere.
        """
        lines = list(comments)
        if tree.sent_id:
            lines.append(f"# sent_id = {tree.sent_id}")
        fields = chain(tree.forms, tree.deprels, tree.upos, tree.xpos)
        for field in chain(fields, (line.replace("\t", " ") for line in lines)):
            if _UNWRITABLE.search(field):
                message = f"CoNLL-U cannot hold the tab or line end in {_short(field)}"
                raise FormatError(message, tree.source, tree.line, tree.sent_id)
        if "" in tree.forms:
            message = f"word {tree.forms.index('') + 1} has an empty form"
            raise FormatError(message, tree.source, tree.line, tree.sent_id)
        lines.append(f"# text = {' '.join(tree.forms)}")
        for number, (word, head) in enumerate(zip(tree.words, tree.heads, strict=True), 1):
            lines.append(
                f"{number}\t{word.form}\t_\t{word.upos}\t{word.xpos}\t_\t{head}\t{word.deprel}\t_\t_",
            )
        return cls("\n".join(lines) + "\n\n", tree)


class Columns(NamedTuple):
    """The columns of a sentence that a corpus needs; its heads are known to form a tree."""

    forms: Sequence[str]
    heads: Sequence[int]
    deprels: Sequence[str]


def read_conllu(
    source: str | Path, *, encoding: str = "utf-8", on_error: OnError = stop, progress: Progress | None = None
) -> Iterator[Sentence]:
    """The sentences of a CoNLL-U file, one at a time. Their texts, joined, are the file."""
    chunks = text_chunks(source, encoding, progress)
    return _parsed(parse_sentence, chunks, display_name(source), on_error)


def read_columns(
    source: str | Path, *, encoding: str = "utf-8", on_error: OnError = stop, progress: Progress | None = None
) -> Iterator[Columns]:
    """Forms, heads and relations alone, checked like those of a `Tree`: for those who count words by the million."""
    chunks = text_chunks(source, encoding, progress)
    return _parsed(parse_columns, chunks, display_name(source), on_error)


def parse_conllu(text: str, *, source: str = "", on_error: OnError = stop) -> Iterator[Sentence]:
    """The sentences of a text in CoNLL-U."""
    return _parsed(parse_sentence, [text], source, on_error)


T = TypeVar("T")


def _parsed(parse: Callable[[Block, str], T], chunks: Iterable[str], source: str, on_error: OnError) -> Iterator[T]:
    for block in blocks(chunks, source):
        try:
            parsed = parse(block, source)
        except FormatError as error:
            on_error(error)
        else:
            yield parsed


# --- one sentence ---------------------------------------------------------------------------------------------------

_SENT_ID = re.compile(r"^#[ \t]*sent_id[ \t]*=[ \t]*(\S.*?)[ \t]*$", re.MULTILINE)
_IDS: list[str] = []  # "\\n1", "\\n2", ... as far as the longest sentence met
_HEADS = {"0": 0}  # and what they mean as heads
_GROWING = Lock()  # threads may read treebanks side by side


def parse_sentence(block: Block, source: str) -> Sentence:
    """One block of a file as a sentence; refused with the address of the line at fault."""
    body, line = unpadded(block)
    comments, body = _cut_comments(body)
    sent_id = _sent_id(comments)
    line_of_words = line + comments.count("\n")
    fields = _sweep(body)
    if not fields:
        raise _fault(body, line_of_words, source, sent_id)
    forms, heads = fields[FORM::_COLUMNS], fields[HEAD::_COLUMNS]
    try:
        if "" in forms:
            raise TreeError(f"word {forms.index('') + 1} has an empty FORM", forms.index("") + 1)
        tree = Tree(
            tuple(forms),
            tuple(map(_HEADS.__getitem__, heads)),
            tuple(fields[DEPREL::_COLUMNS]),
            tuple(fields[UPOS::_COLUMNS]),
            tuple(fields[XPOS::_COLUMNS]),
            sent_id,
            source,
            line,
        )
    except (KeyError, TreeError) as error:
        raise _addressed(_explained(error, heads), body, line_of_words, source, sent_id) from None
    return Sentence(block[0], tree)


def parse_columns(block: Block, source: str) -> Columns:
    """The same without making a sentence; what is refused there is refused here."""
    fields = _sweep(_cut_comments(unpadded(block)[0])[1])
    forms = fields[FORM::_COLUMNS]
    try:
        heads = list(map(_HEADS.__getitem__, fields[HEAD::_COLUMNS]))
        check_heads(heads)
        if "" not in forms:
            return Columns(forms, heads, fields[DEPREL::_COLUMNS])
    except (KeyError, TreeError):
        pass
    tree = parse_sentence(block, source).tree  # says what is wrong
    return Columns(tree.forms, tree.heads, tree.deprels)


def _sent_id(comments: str) -> str:
    usual = comments.find("# sent_id = ")
    if usual >= 0 and comments[usual - 1 : usual] in ("", "\n"):  # not inside of another comment
        end = comments.find("\n", usual)
        return comments[usual + 12 : end if end >= 0 else None].strip()
    found = _SENT_ID.search(comments) if "sent_id" in comments else None
    return found[1] if found else ""


def _cut_comments(body: str) -> tuple[str, str]:
    """The comments, which come first, and the token lines."""
    if not body.startswith("#"):
        return "", body
    start = body.find("\n1\t") + 1
    comments = body[:start]
    if not start or comments.count("\n#") != comments.count("\n") - 1:  # not as simple as that
        start = 0
        while body.startswith("#", start):
            start = body.find("\n", start) + 1 or len(body)
        comments = body[:start]
    return comments, body[start:]


def _sweep(body: str) -> list[str]:
    """The fields of all words, ten for each; nothing when any line is malformed, which `_fault` then explains."""
    fields = f"\n{body}".replace("\n", "\t\n").split("\t")  # so that the ids, and only they, start with a line end
    del fields[0]
    n, rest = divmod(len(fields), _COLUMNS)
    if n > len(_IDS):
        with _GROWING:
            for number in range(len(_IDS) + 1, n + 1):
                _HEADS[str(number)] = number
                _IDS.append(f"\n{number}")
    ids = fields[ID::_COLUMNS]
    if rest or body.count("\n") != n - 1:
        return []
    if ids != _IDS[:n]:
        if any(name[:1] != "\n" for name in ids):
            return []  # a line of nine columns and one of eleven
        extra = [i for i, name in enumerate(ids) if "-" in name or "." in name]
        if _misplaced_extra([(ids[i][1:], i - k) for k, i in enumerate(extra)], n - len(extra)):
            return []
        for i in reversed(extra):
            del fields[i * _COLUMNS : (i + 1) * _COLUMNS]
        if fields[ID::_COLUMNS] != _IDS[: n - len(extra)]:
            return []
    return fields


def _misplaced_extra(extra: list[tuple[str, int]], n: int) -> tuple[int, str] | None:
    """The first multiword token (3-4) or empty node (8.1) out of place, and why; given are ids and the word before."""
    covered, empty, empties_at = 0, 0, -1  # the last word of the last range; the last empty node, and after which word
    for i, (name, word) in enumerate(extra):
        if all(map(_is_number, ends := name.split("-"))) and len(ends) == 2:
            first, last = map(int, ends)
            fault = ""
            if first != word + 1:
                fault = f"stands where word {word + 1} is expected: it belongs before word {first}"
            elif first <= covered:
                fault = "overlaps the one before it"
            elif last < first:
                fault = "ends before it begins"
            elif last > n:
                fault = f"ends beyond the last word, {n}"
            if fault:
                return i, f"the multiword token {name} {fault}"
            covered = last
        elif all(map(_is_number, parts := name.split("."))) and len(parts) == 2:
            empty = empty + 1 if empties_at == word else 1
            empties_at = word
            if parts != [str(word), str(empty)]:
                return i, f"the empty node {name} should be {word}.{empty} here"
        else:
            return i, f"the id {_short(name)} is no number, range (3-4) or empty node (8.1)"
    return None


def _fault(body: str, line: int, source: str, sent_id: str) -> FormatError:
    """What is wrong with the token lines of a sentence that the sweep refused."""
    word = 0
    extra: list[tuple[str, int]] = []
    lines: list[int] = []
    for number, text in enumerate(body.split("\n") if body else [], line):
        name = text.partition("\t")[0]
        if text.startswith("#"):
            message = f"a comment among the words, {_short(text)}: {_MISSING_BLANK}"
            return FormatError(message, source, number, sent_id)
        if text.count("\t") != _COLUMNS - 1:
            return FormatError(_wrong_columns(text), source, number, sent_id)
        if name == str(word + 1):
            word += 1
        elif _is_number(name):
            return FormatError(_wrong_id(name, word), source, number, sent_id)
        else:
            extra.append((name, word))
            lines.append(number)
    if misplaced := _misplaced_extra(extra, word):
        return FormatError(misplaced[1], source, lines[misplaced[0]], sent_id)
    return FormatError("comments or empty nodes without a word", source, line, sent_id)


def _is_number(digits: str) -> bool:
    return digits.isascii() and digits.isdigit() and len(digits) < 10


def _is_word(line: str) -> bool:
    return _is_number(line.partition("\t")[0])


def _wrong_id(name: str, word: int) -> str:
    if word == 0:
        return f"the first id is {name}, not 1"
    if int(name) == word:
        return f"the id {name} occurs twice"
    return f"the id {name} comes after {word}: {_MISSING_BLANK if name == '1' else 'ids go up by one'}"


def _wrong_columns(line: str) -> str:
    found = line.count("\t") + 1
    columns = f"{found} column{'s' * (found != 1)} instead of {_COLUMNS} (separated by tabs)"
    if not line.strip(" "):
        return f"{columns}: a line of spaces is not a blank line"
    if found == 1 and len(line.split(None, _COLUMNS)) == _COLUMNS:
        return f"{columns}: the columns are separated by spaces, is this --input-format conllx?"
    return f"{columns}: {_short(line)}"


def _short(text: str) -> str:
    return repr(text if len(text) <= 40 else text[:39] + "…")


def _explained(error: KeyError | TreeError, heads: list[str]) -> TreeError:
    """The reason why heads are refused, whatever longer sentences were met before (`_HEADS` knows more then)."""
    n = len(heads)
    for word, head in enumerate(heads, 1):
        if _HEADS.get(head, n + 1) > n:
            return TreeError(f"HEAD of word {word} is {_short(head)}, not a number from 0 to {n}", word)
    assert isinstance(error, TreeError)
    return error


def _addressed(error: TreeError, body: str, line: int, source: str, sent_id: str) -> FormatError:
    """The error with the line of the word that it names."""
    words = (number for number, text in enumerate(body.split("\n"), line) if _is_word(text))
    place = next((number for i, number in enumerate(words, 1) if i == error.word), line)
    return FormatError(error.message, source, place, sent_id)
