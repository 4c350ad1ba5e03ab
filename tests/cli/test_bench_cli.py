"""ramify bench: on the CPU the table is printed; what needs a GPU says so."""

from __future__ import annotations

import pytest
import torch

from ramify.benchmark import on_cpu
from ramify.cli import run


def test_the_table_of_the_cpu(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    for name, value in (("SIZE", 2), ("HIDDEN", 4), ("SENTENCES", 2), ("BATCHES", 1)):
        monkeypatch.setattr(on_cpu, name, value)
    assert run(["bench", "train", "--device", "cpu"]) == 0
    out = capsys.readouterr().out
    assert out.startswith("command: ramify bench train --device cpu\nramify ")
    for line in (
        "ldtree step, nce, V = 10,000",
        "ldtree step, nll",
        "tree recurrence alone",
        "tree recurrence / nn.LSTM:",
    ):
        assert f"\n{line}" in out


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a GPU")
def test_without_a_gpu_there_is_no_table_of_one(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["bench", "train", "--device", "cuda"]) == 2
    assert "there is no GPU" in capsys.readouterr().err


def test_a_store_that_is_none(tmp_path: object, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["bench", "train", "nowhere", "--device", "cpu"]) in (1, 2)
    assert "nowhere" in capsys.readouterr().err
