"""ramify score and evaluate on the command line: tables, CoNLL-U to the byte, states, warnings, broken models."""

from __future__ import annotations

import csv
import gzip
import io
import json
import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from small_runs import save_lm, small_lm, some_sentences, write_treebank

import ramify
from ramify.cli import run
from ramify.corpus import Encoding, encode_to_store
from ramify.formats import read_sentences
from ramify.tasks.evaluate import evaluate
from ramify.tasks.score import LM

COLUMNS = ["sent_id", "id", "form", "head", "edge", "logprob", "surprisal", "is_unk", "logprob_end", "kind"]


@pytest.fixture
def treebank(tmp_path: Path) -> Path:
    return write_treebank(tmp_path / "some.conllu", 12)


@pytest.fixture
def model(tmp_path: Path) -> Path:
    return save_lm(tmp_path / "m", small_lm())


@pytest.fixture
def lstm(tmp_path: Path) -> Path:
    return save_lm(tmp_path / "lstm", small_lm("lstm"))


def expected_rows(lm: LM, treebank: Path) -> list[list[str]]:
    rows = []
    for found in lm.scores(ramify.read(treebank)):
        for word in found.words:
            end = f"{found.end:.6f}" if found.end is not None and word.id == len(found.tree) else ""
            numbers = [f"{word.logprob:.6f}", f"{word.surprisal:.6f}", str(int(word.is_unk)), end]
            rows.append([word.sent_id, str(word.id), word.form, str(word.head), word.edge, *numbers, lm.kind])
    return rows


# --- tables ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["ldtree", "lstm", "bilstm"])
def test_tsv_on_standard_output(
    kind: str, treebank: Path, tmp_path: Path, capsysbinary: pytest.CaptureFixture[bytes]
) -> None:
    lm = small_lm(kind)
    folder = save_lm(tmp_path / "m", lm)
    assert run(["score", str(treebank), "-m", str(folder)]) == 0
    out, said = (text.decode() for text in capsysbinary.readouterr())
    lines = [line.split("\t") for line in out.removesuffix("\n").split("\n")]
    assert lines[0] == COLUMNS
    assert lines[1:] == expected_rows(lm, treebank)
    assert f"the numbers are {lm.kind}; {len(lines) - 1} words, " in said


@pytest.mark.parametrize("by", ["suffix", "option"])
def test_csv_and_json_lines(
    by: str, treebank: Path, lstm: Path, tmp_path: Path, capsysbinary: pytest.CaptureFixture[bytes]
) -> None:
    texts = {}
    for table in ("csv", "jsonl"):
        out = ["-o", str(tmp_path / f"out.{table}")] if by == "suffix" else ["--output-format", table]
        assert run(["score", str(treebank), "-m", str(lstm), "-q", *out]) == 0
        shown = capsysbinary.readouterr()
        assert shown.err == b""
        texts[table] = ((tmp_path / f"out.{table}").read_bytes() if by == "suffix" else shown.out).decode()
    expected = expected_rows(ramify.load(lstm), treebank)
    assert list(csv.reader(io.StringIO(texts["csv"]))) == [COLUMNS, *expected]
    rows = [json.loads(line) for line in texts["jsonl"].splitlines()]
    assert all(list(row) == COLUMNS for row in rows)
    for row, wanted in zip(rows, expected, strict=True):
        assert [row["sent_id"], row["form"], row["edge"]] == [wanted[0], wanted[2], wanted[4]]
        assert (row["id"], row["head"], row["is_unk"]) == (int(wanted[1]), int(wanted[3]), wanted[7] == "1")
        assert f"{row['logprob']:.6f} {row['surprisal']:.6f}" == f"{wanted[5]} {wanted[6]}"
        assert row["logprob_end"] is None if wanted[8] == "" else f"{row['logprob_end']:.6f}" == wanted[8]


def test_a_compressed_table(treebank: Path, model: Path, tmp_path: Path) -> None:
    assert run(["score", str(treebank), "-m", str(model), "-q", "-o", str(tmp_path / "out.tsv.gz")]) == 0
    assert gzip.decompress((tmp_path / "out.tsv.gz").read_bytes()).decode().startswith("\t".join(COLUMNS))


def test_standard_input(
    treebank: Path, model: Path, monkeypatch: pytest.MonkeyPatch, capsysbinary: pytest.CaptureFixture[bytes]
) -> None:
    assert run(["score", str(treebank), "-m", str(model), "-q"]) == 0
    expected = capsysbinary.readouterr().out
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(treebank.read_bytes())))
    assert run(["score", "-", "-m", str(model), "-q"]) == 0
    assert capsysbinary.readouterr().out == expected


def test_in_windows(
    treebank: Path, model: Path, monkeypatch: pytest.MonkeyPatch, capsysbinary: pytest.CaptureFixture[bytes]
) -> None:
    """Some are written before the last ones are read, in their order."""
    monkeypatch.setattr("ramify.tasks.score.WINDOW", 5)
    with treebank.open("a") as file:
        file.write("1\tbroken\n\n")
    assert run(["score", str(treebank), "-m", str(model), "-q"]) == 1
    out, said = capsysbinary.readouterr()
    assert b"some.conllu:" in said
    forms = [line.split("\t")[2] for line in out.decode().splitlines()[1:]]
    assert forms == [form for each in some_sentences(10) for form in each.tree.forms]
    assert run(["score", str(treebank), "-m", str(model), "-q", "--on-error", "skip"]) == 0
    out, said = capsysbinary.readouterr()
    assert b"1 malformed sentence skipped" in said
    assert len(out.decode().splitlines()) == 1 + sum(len(each.tree) for each in some_sentences(12))


def test_nothing_is_written_where_the_input_is_broken(treebank: Path, model: Path, tmp_path: Path) -> None:
    with treebank.open("a") as file:
        file.write("1\tbroken\n\n")
    for name in ("out.tsv", "out.conllu"):
        assert run(["score", str(treebank), "-m", str(model), "-q", "-o", str(tmp_path / name)]) == 1
    assert sorted(path.name for path in tmp_path.iterdir()) == ["m", "some.conllu"]


# --- CoNLL-U ---------------------------------------------------------------------------------------------------------

WILD = (
    "\ufeff# newdoc id = d\n# sent_id = s1\n# text = It's\n"
    "1-2\tIt's\t_\t_\t_\t_\t_\t_\t_\tSpaceAfter=No\n"
    "1\tIt\tit\tPRON\tPRP\tCase=Nom\t0\troot\t0:root\t_\n"
    "1.1\tgone\t_\t_\t_\t_\t_\t_\t1:dep\tCopyOf=1\n"
    "2\t's\tbe\tAUX\tVBZ\t_\t1\tcop\t_\tSpaceAfter=No|Gloss=a=b\n"
    "\n\n"
    "# sent_id = s2\r\n# lm_logprob = -1.0\r\n# note = stays\r\n"
    "1\tthe\t_\t_\t_\t_\t2\tdet\t_\tLogProb=-9.9|SpaceAfter=No|Surprisal=1\r\n"
    "2\towl\t_\t_\t_\t_\t0\troot\t_\t\r\n\r\n"
    "1\tMüller\t_\t_\t_\t_\t0\troot\t_\tKeep|LogProbX=3"
)


def without_scores(text: str) -> str:
    text = re.sub(r"# lm_logprob(_end)? = -[0-9.]+\r?\n", "", text)
    text = re.sub(r"\|?LogProb=-[0-9.]+\|Surprisal=[0-9.]+", "", text)
    return re.sub(r"\t(?=\r?\n|$)", "\t_", text)  # where nothing else is left


@pytest.mark.parametrize("kind", ["ldtree", "lstm"])
def test_all_else_stays_to_the_byte(kind: str, tmp_path: Path) -> None:
    lm = small_lm(kind)
    folder = save_lm(tmp_path / "m", lm)
    first, second = tmp_path / "a.conllu", tmp_path / "b.conllu"
    (tmp_path / "wild.conllu").write_bytes(WILD.encode())
    assert run(["score", str(tmp_path / "wild.conllu"), "-m", str(folder), "-o", str(first), "-q"]) == 0
    text = first.read_bytes().decode()
    before = re.sub(r"# lm_logprob = -1.0\r\n", "", WILD).replace("\t\r\n", "\t_\r\n")
    before = before.replace("LogProb=-9.9|SpaceAfter=No|Surprisal=1", "SpaceAfter=No")
    assert without_scores(text) == before
    assert text.count("# lm_logprob = ") == 3
    assert text.count("# lm_logprob_end = ") == 3 * (kind == "lstm")
    for sentence, found in zip(read_sentences(first), lm.scores(ramify.read(tmp_path / "wild.conllu")), strict=True):
        assert sentence.comment("lm_logprob") == f"{found.logprob:.4f}"
        assert sentence.comment("lm_logprob_end") == (None if found.end is None else f"{found.end:.4f}")
        for row, logprob, surprisal in zip(sentence.rows, found.logprobs, found.surprisals, strict=True):
            assert row[9].endswith(f"LogProb={logprob:.4f}|Surprisal={surprisal:.4f}")
    assert "\tSpaceAfter=No|Gloss=a=b|LogProb=-" in text
    assert "\tKeep|LogProbX=3|LogProb=-" in text
    assert "\tSpaceAfter=No|LogProb=-" in text
    assert "\n1-2\tIt's\t_\t_\t_\t_\t_\t_\t_\tSpaceAfter=No\n" in text  # a multiword token has no score
    assert run(["score", str(first), "-m", str(folder), "-o", str(second), "-q"]) == 0
    assert second.read_bytes() == first.read_bytes()


def test_ewt_to_the_byte(treebank: Path, model: Path, capsysbinary: pytest.CaptureFixture[bytes]) -> None:
    assert run(["score", str(treebank), "-m", str(model), "-q", "--output-format", "conllu"]) == 0
    assert without_scores(capsysbinary.readouterr().out.decode()) == treebank.read_text(encoding="utf-8")


def test_another_model_replaces_the_values(treebank: Path, model: Path, tmp_path: Path) -> None:
    other = save_lm(tmp_path / "other", small_lm("tree"))
    paths = [tmp_path / f"{name}.conllu" for name in ("a", "b", "c")]
    for source, folder, target in (
        (treebank, model, paths[0]),
        (paths[0], other, paths[1]),
        (treebank, other, paths[2]),
    ):
        assert run(["score", str(source), "-m", str(folder), "-o", str(target), "-q"]) == 0
    assert paths[1].read_bytes() == paths[2].read_bytes() != paths[0].read_bytes()


# --- states, warnings, what is wrong ---------------------------------------------------------------------------------


def test_states(treebank: Path, lstm: Path, tmp_path: Path) -> None:
    path = tmp_path / "states.npz"
    table = tmp_path / "t.tsv"
    assert run(["score", str(treebank), "-m", str(lstm), "-o", str(table), "-q", "--states", str(path)]) == 0
    assert len(table.read_text().splitlines()) == 1 + len(np.load(path)["states"])
    lm = ramify.load(lstm)
    for number, tree in enumerate(ramify.read(treebank)):
        here = np.load(path)["sentence"] == number
        np.testing.assert_array_equal(np.load(path)["states"][here], lm.states(tree)[: len(tree)])


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda form: form.upper() + "QX", "of the words are unknown to the model"),
        (str.swapcase, "is the casing the same?"),
        (lambda form: f"({form})", "is the text tokenised?"),
    ],
)
def test_warnings(
    change: Callable[[str], str], said: str, treebank: Path, model: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = [line.split("\t") for line in treebank.read_text(encoding="utf-8").split("\n")]
    for fields in lines:
        if len(fields) == 10:
            fields[1] = change(fields[1])
    treebank.write_text("\n".join("\t".join(fields) for fields in lines), encoding="utf-8")
    assert run(["score", str(treebank), "-m", str(model), "-q", "-o", str(treebank.with_suffix(".tsv"))]) == 0
    warnings = capsys.readouterr().err.splitlines()
    assert all(line.startswith("warning: ") for line in warnings)
    assert any(said in line for line in warnings)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["-m", "nowhere"], "no such model: nowhere"),
        (["-m", "m", "--output-format", "xml"], "no output format xml; known are tsv, csv, jsonl, conllu"),
        (["-m", "m", "-o", "out.xml"], "scores have no place in out.xml: take .conllu, .tsv, .csv or .jsonl"),
        (["-m", "m", "-o", "out.conll"], "scores have no place in out.conll"),
        (["-m", "m", "-o", "nowhere/out.tsv"], "no such folder: nowhere"),
        (["-m", "m", "--states", "nowhere/s.npz"], "no such folder: nowhere"),
        (["-m", "m", "--device", "cuda:99"], "there is no GPU that torch can use"),
    ],
)
def test_a_wrong_call(
    options: list[str],
    said: str,
    treebank: Path,
    model: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(model.parent)
    assert run(["score", str(treebank), "-q", *options]) == 2
    err = capsys.readouterr().err
    assert err.startswith("ramify: ")
    assert said in err
    assert sorted(path.name for path in model.parent.iterdir()) == ["m", "some.conllu"]


@pytest.mark.parametrize("verb", ["score", "evaluate"])
@pytest.mark.parametrize(
    ("name", "content", "code", "said"),
    [
        ("config.json", None, 1, "is no model: it has no config.json"),
        ("config.json", "{", 1, "config.json cannot be read"),
        ("config.json", '{"format": "other"}', 1, "names the format 'other'"),
        ("config.json", '{"format": "ramify-model", "version": 99}', 1, "has version 99, and this Ramify reads 1"),
        ("vocabulary.json", None, 1, "is not whole: vocabulary.json is missing"),
        ("vocabulary.json", "[]", 1, "is no vocabulary"),
        ("model.safetensors", None, 1, "is not whole: model.safetensors is missing"),
        ("model.safetensors", "short", 1, "model.safetensors is damaged"),
    ],
)
def test_a_broken_model(
    verb: str,
    name: str,
    content: str | None,
    code: int,
    said: str,
    treebank: Path,
    model: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    (model / name).unlink()
    if content is not None:
        (model / name).write_text(content)
    assert run([verb, str(treebank), "-m", str(model)]) == code
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("ramify: ")
    assert said in err


# --- evaluate --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["tree", "lstm", "bilstm"])
def test_evaluate(kind: str, treebank: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lm = small_lm(kind)
    folder = save_lm(tmp_path / "m", lm)
    corpus = encode_to_store([treebank], tmp_path / "store", Encoding(vocabulary=lm.vocabulary, hold_out=5))
    found = evaluate(lm.model, corpus)
    assert run(["evaluate", str(treebank), "-m", str(folder)]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith(f"ppl {found.ppl:.2f} | model:{kind}-8 | kind:{lm.kind} | ")
    assert lines[1] == (
        f"without UNK: ppl {found.ppl_known:.2f} over {found.words - found.unknown:,} words; "
        f"UNK rate {found.unknown / found.words:.2%}"
    )
    total = found.logprob + (found.logprob_ends or 0.0)
    assert lines[2] == f"mean log-probability of a sentence: {total / 12:.2f} (natural)"
    assert (len(lines) == 4) == (kind != "tree")
    if kind != "tree":
        assert lines[3] == f"of its end: {(found.logprob_ends or 0.0) / 12:.2f}, not in the perplexity"
    assert run(["evaluate", str(tmp_path / "store"), "-m", str(folder), "--json"]) == 0
    as_json = json.loads(capsys.readouterr().out)
    assert as_json == found.to_json() | {"signature": lines[0]}
    assert run(["evaluate", str(tmp_path / "store"), "-m", str(folder), "--json", "--held-out"]) == 0
    assert json.loads(capsys.readouterr().out)["sents"] == 5


CROSSED = [("the", 3), ("the", 4), ("the", 0), ("the", 3)]
PLAIN = [("the", 2), ("the", 0)]


def conllu(*sentences: list[tuple[str, int]]) -> str:
    lines = []
    for sentence in sentences:
        lines += [f"{i}\t{form}\t_\t_\t_\t_\t{head}\t_\t_\t_" for i, (form, head) in enumerate(sentence, 1)]
        lines.append("")
    return "\n".join([*lines, ""])


@pytest.mark.parametrize(
    ("rule", "said", "sents"),
    [
        ("keep", "", 3),
        ("skip", "2 sentences left out: not projective\n", 1),
        ("lift", "2 trees lifted to projective ones\n", 3),
    ],
)
def test_evaluate_says_what_became_of_trees_that_are_not_projective(
    rule: str, said: str, sents: int, model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "crossed.conllu").write_text(conllu(CROSSED, PLAIN, CROSSED))
    vocabulary = ramify.load(model).vocabulary
    how = Encoding(vocabulary=vocabulary, nonprojective=ramify.NonProjective(rule))
    encode_to_store([tmp_path / "crossed.conllu"], tmp_path / "store", how)
    call = ["evaluate", str(tmp_path / "crossed.conllu"), "-m", str(model), "-q", "--nonprojective", rule]
    assert run(call) == 0
    out, err = capsys.readouterr()
    assert err == said
    assert f" | sents:{sents} | " in out
    assert (f" | nonprojective:{rule} | " in out) == (rule != "keep")
    assert run(["evaluate", str(tmp_path / "store"), "-m", str(model)]) == 0
    assert capsys.readouterr().out == out


def test_json_of_what_is_no_number(model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A text of unknown words has no perplexity of known ones."""
    (tmp_path / "unknown.conllu").write_text(conllu([("słowo", 0)]))
    assert run(["evaluate", str(tmp_path / "unknown.conllu"), "-m", str(model), "--json"]) == 0

    def refuse(constant: str) -> None:
        raise ValueError(constant)

    assert json.loads(capsys.readouterr().out, parse_constant=refuse)["ppl_known"] is None


def test_evaluate_refuses(treebank: Path, model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    encode_to_store([treebank], tmp_path / "store")
    assert run(["evaluate", str(tmp_path / "store"), "-m", str(model)]) == 2
    assert "has another vocabulary than" in capsys.readouterr().err
    assert run(["evaluate", str(treebank), "-m", str(model), "--held-out"]) == 2
    assert "has no held-out sentences" in capsys.readouterr().err


def test_the_help_says_what_the_number_is(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["score", "--help"]) == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert "this is not incremental surprisal" in shown
    assert "--model lstm" in shown
