"""States: one array for all words of a treebank."""

from __future__ import annotations

import io
import os
import threading
from pathlib import Path

import numpy as np
import pytest
from small_runs import small_lm, some_sentences, some_trees

from ramify.errors import CallError
from ramify.tasks.states import write_states


@pytest.mark.parametrize("kind", ["tree", "ldtree", "lstm", "bilstm"])
def test_values_and_places(kind: str, tmp_path: Path) -> None:
    lm = small_lm(kind, layers=2)
    sentences = some_sentences(12)
    path = tmp_path / "states.npz"
    passed = write_states(lm, iter(sentences), path)
    assert not path.exists()
    assert list(passed) == sentences
    found = np.load(path)
    assert set(found) == {"states", "sentence", "word", "sent_ids"}
    width = 16 if kind == "bilstm" else 8
    assert found["states"].shape == (sum(len(each.tree) for each in sentences), width)
    assert found["sent_ids"].tolist() == [each.tree.sent_id for each in sentences]
    for number, sentence in enumerate(sentences):
        here = found["sentence"] == number
        assert found["word"][here].tolist() == list(range(1, len(sentence.tree) + 1))
        np.testing.assert_array_equal(found["states"][here], lm.states(sentence.tree)[: len(sentence.tree)])


@pytest.mark.parametrize("kind", ["ldtree", "lstm"])
def test_a_word_s_state_is_what_predicts_it(kind: str) -> None:
    lm = small_lm(kind)
    tree = some_trees()[4]
    states = lm.states(tree)
    assert len(states) == len(tree) + (kind == "lstm")  # and before its end
    weight, bias = lm.model.output.weight.detach().numpy(), lm.model.output.bias
    assert bias is not None
    logits = states[: len(tree)] @ weight.T + bias.detach().numpy()
    wanted = logits[np.arange(len(tree)), lm.vocabulary.ids(tree.forms)]
    np.testing.assert_allclose(wanted - np.log(np.exp(logits).sum(1)), lm.score(tree).logprobs, rtol=1e-4)


def test_no_sentences(tmp_path: Path) -> None:
    assert list(write_states(small_lm(), iter([]), tmp_path / "s.npz")) == []
    assert np.load(tmp_path / "s.npz")["states"].shape == (0, 8)


def test_the_name_is_kept(tmp_path: Path) -> None:
    """numpy would add a suffix."""
    list(write_states(small_lm(), iter(some_sentences(2)), tmp_path / "states"))
    assert [path.name for path in tmp_path.iterdir()] == ["states"]


def test_a_run_that_fails_leaves_nothing(tmp_path: Path) -> None:
    def sentences():  # type: ignore[no-untyped-def]
        yield from some_sentences(2)
        raise KeyError

    with pytest.raises(KeyError):
        list(write_states(small_lm(), sentences(), tmp_path / "s.npz"))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(("name", "said"), [("no/s.npz", "no such folder"), (".", "is a folder, not a file")])
def test_a_wrong_place_is_said_at_once(name: str, said: str, tmp_path: Path) -> None:
    with pytest.raises(CallError, match=said):
        write_states(small_lm(), iter([]), tmp_path / name)


def test_a_link_stays_one(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path / "s.npz")
    list(write_states(small_lm(), iter(some_sentences(2)), tmp_path / "link"))
    assert (tmp_path / "link").is_symlink()
    assert len(np.load(tmp_path / "s.npz")["sent_ids"]) == 2


def test_a_pipe_is_written_to(tmp_path: Path) -> None:
    """And not replaced by a file."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    heard: list[bytes] = []
    reader = threading.Thread(target=lambda: heard.append(pipe.read_bytes()), daemon=True)
    reader.start()
    list(write_states(small_lm(), iter(some_sentences(2)), pipe))
    reader.join(timeout=20)
    assert pipe.is_fifo()
    assert len(np.load(io.BytesIO(heard[0]))["sent_ids"]) == 2
