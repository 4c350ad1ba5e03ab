"""ramify rerank on the command line: trees, whole lists, reports, tuning, what is refused."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from kbest_samples import some_lists, write_lists
from small_runs import save_lm, small_lm

import ramify
from ramify.cli import run
from ramify.formats import group, read_sentences, write
from ramify.tasks.beside_gold import counts_beside_gold
from ramify.tasks.rerank import rerank, score_lists, tuned_rule
from ramify.tasks.rerank_report import report
from ramify.tasks.rerank_rule import Rule

GOLD, LISTS = some_lists()


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with gold.conllu, lists.conllu, two tree models and an LSTM."""
    monkeypatch.chdir(tmp_path)
    write_lists(tmp_path)
    save_lm(tmp_path / "ld", small_lm())
    save_lm(tmp_path / "tree", small_lm("tree"))
    save_lm(tmp_path / "lstm", small_lm("lstm"))
    return tmp_path


def test_the_best_trees(here: Path, capsysbinary: pytest.CaptureFixture[bytes]) -> None:
    assert run(["rerank", "lists.conllu", "-m", "ld"]) == 0
    out, said = (text.decode() for text in capsysbinary.readouterr())
    expected = rerank(LISTS, ramify.load("ld"))
    assert out == "".join(each.best.text for each in expected)
    assert said == f"12 sentences, {sum(len(each.candidates) for each in LISTS)} candidates, 6 at most of one\n"
    assert run(["rerank", "lists.conllu", "-m", "ld", "-o", "best.conllu", "-q"]) == 0
    assert capsysbinary.readouterr() == (b"", b"")
    assert (here / "best.conllu").read_text() == out


def test_whole_lists(here: Path) -> None:
    call = ["rerank", "lists.conllu", "-m", "ld", "-m", "tree", "-k", "3", "--mix", "0.2", "--all", "-q"]
    assert run([*call, "-o", "all.conllu"]) == 0
    expected = rerank(LISTS, [ramify.load("ld"), ramify.load("tree")], Rule(3, 0.2))
    again = list(group(read_sentences("all.conllu")))
    assert [each.sent_id for each in again] == [each.sent_id for each in LISTS]
    for kbest, found in zip(again, expected, strict=True):
        assert [sentence.text for sentence in kbest.candidates] == [each.text for each in found.sentences]


def test_both_forms_give_the_same_trees(here: Path) -> None:
    write(read_sentences("lists.conllu"), "lists.conll", "mst")
    for name in ("lists.conllu", "lists.conll"):
        assert run(["rerank", name, "-m", "ld", "--mix", "0.3", "-o", f"{name}.conllu", "-q"]) == 0
    one, other = (list(read_sentences(f"lists.{form}.conllu")) for form in ("conllu", "conll"))
    assert [each.tree.heads for each in one] == [each.tree.heads for each in other]
    assert [each.tree.sent_id for each in other] == [f"s{number}" for number in range(1, 13)]


def test_other_formats(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["rerank", "lists.conllu", "-m", "ld", "-o", "best.conll"]) == 0
    assert "best.conll: the trees alone" in capsys.readouterr().err
    expected = [each.best.tree.heads for each in rerank(LISTS, ramify.load("ld"))]
    assert [tree.heads for tree in ramify.read("best.conll")] == expected


def test_a_report(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    call = ["rerank", "lists.conllu", "-m", "ld", "-k", "3", "--mix", "0.4", "-o", "best.conllu"]
    assert run([*call, "--gold", "gold.conllu", "--json", "n.json", "-q"]) == 0
    said = capsys.readouterr().err
    expected = report(rerank(LISTS, ramify.load("ld"), Rule(3, 0.4)), counts_beside_gold(GOLD, LISTS), 3)
    rows = [line.split("  ")[0].strip() for line in said.splitlines()]
    assert rows[1:6] == ["base", "reranked", "oracle of 3", "worst of 3", "random of 3"]
    assert f"UAS, paper  {expected.gain['paper_uas']}" in said
    about = json.loads((here / "n.json").read_text())
    assert about.items() >= expected.to_json().items()
    assert (about["k"], about["mix"], about["model"], about["sents"]) == (3, 0.4, "ld", 12)
    assert "tuned" not in about
    assert said.splitlines()[-1] == about["signature"]
    recipe = "model:ld | kbest:lists.conllu | gold:gold.conllu | k:3 | mix:0.4 | rule:conll18 | subtypes:left out"
    assert about["signature"].startswith(f"las {expected.systems['reranked']['las']} | {recipe} | sents:12 | ")
    assert run(["eval-parse", "gold.conllu", "best.conllu", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["las"] == about["systems"]["reranked"]["las"]


@pytest.mark.parametrize("given", [[], ["--mix", "1"], ["--mix", "0.3"], ["-k", "2"]])
def test_tuning(given: list[str], here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    call = ["rerank", "lists.conllu", "-m", "ld", "-o"]
    assert run([*call, "tuned.conllu", "--gold", "gold.conllu", "--tune", *given]) == 0
    said = capsys.readouterr().err
    fixed = {"mix": float(given[1])} if "--mix" in given else {"k": 2} if given else {}
    scored = score_lists(LISTS, [ramify.load("ld")])
    rule = tuned_rule(scored, counts_beside_gold(GOLD, LISTS), **fixed)  # type: ignore[arg-type]
    assert f"tuned: -k {rule.k} --mix {rule.mix:g}\n" in said
    assert f" | k:{rule.k} | mix:{rule.mix:g} | tuned:on these trees | " in said
    options = re.search(r"tuned: (.*)", said)
    assert options is not None
    assert run([*call, "again.conllu", *options[1].split()]) == 0
    assert (here / "again.conllu").read_text() == (here / "tuned.conllu").read_text()


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["-m", "lstm"], "lstm reads no trees: to it all candidates of a sentence are the same"),
        (["-m", "ld", "-m", "lstm"], "lstm reads no trees"),
        (["-m", "nowhere"], "no such model: nowhere"),
        (["-m", "ld", "--tune"], "--tune and --json need gold trees: give them with --gold"),
        (["-m", "ld", "--json", "n.json"], "--tune and --json need gold trees"),
        (["-m", "ld", "--tune", "--gold", "gold.conllu", "-k", "2", "--mix", "1"], "nothing left to --tune"),
        (["-m", "ld", "-k", "0"], "Invalid value for '--candidates' / '-k'"),
        (["-m", "ld", "--mix", "1.5"], "Invalid value for '--mix'"),
        (["-m", "ld", "--mix", "nan"], "Invalid value for '--mix'"),
        (["-m", "ld", "-o", "x.pdf"], "no format has the suffix '.pdf'"),
        (["-m", "ld", "-o", "x.conll", "--all"], "--all writes lists as CoNLL-U"),
        (["-m", "ld", "-o", "nowhere/x.conllu"], "no such folder: nowhere"),
        (["-m", "ld", "--gold", "no.conllu"], "no such file: no.conllu"),
        (["-m", "ld", "--input-format", "mst"], "lists.conllu has no scores beside it"),
    ],
)
def test_a_wrong_call(options: list[str], said: str, here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = sorted(here.iterdir())
    assert run(["rerank", "lists.conllu", "-q", *options]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert said in err
    assert sorted(here.iterdir()) == before


def test_bad_lists(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = (here / "lists.conllu").read_text()
    call = ["rerank", "bad.conllu", "-m", "ld", "-q", "-o", "best.conllu"]

    def refused(bad: str, *options: str) -> str:
        (here / "bad.conllu").write_text(bad)
        assert run([*call, *options]) == 1
        assert not (here / "best.conllu").exists()
        return capsys.readouterr().err

    score = re.findall(r"# parser_score = .*\n", text)[4]
    name = f"(sent_id {GOLD[2].sent_id}/k_2)"
    assert f"{name}: the parser_score inf is not finite" in refused(text.replace(score, "# parser_score = inf\n"))
    assert f"{name}: a candidate without parser_score, in a list that has some" in refused(text.replace(score, ""))
    without = re.sub(r"# parser_score = .*\n", "", text)
    assert "no parser_score: a mixture needs the parser's scores" in refused(without, "--mix", "0.5")
    assert "no parser_score" in refused(without, "--gold", "gold.conllu", "--tune")
    assert "candidate 1 where candidate 2 should stand" in refused(text.replace("/k_2", "/k_1"))
    other = text.replace("\t.\t", "\t;\t")
    assert " is ';' here, and '.' in the gold standard" in refused(other, "--gold", "gold.conllu")
    write(read_sentences("lists.conllu"), "pair.conll", "mst")
    lines = (here / "pair.conll.mstscores").read_text().splitlines()
    (here / "pair.conll.mstscores").write_text("\n".join(lines[:-1]) + "\n")
    assert run(["rerank", "pair.conll", "-m", "ld", "-q", "-o", "best.conllu"]) == 1
    assert "candidates without scores: pair.conll.mstscores ends before" in capsys.readouterr().err
    assert "the file is empty" in refused("")
