"""ramify train on the command line: exit codes, signals, resuming, what is said where; and ramify info of a model."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from small_runs import OPTIONS, write_treebank

from ramify.cli import run
from ramify.model.folder import load_model, load_tensors
from ramify.training.card import read_log
from ramify.training.trainer import CHECKPOINT, Trainer


@pytest.fixture
def call(tmp_path: Path) -> list[str]:
    """26 sentences to train on: 4 steps in an epoch, two epochs."""
    return ["train", str(write_treebank(tmp_path / "some.conllu", 30)), "--hold-out", "4", *OPTIONS]


def log_of(folder: Path) -> list[dict[str, Any]]:
    clock = ("seconds", "words_per_second")
    return [{key: value for key, value in record.items() if key not in clock} for record in read_log(folder)]


def at_step(number: int, act: Callable[[], None], monkeypatch: pytest.MonkeyPatch) -> None:
    step, steps = Trainer.step, iter(range(1, number))

    def counted(self: Trainer, batch: Any) -> float:
        if next(steps, None) is None:
            act()
        return step(self, batch)

    monkeypatch.setattr(Trainer, "step", counted)


def test_what_is_said_where(call: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "m"
    assert run([*call, "-o", str(folder)]) == 0
    out, said = capsys.readouterr()
    best = min(record["valid_ppl"] for record in read_log(folder))
    assert out.startswith(f"valid ppl {best:.2f} after epoch ")
    assert out.endswith(f"minutes, in {folder}\n")
    assert said.startswith("ldtree-8, ")
    assert "epoch   1  train loss " in said
    assert "epoch   2  train loss " in said
    assert run([*call, "-o", str(folder)]) == 2
    assert capsys.readouterr().err == f"ramify: {folder} is already there; --force replaces it\n"
    assert run([*call, "-o", str(folder), "--force", "-q"]) == 0
    out, said = capsys.readouterr()
    assert (out.count("valid ppl"), said) == (1, "")
    load_model(folder)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--resume"], "m has no checkpoint to go on from"),
        (["--recipe", "modren"], "no recipe modren; known are modern, paper-msr, paper-ptb"),
        (["--from", "nowhere"], "nowhere"),
        (["--vectors", "nowhere.txt"], "no such file: nowhere.txt"),
        (["--vectors-frozen"], "no vectors to freeze"),
        (["--weights", "1,x"], "--weights are 1 numbers with commas between them, not '1,x'"),
        (["--weights", "1"], "weights are for stores"),
        (["--valid", "nowhere.conllu"], "no such file: nowhere.conllu"),
        (["--device", "gpu0"], "no device gpu0"),
        (["--hidden", "0"], "sizes and numbers of layers are"),
        (["--lr", "0"], "lr is above 0"),
        (["--init", "nan"], "init is nan; it should be a number"),
        (["--log-z", "1000"], "log_z lies between -80 and 80"),
        (["--seed", str(1 << 63)], "a seed is 0 or more and has 63 bits at most"),
        (["--device", "meta"], "no device meta"),
        (["--objective", "mse"], "mse"),
        (["--dropout-input", "1.5"], "dropout rates lie between 0 and 1"),
        (["--max-vocab", "1"], "a vocabulary holds UNK and ROOT at least"),
        (["--max-length", "0"], "no sentence to encode"),
        (["--hold-out", "99"], "cannot hold out 99 of 30 sentences"),
    ],
)
def test_a_wrong_call(
    options: list[str],
    said: str,
    call: list[str],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run([*call, "-o", "m", *options]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert said in " ".join(err.split())
    assert "Traceback" not in err
    assert not Path("m").exists()


def test_a_malformed_treebank(call: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path(call[1]).write_text("1\ta\t_\t_\t_\t_\t1\tdep\t_\t_\n\n")
    assert run([*call, "-o", str(tmp_path / "m")]) == 1
    assert capsys.readouterr().err.startswith(f"ramify: {call[1]}:1")


def test_long_sentences_are_left_out_and_counted(
    call: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run([*call, "-o", str(tmp_path / "m"), "--max-length", "15", "--epochs", "1"]) == 0
    assert "sentences left out: too long\n" in capsys.readouterr().err


def test_vectors_are_counted(call: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "v.txt").write_text("".join(f"{word}{' 0.5' * 8}\n" for word in ("the", ".", "none")))
    call = [*call, "-o", str(tmp_path / "m"), "--vectors", str(tmp_path / "v.txt")]
    assert run([*call, "--epochs", "1"]) == 0
    vocabulary = load_model(tmp_path / "m")[1]
    found = sum(word in ("the", "The", ".") for word in vocabulary.words)
    assert f"vectors: {found} of {len(vocabulary):,} words found\n" in capsys.readouterr().err
    assert run([*call, "--embedding", "7", "--projection", "7", "--force"]) == 1
    assert "v.txt:1: the vector of 'the' has 8 numbers, the embedding 7" in capsys.readouterr().err
    load_model(tmp_path / "m")


def test_going_on_from_a_model(call: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    old, new = tmp_path / "old", tmp_path / "new"
    assert run([*call, "-o", str(old), "--dropout-input", "0.1", "-q"]) == 0
    again = ["train", call[1], "--from", str(old), "-o", str(new), "--epochs", "1"]
    assert run([*again, "-q"]) == 0
    recipe = (new / "recipe.toml").read_text()
    for line in ("hidden = 8 ", "dropout_input = 0.1 ", "epochs = 1 ", "batch_size = 8 "):
        assert f"\n{line}" in recipe
    assert load_model(new)[1] == load_model(old)[1]
    capsys.readouterr()
    assert run([*again, "--force", "--hidden", "9"]) == 2
    assert f"{old} has hidden 8, which cannot become 9" in capsys.readouterr().err
    assert run([*again, "--force", "--recipe", "paper-ptb", "-q", "--batch-size", "8"]) == 0
    assert "\nhidden = 8 " in (new / "recipe.toml").read_text()
    assert run([*again, "--force", "--recipe", "modern", "-q"]) == 0  # asked for, and not left out
    recipe = (new / "recipe.toml").read_text()
    assert "\nhidden = 8 " in recipe
    assert "\ndropout_input = 0.1 " not in recipe
    (old / "recipe.toml").unlink()
    assert run([*again, "--force", "-q"]) == 0
    (old / "config.json").unlink()
    assert run([*again, "--force", "-q"]) == 1
    assert f"{old} is no model" in capsys.readouterr().err


def test_several_seeds(
    call: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    call = [*call, "-o", str(tmp_path / "whole"), "--seeds", "3", "-q", "--epochs", "1", "--seed", "4"]
    assert run(call) == 0
    out = capsys.readouterr().out.splitlines()
    assert len(out) == 4
    assert out[-1].startswith("valid ppl ")
    assert out[-1].endswith(" over 3 seeds")
    assert sorted(path.name for path in (tmp_path / "whole").iterdir()) == ["seed-4", "seed-5", "seed-6"]
    with monkeypatch.context() as patch:
        at_step(6, lambda: signal.raise_signal(signal.SIGINT), patch)
        call[call.index("-o") + 1] = str(tmp_path / "broken")
        assert run(call) == 130
    capsys.readouterr()
    assert run([*call, "--resume"]) == 0
    assert capsys.readouterr().out.splitlines()[-1] == out[-1]


# --- stopped ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_asked_to_stop(
    number: signal.Signals,
    code: int,
    call: list[str],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    whole, broken = tmp_path / "whole", tmp_path / "broken"
    assert run([*call, "-o", str(whole), "-q"]) == 0
    handlers = [signal.getsignal(each) for each in (signal.SIGINT, signal.SIGTERM)]
    with monkeypatch.context() as patch:
        at_step(6, lambda: signal.raise_signal(number), patch)
        assert run([*call, "-o", str(broken)]) == code
    said = capsys.readouterr().err
    assert "stopping after this step; the checkpoint is being written" in said
    assert said.endswith(
        "ramify: stopped in epoch 2 after batch 2 of 4; the checkpoint is written: "
        "repeat the command with --resume to go on\n"
    )
    assert [signal.getsignal(each) for each in (signal.SIGINT, signal.SIGTERM)] == handlers
    assert (broken / CHECKPOINT).is_file()
    assert run([*call, "-o", str(broken)]) == 2
    assert "is already there; --resume goes on, --force replaces it" in capsys.readouterr().err
    assert run([*call, "-o", str(broken), "--lr", "0.5", "--resume"]) == 1
    assert "belongs to another recipe: resume with the options of the first start" in capsys.readouterr().err
    assert run([*call, "-o", str(broken), "--resume", "-q"]) == 0
    assert log_of(broken) == log_of(whole)
    assert (broken / "model.safetensors").read_bytes() == (whole / "model.safetensors").read_bytes()
    assert run([*call, "-o", str(broken), "--resume"]) == 2
    assert "has no checkpoint to go on from: it is finished" in capsys.readouterr().err


def test_asked_again(
    call: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """SIGTERM twice is SIGTERM once; Ctrl-C twice stops at once."""

    def twice(number: signal.Signals) -> None:
        signal.raise_signal(number)
        signal.raise_signal(number)

    with monkeypatch.context() as patch:
        at_step(2, lambda: twice(signal.SIGTERM), patch)
        assert run([*call, "-o", str(tmp_path / "m")]) == 143
    assert capsys.readouterr().err.count("stopping after this step") == 1
    assert (tmp_path / "m" / CHECKPOINT).is_file()
    at_step(2, lambda: twice(signal.SIGINT), monkeypatch)
    assert run([*call, "-o", str(tmp_path / "m"), "--force"]) in (1, 130)
    assert load_tensors(tmp_path / "m" / CHECKPOINT)[1]["state"]["position"] == 0  # nothing more was written


def test_killed(call: list[str], tmp_path: Path) -> None:
    """kill -9 at any moment: what is there is whole, and the run goes on to the end of an unbroken one."""
    whole, broken = tmp_path / "whole", tmp_path / "broken"
    call = [*call, "-q", "--epochs", "40", "--decay", "constant", "--patience", "40"]
    program = [sys.executable, "-c", "from ramify.cli import main; main()"]
    environment = os.environ | {"OMP_NUM_THREADS": "1"}
    killed = subprocess.Popen([*program, *call, "-o", str(broken), "--checkpoint-every", "0"], env=environment)
    until = time.monotonic() + 60
    while len(read_log(broken)) < 3 and killed.poll() is None and time.monotonic() < until:
        time.sleep(0.01)
    killed.kill()
    assert killed.wait(timeout=20) == -signal.SIGKILL
    epochs = len(read_log(broken))
    assert 3 <= epochs < 40
    load_model(broken)
    assert run([*call, "-o", str(broken), "--resume"]) == 0
    assert run([*call, "-o", str(whole)]) == 0
    assert log_of(broken) == log_of(whole)
    assert (broken / "model.safetensors").read_bytes() == (whole / "model.safetensors").read_bytes()


def test_a_loss_that_is_no_number(call: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run([*call, "-o", str(tmp_path / "m"), "--lr", "1e30", "--clip", "0"]) == 1
    said = capsys.readouterr().err.splitlines()[-1]
    assert said.startswith("ramify: the ")
    assert "at batch " in said
    assert "try a lower --lr or --clip" in said


def killed_before_its_first_checkpoint(folder: Path) -> None:
    for name in (CHECKPOINT, "model.safetensors"):
        (folder / name).unlink(missing_ok=True)


def test_killed_before_the_first_checkpoint(
    call: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Nothing is lost where nothing was done: --resume starts anew, and says so."""
    folder, empty = tmp_path / "m", tmp_path / "empty"
    assert run([*call, "-o", str(folder), "-q"]) == 0
    log = log_of(folder)
    killed_before_its_first_checkpoint(folder)
    capsys.readouterr()
    assert run([*call, "-o", str(folder), "--resume"]) == 0
    assert capsys.readouterr().err.startswith(f"{folder} has no checkpoint yet: starting anew\n")
    assert log_of(folder) == log
    empty.mkdir()
    (empty / ".config.json.99.tmp").touch()  # killed while it was written
    assert run([*call, "-o", str(empty), "--resume", "-q"]) == 0
    assert log_of(empty) == log


def test_seeds_of_which_one_was_killed_before_its_first_checkpoint(
    call: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    call = [*call, "-o", str(tmp_path / "m"), "--seeds", "3", "-q", "--epochs", "1"]
    assert run(call) == 0
    out = capsys.readouterr().out.splitlines()
    killed_before_its_first_checkpoint(tmp_path / "m" / "seed-2")
    shutil.rmtree(tmp_path / "m" / "seed-3")
    assert run([*call, "--resume"]) == 0
    again = capsys.readouterr().out.splitlines()
    assert (len(again), again[-1]) == (3, out[-1])


def test_several_seeds_are_no_part_of_a_model(
    call: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    call = [*call, "-o", str(tmp_path / "m"), "-q"]
    assert run(call) == 0
    for more in ([], ["--force"], ["--resume"]):
        assert run([*call, "--seeds", "2", *more]) == 2
        assert "m is a model: several seeds need a folder of their own" in capsys.readouterr().err


def test_a_finished_seed_of_another_run(call: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Its figure is not that of the run which is asked for."""
    call = [*call, "-o", str(tmp_path / "m"), "--seeds", "2", "-q", "--epochs", "1"]
    assert run(call) == 0
    out = capsys.readouterr().out.splitlines()
    assert run([*call, "--resume"]) == 0
    assert capsys.readouterr().out.splitlines() == out[-1:]
    assert run([*call, "--resume", "--lr", "0.5", "--hidden", "9"]) == 2
    said = f"ramify: {tmp_path / 'm' / 'seed-1'} was trained with hidden 8, not 9: resume with the options of the first"
    assert capsys.readouterr().err.startswith(said)
    for other in (["--valid", call[1]], ["--hold-out", "5"]):
        assert run([*call, "--resume", *other]) == 2
        assert "seed-1 was trained on other data, as its card says: resume with" in capsys.readouterr().err


def test_killed_between_parameters_and_checkpoint(
    call: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Parameters of the first epoch alone do not make a run look finished."""
    whole, broken = tmp_path / "whole", tmp_path / "broken"
    assert run([*call, "-o", str(whole), "-q"]) == 0

    save = Trainer.save

    def killed(self: Trainer) -> None:
        if self.state.epoch:
            raise KeyboardInterrupt
        save(self)

    with monkeypatch.context() as patch:
        patch.setattr(Trainer, "save", killed)
        assert run([*call, "-o", str(broken), "-q"]) in (1, 130)
    assert (broken / "model.safetensors").is_file()
    assert run([*call, "-o", str(broken), "--resume", "-q"]) == 0
    assert log_of(broken) == log_of(whole)
    assert (broken / "model.safetensors").read_bytes() == (whole / "model.safetensors").read_bytes()


def test_resume_writes_over_nothing_foreign(
    call: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "config.json").write_text('{"format": "gpt"}')
    assert run([*call, "-o", str(tmp_path), "--resume"]) == 1
    assert "is no model: config.json names the format 'gpt'" in capsys.readouterr().err


def test_a_perplexity_beyond_all_measure(call: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run([*call, "-o", str(tmp_path / "m"), "-q", "--init", "79", "--epochs", "1"]) == 0
    assert float(capsys.readouterr().out.split()[2]) > 1e300  # and no traceback


# --- info ------------------------------------------------------------------------------------------------------------


def test_info_of_a_model(call: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "m"
    assert run([*call, "-o", str(folder), "-q", "--lr", "0.03"]) == 0
    capsys.readouterr()
    assert run(["info", str(folder)]) == 0
    shown = capsys.readouterr().out
    model, vocabulary = load_model(folder)
    log = read_log(folder)
    assert shown.startswith(f"ldtree-8, {model.n_parameters:,} parameters; its numbers are P(S|T)\n")
    assert f"vocabulary of {len(vocabulary)} words" in shown
    assert "recipe: nll, adamw, lr 0.03 linear, batches of 8, at most 2 epochs, dropout 0.5/0/0.4, seed 1" in shown
    assert f"trained on {call[1]}: 30 sentences" in shown
    assert "not finished" not in shown
    best = min(log, key=lambda record: float(record["valid_ppl"]))
    for record in log:
        row = [str(record["epoch"]), f"{record['lr']:.2g}", f"{record['train_loss']:.4f}", f"{record['valid_ppl']:.2f}"]
        assert row + ["*"] * (record is best) in [line.split() for line in shown.splitlines()]
    assert run(["info", str(folder), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["kind"], found["parameters"], found["vocabulary"]) == ("P(S|T)", model.n_parameters, len(vocabulary))
    assert (found["log"], found["best"], found["finished"]) == (log, best, True)
    assert (found["model"]["hidden"], found["recipe"]["lr"]) == (8, 0.03)


def test_info_of_a_run_that_was_stopped(
    call: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    at_step(1, lambda: signal.raise_signal(signal.SIGINT), monkeypatch)
    assert run([*call, "-o", str(tmp_path / "m"), "-q"]) == 130
    capsys.readouterr()
    assert run(["info", str(tmp_path / "m")]) == 0
    assert "training is not finished; --resume goes on" in capsys.readouterr().out
    assert run(["info", str(tmp_path / "m"), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["finished"], found["best"], found["log"]) == (False, None, [])


def test_info_of_what_is_neither(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["info", str(tmp_path)]) == 1
    assert "is no store" in capsys.readouterr().err
    (tmp_path / "config.json").write_text("{}")
    assert run(["info", str(tmp_path)]) == 1
    assert "config.json cannot be read" in capsys.readouterr().err


@pytest.mark.parametrize("name", ["config.json", "vocabulary.json", "log.jsonl", "README.md", "recipe.toml"])
@pytest.mark.parametrize("content", [b"\xff\xfe", b"3\n3\n", b"{}\n[]\n"])
def test_info_of_a_damaged_model(
    name: str, content: bytes, call: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Refused with the file's name; only a card may say anything."""
    assert run([*call, "-o", str(tmp_path / "m"), "-q", "--epochs", "1"]) == 0
    (tmp_path / "m" / name).write_bytes(content)
    capsys.readouterr()
    code = run(["info", str(tmp_path / "m")])
    said = capsys.readouterr().err
    assert (code == 0) == (name == "README.md" and content != b"\xff\xfe")
    assert code == 0 or said.startswith(f"ramify: {tmp_path / 'm' / name}")
