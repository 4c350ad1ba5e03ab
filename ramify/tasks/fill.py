"""Fill: the likeliest words for a place in a sentence, whole sentences being scored.

To score the sentence with every word of the vocabulary in place would take as many sentences. So the likeliest words
by the place alone, P(word | what is known before it), make a shortlist; each is put in place and the whole sentence
scored. The log-probabilities are normalised over the shortlist: the word is taken to be on it. With the whole
vocabulary as shortlist they are exact.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain, islice
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import torch

from ramify.corpus import Encoding, encode_trees
from ramify.corpus.vocabulary import ROOT, UNK
from ramify.errors import CallError
from ramify.tasks.blank import Filled, with_words
from ramify.trees import Tree

if TYPE_CHECKING:
    from ramify.tasks.score import LM

SHORTLIST = 200


class Filling(NamedTuple):
    """A word for the blank. UNK, which is no word, is never among them."""

    word: str
    logprob: float


def fill(lm: LM, tree: Tree, position: int, top: int = 10, shortlist: int = SHORTLIST) -> list[Filling]:
    """The likeliest words in place of the word `position` (1..n), best first."""
    return next(fillings(lm, [(tree, position)], top, shortlist))


def fillings(
    lm: LM, places: Iterable[tuple[Tree, int]], top: int = 10, shortlist: int = SHORTLIST
) -> Iterator[list[Filling]]:
    """The same for many places, scored in one stream."""
    if not 1 <= top <= shortlist:
        raise CallError(
            f"the {top} likeliest words of a shortlist of {shortlist}: take 1 at least, and no more than it has"
        )
    lists: list[list[str]] = []

    def filled() -> Iterator[Tree]:
        for tree, position in places:
            if not 1 <= position <= len(tree):
                raise CallError(f"there is no word {position} in a sentence of {len(tree)}")
            words = likeliest(lm, tree, position, shortlist)
            lists.append(words)
            yield from (with_words(Filled(tree, position, position), [word]).tree for word in words)

    scores = iter(lm.scores(filled()))
    for first in scores:
        words = lists.pop(0)
        found = np.array([each.logprob for each in chain([first], islice(scores, len(words) - 1))])
        top_first = np.argsort(-found, kind="stable")[:top]
        total = np.logaddexp.reduce(found)
        yield [Filling(words[i], float(found[i] - total)) for i in top_first]


def likeliest(lm: LM, tree: Tree, position: int, n: int) -> list[str]:
    """The n likeliest words by the place alone, best first."""
    corpus = encode_trees([tree], Encoding(vocabulary=lm.vocabulary))
    batch = lm.model.build(corpus, corpus.everything)
    row = int(np.flatnonzero(batch.position[1:] == position)[0])
    with torch.no_grad():
        logits = lm.model.output.logits(lm.model.before_output(batch)[row : row + 1])[0].float()
    logits[[UNK, ROOT]] = -torch.inf
    best = torch.topk(logits, min(n, len(logits) - 2)).indices.tolist()
    return [lm.vocabulary.words[i] for i in best]
