"""ramify eval-parse on the command line."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest
from kbest_samples import some_lists, write_lists

import ramify
from ramify.cli import run
from ramify.formats import read_sentences, write
from ramify.tasks.eval_parse import eval_parse


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with gold.conllu and lists.conllu."""
    monkeypatch.chdir(tmp_path)
    write_lists(tmp_path)
    return tmp_path


def test_lists(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["eval-parse", "gold.conllu", "lists.conllu"]) == 0
    lines = capsys.readouterr().out.splitlines()
    found = eval_parse(*some_lists())
    assert lines[0].split() == ["UAS", "LAS", "CLAS", "UAS,", "paper", "LAS,", "paper"]
    rows = [line.split("  ")[0] for line in lines[1:6]]
    assert [row.strip() for row in rows] == ["first", "oracle of 1", "oracle of 2", "oracle of 4", "oracle of 6"]
    assert str(found.first["uas"]) in lines[1]
    assert str(found.oracles[6]["paper_las"]) in lines[5]
    assert lines[6] == f"paper: {found.kept} of {found.words} words, without punctuation by the gold tag"
    recipe = "gold:gold.conllu | system:lists.conllu | rule:conll18 | subtypes:left out | sents:12"
    assert lines[7].startswith(f"las {found.first['las']} | {recipe} | words:{found.words} | bootstrap:95%, seed 1 | ")
    assert lines[7].endswith(f"ramify:{ramify.__version__}")


def test_the_original_pair_of_files(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(read_sentences("lists.conllu"), "lists.conll.gz", "mst")
    outputs = []
    for system in ("lists.conllu", "lists.conll.gz"):
        assert run(["eval-parse", "gold.conllu", system, "--json"]) == 0
        outputs.append(json.loads(capsys.readouterr().out))
    signatures = [about.pop("signature") for about in outputs]
    assert outputs[0] == outputs[1]
    assert outputs[0] == eval_parse(*some_lists()).to_json()
    assert signatures[0].replace("lists.conllu", "lists.conll.gz") == signatures[1]


def test_gold_beside_itself(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["eval-parse", "ewt:dev", "ewt:dev", "--seed", "3"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 4
    assert lines[1].split() == ["system", *(["100.00", "[100.00,", "100.00]"] * 5)]
    assert "paper: 22,428 of 25,147 words" in lines[2]
    assert "bootstrap:95%, seed 3" in lines[3]


def test_standard_input(here: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    class Stdin:
        buffer = io.BytesIO((here / "lists.conllu").read_bytes())

    monkeypatch.setattr("sys.stdin", Stdin)
    assert run(["eval-parse", "gold.conllu", "-"]) == 0
    assert "system:<stdin>" in capsys.readouterr().out
    assert run(["eval-parse", "-", "-"]) == 2
    assert "GOLD and SYSTEM are two" in capsys.readouterr().err


def test_refused(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    gold = list(read_sentences("gold.conllu"))
    write(gold[1:], "missing.conllu")
    assert run(["eval-parse", "gold.conllu", "missing.conllu"]) == 1
    said = (
        f"gold.conllu:1 (sent_id {gold[0].tree.sent_id}): this sentence of the gold standard, number 1, is missing in"
    )
    assert said in capsys.readouterr().err
    assert run(["eval-parse", "missing.conllu", "gold.conllu"]) == 1
    assert "this sentence is not in the gold standard missing.conllu: leave it out" in capsys.readouterr().err
    (here / "other.conllu").write_text((here / "gold.conllu").read_text().replace("\t.\t", "\t;\t"))
    assert run(["eval-parse", "gold.conllu", "other.conllu"]) == 1
    assert " is ';' here, and '.' in the gold standard, gold.conllu:" in capsys.readouterr().err
    assert run(["eval-parse", "gold.conllu", "nowhere.conllu"]) == 2
    (here / "empty.conllu").write_text("")
    assert run(["eval-parse", "gold.conllu", "empty.conllu"]) == 1
    assert "empty.conllu: the file is empty" in capsys.readouterr().err
