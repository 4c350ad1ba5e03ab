"""Pretrained vectors: every kind of file they come in, case, and lines that are wrong."""

from __future__ import annotations

import gzip
import lzma
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import torch

from ramify.corpus import Vocabulary
from ramify.errors import CallError, FormatError
from ramify.training.vectors import read_vectors

VOCABULARY = Vocabulary.from_counts({"the": 9, "The": 5, "owl": 4, "Owl": 3, "THE": 2, "100": 2, ".": 2}, 3)
UNKNOWN = "<unk> 7 7\n<root> 7 7\nsomething 7 7\n"


def read(path: Path, text: str, size: int = 2) -> dict[str, list[float]]:
    path.write_text(text, encoding="utf-8")
    return found(path, size)


def found(path: Path, size: int = 2) -> dict[str, list[float]]:
    words, values = read_vectors(path, VOCABULARY, size)
    assert values.shape == (len(words), size)
    assert (words.dtype, values.dtype) == (torch.long, torch.float32)
    return {VOCABULARY.words[word]: value for word, value in zip(words.tolist(), values.tolist(), strict=True)}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "vectors.txt"


def test_words_and_their_numbers(path: Path) -> None:
    assert read(path, UNKNOWN + "owl 1.5 -2e-1\nOwl 3 4\n") == {"owl": [1.5, pytest.approx(-0.2)], "Owl": [3, 4]}


@pytest.mark.parametrize("text", ["", "\n", UNKNOWN, "the\t1\t2\n", "the,1,2\n"])
def test_nothing_is_known(path: Path, text: str) -> None:
    with pytest.raises(FormatError) as error:
        read(path, text)
    assert str(error.value) == (
        f"{path}: no word of the vocabulary is here: each line is a word and its 2 numbers, with spaces between"
    )


def test_a_byte_order_mark(path: Path) -> None:
    assert read(path, "\ufeff. 1 2\nowl 3 4\n") == {".": [1, 2], "owl": [3, 4], "Owl": [3, 4]}
    assert read(path, "\ufeff1 2\nowl 3 4\n") == {"owl": [3, 4], "Owl": [3, 4]}


@pytest.mark.parametrize("value", ["nan", "inf", "-inf", "1e50"])
def test_what_is_no_finite_number(value: str, path: Path) -> None:
    with pytest.raises(FormatError, match=r"vectors.txt:2: the vector of 'the' has values that are no finite numbers"):
        read(path, f"owl 1 2\nthe 1 {value}\n")


@pytest.mark.parametrize(("suffix", "compress"), [(".gz", gzip.compress), (".xz", lzma.compress), (".txt", bytes)])
@pytest.mark.parametrize("end", ["\n", "\r\n", " \n"])
def test_compressed(suffix: str, compress: Callable[[bytes], bytes], end: str, tmp_path: Path) -> None:
    path = tmp_path / f"glove{suffix}"
    path.write_bytes(compress((f"owl 1 2{end}" + UNKNOWN + f". 3 4{end}".rstrip()).encode()))  # no line end at the end
    assert found(path) == {"owl": [1, 2], "Owl": [1, 2], ".": [3, 4]}


def test_a_file_of_many_chunks(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ramify.formats.files.CHUNK", 16)
    assert read(path, UNKNOWN + "owl 1 2\nOwl 3 4\n") == {"owl": [1, 2], "Owl": [3, 4]}


def test_the_first_line_of_word2vec(path: Path) -> None:
    """It may look like a word of ours."""
    assert read(path, "100 2\nowl 1 2\n") == {"owl": [1, 2], "Owl": [1, 2]}
    assert read(path, "owl 1 2\n100 3 4\n") == {"owl": [1, 2], "Owl": [1, 2], "100": [3, 4]}
    assert read(path, "100 5 6\n") == {"100": [5, 6]}  # no such line


@pytest.mark.parametrize("lines", [["the 1 1", "The 2 2"], ["The 2 2", "the 1 1"]])
def test_own_case_before_lower_case(path: Path, lines: list[str]) -> None:
    assert read(path, "\n".join(lines)) == {"the": [1, 1], "The": [2, 2], "THE": [1, 1]}


def test_lower_case_takes_no_other_case(path: Path) -> None:
    assert read(path, "The 2 2\nOWL 3 3\n") == {"The": [2, 2]}


def test_a_lower_cased_vocabulary(path: Path) -> None:
    path.write_text("the 1 2\nThe 3 4\n", encoding="utf-8")
    vocabulary = Vocabulary.from_counts({"the": 9}, 3, lowercase=True)
    words, values = read_vectors(path, vocabulary, 2)
    assert (words.tolist(), values.tolist()) == ([2], [[1, 2]])


@pytest.mark.parametrize("line", ["the 1", "the 1 2 3", "the"])
def test_another_dimension(path: Path, line: str) -> None:
    n = line.count(" ")
    with pytest.raises(FormatError) as error:
        read(path, f"{UNKNOWN}owl 1 2\n{line}\nThe 1 2\n")
    assert str(error.value) == f"{path}:5: the vector of 'the' has {n} numbers, the embedding 2: set --embedding"


def test_what_is_no_number(path: Path) -> None:
    with pytest.raises(FormatError, match=r"vectors.txt:2: the vector of 'the' is not all numbers"):
        read(path, "owl 1 2\nthe 1 x\n")


def test_words_with_spaces_are_none_of_ours(path: Path) -> None:
    """As in glove.840B.300d."""
    assert read(path, ". . . 5 5\nthe owl 6 6\n. 1 2\n") == {".": [1, 2]}


def test_a_file_that_is_damaged_or_not_there(path: Path, tmp_path: Path) -> None:
    with pytest.raises(CallError, match="no such file"):
        found(path)
    path = tmp_path / "v.gz"
    path.write_bytes(gzip.compress("".join(f"w{i} {i} {i}\n" for i in range(999)).encode())[:-20])
    with pytest.raises(FormatError, match="the archive is truncated or damaged"):
        found(path)


def test_numbers_are_read_as_float32(path: Path) -> None:
    assert read(path, "the 0.1 1e-50\n")["the"] == [float(np.float32(0.1)), 0.0]
