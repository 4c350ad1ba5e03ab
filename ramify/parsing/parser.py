"""Parser: sentences in, their best trees out, with relations and tags."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import NamedTuple

import numpy as np

from ramify.errors import CallError, FormatError
from ramify.formats.conllu import Sentence
from ramify.formats.kbest import KBest
from ramify.parsing.decode import decode
from ramify.parsing.examples import Examples, build, cut, examples_of
from ramify.parsing.filling import filled, named
from ramify.parsing.lexicon import Lexicon
from ramify.parsing.model import ParserModel
from ramify.trees import Tree

WINDOW = 2000  # sentences that are sorted into batches together
SQUARES = 50_000  # B * T * T of a batch: what its scores of siblings need
MOST_WORDS = 400  # of a sentence; those scores grow with the cube of its length


class Annotation(NamedTuple):
    """A tree of a sentence, as the parser sees it."""

    heads: tuple[int, ...]
    deprels: tuple[str, ...]
    upos: tuple[str, ...]
    score: float


class Parser:
    """A trained parser with its lexicon: `parser = ramify.parsing.load("parser/")`."""

    def __init__(self, model: ParserModel, lexicon: Lexicon) -> None:
        self.model = model.eval()
        self.lexicon = lexicon

    def parse(
        self, sentences: Iterable[Sentence | Tree | Sequence[str]], k: int = 1, threads: int | None = None
    ) -> Iterator[KBest]:
        """The k best trees of each sentence (or tree, or list of words), best first, all different.

        What a sentence has besides HEAD, DEPREL and UPOS is kept. With k above 1 the candidates of sentence `s1` are
        called `s1/k_1`, `s1/k_2`, ...; one without a name is called by its number.
        """
        if k < 1:
            raise CallError(f"the number of trees is at least 1, not {k}")
        walk = enumerate(sentences, 1)
        while window := [named(each, number, k) for number, each in islice(walk, WINDOW)]:
            trees = [sentence.tree for sentence, _ in window]
            for error in filter(None, map(too_long, trees)):
                raise error
            examples = examples_of(trees, self.lexicon)
            for (sentence, name), found in zip(window, self.annotate(examples, k, threads), strict=True):
                yield KBest(name, filled(sentence, name, found, k))

    def annotate(self, examples: Examples, k: int = 1, threads: int | None = None) -> list[list[Annotation]]:
        """The k best trees of all examples, in their order."""
        found: list[list[Annotation]] = [[]] * len(examples)
        by_length = np.argsort(examples.lengths, kind="stable")
        for chosen in cut(examples, by_length, SQUARES, power=2):
            readings = self.model.read(build(examples, chosen))
            trees = decode([reading.scores for reading in readings], k, threads)
            for where, reading, candidates in zip(chosen.tolist(), readings, trees, strict=True):
                tags = tuple(self.lexicon.tags[tag] for tag in reading.tags)
                places = np.arange(1, len(tags) + 1)
                found[where] = [
                    Annotation(
                        tuple(parse.heads.tolist()),
                        tuple(self.lexicon.labels[label] for label in reading.labels[parse.heads, places]),
                        tags,
                        parse.score,
                    )
                    for parse in candidates
                ]
        return found


def too_long(tree: Tree) -> FormatError | None:
    """Why a sentence is refused, if it is."""
    if len(tree) <= MOST_WORDS:
        return None
    message = f"a sentence of {len(tree):,} words: at most {MOST_WORDS} can be parsed, split it"
    return FormatError(message, tree.source, tree.line, tree.sent_id)
