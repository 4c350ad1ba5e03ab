import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import all_trees, random_projective_trees, random_trees

from ramify.errors import TreeError
from ramify.formats import read
from ramify.trees import (
    ROOT,
    Dependents,
    EdgeType,
    Step,
    Tree,
    Word,
    breadth_first,
    dependency_path,
    dependents,
    is_projective,
    levels,
    predecessors,
    tree_from_paths,
)

LEFT, RIGHT, NX_LEFT, NX_RIGHT = EdgeType

FIGURE_2 = Tree(
    ["The", "luxury", "auto", "manufacturer", "last", "year", "sold", "1,214", "cars", "in", "the", "U.S."],
    (4, 4, 4, 7, 6, 7, 0, 9, 7, 7, 12, 10),
)
THE, LUXURY, AUTO, MANUFACTURER, LAST, YEAR, SOLD, N1214, CARS, IN, THE_US, US = range(1, 13)

# --- the paper's own example ----------------------------------------------------------------------------------------


def test_breadth_first_numbers_of_figure_2():
    numbered = [(FIGURE_2.forms[word - 1], number) for number, word in enumerate(breadth_first(FIGURE_2), 1)]
    assert numbered == [
        ("sold", 1),
        ("year", 2),
        ("manufacturer", 3),
        ("cars", 4),
        ("in", 5),
        ("last", 6),
        ("auto", 7),
        ("luxury", 8),
        ("The", 9),
        ("1,214", 10),
        ("U.S.", 11),
        ("the", 12),
    ]


def test_the_five_paths_that_section_2_1_spells_out():
    def path(word):
        return dependency_path(FIGURE_2, word)

    assert path(ROOT) == ()
    assert path(SOLD) == ((ROOT, RIGHT),)
    assert path(YEAR) == (*path(SOLD), (SOLD, LEFT))
    assert path(MANUFACTURER) == (*path(YEAR), (YEAR, NX_LEFT))
    assert path(CARS) == (*path(SOLD), (SOLD, RIGHT))
    assert path(IN) == (*path(CARS), (CARS, NX_RIGHT))


def test_the_longest_path_of_figure_2():
    assert dependency_path(FIGURE_2, THE) == (
        Step(ROOT, RIGHT),
        Step(SOLD, LEFT),
        Step(YEAR, NX_LEFT),
        Step(MANUFACTURER, LEFT),
        Step(AUTO, NX_LEFT),
        Step(LUXURY, NX_LEFT),
    )
    assert levels(FIGURE_2) == (6, 5, 4, 3, 3, 2, 1, 3, 2, 3, 5, 4)


def test_dependents_come_closest_first():
    assert dependents(FIGURE_2)[ROOT] == Dependents([], [SOLD])
    assert dependents(FIGURE_2)[SOLD] == Dependents([YEAR, MANUFACTURER], [CARS, IN])
    assert dependents(FIGURE_2)[MANUFACTURER] == Dependents([AUTO, LUXURY, THE], [])
    assert dependents(FIGURE_2)[THE] == Dependents([], [])


def test_edge_types_are_written_as_in_the_paper():
    assert [str(edge) for edge in EdgeType] == ["LEFT", "RIGHT", "NX-LEFT", "NX-RIGHT"]
    assert [int(edge) for edge in EdgeType] == [0, 1, 2, 3]  # the corpus counts on it


def test_a_non_projective_tree_is_read_by_position_relative_to_the_head():
    tree = Tree(["A", "hearing", "is", "scheduled", "on", "the", "issue", "today"], (2, 4, 4, 0, 7, 7, 2, 4))
    assert dependents(tree)[2] == Dependents([1], [7])
    assert dependency_path(tree, 7) == ((0, RIGHT), (4, LEFT), (3, NX_LEFT), (2, RIGHT))


@pytest.mark.parametrize("word", [13, -1])
def test_there_is_no_path_of_a_word_that_is_not_there(word):
    with pytest.raises(TreeError, match=f"there is no word {word} in a tree of 12"):
        dependency_path(FIGURE_2, word)


# --- slow twins, written straight from the definitions --------------------------------------------------------------


def slow_path(tree, word):
    if word == ROOT:  # (1)
        return ()
    parent = tree.heads[word - 1]
    siblings = [other for other, head in enumerate(tree.heads, 1) if head == parent]
    if word < parent:
        between = [sibling for sibling in siblings if word < sibling < parent]
        if not between:  # (2a)
            return (*slow_path(tree, parent), (parent, LEFT))
        return (*slow_path(tree, min(between)), (min(between), NX_LEFT))  # (2b)
    between = [sibling for sibling in siblings if parent < sibling < word]
    if not between:  # (3a)
        return (*slow_path(tree, parent), (parent, RIGHT))
    return (*slow_path(tree, max(between)), (max(between), NX_RIGHT))  # (3b)


def slow_breadth_first(tree):
    order, layer = [], [ROOT]
    while layer:
        order += layer
        below = []
        for word in layer:
            own = [other for other, head in enumerate(tree.heads, 1) if head == word]
            below += sorted((other for other in own if other < word), reverse=True)
            below += sorted(other for other in own if other > word)
        layer = below
    return tuple(order[1:])


def check_against_twins(tree):
    paths = [slow_path(tree, word) for word in range(1, len(tree) + 1)]
    assert [dependency_path(tree, word) for word in range(1, len(tree) + 1)] == paths
    assert predecessors(tree) == tuple(path[-1] for path in paths)
    assert levels(tree) == tuple(map(len, paths))
    assert breadth_first(tree) == slow_breadth_first(tree)
    level = (0, *levels(tree))
    for word, step in enumerate(predecessors(tree), 1):
        assert level[step.word] == level[word] - 1


def test_all_small_trees_as_defined():
    for tree in all_trees(4):
        check_against_twins(tree)


@given(random_trees(20))
def test_random_trees_as_defined(tree):
    check_against_twins(tree)


@pytest.mark.parametrize(
    "heads",
    [tuple(range(5_000)), (*range(2, 5_001), 0), (0,) * 5_000, (*[5_000] * 4_999, 0)],
    ids=["chain to the right", "chain to the left", "all roots", "star"],
)
def test_deep_and_wide_trees_need_no_recursion(heads):
    tree = Tree(["w"] * 5_000, heads)
    assert sorted(levels(tree)) == list(range(1, 5_001))
    assert sorted(breadth_first(tree)) == list(range(1, 5_001))
    deepest = 1 + levels(tree).index(5_000)
    assert len(dependency_path(tree, deepest)) == 5_000
    assert is_projective(tree)


# --- and back -------------------------------------------------------------------------------------------------------


def paths_of(tree):
    """All paths of a tree, each built once from that of its predecessor."""
    steps = predecessors(tree)
    paths = {ROOT: ()}
    for word in breadth_first(tree):
        paths[word] = (*paths[steps[word - 1].word], steps[word - 1])
    return [paths[word] for word in range(1, len(tree) + 1)]


def test_all_projective_trees_of_ewt_are_rebuilt_from_their_paths():
    rebuilt = 0
    for part in ("train", "dev", "test"):
        for tree in read(f"ewt:{part}"):
            if is_projective(tree):
                assert tree_from_paths(tree.words, paths_of(tree)) == tree, tree.address
                rebuilt += 1
    assert rebuilt == 16_622 - 345


def test_all_small_projective_trees_are_rebuilt_from_their_paths():
    for tree in filter(is_projective, all_trees(5)):
        words = [Word(str(word)) for word in range(len(tree))]
        paths = [dependency_path(tree, word) for word in range(1, len(tree) + 1)]
        rebuilt = tree_from_paths(words, paths)
        assert (rebuilt.heads, rebuilt.words) == (tree.heads, tuple(words))


@given(random_projective_trees(20), st.randoms(use_true_random=False))
def test_the_order_of_the_words_is_read_off_the_paths_alone(tree, random):
    names = list(range(1, len(tree) + 1))
    random.shuffle(names)
    called = dict(zip(range(1, len(tree) + 1), names, strict=True)) | {ROOT: ROOT}
    words, paths = [None] * len(tree), [None] * len(tree)
    for word in range(1, len(tree) + 1):
        words[called[word] - 1] = tree.words[word - 1]
        paths[called[word] - 1] = tuple(Step(called[at], edge) for at, edge in dependency_path(tree, word))
    assert tree_from_paths(words, paths) == tree


@given(random_trees())
def test_whatever_the_tree_its_paths_are_those_of_a_projective_one(tree):
    words = [Word(str(word)) for word in range(1, len(tree) + 1)]
    rebuilt = tree_from_paths(words, paths_of(tree))
    assert is_projective(rebuilt)
    assert (rebuilt.heads == tree.heads) == is_projective(tree)
    back = {0: 0} | {place: int(form) for place, form in enumerate(rebuilt.forms, 1)}
    for place, path in enumerate(paths_of(rebuilt), 1):
        assert tuple(Step(back[at], edge) for at, edge in path) == dependency_path(tree, back[place])


TOP = (Step(ROOT, RIGHT),)


@pytest.mark.parametrize(
    ("paths", "message"),
    [
        ([], "2 words but 0 paths"),
        ([TOP], "2 words but 1 paths"),
        ([TOP, ()], "the path of word 2 is empty: only ROOT's is"),
        ([TOP, (*TOP, (3, LEFT))], "the path of word 2 does not go on from that of its predecessor 3"),
        ([TOP, (*TOP, (-1, LEFT))], "the path of word 2 does not go on from that of its predecessor -1"),
        ([TOP, (*TOP, (2, LEFT))], "the path of word 2 does not go on from that of its predecessor 2"),
        ([TOP, ((1, LEFT),)], "the path of word 2 does not go on from that of its predecessor 1"),
        ([TOP, (*TOP, (1, LEFT), (1, NX_LEFT))], "the path of word 2 does not go on from that of its predecessor 1"),
        ([TOP, ((1, LEFT), (0, RIGHT))], "the path of word 2 does not go on from that of its predecessor 0"),
        ([(*TOP, (2, LEFT)), (*TOP, (1, LEFT))], "the path of word 1 does not go on from that of its predecessor 2"),
        ([TOP, TOP], "word 2 cannot be RIGHT of 0: another word is, or 0 stands elsewhere"),
        ([((ROOT, LEFT),), TOP], "word 1 cannot be LEFT of 0: nothing stands left of ROOT"),
        ([((ROOT, NX_RIGHT),), TOP], "word 1 cannot be NX-RIGHT of 0: another word is, or 0 stands elsewhere"),
        ([TOP, (*TOP, (1, NX_LEFT))], "word 2 cannot be NX-LEFT of 1: nothing stands left of ROOT"),
    ],
)
def test_inconsistent_paths_are_refused(paths, message):
    with pytest.raises(TreeError) as caught:
        tree_from_paths([Word("a"), Word("b")], paths)
    assert str(caught.value) == message


LEFT_OF_1 = (*TOP, Step(1, LEFT))


@pytest.mark.parametrize(
    ("third", "fourth", "message"),
    [
        ((*TOP, (1, LEFT)), (*TOP, (1, RIGHT)), "word 3 cannot be LEFT of 1"),
        ((*TOP, (1, RIGHT)), (*TOP, (1, RIGHT)), "word 4 cannot be RIGHT of 1"),
        ((*LEFT_OF_1, (2, NX_LEFT)), (*LEFT_OF_1, (2, NX_LEFT)), "word 4 cannot be NX-LEFT of 2"),
        ((*LEFT_OF_1, (2, NX_RIGHT)), (*TOP, (1, RIGHT)), "word 3 cannot be NX-RIGHT of 2"),  # 2 stands on the left
        ((*TOP, (1, NX_RIGHT)), (*TOP, (1, NX_RIGHT)), "word 4 cannot be NX-RIGHT of 1"),
    ],
)
def test_no_two_words_in_one_place(third, fourth, message):
    with pytest.raises(TreeError, match=f"^{message}: another word is, or . stands elsewhere$"):
        tree_from_paths([Word("w")] * 4, [TOP, LEFT_OF_1, third, fourth])


def test_no_word_no_tree():
    with pytest.raises(TreeError, match="at least one word"):
        tree_from_paths([], [])


@given(random_projective_trees(5), st.data())
def test_one_changed_step_gives_another_tree_or_a_refusal(tree, data):
    paths = paths_of(tree)
    word = data.draw(st.integers(0, len(tree) - 1))
    place = data.draw(st.integers(0, len(paths[word]) - 1))
    step = Step(data.draw(st.integers(0, len(tree))), data.draw(st.sampled_from(EdgeType)))
    path = (*paths[word][:place], step, *paths[word][place + 1 :])
    if path == paths[word]:
        return
    words = [Word(str(word)) for word in range(1, len(tree) + 1)]
    changed = [*paths[:word], path, *paths[word + 1 :]]
    try:
        rebuilt = tree_from_paths(words, changed)
    except TreeError:
        return
    back = {0: 0} | {place: int(form) for place, form in enumerate(rebuilt.forms, 1)}
    read_off = {back[w]: tuple(Step(back[at], edge) for at, edge in p) for w, p in enumerate(paths_of(rebuilt), 1)}
    assert [read_off[word] for word in range(1, len(tree) + 1)] == changed
