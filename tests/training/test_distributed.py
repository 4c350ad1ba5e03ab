"""Two processes on this machine under torchrun: the training of one."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from small_runs import write_treebank

from ramify.cli import run
from ramify.training.card import read_log
from ramify.training.distributed import Group, group

MAIN = """
import contextlib, os, signal, sys
from ramify.cli import run
from ramify.training import distributed
from ramify.training.trainer import Trainer

step, steps = Trainer.step, []

def counted(self, batch):
    steps.append(batch)
    if len(steps) == 9 and os.environ["RANK"] == "1":
        signal.raise_signal(signal.SIGTERM)
    return step(self, batch)

Trainer.step = counted
with distributed.group("cpu") as peers:
    distributed.group = lambda device: contextlib.nullcontext(peers)  # one group for both runs
    sys.exit(run(sys.argv[1:]) not in (130, 143) or run([*sys.argv[1:], "--resume"]))
"""
PEERS = ["-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2"]


@pytest.fixture
def call(tmp_path: Path) -> list[str]:
    """21 sentences to train on in batches of 4: of the last batch one process has nothing."""
    treebank = write_treebank(tmp_path / "some.conllu", 25)
    (tmp_path / "main.py").write_text(MAIN)
    call = ["train", str(treebank), "--hold-out", "4", "--recipe", "paper-ptb", "--hidden", "8", "--embedding", "8"]
    return [*call, "--batch-size", "4", "--dropout-output", "0", "--lr", "0.3", "--epochs", "3", "--max-length", "99"]


def test_two_processes_are_one(call: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Stopped on the way, too, which one of them was asked to do, and resumed."""
    assert run([*call, "-o", str(tmp_path / "one"), "-q"]) == 0
    alone = capsys.readouterr().out
    two = tmp_path / "two"
    done = subprocess.run(
        [sys.executable, *PEERS, str(tmp_path / "main.py"), *call, "-o", str(two)],
        capture_output=True,
        text=True,
        env=os.environ | {"OMP_NUM_THREADS": "1"},
        timeout=100,
    )
    out, said = done.stdout, done.stderr
    assert done.returncode == 0, said
    assert said.count("stopped in epoch 2 after batch 3 of 6; the checkpoint is written") == 2
    logs = [read_log(tmp_path / name) for name in ("one", "two")]
    assert [record["epoch"] for record in logs[1]] == [record["epoch"] for record in logs[0]]
    for a, b in zip(*logs, strict=True):
        assert b["valid_ppl"] == pytest.approx(a["valid_ppl"], rel=1e-5)
        assert b["train_loss"] == pytest.approx(a["train_loss"], rel=1e-5)
        assert (b["words"], b["lr"]) == (a["words"], a["lr"])
    assert (out.count("valid ppl"), said.count("parameters, seed 1")) == (1, 2)  # the first process speaks for both
    assert out.split(" after ")[0] == alone.split(" after ")[0]
    assert {path.name for path in two.iterdir()} == {path.name for path in (tmp_path / "one").iterdir()}


def test_alone_nothing_happens(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("WORLD_SIZE", raising=False)
    with group("cpu") as peers:
        assert peers == Group(0, 1)
        assert peers.writes
        assert peers.most(3) == 3
        tensor = torch.ones(2)
        assert peers.sum(tensor) is tensor
        parameter = torch.nn.Parameter(torch.ones(2))
        peers.sum_gradients([parameter])
        peers.same_everywhere([parameter])
        peers.wait()
        assert parameter.grad is None
    assert not torch.distributed.is_initialized()
