"""Sentences without trees: CoNLL-U whose heads nobody looks at, and text with a sentence on each line."""

from __future__ import annotations

from pathlib import Path

import pytest

from ramify.errors import FormatError
from ramify.formats import Format, read_sentences
from ramify.formats.tokens import read_lines, read_tokens

WORDS = (
    "# sent_id = a\n1-2\tab\t_\t_\t_\t_\t_\t_\t_\t_\n1\ta\t_\t_\t_\t_\t{}\t_\t_\t_\n2\tb\t_\t_\t_\t_\t{}\t_\t_\tM=1\n\n"
)


@pytest.mark.parametrize("heads", [("_", "_"), ("2", "1"), ("", "x"), ("9", "0"), ("2", "0")])
def test_any_heads_will_do(heads: tuple[str, str], tmp_path: Path) -> None:
    (tmp_path / "a.conllu").write_text(WORDS.format(*heads) * 2, encoding="utf-8")
    found = list(read_tokens(tmp_path / "a.conllu"))
    assert [sentence.tree.heads for sentence in found] == [(0, 0)] * 2
    assert [sentence.tree.line for sentence in found] == [1, 6]
    assert found[0].text == WORDS.format("0", "0")


def test_other_faults_are_refused_all_the_same(tmp_path: Path) -> None:
    (tmp_path / "a.conllu").write_text(WORDS.format("_", "_") + "1\ta\n\n" + WORDS.format("_", "_"), encoding="utf-8")
    with pytest.raises(FormatError, match=r"a\.conllu:6: 2 columns"):
        list(read_tokens(tmp_path / "a.conllu"))
    skipped: list[FormatError] = []
    assert len(list(read_tokens(tmp_path / "a.conllu", on_error=skipped.append))) == 2
    assert len(skipped) == 1


def test_all_of_ewt_has_the_same_words() -> None:
    pairs = zip(read_tokens("ewt:dev"), read_sentences("ewt:dev"), strict=True)
    for found, sentence in pairs:
        assert (found.tree.forms, found.tree.sent_id) == (sentence.tree.forms, sentence.tree.sent_id)


def test_other_formats(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("1 a _ X X _ 0 root _ _\n\n", encoding="utf-8")
    (found,) = read_tokens(tmp_path / "a.txt", Format.CONLLX)
    assert found.tree.forms == ("a",)


def test_lines_of_text(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_bytes("\ufeffA  day\t.\r\n\r\n  Now\u00a0then ! \nEnd".encode())
    found = list(read_lines(tmp_path / "a.txt"))
    assert [sentence.tree.forms for sentence in found] == [("A", "day", "."), ("Now\u00a0then", "!"), ("End",)]
    assert [(sentence.tree.sent_id, sentence.tree.line) for sentence in found] == [("s1", 1), ("s3", 3), ("s4", 4)]
    assert found[0].comment("text") == "A day ."


@pytest.mark.parametrize("text", ["", "\n \n"])
def test_text_without_a_sentence(text: str, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text(text, encoding="utf-8")
    with pytest.raises(FormatError, match="the file is empty"):
        list(read_lines(tmp_path / "a.txt"))
