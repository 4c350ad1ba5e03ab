"""What the verbs share: options of one name and meaning everywhere, the progress bar, the list of skipped sentences."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from ramify.errors import CallError, FormatError
from ramify.formats import Format, stop
from ramify.formats.files import place_of
from ramify.formats.tables import Table, table_format
from ramify.trees import NonProjective

TREEBANK_HELP = "A treebank file, `-` for standard input, or ewt:train, ewt:dev, ewt:test."


class KernelName(StrEnum):
    """The names of kernels.choice, which imports torch."""

    AUTO = "auto"
    TRITON = "triton"
    EAGER = "eager"
    REFERENCE = "reference"


class OnError(StrEnum):
    STOP = "stop"
    SKIP = "skip"


Treebank = Annotated[str, typer.Argument(help=TREEBANK_HELP, metavar="TREEBANK", show_default=False)]
Treebanks = Annotated[list[str], typer.Argument(help=TREEBANK_HELP, metavar="TREEBANK", show_default=False)]
InputFormat = Annotated[
    Format | None, typer.Option("--input-format", help="The format, where the file's suffix does not tell.")
]
CharacterEncoding = Annotated[str, typer.Option("--encoding", help="The character encoding of the input.")]
OnErrorOption = Annotated[
    OnError, typer.Option("--on-error", help="At a malformed sentence: stop, or skip it and count it.")
]
NonProjectiveOption = Annotated[
    NonProjective,
    typer.Option(
        "--nonprojective", help="Non-projective trees: keep them, lift them to projective ones, or skip them."
    ),
]
Output = Annotated[
    Path | None, typer.Option("--output", "-o", help="Where the result goes.", show_default="standard output")
]
Model = Annotated[Path, typer.Option("--model", "-m", help="The folder of a model.", show_default=False)]
Device = Annotated[str, typer.Option("--device", help="auto, cpu, cuda or cuda:1.")]
KernelOption = Annotated[
    KernelName, typer.Option("--kernel", help="What computes: the fastest that fits, or the one that is named.")
]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="No progress bar and no notes.")]
Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]


def table_for(output: Path | None, named: Table | None) -> Table:
    """The table to write: the one that is named, or that of the suffix; TSV on standard output."""
    if output is None or str(output) == "-":
        return named or Table.TSV
    place_of(output)  # what is wrong with it is said before the work begins
    found = named or table_format(output)
    if found is None:
        raise CallError(f"no table has the suffix of {output}: take .tsv, .csv or .jsonl")
    return found


def note(message: str, quiet: bool = False) -> None:
    """Say something on standard error."""
    if not quiet:
        print(message, file=sys.stderr)


class Skipped(list[FormatError]):
    """The malformed sentences that were skipped: the first ones are named as they come, all are counted at the end."""

    NAMED = 20

    def __call__(self, error: FormatError) -> None:
        self.append(error)
        if len(self) <= self.NAMED:
            note(f"skipped {error}")

    def report(self) -> None:
        if self:
            more = f", {len(self) - self.NAMED:,} of them not named above" if len(self) > self.NAMED else ""
            note(f"{len(self):,} malformed sentence{'s' * (len(self) != 1)} skipped{more}")


def report_skipped(about: dict[str, Any]) -> None:
    """Name and count what was skipped or changed while a corpus was encoded."""
    named = about["errors"][: Skipped.NAMED]
    for error in named:
        note(f"skipped {error}")
    if count := about["left_out"]["malformed"]:
        more = f", {count - len(named):,} of them not named above" if count > len(named) else ""
        note(f"{count:,} malformed sentence{'s' * (count != 1)} skipped{more}")
    if count := about["left_out"]["nonprojective"]:
        note(f"{count:,} sentences left out: not projective")
    if count := about["lifted"]:
        note(f"{count:,} trees lifted to projective ones")


def print_json(about: Any) -> None:
    """Print JSON that every reader takes: what is no finite number is null."""
    print(json.dumps(_finite(about), indent=2, ensure_ascii=False, allow_nan=False))


def _finite(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _finite(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(each) for each in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


@contextmanager
def on_errors(choice: OnError) -> Iterator[Callable[[FormatError], None]]:
    """What to do with malformed sentences; what was skipped is counted at the end, however that comes."""
    if choice is OnError.STOP:
        yield stop
        return
    skipped = Skipped()
    try:
        yield skipped
    finally:
        skipped.report()


@contextmanager
def progress_bar(
    what: str, total: int | None, quiet: bool = False, unit: str = "bytes"
) -> Iterator[Callable[[int], None]]:
    """A bar with rate and time left on standard error; nothing when quiet or where that is no terminal."""
    if quiet or not sys.stderr.isatty():
        yield lambda _: None
        return
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        DownloadColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
        TransferSpeedColumn,
    )

    amounts = (DownloadColumn(), TransferSpeedColumn()) if unit == "bytes" else (MofNCompleteColumn(),)
    columns = (TextColumn("{task.description}"), BarColumn(), *amounts, TimeElapsedColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(what, total=total)
        yield lambda amount: bar.advance(task, amount)
