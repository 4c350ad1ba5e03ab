"""ramify train-parser and ramify parse on the command line."""

from __future__ import annotations

import io
import json
import signal
import sys
from pathlib import Path
from typing import Any

import pytest
from small_parsers import OPTIONS, save_parser, small_parser
from small_runs import some_sentences, write_treebank

from ramify.cli import run
from ramify.formats import Format, group, read_sentences
from ramify.parsing.trainer import ParserTrainer
from ramify.training.trainer import CHECKPOINT


@pytest.fixture
def parser(tmp_path: Path) -> str:
    return str(save_parser(tmp_path / "p", small_parser()))


@pytest.fixture
def treebank(tmp_path: Path) -> str:
    return str(write_treebank(tmp_path / "some.conllu", 12))


def test_one_tree_each(parser: str, treebank: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "out.conllu"
    assert run(["parse", treebank, "-p", parser, "-o", str(out)]) == 0
    printed, said = capsys.readouterr()
    assert printed == ""
    assert said.startswith("12 sentences, 12 trees, ")
    found = list(read_sentences(out))
    assert [each.tree.forms for each in found] == [each.tree.forms for each in some_sentences(12)]
    assert run(["parse", treebank, "-p", parser, "-q"]) == 0
    assert capsys.readouterr() == (out.read_text(encoding="utf-8"), "")


def test_k_best_in_both_forms(parser: str, treebank: str, tmp_path: Path) -> None:
    assert run(["parse", treebank, "-p", parser, "-k", "4", "-o", str(tmp_path / "k.conllu"), "-q"]) == 0
    assert run(["parse", treebank, "-p", parser, "-k", "4", "-o", str(tmp_path / "k.conll"), "-q"]) == 0
    ours = list(group(read_sentences(tmp_path / "k.conllu")))
    theirs = list(group(read_sentences(tmp_path / "k.conll", Format.MST)))
    assert len(ours) == len(theirs) == 12
    for one, other in zip(ours, theirs, strict=True):
        assert one.scores == other.scores
        assert [each.tree for each in one.candidates] == [each.tree for each in other.candidates]


def test_text(parser: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a.txt").write_text("The cat sleeps .\n\nIt is good .\n", encoding="utf-8")
    assert run(["parse", str(tmp_path / "a.txt"), "--text", "-p", parser]) == 0
    printed, said = capsys.readouterr()
    assert said.startswith("2 sentences, 2 trees, ")
    assert [line for line in printed.splitlines() if line.startswith("# sent_id")] == [
        "# sent_id = s1",
        "# sent_id = s3",
    ]
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"The cat sleeps .\n\nIt is good .\n")))
    assert run(["parse", "-", "--text", "-p", parser]) == 0
    assert capsys.readouterr().out == printed


def test_heads_may_be_missing(parser: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "a.conllu").write_text("1\tHi\t_\t_\t_\t_\t_\t_\t_\t_\n\n", encoding="utf-8")
    assert run(["parse", str(tmp_path / "a.conllu"), "-p", parser, "-q"]) == 0
    assert "1\tHi\t_\t" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("options", "code", "said"),
    [
        (["-p", "nowhere"], 2, "no such parser: nowhere"),
        (["-p", "."], 1, "is no parser: it has no config.json"),
        (["-k", "0"], 2, "-k"),
        (["-k", "2", "-o", "x.dep"], 2, "stanford has no place for k-best lists"),
        (["-k", "2", "-o", "x.conll", "--output-format", "conllx"], 2, "conllx has no place for k-best lists"),
        (["-o", "x.unknown"], 2, "no format has the suffix"),
        (["-o", "nowhere/x.conllu"], 2, "no such folder: nowhere"),
        (["--output-format", "mst"], 2, "name the first with --output"),
        (["--text", "--input-format", "conllu"], 2, "the input is one or the other"),
        (["--device", "gpu0"], 2, "no device gpu0"),
        (["--threads", "0"], 2, "--threads"),
    ],
)
def test_a_wrong_call(
    options: list[str],
    code: int,
    said: str,
    parser: str,
    treebank: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run(["parse", treebank, *([] if "-p" in options else ["-p", parser]), *options]) == code
    out, err = capsys.readouterr()
    assert out == ""
    assert said in err


def test_sentences_that_cannot_be_parsed(parser: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "a.txt").write_text("Hi .\n" + "w " * 401 + "\nBye .\n", encoding="utf-8")
    assert run(["parse", str(tmp_path / "a.txt"), "--text", "-p", parser]) == 1
    assert "a.txt:2 (sent_id s2): a sentence of 401 words" in capsys.readouterr().err
    out = str(tmp_path / "b.conllu")
    assert run(["parse", str(tmp_path / "a.txt"), "--text", "-p", parser, "--on-error", "skip", "-o", out]) == 0
    assert "1 malformed sentence skipped" in capsys.readouterr().err
    assert [each.tree.sent_id for each in read_sentences(out)] == ["s1", "s3"]


# --- training --------------------------------------------------------------------------------------------------------


@pytest.fixture
def training(treebank: str, tmp_path: Path) -> list[str]:
    some = ["--valid", treebank, "--batch-words", "60", "--epochs", "2"]
    return ["train-parser", treebank, *some, *OPTIONS, "-o", str(tmp_path / "trained")]


def test_train_and_parse(
    training: list[str], treebank: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "trained"
    (tmp_path / "v.txt").write_text("the 1 2 3\n, 4 5 6\n", encoding="utf-8")
    assert run([*training, "--vectors", str(tmp_path / "v.txt")]) == 0
    out, said = capsys.readouterr()
    assert out.startswith("valid UAS ")
    assert out.endswith(f" minutes, in {folder}\n")
    assert "parser-12, " in said
    assert "vectors: 3 of " in said
    assert "epoch   2  train loss " in said
    assert sorted(path.name for path in folder.iterdir()) == [
        "README.md",
        "config.json",
        "log.jsonl",
        "model.safetensors",
        "recipe.toml",
        "vocabulary.json",
    ]
    assert run(["parse", treebank, "-p", str(folder), "-q"]) == 0
    capsys.readouterr()
    assert run(["info", str(folder)]) == 0
    shown = capsys.readouterr().out
    assert shown.startswith("parser-12, ")
    assert "2 pretrained vectors" in shown
    assert [line.split()[0] for line in shown.splitlines()[-2:]] == ["1", "2"]
    assert run(["info", str(folder), "--json"]) == 0
    about = json.loads(capsys.readouterr().out)
    assert (about["finished"], len(about["log"]), about["parser"]["hidden"]) == (True, 2, 12)
    assert run(training) == 2
    assert "is already there; --force replaces it" in capsys.readouterr().err
    assert run([*training, "--resume"]) == 2
    assert "it is finished" in capsys.readouterr().err
    assert run([*training, "--force", "-q", "--recipe", str(folder / "recipe.toml")]) == 0


def test_stopped_and_resumed(
    training: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    step, steps = ParserTrainer.step, iter(range(2))

    def counted(self: ParserTrainer, sentences: Any) -> Any:
        if next(steps, None) is None:
            signal.raise_signal(signal.SIGINT)
        return step(self, sentences)

    with monkeypatch.context() as patch:
        patch.setattr(ParserTrainer, "step", counted)
        assert run(training) == 130
    assert "stopped in epoch 1 after batch 3 of " in capsys.readouterr().err
    assert (tmp_path / "trained" / CHECKPOINT).is_file()
    assert run(["info", str(tmp_path / "trained")]) == 0
    assert "training is not finished; --resume goes on" in capsys.readouterr().out
    assert run([*training, "--resume", "--lr", "0.1"]) == 1
    assert "belongs to another recipe" in capsys.readouterr().err
    assert run([*training, "--resume", "-q"]) == 0
    assert not (tmp_path / "trained" / CHECKPOINT).exists()


@pytest.mark.parametrize(
    ("options", "code", "said"),
    [
        (["--resume"], 2, "has no checkpoint to go on from"),
        (["--order", "3"], 2, "order is 3"),
        (["--max-length", "0"], 2, "max_length are at least 1"),
        (["--recipe", "nowhere.toml"], 2, "no recipe nowhere.toml"),
        (["--vectors", "nowhere.txt"], 2, "no such file: nowhere.txt"),
        (["--valid", "nowhere.conllu"], 2, "no such file: nowhere.conllu"),
    ],
)
def test_a_wrong_training(
    options: list[str], code: int, said: str, training: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run([*training, *options]) == code
    assert said in capsys.readouterr().err
    assert not (tmp_path / "trained").exists()
