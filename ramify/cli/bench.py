"""ramify bench: how fast this machine trains, side by side with peers in one run."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Annotated

import typer

from ramify.cli.common import Device
from ramify.errors import CallError

app = typer.Typer(help="Speed tables, side by side with peers in one run.", no_args_is_help=True)


@app.callback()
def _bench() -> None:
    """Speed tables, side by side with peers in one run."""


@app.command()
def train(
    store: Annotated[
        Path | None, typer.Argument(help="A store to take batches from.", show_default="the bundled EWT")
    ] = None,
    device: Device = "auto",
    json_file: Annotated[Path | None, typer.Option("--json", help="On a GPU: also write the table here.")] = None,
    seconds: Annotated[float, typer.Option("--seconds", min=1.0, help="On a GPU: of each run of ramify train.")] = 30.0,
    threads: Annotated[int, typer.Option("--threads", min=1, help="On a GPU: threads that build batches.")] = 4,
) -> None:
    """Print the words/s of training steps, and of what they are measured beside.

    On the CPU: steps by NCE and by the softmax, and the tree recurrence beside torch.nn.LSTM. On a GPU: Ramify's
    kernels, the level-by-level loop, cuDNN's LSTM with the same output layer, the output layer alone, and ramify train
    itself.
    """
    import torch

    from ramify.benchmark import on_cpu, on_gpu
    from ramify.benchmark.about import about
    from ramify.training.session import device_for

    place = torch.device(device_for(device))
    asked = ["ramify", "bench", "train", *([str(store)] if store else []), "--device", str(place)]
    if place.type == "cuda":
        torch.cuda.set_device(place.index or 0)
        asked += ["--seconds", str(seconds), "--threads", str(threads)]
        lines = on_gpu.report(store, place, seconds, threads, json_file)
    elif json_file is not None:
        raise CallError("--json is for the table of a GPU")
    else:
        lines = on_cpu.report(store)
    print(f"command: {shlex.join(asked)}", *about("torch", "numpy", "numba"), sep="\n", flush=True)
    for line in lines:
        print(line, flush=True)
