"""Compare: choices and scores, paired."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from small_runs import small_lm, some_trees

from ramify.errors import CallError, FormatError
from ramify.formats.predictions import Prediction
from ramify.formats.tables import Table, row_writer, table_format
from ramify.tasks.compare import compare_choices, compare_scores
from ramify.tasks.paired import McNemar, bootstrap, permutation_p
from ramify.tasks.score import COLUMNS, LM, SentenceScore


def predictions(source: str, *chosen: str) -> list[Prediction]:
    return [
        Prediction(str(number), choice, 1.0, "k", (0.0, 0.0, 0.0), source, number + 1)
        for number, choice in enumerate(chosen, 1)
    ]


def test_choices() -> None:
    a, b = predictions("a.csv", *"abcab"), predictions("b.csv", *"aabab")
    answers = {"1": "a", "2": "b", "3": "b", "4": "c"}
    found = compare_choices(a, list(reversed(b)), answers)
    assert found.table == McNemar(1, 1, 1, 1)
    assert (found.a.accuracy, found.b.accuracy, found.difference) == (0.5, 0.5, 0.0)
    assert (found.low, found.high) == bootstrap(np.array([0, 1, -1, 0]))
    assert found.to_json()["interval"] == [found.low, found.high]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda rows: rows[:-1], "a.csv:4: question 3 is not in b.csv"),
        (lambda rows: [*rows, replace(rows[0], id="9")], "b.csv:2: question 9 is not in a.csv"),
        (
            lambda rows: [replace(rows[0], scores=(0.0, 1.0)), *rows[1:]],
            "a.csv:2: question 1: 3 candidates, and 2 in b",
        ),
    ],
)
def test_other_questions(change: Callable[[list[Prediction]], list[Prediction]], said: str) -> None:
    with pytest.raises(FormatError) as refused:
        compare_choices(predictions("a.csv", *"abc"), change(predictions("b.csv", *"abc")), {"1": "a"})
    assert str(refused.value).startswith(said)


# --- scores ----------------------------------------------------------------------------------------------------------


def scored(lm: LM, n: int = 10) -> list[SentenceScore]:
    return list(lm.scores(replace(tree, sent_id=f"s{i}") for i, tree in enumerate(some_trees(n))))


def write(path: Path, found: list[SentenceScore]) -> Path:
    with path.open("w", encoding="utf-8", newline="") as out:
        write_row = row_writer(out, table_format(path) or Table.TSV, COLUMNS)
        for each in found:
            for row in each.rows:
                write_row(row)
    return path


@pytest.mark.parametrize(("kind", "other"), [("ldtree", "tree"), ("lstm", "lstm"), ("bilstm", "bilstm")])
def test_sums_of_sentences(kind: str, other: str, tmp_path: Path) -> None:
    a, b = scored(small_lm(kind)), scored(small_lm(other, layers=2))
    found = compare_scores(write(tmp_path / "a.tsv", a), write(tmp_path / "b.jsonl", b))
    differences = np.array([x.logprob - y.logprob for x, y in zip(a, b, strict=True)])
    words = np.array([len(each.tree) for each in a])
    assert (found.kind, found.sentences, found.words, found.left_out) == (a[0].kind, 10, words.sum(), 0)
    assert found.logprob_a == pytest.approx(sum(each.logprob for each in a), abs=1e-3)
    assert found.difference == pytest.approx(differences.sum() / words.sum(), abs=1e-5)
    assert (found.low, found.high) == pytest.approx(bootstrap(differences, words), abs=1e-5)
    assert found.p == pytest.approx(permutation_p(differences), abs=1e-3)


def test_a_model_beside_itself(tmp_path: Path) -> None:
    path = write(tmp_path / "a.csv", scored(small_lm()))
    found = compare_scores(path, path)
    assert (found.difference, found.low, found.high, found.p) == (0.0, 0.0, 0.0, 1.0)


def test_words_that_one_model_does_not_know(tmp_path: Path) -> None:
    a, b = scored(small_lm(), 6), scored(small_lm(trees=some_trees(20)), 6)
    paths = write(tmp_path / "a.tsv", a), write(tmp_path / "b.tsv", b)
    with pytest.raises(FormatError, match=r"a.tsv:\d+ .* is known to the model of .*a.tsv alone: .* --known-words"):
        compare_scores(*paths)
    with pytest.raises(FormatError, match=r"b.tsv:\d+ .* is known to the model of .*a.tsv alone"):
        compare_scores(*reversed(paths))
    found = compare_scores(*paths, known_words=True)
    known = [~(x.is_unk | y.is_unk) for x, y in zip(a, b, strict=True)]
    assert found.words == sum(int(each.sum()) for each in known)
    assert found.left_out == sum(int((~each).sum()) for each in known)
    assert found.logprob_b == pytest.approx(
        sum(each.logprobs[where].sum() for each, where in zip(b, known, strict=True)), abs=1e-3
    )


def test_known_words_where_there_are_none(tmp_path: Path) -> None:
    path = tmp_path / "a.tsv"
    path.write_text("\t".join(COLUMNS) + "\ns\t1\tx\t0\tRIGHT\t-1.0\t2.0\t1\t\tP(S|T)\n")
    with pytest.raises(CallError, match="there is no word that both models know"):
        compare_scores(path, path, known_words=True)


def test_other_kinds_of_number(tmp_path: Path) -> None:
    paths = [write(tmp_path / f"{kind}.tsv", scored(small_lm(kind), 3)) for kind in ("ldtree", "lstm", "bilstm")]
    for a, b in ((0, 1), (1, 2), (2, 0)):
        with pytest.raises(FormatError, match=r":2 \(sent_id s0\): .* are different kinds of number"):
            compare_scores(paths[a], paths[b])


HEAD = "sent_id\tid\tform\tlogprob\tis_unk\tlogprob_end\tkind\n"
ROWS = ["s1\t1\tthe\t-1.0\t0\t\tP(S)\n", "s1\t2\tcat\t-2.0\t0\t-0.5\tP(S)\n", "s2\t1\tit\t-1.0\t0\t-0.5\tP(S)\n"]


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ([ROWS[0], ROWS[2]], "a.tsv:3 (sent_id s1): word 2 is 'cat', but in b.tsv:3 word 1 of s2 is 'it'"),
        (
            [ROWS[0], ROWS[1].replace("cat", "dog")],
            "a.tsv:3 (sent_id s1): word 2 is 'cat', but in b.tsv:3 word 2 of s1",
        ),
        (ROWS[:2], "a.tsv:4 (sent_id s2): b.tsv ends before this word"),
        ([*ROWS, ROWS[0]], "b.tsv:5 (sent_id s1): a.tsv ends before this word"),
        ([ROWS[0], ROWS[1].replace("-2.0", "x")], "b.tsv:3 (sent_id s1): the log-probabilities are no numbers"),
        (
            [ROWS[0], ROWS[1].replace("P(S)", "P(S|T)")],
            "a.tsv:3 (sent_id s1): P(S) here and P(S|T) in b.tsv:3 are differ",
        ),
    ],
)
def test_the_first_difference_is_named(
    rows: list[str], said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.tsv").write_text(HEAD + "".join(ROWS))
    (tmp_path / "b.tsv").write_text(HEAD + "".join(rows))
    with pytest.raises(FormatError) as refused:
        compare_scores("a.tsv", "b.tsv")
    assert str(refused.value).startswith(said)


def test_tables_of_something_else(tmp_path: Path) -> None:
    path = tmp_path / "a.tsv"
    for text, said in (
        ("x\ty\n1\t2\n", "a.tsv:2: no column sent_id: is this a table that ramify score wrote?"),
        (HEAD + ROWS[1], "the first word has the id 2, not 1"),
        (HEAD + ROWS[0] + ROWS[1].replace("P(S)", "P(S|T)"), "P(S) and P(S|T) in one file: these cannot be compared"),
    ):
        path.write_text(text)
        with pytest.raises(FormatError) as refused:
            compare_scores(path, path)
        assert said in str(refused.value)
