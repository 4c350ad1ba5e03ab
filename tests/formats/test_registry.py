import io
import sys
from types import SimpleNamespace

import pytest
from conllu_samples import GOOD, NEXT, block

import ramify
from ramify.errors import CallError, FormatError
from ramify.formats import Format, Sentence, input_format, output_format, parse_conllu, read, read_sentences, write
from ramify.trees import NonProjective, Tree

CROSSED = block("# sent_id = s2", "1 a 4", "2 b 0", "3 c 1", "4 d 2")


@pytest.mark.parametrize(
    ("name", "format"),
    [
        ("dev.conllu", Format.CONLLU),
        ("dev.CoNLLU.XZ", Format.CONLLU),
        ("ewt:dev", Format.CONLLU),
        ("dev.conll", Format.CONLLX),
        ("dev.conllx.gz", Format.CONLLX),
        ("dev.dep", Format.STANFORD),
        ("dev.tuples.zst", Format.STANFORD),
    ],
)
def test_the_suffix_names_the_format(name, format):
    assert input_format(name) is format
    if ":" not in name:
        assert output_format(name) is format


def test_standard_input_and_output_and_unknown_files():
    assert input_format("-") is output_format("-") is Format.CONLLU
    assert input_format("dev.txt") is Format.CONLLU
    with pytest.raises(CallError, match=r"no format has the suffix '\.txt' of dev\.txt; known are \.conllu, \.conll"):
        output_format("dev.txt")


@pytest.mark.parametrize("scores", ["dev.conll.mstscores", "dev.conll.mstscores.gz"])
@pytest.mark.parametrize("name", ["dev.conll", "dev.conll.xz"])
def test_scores_beside_it_make_it_a_list_of_candidates(tmp_path, name, scores):
    assert input_format(tmp_path / name) is Format.CONLLX
    (tmp_path / scores).touch()
    assert input_format(tmp_path / name) is Format.MST


def test_a_named_format_overrules_the_suffix(tmp_path):
    path = tmp_path / "dev.conllu"
    path.write_text("0\troot(ROOT-0, Go-1)\n")
    (tree,) = read(path, Format.STANFORD)
    assert tree.forms == ("Go",)
    (tree,) = read(path, "stanford")
    assert tree.forms == ("Go",)


def test_read_as_the_readme_says():
    assert next(iter(ramify.read("ewt:dev"))).forms[:2] == ("From", "the")


@pytest.mark.parametrize(
    ("rule", "heads"),
    [("keep", [(2, 0), (4, 0, 1, 2)]), ("lift", [(2, 0), (2, 0, 4, 2)]), ("skip", [(2, 0)])],
)
def test_three_ways_to_take_non_projective_trees(tmp_path, rule, heads):
    path = tmp_path / "dev.conllu"
    path.write_text(GOOD + CROSSED)
    assert [tree.heads for tree in read(path, nonprojective=NonProjective(rule))] == heads
    assert [tree.heads for tree in read(path, nonprojective=rule)] == heads


@pytest.mark.parametrize(("name", "end"), [("dev.conllu", "\n\n"), ("dev.conllx", "\n\n"), ("dev.dep", "\n")])
def test_faults_are_collected_in_every_format(tmp_path, name, end):
    path = tmp_path / name
    write(parse_conllu(GOOD + NEXT), path)
    first, second, _ = path.read_text().split(end)
    path.write_text(end.join([first, "oops", second, ""]))
    faults = []
    assert len(list(read_sentences(path, on_error=faults.append))) == 2
    assert [fault.source for fault in faults] == [str(path)]
    with pytest.raises(FormatError):
        list(read(path))


def test_what_is_read_is_written_byte_for_byte(tmp_path):
    path, copy = tmp_path / "dev.conllu", tmp_path / "copy.conllu"
    for text in (GOOD + NEXT, "\ufeff\n\n" + GOOD + NEXT.rstrip("\n"), (GOOD + "\n" + NEXT).replace("\n", "\r\n")):
        path.write_bytes(text.encode())
        assert write(read_sentences(path), copy) == 2
        assert copy.read_bytes() == path.read_bytes()


@pytest.mark.parametrize("end", ["", "\n", "\n\n", "\n\n\n", "\r\n", "\r\n\r\n"])
def test_files_that_are_written_one_behind_the_other_stay_apart(tmp_path, end):
    one = Sentence("\ufeff" + GOOD.rstrip("\n") + end, next(parse_conllu(GOOD)).tree)
    path = tmp_path / "both.conllu"
    assert write([one, one, one], path) == 3
    again = list(read_sentences(path))
    assert [sentence.tree for sentence in again] == [one.tree] * 3
    assert path.read_text().count("\ufeff") == 1
    assert path.read_bytes().endswith(one.text.encode().lstrip("\ufeff".encode()))


def test_what_a_format_cannot_hold_is_told_and_the_rest_is_written(tmp_path):
    spaced = GOOD.replace("sleeps", "falls asleep")
    for name in ("new.conllx", "new.dep"):
        faults = []
        assert write(parse_conllu(spaced + NEXT), tmp_path / name, on_error=faults.append) == 1
        assert [fault.sent_id for fault in faults] == ["s1"]
        assert [tree.forms for tree in read(tmp_path / name)] == [("Good", "night")]
        with pytest.raises(FormatError, match="cannot hold the space in 'falls asleep'"):
            write(parse_conllu(spaced), tmp_path / "none.conllx")
    assert not (tmp_path / "none.conllx").exists()


def test_a_fault_while_reading_leaves_no_file(tmp_path):
    with pytest.raises(FormatError, match="form a cycle"):
        write(parse_conllu(GOOD + block("1 a 2", "2 b 1")), tmp_path / "new.conllu", on_error=lambda error: None)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("format", ["conllu", "conllx", "stanford"])
def test_standard_output(monkeypatch, format):
    stdout = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", SimpleNamespace(buffer=stdout))
    assert write(parse_conllu(GOOD), "-", Format(format)) == 1
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(stdout.getvalue())))
    (tree,) = read("-", Format(format))
    assert tree == Tree(["She", "sleeps"], [2, 0], ["dep", "dep"])
