"""Trees to draw: the paper's Figure 2, awkward ones, enormous ones, random ones."""

from hypothesis import strategies as st

from ramify.trees import Tree

FIGURE_2 = Tree(
    ["The", "luxury", "auto", "manufacturer", "last", "year", "sold", "1,214", "cars", "in", "the", "U.S."],
    (4, 4, 4, 7, 6, 7, 0, 9, 7, 7, 12, 10),
    ["det", "compound", "compound", "nsubj", "amod", "tmod", "root", "num", "dobj", "prep", "det", "pobj"],
)
NON_PROJECTIVE = Tree(
    ["A", "hearing", "is", "scheduled", "on", "the", "issue", "today"],
    (2, 4, 4, 0, 7, 7, 2, 4),
    ["det", "nsubj:pass", "aux:pass", "root", "case", "det", "nmod", "obl"],
)
WIDE = Tree(
    ("我", "喜欢", "日本語", "が", "cafe\u0301", "हिन्दी"),
    (2, 0, 2, 3, 2, 2),
    ("nsubj", "root", "obj", "case", "obj", "obj"),
)
TWO_ROOTS = Tree(("Yes", "we", "can"), (0, 3, 0), ("discourse", "nsubj", "root"))

LARGE = {
    "chain to the right": tuple(range(5_000)),
    "chain to the left": (*range(2, 5_001), 0),
    "star to the right": (0, *[1] * 5_000),
    "star to the left": (*[5_001] * 5_000, 0),
    "sentence": tuple(max(word - 7, 0) if word % 7 == 1 else word - word % 7 + 1 for word in range(1, 10_001)),
    "all of ROOT": (0,) * 10_000,
}


def large(name: str) -> Tree:
    heads = LARGE[name]
    return Tree([f"word{i}" for i in range(len(heads))], heads, ["dep"] * len(heads))


@st.composite
def trees(draw: st.DrawFn, size: int = 15) -> Tree:
    """Any tree, projective or not: each word hangs on one that was placed before it."""
    order = draw(st.integers(1, size).flatmap(lambda n: st.permutations(range(1, n + 1))))
    heads = [0] * len(order)
    for i, word in enumerate(order):
        heads[word - 1] = draw(st.sampled_from([0, *order[:i]]))
    texts = st.text(st.sampled_from("ab-.日語é\u0301\t\u202e&<$_"), min_size=1, max_size=12)
    return Tree([draw(texts) for _ in order], heads, [draw(texts) for _ in order])
