"""Batch: sentences as the model sees them, one row for each word, sorted by level and then by edge type.

Row 0 is ROOT for all sentences of the batch: its state is a constant and its gradient nothing, so 0 also says "none"
where a row names a successor or a chain. The words have the rows 1 to N. All words of one level and edge type are
neighbours, so each group is one slice and one matrix product.

Letters: B sentences, N words, L levels, M words of all LD chains, T steps of the longest chain.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ramify.corpus.compiled import compiled
from ramify.corpus.corpus import Corpus
from ramify.corpus.structure import LEFT, NX_LEFT, RIGHT, Array, read_paths
from ramify.corpus.vocabulary import ROOT
from ramify.trees import EdgeType


@dataclass(frozen=True, slots=True, eq=False)
class Batch:
    """Rows, groups and chains of some sentences; all numbers int32."""

    sentences: Array  # [B] their numbers in the corpus
    word: Array  # [N + 1] target word
    label: Array  # [N + 1] its relation to its head
    sentence: Array  # [N + 1] place of its sentence in `sentences`; -1 for ROOT
    position: Array  # [N + 1] number of the word in its sentence, 1..n; 0 for ROOT
    predecessor: Array  # [N + 1] row of the predecessor, one level up; 0 is ROOT
    predecessor_word: Array  # [N + 1] word of that row, the input of the model
    successors: Array  # [N + 1, 3] rows of first left dependent, first right dependent, next sibling; 0 for none
    groups: Array  # [4 L + 1] rows groups[g] to groups[g + 1] have level g // 4 + 1 and edge type g % 4
    # LD: the left dependents of each head that also has right ones, furthest to closest. Chains are numbered from 1,
    # longest first, and end together: step t runs the chains 1 to (steps[t + 1] - steps[t]).
    chain: Array  # [N + 1] the chain that a RIGHT row reads; 0 for none
    chain_words: Array  # [M] words, step by step
    steps: Array  # [T + 1] words steps[t] to steps[t + 1] belong to step t

    def __len__(self) -> int:
        return len(self.sentences)

    @property
    def n_words(self) -> int:
        return len(self.word) - 1

    @property
    def n_levels(self) -> int:
        return len(self.groups) // 4

    @property
    def n_chains(self) -> int:
        return int(self.steps[-1] - self.steps[-2]) if len(self.steps) > 1 else 0

    def rows(self, level: int, edge: EdgeType | None = None) -> slice:
        """The rows of a level (1..L), or of one edge type in it."""
        first = 4 * (level - 1) + (0 if edge is None else edge)
        return slice(int(self.groups[first]), int(self.groups[first + (4 if edge is None else 1)]))


def build_batch(corpus: Corpus, sentences: Array) -> Batch:
    """The batch of these sentences of a corpus; none is a batch too, the share of a process in a small last one."""
    sentences = np.ascontiguousarray(sentences, np.int32)
    columns = _build(corpus.words, corpus.heads, corpus.labels, corpus.offsets, sentences)
    return Batch(sentences, *columns)


@compiled
def _build(words: Array, heads: Array, labels: Array, offsets: Array, sentences: Array) -> tuple[Array, ...]:
    n_words, longest = 0, 0
    for i in sentences:
        if not 0 <= i < len(offsets) - 1:  # compiled code would read any memory that it is sent to
            raise IndexError("a batch was asked for a sentence that the corpus does not have")
        n = offsets[i + 1] - offsets[i]
        n_words += n
        longest = max(longest, n)

    # 1. Paths of all words, in the order of the sentences: place = first place of the sentence + word - 1.
    before = np.empty(n_words, np.int32)  # predecessor as a word of its sentence
    edge = np.empty(n_words, np.int8)
    level = np.empty(n_words, np.int32)
    scratch = np.empty(longest + 1, np.int32)
    n_levels, place = 0, 0
    for i in sentences:
        n = offsets[i + 1] - offsets[i]
        here = slice(place, place + n)
        deepest = read_paths(heads[offsets[i] : offsets[i + 1]], before[here], edge[here], level[here], scratch)
        n_levels = max(n_levels, deepest)
        place += n

    # 2. Rows: a counting sort by (level, edge type) that keeps the order of the sentences.
    groups = np.zeros(4 * n_levels + 1, np.int32)
    for place in range(n_words):
        group = 4 * (level[place] - 1) + edge[place]
        groups[group + 1] += 1
    groups[0] = 1
    for group in range(4 * n_levels):
        groups[group + 1] += groups[group]
    free = groups.copy()
    row_of = np.empty(n_words, np.int32)
    for place in range(n_words):
        group = 4 * (level[place] - 1) + edge[place]
        row_of[place] = free[group]
        free[group] += 1

    # 3. What each row knows.
    word = np.empty(n_words + 1, np.int32)
    label = np.empty(n_words + 1, np.int32)
    sentence = np.empty(n_words + 1, np.int32)
    position = np.empty(n_words + 1, np.int32)
    predecessor = np.empty(n_words + 1, np.int32)
    predecessor_word = np.empty(n_words + 1, np.int32)
    successors = np.zeros((n_words + 1, 3), np.int32)
    word[0], label[0], sentence[0], position[0], predecessor[0], predecessor_word[0] = ROOT, 0, -1, 0, 0, ROOT
    first = 0
    for b, i in enumerate(sentences):
        start = offsets[i]
        n = offsets[i + 1] - start
        for k in range(n):
            place = first + k
            row = row_of[place]
            word[row] = words[start + k]
            label[row] = labels[start + k]
            sentence[row] = b
            position[row] = k + 1
            step = before[place]
            if step == 0:
                predecessor[row] = 0
                predecessor_word[row] = ROOT
                continue
            above = row_of[first + step - 1]
            predecessor[row] = above
            predecessor_word[row] = words[start + step - 1]
            successors[above, min(edge[place], NX_LEFT)] = row
        first += n

    # 4. LD chains. A head's left dependents are its LEFT successor and the siblings that follow, closest first.
    chain = np.zeros(n_words + 1, np.int32)
    size = np.zeros(n_words + 1, np.int32)  # of the chain that a row reads
    longest_chain = 0
    for at in range(n_levels):
        for row in range(groups[4 * at + RIGHT], groups[4 * at + RIGHT + 1]):
            left = successors[predecessor[row], LEFT]  # 0 below ROOT, whose successors are not noted
            while left:
                size[row] += 1
                left = successors[left, 2]
            longest_chain = max(longest_chain, size[row])
    of_size = np.zeros(longest_chain + 2, np.int32)  # of_size[k]: chains of more than k words, so numbers before these
    for row in range(1, n_words + 1):
        if size[row]:
            of_size[size[row] - 1] += 1
    for k in range(longest_chain - 1, -1, -1):
        of_size[k] += of_size[k + 1]
    steps = np.zeros(longest_chain + 1, np.int32)  # at step t run the chains of at least (longest_chain - t) words
    for t in range(longest_chain):
        steps[t + 1] = steps[t] + of_size[longest_chain - t - 1]
    chain_words = np.empty(steps[longest_chain], np.int32)
    used = of_size.copy()  # used[k]: the number before that of the next chain of k words
    for row in range(1, n_words + 1):
        if size[row]:
            used[size[row]] += 1
            number = used[size[row]]
            chain[row] = number
            left = successors[predecessor[row], LEFT]
            step = longest_chain - 1
            while left:
                chain_words[steps[step] + number - 1] = word[left]
                left = successors[left, 2]
                step -= 1
    return (
        word,
        label,
        sentence,
        position,
        predecessor,
        predecessor_word,
        successors,
        groups,
        chain,
        chain_words,
        steps,
    )
