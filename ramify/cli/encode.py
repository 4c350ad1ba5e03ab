"""ramify encode: treebanks to a corpus store."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated, Any

import typer

from ramify.cli.common import (
    CharacterEncoding,
    InputFormat,
    NonProjectiveOption,
    OnError,
    OnErrorOption,
    Quiet,
    Treebanks,
    note,
    progress_bar,
    report_skipped,
)
from ramify.formats.files import total_bytes
from ramify.trees import NonProjective


def encode(
    treebanks: Treebanks,
    output: Annotated[Path, typer.Option("--output", "-o", help="The folder of the new store.", show_default=False)],
    min_count: Annotated[
        int, typer.Option("--min-count", min=0, help="Words that occur no more often become UNK.")
    ] = 1,
    max_vocab: Annotated[
        int | None, typer.Option("--max-vocab", min=2, help="Keep this many words at most, UNK and ROOT included.")
    ] = None,
    vocabulary: Annotated[
        Path | None, typer.Option("--vocabulary", help="Use the vocabulary of this store, model or vocabulary.json.")
    ] = None,
    lowercase: Annotated[bool, typer.Option("--lowercase", help="Lower-case all words.")] = False,
    max_length: Annotated[
        int | None, typer.Option("--max-length", min=1, help="Leave longer sentences out (they still count words).")
    ] = None,
    hold_out: Annotated[int, typer.Option("--hold-out", min=0, help="Set this many sentences aside.")] = 0,
    seed: Annotated[int, typer.Option("--seed", min=0, help="The seed of that choice.")] = 1,
    processes: Annotated[
        int, typer.Option("--processes", min=1, help="Files read at once.", show_default="one for each core")
    ] = os.cpu_count() or 1,
    force: Annotated[bool, typer.Option("--force", help="Replace a store that is already there.")] = False,
    input_format: InputFormat = None,
    encoding: CharacterEncoding = "utf-8",
    nonprojective: NonProjectiveOption = NonProjective.KEEP,
    on_error: OnErrorOption = OnError.STOP,
    quiet: Quiet = False,
) -> None:
    """Encode treebanks as a store for training.

    A store is a folder of flat arrays that are mapped into memory, with a vocabulary and checksums.
    """
    from ramify.corpus import Encoding, encode_to_store
    from ramify.corpus.store import read_vocabulary

    how = Encoding(
        input_format,
        encoding,
        lowercase,
        max_length,
        nonprojective,
        on_error is OnError.SKIP,
        min_count=min_count,
        max_vocabulary=max_vocab,
        vocabulary=None if vocabulary is None else read_vocabulary(vocabulary),
        hold_out=hold_out,
        seed=seed,
    )
    with progress_bar("reading", total_bytes(treebanks), quiet) as progress:
        corpus = encode_to_store(treebanks, output, how, processes=processes, progress=progress, overwrite=force)
    report_skipped(corpus.about)
    note(_report(corpus.about, len(corpus), corpus.n_words, len(corpus.vocabulary)), quiet)
    note(f"written to {output}", quiet)


def _report(about: dict[str, Any], sentences: int, words: int, vocabulary: int) -> str:
    lines = [
        f"{sentences:,} sentences, {words:,} words, vocabulary {vocabulary:,} of {about['frequent']:,} frequent words"
    ]
    if about["options"]["given_vocabulary"]:
        lines = [f"{sentences:,} sentences, {words:,} words, the given vocabulary of {vocabulary:,}"]
    if held_out := about["options"]["hold_out"]:
        lines.append(f"{held_out:,} sentences held out (seed {about['options']['seed']})")
    if too_long := about["left_out"]["too_long"]:
        lines.append(f"{too_long:,} sentences left out: too long")
    if about["multi_root"]:
        lines.append(f"{about['multi_root']:,} sentences have several roots")
    return "\n".join(lines)
