"""ramify stats: what a treebank or store looks like."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from ramify.cli.common import (
    TREEBANK_HELP,
    CharacterEncoding,
    InputFormat,
    Json,
    NonProjectiveOption,
    OnError,
    OnErrorOption,
    Quiet,
    print_json,
    progress_bar,
    report_skipped,
)
from ramify.errors import CallError
from ramify.formats.files import total_bytes
from ramify.trees import NonProjective

if TYPE_CHECKING:
    from ramify.corpus.statistics import Statistics


def stats(
    treebanks: Annotated[list[str], typer.Argument(help=f"{TREEBANK_HELP} Or a store.", metavar="TREEBANK|STORE")],
    as_json: Json = False,
    histograms: Annotated[bool, typer.Option("--histograms", help="Also how often each value occurs.")] = False,
    input_format: InputFormat = None,
    encoding: CharacterEncoding = "utf-8",
    nonprojective: NonProjectiveOption = NonProjective.KEEP,
    on_error: OnErrorOption = OnError.STOP,
    quiet: Quiet = False,
) -> None:
    """Count what a treebank or store holds.

    Sentences, words, types, lengths, depths, arities, edge types, non-projective trees and several roots.
    """
    from ramify.corpus import Encoding, encode, is_store, open_store
    from ramify.corpus.statistics import statistics

    if any(map(is_store, treebanks)):
        if len(treebanks) > 1:
            raise CallError("one store at a time, or any number of treebank files")
        found = statistics(open_store(treebanks[0]))
        stored = True
    else:
        skip_errors = on_error is OnError.SKIP
        how = Encoding(input_format, encoding, nonprojective=nonprojective, skip_errors=skip_errors, min_count=0)
        with progress_bar("reading", total_bytes(treebanks), quiet) as progress:
            corpus = encode(treebanks, how, progress=progress)
        report_skipped(corpus.about)
        found = statistics(corpus)
        stored = False
    if as_json:
        print_json(found.to_json(histograms))
    else:
        print("\n".join(table(found, stored)))
        if histograms:
            print("\n".join(bars(found)))


def table(found: Statistics, stored: bool = False) -> list[str]:
    """Statistics as lines of text."""
    from ramify.corpus.statistics import HISTOGRAMS

    counts = [("sentences", found.sentences), ("words", found.words), ("types", found.types)]
    if stored:
        counts += [("vocabulary", found.vocabulary)]
    lines = [f"{name:<18}{count:>12,}" for name, count in counts]
    if stored:
        lines.append(_share("unknown words", found.unknown, found.words))
    lines.append(_share("non-projective", found.nonprojective, found.sentences))
    lines.append(_share("several roots", found.multi_root, found.sentences))
    lines += ["", *(_share(name, count, found.words) for name, count in found.edges.items())]
    lines += ["", f"{'':<18}{'mean':>9}{'median':>9}{'90%':>9}{'max':>9}"]
    for name in HISTOGRAMS:
        summary = found.summary(name)
        lines.append(f"{name:<18}{summary.mean:>9.2f}{summary.median:>9}{summary.p90:>9}{summary.max:>9}")
    return lines


def _share(name: str, count: int, whole: int) -> str:
    return f"{name:<18}{count:>12,}{count / whole:>9.1%}"


def bars(found: Statistics, width: int = 50, rows: int = 25) -> list[str]:
    """Each histogram as bars; long tails are summed in the last one."""
    lines: list[str] = []
    for name, histogram in found.histograms.items():
        counts = [int(count) for count in histogram]
        first = next((value for value, count in enumerate(counts) if count), 0)
        shown = counts[first : first + rows]
        labels = [str(first + i) for i in range(len(shown))]
        if rest := sum(counts[first + rows :]):
            shown.append(rest)
            labels.append(f"{first + rows}+")
        top = max(shown, default=0) or 1
        lines += ["", name]
        lines += [
            f"{label:>6} {'█' * round(count / top * width)} {count:,}"
            for label, count in zip(labels, shown, strict=True)
        ]
    return lines
