"""Which sentences come together in a batch."""

from collections import Counter

import numpy as np
import pytest
from corpus_twins import corpus_of, plain, random_tree, twin_windows
from hypothesis import given
from hypothesis import strategies as st

from ramify.corpus import Corpus, EpochPlan, Schedule
from ramify.errors import CallError


def make_corpus(sizes: list[int], hold_out: int = 0) -> Corpus:
    random = np.random.default_rng(sum(sizes))
    return corpus_of([random_tree(random, size) for size in sizes], hold_out=hold_out)


CORPUS = make_corpus([1 + 7 * i % 30 for i in range(211)])
SIZES = st.lists(st.integers(1, 12), min_size=1, max_size=40)


def batches(plan: EpochPlan) -> list[list[int]]:
    return [plan[position].tolist() for position in range(len(plan))]


def flat(lists: list[list[int]]) -> list[int]:
    return [number for numbers in lists for number in numbers]


def in_order_of_the_cuts(plan: EpochPlan) -> list[list[int]]:
    """The batches as they were cut, before they were shuffled."""
    return [batch for _, batch in sorted(zip(plan.batches.tolist(), batches(plan), strict=True))]


# --- every sentence once ---------------------------------------------------------------------------------------------


@given(
    sizes=SIZES,
    batch_size=st.integers(1, 9),
    batch_words=st.none() | st.integers(1, 40),
    window=st.integers(1, 4),
    shuffle=st.booleans(),
    seed=st.integers(0, 2**70),
    epoch=st.integers(0, 3),
)
def test_every_sentence_once(
    sizes: list[int], batch_size: int, batch_words: int | None, window: int, shuffle: bool, seed: int, epoch: int
) -> None:
    corpus = make_corpus(sizes)
    schedule = Schedule(batch_size, batch_words, window, shuffle, seed)
    plan = schedule.epoch(corpus, corpus.everything, epoch)
    found = batches(plan)
    assert sorted(flat(found)) == list(range(len(corpus)))
    assert all(found)  # no batch is empty
    assert found == batches(schedule.epoch(corpus, corpus.everything, epoch))
    if batch_words is None:
        cut = in_order_of_the_cuts(plan)
        assert {len(batch) for batch in cut[:-1]} <= {batch_size}
        assert 1 <= len(cut[-1]) <= batch_size
    else:
        assert_cut_by_words(plan, corpus, batch_words)


def assert_cut_by_words(plan: EpochPlan, corpus: Corpus, most: int) -> None:
    cut = in_order_of_the_cuts(plan)
    words = [sum(int(corpus.lengths[i]) for i in batch) for batch in cut]
    for batch, size in zip(cut, words, strict=True):
        assert size <= most or len(batch) == 1
    for batch, size, after in zip(cut, words, cut[1:], strict=False):
        assert size + corpus.lengths[after[0]] > most, (batch, after)  # the next one would have been too many


def test_only_the_sentences_that_are_asked_for() -> None:
    chosen = np.array([200, 3, 77, 5, 6])
    plan = Schedule(batch_size=2).epoch(CORPUS, chosen)
    assert sorted(flat(batches(plan))) == sorted(chosen)
    assert len(plan) == 3


def test_held_out_sentences_never_come_in_training() -> None:
    corpus = make_corpus([1 + i % 9 for i in range(100)], hold_out=30)
    for epoch in range(3):
        found = flat(batches(Schedule(batch_size=8).epoch(corpus, corpus.training, epoch)))
        assert sorted([*found, *corpus.held_out.tolist()]) == list(range(100))


def test_no_sentences() -> None:
    for schedule in (Schedule(), Schedule(batch_words=10), Schedule(shuffle=False)):
        plan = schedule.epoch(CORPUS, np.empty(0, np.int32))
        assert (len(plan), list(plan)) == (0, [])


def test_the_corpus_is_left_as_it_is() -> None:
    chosen = CORPUS.everything
    before = chosen.copy()
    Schedule().epoch(CORPUS, chosen)
    Schedule(shuffle=False).epoch(CORPUS, chosen)
    assert chosen.tolist() == before.tolist()


# --- the same and other orders ---------------------------------------------------------------------------------------


def test_seed_and_epoch_decide() -> None:
    def run(seed: int, epoch: int) -> list[list[int]]:
        return batches(Schedule(8, window=3, seed=seed).epoch(CORPUS, CORPUS.everything, epoch))

    assert run(1, 0) == run(1, 0)
    orders = [run(seed, epoch) for seed, epoch in ((1, 0), (1, 1), (2, 0), (0, 1), (0, 2))]
    together = [{frozenset(batch) for batch in order} for order in orders]
    for i in range(len(orders)):
        for j in range(i):
            assert orders[i] != orders[j]
            assert together[i] != together[j]  # it is not only the order of the batches that changes


def test_batches_are_shuffled_too() -> None:
    """Not a walk from short to long through the windows, nor all of one window before the next."""
    plan = Schedule(8, window=5).epoch(CORPUS, CORPUS.everything)
    assert plan.batches.tolist() != sorted(plan.batches.tolist())
    windows = [batch // 5 for batch in plan.batches.tolist()]
    assert windows != sorted(windows)


def test_shuffle_false_is_the_same_in_every_epoch_and_for_every_seed() -> None:
    plans = [
        batches(Schedule(8, shuffle=False, seed=seed).epoch(CORPUS, CORPUS.everything, epoch))
        for seed, epoch in ((1, 0), (1, 1), (2, 0))
    ]
    assert plans[0] == plans[1] == plans[2]


# --- windows ---------------------------------------------------------------------------------------------------------


@given(sizes=SIZES, batch_size=st.integers(1, 6), window=st.integers(1, 4))
def test_unshuffled_windows_against_the_twin(sizes: list[int], batch_size: int, window: int) -> None:
    corpus = make_corpus(sizes)
    plan = Schedule(batch_size, window=window, shuffle=False).epoch(corpus, corpus.everything)
    expected = twin_windows(corpus, range(len(corpus)), batch_size * window)
    assert flat(batches(plan)) == expected
    assert batches(plan) == [expected[at : at + batch_size] for at in range(0, len(expected), batch_size)]


def test_unshuffled_keeps_the_order_that_is_asked_for() -> None:
    chosen = np.arange(len(CORPUS))[::-1]
    plan = Schedule(4, window=2, shuffle=False).epoch(CORPUS, chosen)
    assert flat(batches(plan)) == twin_windows(CORPUS, chosen.tolist(), 8)


def test_a_window_of_one_batch_of_one_is_the_corpus_in_order() -> None:
    plan = Schedule(1, window=1, shuffle=False).epoch(CORPUS, CORPUS.everything)
    assert flat(batches(plan)) == list(range(len(CORPUS)))


@pytest.mark.parametrize("shuffle", [True, False])
def test_windows_are_sorted_by_length_then_depth(shuffle: bool) -> None:
    plan = Schedule(10, window=4, shuffle=shuffle).epoch(CORPUS, CORPUS.everything)
    order = flat(in_order_of_the_cuts(plan))
    keys = [(int(CORPUS.lengths[i]), int(CORPUS.depths[i])) for i in order]
    for at in range(0, len(keys), 40):
        assert keys[at : at + 40] == sorted(keys[at : at + 40])
    assert keys != sorted(keys)
    if shuffle:  # each window is a random draw of the corpus
        assert sorted(order[:40]) != list(range(40))


def test_depth_decides_between_sentences_of_one_length() -> None:
    deep, flat_one = plain([0, 1, 2, 3]), plain([2, 0, 2, 2])
    corpus = corpus_of([deep, flat_one, deep, flat_one, plain([0])])
    plan = Schedule(5, shuffle=False).epoch(corpus, corpus.everything)
    assert batches(plan) == [[4, 1, 3, 0, 2]]


def test_a_window_of_words_is_as_wide_as_its_batches_on_average() -> None:
    """All sentences have 4 words: batches of 12 words are batches of 3 sentences, a window of 2 has 6."""
    corpus = corpus_of([plain([0, 1, 2, 3] if i % 2 else [2, 0, 2, 2]) for i in range(24)])
    by_words = Schedule(batch_words=12, window=2, shuffle=False).epoch(corpus, corpus.everything)
    by_sentences = Schedule(batch_size=3, window=2, shuffle=False).epoch(corpus, corpus.everything)
    assert batches(by_words) == batches(by_sentences)


# --- cut by words ----------------------------------------------------------------------------------------------------


def test_cut_by_words() -> None:
    corpus = make_corpus([3, 3, 4, 1, 9, 9, 2, 50, 1])
    plan = Schedule(batch_words=10, window=1000, shuffle=False).epoch(corpus, corpus.everything)
    lengths = [corpus.lengths[batch].tolist() for batch in batches(plan)]
    assert lengths == [[1, 1, 2, 3, 3], [4], [9], [9], [50]]
    assert_cut_by_words(plan, corpus, 10)


def test_a_budget_that_is_met_exactly() -> None:
    corpus = make_corpus([5] * 7)
    plan = Schedule(batch_words=10, shuffle=False).epoch(corpus, corpus.everything)
    assert [len(batch) for batch in batches(plan)] == [2, 2, 2, 1]


def test_words_are_counted_in_wide_numbers() -> None:
    """Lengths are stored in 8 bits here; their sum is not."""
    corpus = corpus_of([plain([0] * 200)] * 9)
    assert corpus.lengths.dtype == np.uint8
    plan = Schedule(batch_words=1000, shuffle=False).epoch(corpus, corpus.everything)
    assert [len(batch) for batch in batches(plan)] == [5, 4]


# --- ranks -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("words", [None, 60])
@pytest.mark.parametrize("world", [1, 2, 3, 8, 11])
def test_ranks_share_every_batch(world: int, words: int | None) -> None:
    def plan(rank: int, world: int) -> EpochPlan:
        return Schedule(8, words, window=3, rank=rank, world=world).epoch(CORPUS, CORPUS.everything, 2)

    whole = batches(plan(0, 1))
    shares = [batches(plan(rank, world)) for rank in range(world)]
    for position, batch in enumerate(whole):
        parts = [share[position] for share in shares]
        assert Counter(flat(parts)) == Counter(batch)
        assert max(map(len, parts)) - min(map(len, parts)) <= 1  # nobody waits for the others
    assert {len(share) for share in shares} == {len(whole)}
    if world == 11:  # more processes than sentences: some have nothing to do, and still take part
        assert any(not part for share in shares for part in share)


# --- positions -------------------------------------------------------------------------------------------------------


def test_a_plan_is_a_sequence() -> None:
    plan = Schedule(8).epoch(CORPUS, CORPUS.everything)
    assert len(plan) == 27
    assert [batch.tolist() for batch in plan] == batches(plan)  # type: ignore[attr-defined]
    with pytest.raises(IndexError):
        plan[27]


# --- refusals --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "options",
    [
        {"batch_size": 0},
        {"batch_size": -1},
        {"batch_words": 0},
        {"window": 0},
        {"rank": 1},
        {"rank": -1, "world": 2},
        {"rank": 2, "world": 2},
        {"world": 0},
        {"seed": -1},
    ],
)
def test_refusals(options: dict[str, int]) -> None:
    with pytest.raises(CallError):
        Schedule(**options)  # type: ignore[arg-type]
