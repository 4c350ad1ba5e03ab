"""The trainer: its loss, its log, its best parameters; stopped anywhere and resumed; and what stops it for good."""

from __future__ import annotations

import json
import math
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from small_runs import broken_run, small_corpus, small_trainer
from torch import Tensor, nn

from ramify.corpus import Corpus
from ramify.errors import ModelError, TrainingError
from ramify.model.folder import LOG, WEIGHTS, load_model, load_tensors
from ramify.tasks.evaluate import evaluate
from ramify.training.card import read_data, read_log
from ramify.training.trainer import CHECKPOINT, Interrupted, Trainer, Watcher

CORPUS = small_corpus()  # 32 sentences to train on, 8 held out
RUNS: dict[str, dict[str, Any]] = {
    "sgd and sparse nce": {"objective": "nce", "noise": 5, "lr": 0.3, "decay": "halving", "clip": 1.0},
    "adamw, nll and dropout": {
        "optimiser": "adamw",
        "lr": 0.01,
        "weight_decay": 0.1,
        "decay": "linear",
        "dropout_input": 0.2,
        "dropout_between": 0.2,
        "dropout_output": 0.3,
        "layers": 2,
    },
    "adagrad and shared noise": {"objective": "nce", "shared_noise": True, "optimiser": "adagrad", "lr": 0.1},
    "tied lstm by adamw and nce": {
        "model": "lstm",
        "tied": True,
        "objective": "nce",
        "optimiser": "adamw",
        "lr": 0.01,
        "decay": "constant",
        "patience": 9,
    },
}


def log_of(folder: Path) -> list[dict[str, Any]]:
    """All that does not depend on the clock."""
    return [
        {key: value for key, value in record.items() if key not in ("seconds", "words_per_second")}
        for record in read_log(folder)
    ]


def parameters(trainer: Trainer) -> dict[str, Tensor]:
    return {name: parameter.detach().clone() for name, parameter in trainer.model.named_parameters()}


def assert_same(found: dict[str, Tensor], expected: dict[str, Tensor]) -> None:
    assert found.keys() == expected.keys()
    for name, value in found.items():
        assert torch.equal(value, expected[name]), name


# --- one step, one epoch ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("hold_out", [34, 33])
def test_the_scale_of_the_loss(hold_out: int, tmp_path: Path) -> None:
    """Sum over words / batch_size, for a batch that is not full too; 1.0 of it is what a learning rate refers to."""
    corpus = small_corpus(hold_out=hold_out)
    choices: dict[str, Any] = {"batch_size": 7, "epochs": 1, "clip": 0.0, "lr": 0.2, "decay": "constant"}
    trainer = small_trainer(tmp_path / "m", corpus, **choices)
    before = parameters(trainer)
    trainer.model.loss(trainer.model.build(corpus, corpus.training)).backward()
    expected = {
        name: before[name] - 0.2 * parameter.grad / 7  # type: ignore[operator]
        for name, parameter in trainer.model.named_parameters()
    }
    trainer.optimiser.zero_grad()
    trainer.run()
    for name, value in parameters(trainer).items():
        torch.testing.assert_close(value, expected[name], rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize(
    ("run", "model"), [*((run, "tree") for run in RUNS), *((run, "bilstm") for run in list(RUNS)[:2])]
)
def test_training_lowers_the_loss(run: str, model: str, tmp_path: Path) -> None:
    choices = {"lr": 0.3 if "sgd" in run else 0.05, "epochs": 4, "decay": "linear", "model": model, "batch_size": 4}
    trainer = small_trainer(tmp_path / "m", CORPUS, **RUNS[run] | choices | {"tied": False, "log_z": 4.0})
    before = evaluate(trainer.model, CORPUS, CORPUS.training).ppl
    trainer.run()
    losses = [record["train_loss"] for record in read_log(tmp_path / "m")]
    assert losses[-1] < losses[0]
    assert evaluate(trainer.model, CORPUS, CORPUS.training).ppl < 0.98 * before


def test_the_log(tmp_path: Path) -> None:
    told: list[dict[str, Any]] = []
    steps: list[tuple[int, float]] = []
    epochs: list[tuple[int, int, int]] = []
    watcher = Watcher(lambda *a: epochs.append(a), lambda *a: steps.append(a), valid=told.append)
    state = small_trainer(tmp_path / "m", CORPUS, watcher=watcher, decay="linear", lr=0.5).run()
    log = read_log(tmp_path / "m")
    assert told == log
    assert epochs == [(0, 6, 0), (1, 6, 0), (2, 6, 0)]
    words = int(CORPUS.lengths[CORPUS.training].sum())
    assert sum(n for n, _ in steps) == 3 * words
    for number, record in enumerate(log, 1):
        assert (record["epoch"], record["words"], record["objective"]) == (number, words, "nll")
        assert record["valid_ppl"] == pytest.approx(math.exp(record["valid_entropy"]))
        assert record["train_loss"] == pytest.approx(steps[6 * number - 1][1])
        assert record["words_per_second"] > 0
        assert "rolled_back" not in record
    assert [record["lr"] for record in log] == pytest.approx([0.5 * (1 - (6 * k - 1) / 18) for k in (1, 2, 3)])
    assert state.finished
    assert state.best_entropy == min(record["valid_entropy"] for record in log)
    assert state.seconds >= log[-1]["seconds"] - 0.1
    names = {path.name for path in (tmp_path / "m").iterdir()}
    assert names == {"config.json", "vocabulary.json", "model.safetensors", "log.jsonl", "README.md"}


# --- validation ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("decay", ["constant", "linear", "halving"])
def test_the_saved_parameters_are_those_of_the_best_epoch(decay: str, tmp_path: Path) -> None:
    choices: dict[str, Any] = {
        "epochs": 7,
        "lr": 0.03,
        "optimiser": "adamw",
        "patience": 3,
        "hidden": 32,
        "tied": False,
    }
    trainer = small_trainer(tmp_path / "m", CORPUS, **choices, decay=decay)
    state = trainer.run()
    log = read_log(tmp_path / "m")
    best = min(log, key=lambda record: float(record["valid_entropy"]))
    assert best is not log[-1], "the last epoch should be too much"
    assert state.best_epoch + 1 == best["epoch"]
    model, vocabulary = load_model(tmp_path / "m")
    assert vocabulary == CORPUS.vocabulary
    assert evaluate(model, CORPUS, CORPUS.held_out).ppl == best["valid_ppl"]
    last = evaluate(trainer.model, CORPUS, CORPUS.held_out).ppl
    assert last == (best if decay == "halving" else log[-1])["valid_ppl"]


def test_rollback_to_the_best_parameters(tmp_path: Path) -> None:
    folder = tmp_path / "m"
    after: list[tuple[dict[str, Any], dict[str, Tensor], bytes]] = []
    watcher = Watcher(valid=lambda record: after.append((record, parameters(trainer), (folder / WEIGHTS).read_bytes())))
    trainer = small_trainer(folder, CORPUS, watcher=watcher, lr=8.0, clip=0.0, epochs=9, patience=2)
    trainer.run()
    best = math.inf
    rolled_back = 0
    for record, values, _ in after:
        rolled_back += record.get("rolled_back", False)
        assert record.get("rolled_back", False) == (record["valid_entropy"] >= best)
        best = min(best, record["valid_entropy"])
        trainer.model.load_state_dict(values, strict=False)
        assert evaluate(trainer.model, CORPUS, CORPUS.held_out).entropy == pytest.approx(best, rel=1e-6)
    assert rolled_back
    assert all(b == a for (_, _, a), (record, _, b) in pairwise(after) if "rolled_back" in record)


@pytest.mark.parametrize(("patience", "epochs"), [(1, 2), (2, 3)])
def test_without_halving_patience_ends_the_training(patience: int, epochs: int, tmp_path: Path) -> None:
    trainer = small_trainer(tmp_path / "m", CORPUS, lr=1e-30, decay="constant", patience=patience, epochs=9)
    trainer.run()  # nothing moves, so no epoch is better than the first
    assert len(read_log(tmp_path / "m")) == 1 + patience == epochs


def test_halving_ends_the_training(tmp_path: Path) -> None:
    small_trainer(tmp_path / "m", CORPUS, lr=1e-30, decay="halving", min_lr=0.0, epochs=9).run()
    assert [record["lr"] for record in read_log(tmp_path / "m")] == [1e-30, 1e-30, 5e-31]


# --- stopped and resumed ---------------------------------------------------------------------------------------------


STOPS = {"sgd and sparse nce": (1, 4, 6), "adamw, nll and dropout": (1, 4, 6)}


@pytest.mark.parametrize(("run", "every"), [(run, every) for run in RUNS for every in STOPS.get(run, (5,))])
def test_a_broken_run_is_an_unbroken_one(run: str, every: int, tmp_path: Path) -> None:
    """Stopped after every step, in the middle of epochs, at their ends (6 steps); any number of times."""
    whole = small_trainer(tmp_path / "whole", CORPUS, **RUNS[run])
    whole.run()
    broken = broken_run(tmp_path / "broken", every, [CORPUS], **RUNS[run])
    assert log_of(tmp_path / "broken") == log_of(tmp_path / "whole")
    assert_same(parameters(broken), parameters(whole))
    for name in (WEIGHTS, "config.json", "vocabulary.json"):
        assert (tmp_path / "broken" / name).read_bytes() == (tmp_path / "whole" / name).read_bytes()
    assert not (tmp_path / "broken" / CHECKPOINT).exists()


def test_threads_change_nothing(tmp_path: Path) -> None:
    for threads in (0, 2):
        trainer = small_trainer(tmp_path / str(threads), CORPUS, epochs=2)
        object.__setattr__(trainer.batches, "threads", threads)
        trainer.run()
    assert log_of(tmp_path / "0") == log_of(tmp_path / "2")


def test_the_seed_decides(tmp_path: Path) -> None:
    for seed in (1, 2):
        small_trainer(tmp_path / str(seed), CORPUS, epochs=1, seed=seed).run()
    assert log_of(tmp_path / "1") != log_of(tmp_path / "2")


def stopped(folder: Path, after: int, **choices: Any) -> Trainer:
    steps = iter(range(1, after))
    trainer = small_trainer(folder, CORPUS, watcher=Watcher(stop=lambda: next(steps, None) is None), **choices)
    with pytest.raises(Interrupted, match="the checkpoint is written: repeat the command with --resume to go on"):
        trainer.run()
    return trainer


def test_what_was_logged_after_the_checkpoint_is_forgotten(tmp_path: Path) -> None:
    """Killed between a line of the log and the checkpoint, or in the middle of the line: the epoch comes again."""
    folder = tmp_path / "m"
    small_trainer(tmp_path / "whole", CORPUS).run()
    stopped(folder, 8)
    with (folder / LOG).open("a") as log:
        log.write(json.dumps(read_log(folder)[0] | {"epoch": 2}) + '\n{"epoch": 3, "tra')
    assert len(read_log(folder)) == 2
    small_trainer(folder, CORPUS, resume=True).run()
    assert log_of(folder) == log_of(tmp_path / "whole")


@pytest.mark.parametrize(
    ("damage", "said"),
    [
        (b"[1]\n", r"log.jsonl:4: this is no record of an epoch"),
        (b'{"epoch": 4}\n', r"log.jsonl:4: this is no record"),
        (b'{"epo\n{}\n', r"log.jsonl:4: this is no record"),
        (b"\xff\n", r"log.jsonl cannot be read: .*; save it as UTF-8"),
    ],
)
def test_a_damaged_log(damage: bytes, said: str, tmp_path: Path) -> None:
    small_trainer(tmp_path / "m", CORPUS).run()
    assert len(read_log(tmp_path / "m")) == 3
    with (tmp_path / "m" / LOG).open("ab") as log:
        log.write(damage)
    with pytest.raises(ModelError, match=said):
        read_log(tmp_path / "m")


def test_checkpoints_by_the_clock(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    saves: list[int] = []
    monkeypatch.setattr(Trainer, "save", lambda self: saves.append(self.state.position))
    small_trainer(tmp_path / "a", CORPUS, epochs=1, checkpoint_every=-1.0).run()
    assert saves == [1, 2, 3, 4, 5, 6]
    saves.clear()
    small_trainer(tmp_path / "b", CORPUS, epochs=2, checkpoint_every=600.0).run()
    assert saves == [0]  # after the first epoch


@pytest.mark.parametrize("left", [0, 4, 100, -1])
def test_a_truncated_checkpoint(left: int, tmp_path: Path) -> None:
    stopped(tmp_path / "m", 2)
    path = tmp_path / "m" / CHECKPOINT
    path.write_bytes(path.read_bytes()[:left])
    with pytest.raises(ModelError, match=r"checkpoint.safetensors is damaged"):
        small_trainer(tmp_path / "m", CORPUS, resume=True)


def test_a_checkpoint_of_another_run(tmp_path: Path) -> None:
    stopped(tmp_path / "m", 2)
    with pytest.raises(ModelError, match="belongs to another recipe: resume with the options of the first start"):
        small_trainer(tmp_path / "m", CORPUS, resume=True, lr=0.5)
    with pytest.raises(ModelError, match="belongs to other data"):
        small_trainer(tmp_path / "m", small_corpus(hold_out=7), resume=True)
    with pytest.raises(ModelError, match="belongs to other data"):
        small_trainer(tmp_path / "m", [CORPUS], resume=True, weights=[0.5])


def test_a_model_is_no_checkpoint(tmp_path: Path) -> None:
    small_trainer(tmp_path / "m", CORPUS, epochs=1).run()
    (tmp_path / "m" / WEIGHTS).rename(tmp_path / "m" / CHECKPOINT)
    with pytest.raises(ModelError, match="belongs to another recipe"):
        small_trainer(tmp_path / "m", CORPUS, resume=True)
    (tmp_path / "m" / CHECKPOINT).unlink()
    with pytest.raises(ModelError, match=r"checkpoint.safetensors is missing"):
        small_trainer(tmp_path / "m", CORPUS, resume=True)


def test_a_full_disk_leaves_the_last_checkpoint(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    trainer = stopped(tmp_path / "m", 2)
    before = (tmp_path / "m" / CHECKPOINT).read_bytes()

    def fails(tensors: object, path: Path, about: object) -> None:
        Path(path).write_bytes(b"half of it")
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("ramify.model.folder.save_file", fails)
    with pytest.raises(OSError, match="No space left"):
        trainer.save()
    assert (tmp_path / "m" / CHECKPOINT).read_bytes() == before
    assert not list((tmp_path / "m").glob(".*"))


# --- what cannot go on -----------------------------------------------------------------------------------------------


def test_a_loss_that_is_no_number(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    trainer = small_trainer(tmp_path / "m", CORPUS)
    loss = trainer.model.loss
    calls: list[Any] = []

    def broken(batch: Any) -> Tensor:
        calls.append(batch)
        return loss(batch) * (math.nan if len(calls) == 9 else 1.0)

    monkeypatch.setattr(trainer.model, "loss", broken)
    with pytest.raises(TrainingError) as error:
        trainer.run()
    some = ", ".join(map(str, calls[-1].sentences[:5]))
    assert str(error.value) == (
        f"the loss is nan at batch 3 of epoch 2 (sentences {some}, ... of the corpus): try a lower --lr or --clip"
    )
    assert load_tensors(tmp_path / "m" / CHECKPOINT)[1]["state"]["epoch"] == 1  # what was reached is kept


@pytest.mark.parametrize("batch_size", [6, 64])
@pytest.mark.parametrize("run", ["sgd and sparse nce", "adamw, nll and dropout"])
def test_a_learning_rate_beyond_all_measure(run: str, batch_size: int, tmp_path: Path) -> None:
    trainer = small_trainer(tmp_path / "m", CORPUS, **RUNS[run] | {"lr": 1e30, "batch_size": batch_size, "clip": 0.0})
    with pytest.raises(TrainingError, match=r"is (nan|inf|-inf) (at batch \d of|after) epoch [12].*try a lower --lr"):
        trainer.run()


def test_a_gradient_that_is_no_number(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    trainer = small_trainer(tmp_path / "m", CORPUS)
    before = parameters(trainer)
    monkeypatch.setattr(
        trainer.model, "loss", lambda batch: (trainer.model.embedding * 0).abs().pow(0.5).sum() * len(batch)
    )
    with pytest.raises(TrainingError, match="the gradient is nan at batch 1 of epoch 1"):
        trainer.run()
    assert_same(parameters(trainer), before)


@pytest.mark.parametrize(
    "error",
    [torch.OutOfMemoryError("CUDA out of memory"), RuntimeError("DefaultCPUAllocator: can't allocate memory: 9 bytes")],
)
def test_no_memory_left(error: Exception, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    trainer = small_trainer(tmp_path / "m", CORPUS)

    def broken(batch: Any) -> Tensor:
        raise error

    monkeypatch.setattr(trainer.model, "loss", broken)
    with pytest.raises(TrainingError, match=r"no memory left for 6 sentences, \d+ words: lower --batch-size") as raised:
        trainer.run()
    assert raised.value.__cause__ is error


def test_other_errors_are_not_explained_away(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    trainer = small_trainer(tmp_path / "m", CORPUS)
    monkeypatch.setattr(trainer.model, "loss", lambda batch: nn.Linear(2, 3)(torch.zeros(5)))
    with pytest.raises(RuntimeError, match="shapes"):
        trainer.run()


# --- the card --------------------------------------------------------------------------------------------------------


def test_the_card(tmp_path: Path) -> None:
    about: dict[str, Any] = {"sources": [{"name": "ewt:dev", "sentences": 40, "words": 500}]}
    corpus = Corpus(
        CORPUS.vocabulary,
        *(getattr(CORPUS, name) for name in ("words", "heads", "labels", "lengths", "depths", "held_out")),
        about=about,
    )
    stopping = Watcher(stop=lambda: True)
    with pytest.raises(Interrupted):
        small_trainer(tmp_path / "m", corpus, watcher=stopping).run()
    assert "None yet: the first epoch is not over." in (tmp_path / "m" / "README.md").read_text()
    state = small_trainer(tmp_path / "m", corpus, resume=True).run()
    card = (tmp_path / "m" / "README.md").read_text()
    assert card.startswith("# ldtree-8\n\nLdTreeLSTM with ")
    assert "P(S|T): each word from its dependency path, the tree being given." in card
    assert f"Validation perplexity {math.exp(state.best_entropy):.2f} after epoch {state.best_epoch + 1}" in card
    assert "hidden = 8 " in card
    data = read_data(tmp_path / "m")
    assert data[:2] == ["trained on ewt:dev: 40 sentences, 500 words", "validated on 8 sentences held out of ewt:dev"]
    assert "Attribution-ShareAlike 4.0" in data[2]
    log = [json.loads(line) for line in (tmp_path / "m" / LOG).read_text().splitlines()]
    assert all(f"| {each['epoch']} | {each['train_loss']:.4f} | {each['valid_ppl']:.2f} |" in card for each in log)


def test_the_card_of_other_data_names_no_licence(tmp_path: Path) -> None:
    small_trainer(tmp_path / "m", CORPUS, epochs=1, model="lstm").run()
    card = (tmp_path / "m" / "README.md").read_text()
    assert "P(S): each word from the words before it" in card
    assert "Licence" not in card
    assert np.isfinite(read_log(tmp_path / "m")[0]["valid_ppl"])
