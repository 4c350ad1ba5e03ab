"""K-best lists: several trees for each sentence, best first, with the parser's scores.

Two forms, both streams of sentences. In CoNLL-U the candidates of sentence `s1` are `s1/k_1`, `s1/k_2`, ... with
`# parser_score` comments. The original's pair of files holds all candidates of sentence 1, then of sentence 2, as
blocks of CoNLL-X, and in FILE.mstscores one line of scores for each sentence. K may vary from sentence to sentence.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from ramify.errors import CallError, FormatError
from ramify.formats.blocks import Block, blocks
from ramify.formats.conllu import OnError, Sentence, stop
from ramify.formats.conllx import parse_block, render_conllx
from ramify.formats.files import COMPRESSED, STDIN, Progress, display_name, locate, text_chunks, whole_file

SCORE = "parser_score"
SCORES_SUFFIX = ".mstscores"
_RANKED = re.compile(r"(?P<sentence>.*)/k_(?P<rank>\d+)$")


class KBest(NamedTuple):
    """The candidate trees of one sentence, best first. A list may have no scores at all."""

    sent_id: str
    candidates: tuple[Sentence, ...]

    @property
    def scores(self) -> tuple[float, ...] | None:
        texts = [candidate.comment(SCORE) for candidate in self.candidates]
        return None if None in texts else tuple(float(text or 0) for text in texts)


def ranked_name(name: str, rank: int) -> str:
    """The sent_id of a candidate."""
    return f"{name}/k_{rank}"


def is_ranked(sentence: Sentence) -> bool:
    """Does its sent_id say that a sentence is a candidate?"""
    return _RANKED.match(sentence.tree.sent_id) is not None


def group(sentences: Iterable[Sentence]) -> Iterator[KBest]:
    """The k-best lists in a stream of sentences; one without a slash id is a list of its own."""
    together: list[Sentence] = []
    name = ""
    for sentence in sentences:
        ranked = _RANKED.match(sentence.tree.sent_id)
        if together and not (ranked and ranked["sentence"] == name):
            yield KBest(name, tuple(together))
            together = []
        if not ranked:
            yield KBest(sentence.tree.sent_id, (sentence,))
            continue
        name = ranked["sentence"]
        together.append(sentence)
        _check_candidate(sentence, int(ranked["rank"]), together)
    if together:
        yield KBest(name, tuple(together))


def _check_candidate(sentence: Sentence, rank: int, together: list[Sentence]) -> None:
    tree, first = sentence.tree, together[0].tree
    message = ""
    if rank != len(together):
        message = f"candidate {rank} where candidate {len(together)} should stand"
    elif tree.forms != first.forms:
        message = f"candidate {rank} has other words than candidate 1 (line {first.line})"
    score = sentence.comment(SCORE)
    if score is not None and not _is_score(score):
        message = f"the {SCORE} is {score!r}, not a number"
    if message:
        raise FormatError(message, tree.source, tree.line, tree.sent_id)


def _is_score(text: str) -> bool:
    try:
        return float(text) == float(text)  # "nan" is none
    except ValueError:
        return False


def scores_file(source: str | Path) -> Path | None:
    """The file of scores that belongs to a file of candidates, if there is one: FILE.mstscores."""
    path = Path(source)
    bare = path.with_suffix("") if path.suffix in COMPRESSED else path
    names = [bare.with_name(bare.name + SCORES_SUFFIX + suffix) for suffix in ("", *COMPRESSED)]
    return next((name for name in names if name.exists()), None)


def read_mst(
    source: str | Path, *, encoding: str = "utf-8", on_error: OnError = stop, progress: Progress | None = None
) -> Iterator[Sentence]:
    """The candidates of the original's pair of files as sentences `s1/k_1`, `s1/k_2`, ... of CoNLL-U.

    A malformed candidate ends the reading even where others would be skipped: after it the two files no longer match.
    """
    name = display_name(source)
    if str(source) == STDIN:
        raise CallError("k-best lists in the original's form are two files: standard input is one")
    scores = scores_file(locate(source))
    if scores is None:
        raise CallError(f"{name} has no scores beside it: {Path(source).name}{SCORES_SUFFIX} is missing")
    candidates = blocks(text_chunks(source, encoding, progress), name)
    for number, line in enumerate(_score_lines(scores), 1):
        values = line.split()
        if not values or not all(map(_is_score, values)):
            raise FormatError(f"scores of sentence {number} are missing or no numbers", str(scores), number)
        first: Sentence | None = None
        for rank, value in enumerate(values, 1):
            block: Block | None = next(candidates, None)
            if block is None:
                raise FormatError(f"no candidate {rank} of sentence {number}: {scores.name} has more scores", name)
            comments = (f"# sent_id = s{number}/k_{rank}", f"# {SCORE} = {value}")
            sentence = parse_block(block, name, comments)
            first = first or sentence
            if sentence.tree.forms != first.tree.forms:
                tree = sentence.tree
                message = f"candidate {rank} has other words than candidate 1: does {scores.name} belong to this file?"
                raise FormatError(message, name, tree.line, tree.sent_id)
            yield sentence
    left = next(candidates, None)
    if left is not None:
        raise FormatError(f"candidates without scores: {scores.name} ends before", name, left[1])


def _score_lines(scores: Path) -> Iterator[str]:
    text = "".join(text_chunks(scores))
    yield from text.rstrip("\n").split("\n")


def write_mst(sentences: Iterable[Sentence], target: str | Path) -> None:
    """Write k-best lists as the original's pair of files; both appear, or none."""
    path = Path(target)
    bare = path.with_suffix("") if path.suffix in COMPRESSED else path
    with whole_file(path) as blocks_out, whole_file(bare.with_name(bare.name + SCORES_SUFFIX)) as scores_out:
        for kbest in group(sentences):
            tree = kbest.candidates[0].tree
            texts = [candidate.comment(SCORE) for candidate in kbest.candidates]
            if None in texts:
                message = f"candidate {texts.index(None) + 1} has no {SCORE}"
                raise FormatError(message, tree.source, tree.line, kbest.sent_id)
            blocks_out.writelines(map(render_conllx, kbest.candidates))
            scores_out.write(" ".join(map(str, texts)) + "\n")
