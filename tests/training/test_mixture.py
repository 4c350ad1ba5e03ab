"""Several corpora with weights in one training."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest
import torch
from small_runs import broken_run, small_trainer, some_trees

from ramify.corpus import Corpus, Encoding, encode_trees
from ramify.errors import CallError
from ramify.training.card import read_data, read_log

TREES = some_trees(40)
FIRST = encode_trees(TREES[:24], Encoding(hold_out=4))
SECOND = encode_trees(TREES[24:], Encoding(vocabulary=FIRST.vocabulary))


def words(corpus: Corpus) -> int:
    return int(corpus.lengths[corpus.training].sum())


@pytest.mark.parametrize(("weights", "epoch"), [(None, (1, 1)), ([1.0, 1.0], (1, 1)), ([2.0, 1.0], (2, 1))])
def test_how_often_an_epoch_takes_each(weights: list[float] | None, epoch: tuple[int, int], tmp_path: Path) -> None:
    small_trainer(tmp_path / "m", [FIRST, SECOND], weights=weights, epochs=2).run()
    expected = epoch[0] * words(FIRST) + epoch[1] * words(SECOND)
    assert [record["words"] for record in read_log(tmp_path / "m")] == [expected, expected]
    assert len(read_data(tmp_path / "m")) == 3


def test_a_part_of_one_is_drawn_anew(tmp_path: Path) -> None:
    small_trainer(tmp_path / "m", [FIRST, SECOND], weights=[1.0, 0.5], epochs=3).run()
    parts = {record["words"] - words(FIRST) for record in read_log(tmp_path / "m")}
    assert len(parts) > 1
    assert all(0 < part < words(SECOND) for part in parts)


def test_one_corpus_with_a_weight(tmp_path: Path) -> None:
    small_trainer(tmp_path / "m", [FIRST], weights=[3.0], epochs=1).run()
    assert read_log(tmp_path / "m")[0]["words"] == 3 * words(FIRST)


def test_held_out_sentences_stay_out(tmp_path: Path) -> None:
    trainer = small_trainer(tmp_path / "m", [FIRST, SECOND], weights=[1.5, 2.0])
    for epoch in (0, 1):
        for corpus, sentences in trainer.batches.plan(epoch):
            assert not set(sentences.tolist()) & set(corpus.held_out.tolist())


@pytest.mark.parametrize("every", [2, 5])
def test_stopped_and_resumed(every: int, tmp_path: Path) -> None:
    choices: dict[str, Any] = {"weights": [1.0, 1.5], "optimiser": "adamw", "lr": 0.01, "dropout_input": 0.2}
    whole = small_trainer(tmp_path / "whole", [FIRST, SECOND], **choices)
    whole.run()
    broken = broken_run(tmp_path / "broken", every, [FIRST, SECOND], **choices)
    timeless = [
        [(each["train_loss"], each["valid_ppl"], each["words"]) for each in read_log(tmp_path / name)]
        for name in ("whole", "broken")
    ]
    assert timeless[0] == timeless[1]
    assert torch.equal(whole.model.embedding, broken.model.embedding)


@pytest.mark.parametrize("weights", [[1.0], [1.0, 0.0], [1.0, -1.0], [1.0, 1.0, 1.0], [math.nan, 1.0], [1e9, 1.0]])
def test_weights_that_do_not_fit(weights: list[float], tmp_path: Path) -> None:
    with pytest.raises(CallError, match="2 corpora need as many weights, above 0"):
        small_trainer(tmp_path / "m", [FIRST, SECOND], weights=weights)


def test_weights_that_leave_nothing(tmp_path: Path) -> None:
    with pytest.raises(CallError, match="leave no sentence to train on"):
        small_trainer(tmp_path / "m", [FIRST, SECOND], weights=[1e-9, 1e-9])


def test_one_vocabulary_for_all(tmp_path: Path) -> None:
    with pytest.raises(CallError, match="need one vocabulary"):
        small_trainer(tmp_path / "m", [FIRST, encode_trees(TREES[24:])])
