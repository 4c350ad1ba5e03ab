"""ramify complete on the command line: tables, mixtures, accuracy, likeliest words, what is refused."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import numpy as np
import pytest
from question_samples import as_conllu, as_csv, some_questions
from small_runs import save_lm, small_lm

import ramify
from ramify.cli import run
from ramify.formats.predictions import read_predictions
from ramify.tasks.complete import choices, score_candidates

QUESTIONS, PARSES = some_questions(8)


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with questions, parses, answers to half of them, a tree model and an LSTM."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "q.csv").write_text(as_csv(QUESTIONS), encoding="utf-8")
    trees = [tree for parses in PARSES for each in parses.of_candidates for tree in each]
    (tmp_path / "p.conllu").write_text(as_conllu(trees), encoding="utf-8")
    (tmp_path / "a.csv").write_text("id,answer\n1,a\n3,b\n5,a\n7,c\n")
    save_lm(tmp_path / "ld", small_lm())
    save_lm(tmp_path / "lstm", small_lm("lstm"))
    return tmp_path


def test_a_table(here: Path, capsysbinary: pytest.CaptureFixture[bytes]) -> None:
    assert run(["complete", "q.csv", "-m", "ld", "--parses", "p.conllu"]) == 0
    out, said = (text.decode() for text in capsysbinary.readouterr())
    found = score_candidates(ramify.load("ld"), QUESTIONS, PARSES)
    lines = [line.split("\t") for line in out.splitlines()]
    assert lines[0] == ["id", "choice", "margin", "kind", "score_a", "score_b", "score_c"]
    for line, row in zip(lines[1:], found.predictions, strict=True):
        assert line[:2] == [row.id, row.choice]
        assert line[3] == "P(S|T) sum"
        np.testing.assert_allclose([float(each) for each in line[4:]], row.scores, atol=1e-4)
    assert "ld: P(S|T) sum, 24 sentences; " in said
    assert "accuracy" not in said


@pytest.mark.parametrize(
    ("options", "kind"),
    [
        (["--score", "mean"], "P(S|T) mean"),
        (["--score", "touched", "--unk-correction"], "P(S|T) touched unk-corrected"),
        (["--unk-types", "7"], "P(S|T) sum unk-corrected"),
        (["--share-parse"], "P(S|T) sum shared"),
    ],
)
def test_other_scores(options: list[str], kind: str, here: Path) -> None:
    assert run(["complete", "q.csv", "-m", "ld", "--parses", "p.conllu", "-o", "out.csv", "-q", *options]) == 0
    rows = read_predictions("out.csv")
    assert [row.kind for row in rows] == [kind] * 8
    assert {row.choice for row in rows} <= set("abc")


@pytest.mark.parametrize("suffix", ["csv", "tsv", "jsonl", "csv.gz"])
def test_files(suffix: str, here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["complete", "q.csv", "-m", "lstm", "--parses", "p.conllu", "-o", f"out.{suffix}", "-q"]) == 0
    assert capsys.readouterr() == ("", "")
    expected = choices(score_candidates(ramify.load("lstm"), QUESTIONS, PARSES))
    assert {row.id: row.choice for row in read_predictions(f"out.{suffix}")} == expected


def test_an_lstm_without_parses(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["complete", "q.csv", "-m", "lstm", "-o", "out.csv"]) == 0
    assert (
        "lstm: the tokens are the text split at blanks; --parses gives those of a treebank" in capsys.readouterr().err
    )
    assert len(read_predictions("out.csv")) == 8


def test_accuracy(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    call = ["complete", "q.csv", "-m", "lstm", "-q", "-o", "out.csv", "--answers", "a.csv", "--json", "n.json"]
    assert run(call) == 0
    said = capsys.readouterr().err
    chosen = {row.id: row.choice for row in read_predictions("out.csv")}
    share = np.mean(
        [chosen[question] == answer for question, answer in (("1", "a"), ("3", "b"), ("5", "a"), ("7", "c"))]
    )
    assert said.startswith(f"accuracy {share:.2%} [")
    recipe = "model:lstm | kind:P(S) sum | questions:8 | answered:4 | bootstrap:95%, seed 1"
    assert f" | {recipe} | ramify:{ramify.__version__}\n" in said
    about = json.loads((here / "n.json").read_text())
    assert about["accuracy"] == share
    assert about["signature"] == said.strip()
    assert (about["answered"], about["questions"], about["right"]) == (4, 8, share * 4)
    low, high = about["interval"]
    assert said.startswith(f"accuracy {share:.2%} [{low:.2%}, {high:.2%}]")


def test_answers_beside_the_questions(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lines = [
        json.dumps({"id": 1, "question": "It _____ .", "candidates": ["is", "was"], "answer": "a"}),
        json.dumps({"id": 2, "question": "It _____ .", "candidates": {"b": "is", "a": "was"}}),
    ]
    (here / "q.jsonl").write_text("\n".join(lines))
    assert run(["complete", "q.jsonl", "-m", "lstm", "-q"]) == 0
    out, said = capsys.readouterr()
    assert "questions:2 | answered:1" in said
    (_, _, _, _, is_1, was_1), (_, _, _, _, was_2, is_2) = (line.split("\t") for line in out.splitlines()[1:])
    assert (is_1, was_1) == (is_2, was_2)


def test_a_mixture_with_and_without_the_models(here: Path) -> None:
    shared = ["--parses", "p.conllu", "-q", "-o"]
    both = ["-m", "ld", "-m", "lstm", "--weights", "0.7,0.3"]
    assert run(["complete", "q.csv", *both, *shared, "mixed.csv"]) == 0
    assert run(["complete", "q.csv", "-m", "ld", *shared, "ld.csv"]) == 0
    assert run(["complete", "q.csv", "-m", "lstm", *shared, "lstm.jsonl"]) == 0
    again = ["-m", "ld.csv", "-m", "lstm.jsonl", "--weights", "0.7,0.3"]
    assert run(["complete", "q.csv", *again, "-q", "-o", "again.csv"]) == 0
    rows = [read_predictions(name) for name in ("mixed.csv", "again.csv", "ld.csv", "lstm.jsonl")]
    for mixed, remade, a, b in zip(*rows, strict=True):
        assert mixed.kind == remade.kind == "mixture of P(S|T) sum and P(S) sum"
        np.testing.assert_allclose(mixed.scores, remade.scores, atol=1e-4)
        np.testing.assert_allclose(mixed.scores, 0.7 * np.array(a.scores) + 0.3 * np.array(b.scores), atol=1e-4)
        assert mixed.choice == remade.choice


def test_tuned_weights(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (here / "all.csv").write_text("id,answer\n" + "".join(f"{i},{'abc'[i % 3]}\n" for i in range(1, 9)))
    call = ["complete", "q.csv", "-m", "ld", "-m", "lstm", "--parses", "p.conllu", "--answers", "all.csv", "--tune"]
    assert run([*call, "--folds", "4", "-q", "-o", "out.csv", "--json", "n.json"]) == 0
    said = capsys.readouterr().err
    about = json.loads((here / "n.json").read_text())
    assert " | tuned:4 folds, seed 1 | " in said
    assert sum(about["weights"]) == pytest.approx(1.0)
    assert f" | weights:{about['weights'][0]:.3f},{about['weights'][1]:.3f} | " in said
    assert run([*call, "--folds", "4", "-q", "-o", "again.csv"]) == 0
    assert capsys.readouterr().err == said
    assert (here / "again.csv").read_text() == (here / "out.csv").read_text()


def test_the_likeliest_words(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (here / "open.csv").write_text("id,question\n1,It _____ .\nx,_____ is it\n")
    (here / "open.conllu").write_text(as_conllu([ramify.Tree(("It", "_____", "."), (2, 0, 2), sent_id="q1")]))
    assert run(["complete", "open.csv", "-m", "lstm", "--top", "3", "-q", "-o", "out.csv"]) == 0
    with (here / "out.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert [(row["id"], row["rank"], row["kind"]) for row in rows[:4]] == [
        *(("1", str(rank), "P(S) of 200") for rank in (1, 2, 3)),
        ("x", "1", "P(S) of 200"),
    ]
    expected = ramify.load("lstm").fill(ramify.Tree(("It", "_____", "."), (2, 0, 2)), 2, top=3)
    assert [row["word"] for row in rows[:3]] == [each.word for each in expected]
    assert run(["complete", "open.csv", "-m", "ld", "--top", "3", "--parses", "open.conllu", "-q"]) == 1
    assert "open.csv:3: question x: no parse with sent_id qx, of the question with any word in its blank" in (
        capsys.readouterr().err
    )
    (here / "open.csv").write_text("id,question\n1,It _____ .\n")
    assert run(["complete", "open.csv", "-m", "ld", "--top", "2", "--parses", "open.conllu", "-q"]) == 0
    assert len(capsys.readouterr().out.splitlines()) == 3


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["-m", "ld"], "ld is a tree model, and needs --parses: a treebank with a parse of every candidate"),
        (["-m", "lstm", "-m", "ld"], "ld is a tree model, and needs --parses"),
        (["-m", "nowhere"], "no such model: nowhere"),
        (["-m", "lstm", "--share-parse"], "--share-parse needs --parses"),
        (["-m", "lstm", "--weights", "1"], "weights are for several models"),
        (["-m", "lstm", "--tune"], "weights are for several models"),
        (["-m", "lstm", "-m", "lstm", "--weights", "1"], "--weights 1: 1 weights for 2 models"),
        (["-m", "lstm", "-m", "lstm", "--weights", "x,y"], "--weights x,y: these are no numbers"),
        (["-m", "lstm", "-m", "lstm", "--weights", "0.5,0.6"], "weights are 0 or more and sum to 1"),
        (["-m", "lstm", "-m", "lstm", "--weights", "2,-1"], "weights are 0 or more and sum to 1"),
        (["-m", "lstm", "-m", "lstm", "--weights", "1,0", "--tune"], "take one of the two"),
        (["-m", "lstm", "-m", "lstm", "--tune"], "--tune and --json need answers: give them with --answers"),
        (["-m", "lstm", "-m", "lstm", "--tune", "--answers", "a.csv"], "5 folds of 4 answered questions"),
        (["-m", "lstm", "--json", "n.json"], "--tune and --json need answers"),
        (["-m", "lstm", "--top", "3", "-m", "ld"], "--top asks one model"),
        (["-m", "lstm", "--top", "300"], "--top 300 of a --shortlist of 200"),
        (["-m", "lstm", "-o", "x.pdf"], "no table has the suffix of x.pdf: take .tsv, .csv or .jsonl"),
        (["-m", "lstm", "-o", "nowhere/x.csv"], "no such folder: nowhere"),
        (["-m", "lstm", "--parses", "no.conllu"], "no such file: no.conllu"),
        (["-m", "lstm", "--answers", "no.csv"], "no such file: no.csv"),
        (["-m", "lstm", "--device", "cuda:99"], "there is no GPU that torch can use"),
    ],
)
def test_a_wrong_call(options: list[str], said: str, here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = sorted(here.iterdir())
    assert run(["complete", "q.csv", "-q", *options]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("ramify: ")
    assert said in err
    assert sorted(here.iterdir()) == before


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("q.csv", "id,question,a),b)\n1,no blank,x,y\n", "q.csv:2: question 1: it has no blank"),
        ("q.csv", "id,question\n1,a _____\n", "q.csv:2: question 1: it has no candidates: add some, or ask"),
        ("q.csv", "", "q.csv: there is no row in the file"),
        ("p.conllu", as_conllu([PARSES[0].of_candidates[0][0]]), "q.csv:2: question 1: no parse with sent_id q1b"),
        (
            "p.conllu",
            as_conllu([ramify.Tree(("x",), (0,), sent_id=f"q1{x}") for x in "abc"]),
            "p.conllu:1 (sent_id q1a): word 1 is",
        ),
        ("p.conllu", as_conllu([ramify.Tree(("x",), (0,))]), "1 parses without sent_id for 24 candidates"),
        ("a.csv", "id,answer\n99,a\n", "a.csv:2: there is no question '99'"),
        ("a.csv", "id,answer\n1,z\n", "a.csv:2: question 1: the answer 'z' is none of its candidates"),
        ("ld.csv", "id,choice,margin,kind,score_a,score_b\n1,a,0,k,-1,-2\n", "question 1: 2 scores in ld.csv:2 for 3"),
    ],
)
def test_bad_input(name: str, text: str, said: str, here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (here / name).write_text(text)
    model = "ld.csv" if name == "ld.csv" else "ld"
    call = ["complete", "q.csv", "-m", model, "--parses", "p.conllu", "--answers", "a.csv", "-q", "-o", "out.csv"]
    assert run(call) == 1
    assert said in capsys.readouterr().err
    assert not (here / "out.csv").exists()


def test_parses_of_no_question_are_counted(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (here / "q.csv").write_text(as_csv(QUESTIONS[:7]), encoding="utf-8")
    assert run(["complete", "q.csv", "-m", "ld", "--parses", "p.conllu", "-o", "out.csv"]) == 0
    assert "parses that belong to none of the questions: 3, such as 'q8a'" in capsys.readouterr().err


def test_parses_that_cannot_be_shared_are_counted(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (here / "q.csv").write_text("id,question,a),b)\n1,a _____ hat,red,king's\n")
    parses = [
        ramify.Tree(("a", "red", "hat"), (3, 3, 0), sent_id="q1a"),
        ramify.Tree(("a", "king", "'s", "hat"), (2, 4, 2, 0), sent_id="q1b"),
    ]
    (here / "p.conllu").write_text(as_conllu(parses))
    assert run(["complete", "q.csv", "-m", "ld", "--parses", "p.conllu", "--share-parse", "-o", "out.csv"]) == 0
    said = capsys.readouterr().err
    assert "parses left out, as their blank has not as many words as the candidates: 1\n" in said
    assert "ld: P(S|T) sum shared, 2 sentences; " in said
