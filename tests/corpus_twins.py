"""Slow and obvious twins of the compiled corpus code, built from `Tree` objects alone; and trees to try them on."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np
from hypothesis import strategies as st

from ramify.corpus import Batch, Corpus, Encoding, Vocabulary, encode_trees
from ramify.trees import EdgeType, Tree, dependents, levels, predecessors

FIELDS = (
    "sentences",
    "word",
    "label",
    "sentence",
    "position",
    "predecessor",
    "predecessor_word",
    "successors",
    "groups",
    "chain",
    "chain_words",
    "steps",
)

# --- trees -----------------------------------------------------------------------------------------------------------


@st.composite
def wild_trees(draw: st.DrawFn, most: int = 12) -> Tree:
    """Any tree at all: non-projective, with several roots; few words and labels, so that they come again."""
    n = draw(st.integers(1, most))
    order = [0, *draw(st.permutations(range(1, n + 1)))]  # each word hangs on one that stands before it here
    heads = [0] * n
    for place in range(1, n + 1):
        heads[order[place] - 1] = order[draw(st.integers(0, place - 1))]
    forms = draw(st.lists(st.sampled_from(["the", "The", "owl", "sees", "<unk>", "<root>", "Ä", "."]), **_exactly(n)))
    deprels = draw(st.lists(st.sampled_from(["nsubj", "det", "root", "_"]), **_exactly(n)))
    return Tree(tuple(forms), tuple(heads), tuple(deprels))


def _exactly(n: int) -> dict[str, int]:
    return {"min_size": n, "max_size": n}


def random_tree(random: np.random.Generator, n: int, kinds: int = 30) -> Tree:
    """A tree of n words; heads of any kind."""
    order = np.concatenate([[0], random.permutation(n) + 1])
    heads = np.zeros(n, int)
    for place in range(1, n + 1):
        heads[order[place] - 1] = order[random.integers(0, place)]
    forms = tuple(f"w{k}" for k in random.integers(0, kinds, n))
    deprels = tuple(f"r{k}" for k in random.integers(0, 7, n))
    return Tree(forms, tuple(heads.tolist()), deprels)


def plain(heads: Sequence[int]) -> Tree:
    """A tree whose words are a, b, c, a, ..."""
    return Tree(tuple("abcdefg"[i % 7] for i in range(len(heads))), tuple(heads))


def shapes(n: int) -> dict[str, Tree]:
    """Trees of n words that are as deep, as wide or as far from projective as can be."""
    middle = n // 2 + 1
    return {
        "chain to the right": plain(range(n)),
        "chain to the left": plain([*range(2, n + 1), 0]),
        "star of the first word": plain([0] + [1] * (n - 1)),
        "star of the last word": plain([n] * (n - 1) + [0]),
        "star of the middle": plain([0 if word == middle else middle for word in range(1, n + 1)]),
        "all roots": plain([0] * n),
        "zigzag": plain(_zigzag(n)),
        "every other": plain([max(word - 2, 0) for word in range(1, n + 1)]),  # two chains that cross all along
    }


def _zigzag(n: int) -> list[int]:
    """The last word heads the first, the first the last but one, and so on inwards."""
    low, high, head, heads = 1, n, 0, [0] * n
    while low <= high:
        word = high if (n - (high - low + 1)) % 2 == 0 else low
        heads[word - 1] = head
        head = word
        low, high = (low, high - 1) if word == high else (low + 1, high)
    return heads


def corpus_of(trees: Sequence[Tree], **options: Any) -> Corpus:
    """A corpus that keeps every word."""
    lowercase = options.pop("lowercase", False)
    return encode_trees(trees, Encoding(**{"min_count": 0, **options}, lowercase=lowercase))


# --- twins -----------------------------------------------------------------------------------------------------------


def twin_word(vocabulary: Vocabulary, form: str) -> int:
    form = form.lower() if vocabulary.lowercase else form
    known = list(vocabulary.words[2:])
    return known.index(form) + 2 if form in known else 0


def twin_batch(trees: Sequence[Tree], sentences: Sequence[int], vocabulary: Vocabulary) -> dict[str, list[Any]]:
    """The batch of trees[i] for i in sentences, each field a list."""
    word_ids = {form: twin_word(vocabulary, form) for i in sentences for form in trees[i].forms}
    label_ids = {label: i for i, label in enumerate(vocabulary.labels)}
    paths = [predecessors(trees[i]) for i in sentences]
    sides = [dependents(trees[i]) for i in sentences]
    keys = []  # (level, edge, place of the sentence, word): they sort as the rows do
    for b, i in enumerate(sentences):
        for word, level in enumerate(levels(trees[i]), 1):
            keys.append((level, int(paths[b][word - 1].edge), b, word))
    keys.sort()
    row_of = {(b, word): row for row, (_, _, b, word) in enumerate(keys, 1)}

    word, label, sentence, position = [1], [0], [-1], [0]
    predecessor, predecessor_word, successors = [0], [1], [[0, 0, 0] for _ in range(len(keys) + 1)]
    waiting: list[tuple[int, list[int]]] = []  # rows that read a chain, and the words of that chain
    for row, (_, edge, b, k) in enumerate(keys, 1):
        tree = trees[sentences[b]]
        before = paths[b][k - 1].word
        word.append(word_ids[tree.forms[k - 1]])
        label.append(label_ids.get(tree.deprels[k - 1], 0))
        sentence.append(b)
        position.append(k)
        predecessor.append(row_of[b, before] if before else 0)
        predecessor_word.append(word_ids[tree.forms[before - 1]] if before else 1)
        if before:
            slot = {EdgeType.LEFT: 0, EdgeType.RIGHT: 1, EdgeType.NX_LEFT: 2, EdgeType.NX_RIGHT: 2}[EdgeType(edge)]
            successors[row_of[b, before]][slot] = row
            if edge == EdgeType.RIGHT and (left := sides[b][before].left):
                waiting.append((row, [word_ids[tree.forms[k - 1]] for k in reversed(left)]))

    groups = [1]
    sizes = Counter(key[:2] for key in keys)
    for level in range(1, max((key[0] for key in keys), default=0) + 1):
        for edge in range(4):
            groups.append(groups[-1] + sizes[level, edge])

    waiting.sort(key=lambda pair: -len(pair[1]))  # stable: of equally long ones the upper row first
    chain = [0] * (len(keys) + 1)
    for number, (row, _) in enumerate(waiting, 1):
        chain[row] = number
    longest = max((len(words) for _, words in waiting), default=0)
    chain_words: list[int] = []
    steps_at = [0]
    for t in range(longest):  # all end together: a chain of k words takes part in the last k steps
        chain_words += [words[t - longest] for _, words in waiting if len(words) >= longest - t]
        steps_at.append(len(chain_words))
    values = (
        list(sentences),
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
        steps_at,
    )
    return dict(zip(FIELDS, values, strict=True))


def assert_same_batch(found: Batch, expected: Batch | dict[str, list[Any]]) -> None:
    for name in FIELDS:
        array = getattr(found, name)
        assert array.dtype == np.int32, f"{name} is {array.dtype}"
        wanted = expected[name] if isinstance(expected, dict) else getattr(expected, name).tolist()
        assert array.tolist() == wanted, name


def assert_same_corpus(found: Corpus, expected: Corpus, but: Sequence[str] = ()) -> None:
    assert found.vocabulary == expected.vocabulary
    for name in ("words", "heads", "labels", "lengths", "depths", "held_out", "offsets"):
        ours, theirs = getattr(found, name), getattr(expected, name)
        assert ours.dtype == theirs.dtype, name
        assert ours.tolist() == theirs.tolist(), name
    left_aside = dict.fromkeys(but)
    assert {**found.about, **left_aside} == {**expected.about, **left_aside}


def twin_windows(corpus: Corpus, order: Sequence[int], sentences_in_window: int) -> list[int]:
    """The order with every window sorted by length, then depth; equals stay as they were."""
    result: list[int] = []
    for start in range(0, len(order), sentences_in_window):
        window = list(order[start : start + sentences_in_window])
        window.sort(key=lambda i: (corpus.lengths[i], corpus.depths[i]))
        result += window
    return result


# --- files -----------------------------------------------------------------------------------------------------------


def conllu(trees: Sequence[Tree]) -> str:
    lines = []
    for number, tree in enumerate(trees, 1):
        lines.append(f"# sent_id = s{number}")
        for word, (form, head, deprel) in enumerate(zip(tree.forms, tree.heads, tree.deprels, strict=True), 1):
            lines.append(f"{word}\t{form}\t_\t_\t_\t_\t{head}\t{deprel}\t_\t_")
        lines.append("")
    return "\n".join(lines) + "\n"
