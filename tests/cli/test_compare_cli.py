"""ramify compare on the command line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from small_runs import save_lm, small_lm, write_treebank

from ramify.cli import run
from ramify.tasks.compare import compare_scores
from ramify.tasks.paired import McNemar

HEAD = "id,choice,margin,kind,score_a,score_b\n"


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Two tables of predictions with answers, and two tables of scores."""
    monkeypatch.chdir(tmp_path)
    for name, chosen in (("a.csv", "aabab"), ("b.csv", "abbbb")):
        rows = [f"{i},{choice},1,P(S) sum,-1,-2\n" for i, choice in enumerate(chosen, 1)]
        (tmp_path / name).write_text(HEAD + "".join(rows))
    (tmp_path / "answers.csv").write_text("id,answer\n1,a\n2,a\n3,a\n4,a\n")
    treebank = write_treebank(tmp_path / "t.conllu", 10)
    for kind in ("ldtree", "tree", "lstm"):
        save_lm(tmp_path / kind, small_lm(kind))
        assert run(["score", str(treebank), "-m", kind, "-q", "-o", f"{kind}.tsv"]) == 0
    return tmp_path


def test_predictions(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["compare", "a.csv", "b.csv", "--answers", "answers.csv"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split() for line in lines[:3]] == [
        ["b", "right", "b", "wrong"],
        ["a", "right", "1", "2"],
        ["a", "wrong", "0", "1"],
    ]
    assert lines[3].startswith("a: accuracy 75.00% [")
    assert lines[4].startswith("b: accuracy 25.00% [")
    assert lines[5].startswith("difference: +50.00% [+0.00%, +100.00%]")
    assert lines[6].startswith("p 0.5 | a:a.csv | b:b.csv | kinds:P(S) sum and P(S) sum | answered:4 | test:McNemar, ")
    assert run(["compare", "a.csv", "b.csv", "--answers", "answers.csv", "--json"]) == 0
    about = json.loads(capsys.readouterr().out)
    assert about["p"] == McNemar(1, 2, 0, 1).p == 0.5
    assert (about["both_right"], about["only_a"], about["only_b"], about["both_wrong"]) == (1, 2, 0, 1)
    assert about["signature"] == lines[6]


def test_scores(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["compare", "ldtree.tsv", "tree.tsv"]) == 0
    lines = capsys.readouterr().out.splitlines()
    found = compare_scores("ldtree.tsv", "tree.tsv")
    assert lines[0] == f"{found.words:,} words in 10 sentences"
    assert lines[3] == f"difference: {found.difference:+.4f} [{found.low:+.4f}, {found.high:+.4f}]"
    assert lines[4].startswith(f"p {found.p:.4g} | a:ldtree.tsv | b:tree.tsv | kind:P(S|T) | sents:10 | words:")
    assert run(["compare", "ldtree.tsv", "tree.tsv", "--json", "--known-words"]) == 0
    about = json.loads(capsys.readouterr().out)
    assert about["words"] + about["left_out"] == found.words
    assert "| unk:left out |" in about["signature"]


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["a.csv", "b.csv"], 2, "predictions are compared by their answers, --answers FILE"),
        (["tree.tsv", "ldtree.tsv", "--answers", "answers.csv"], 2, "and scores without any"),
        (["a.csv", "tree.tsv"], 2, "of a.csv and tree.tsv one is a table of predictions, and the other is not"),
        (["a.csv", "no.csv"], 2, "no such file: no.csv"),
        (["a.csv", "-"], 2, "they are files, not standard input"),
        (["tree.tsv", "lstm.tsv"], 1, "P(S|T) here and P(S) in lstm.tsv:2 are different kinds of number"),
        (["a.csv", "a.csv", "--answers", "none.csv"], 1, "none.csv:2: there is no question '9'"),
    ],
)
def test_what_is_refused(
    arguments: list[str], code: int, said: str, here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (here / "none.csv").write_text("id,answer\n9,a\n")
    assert run(["compare", *arguments]) == code
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("ramify: ")
    assert said in err
