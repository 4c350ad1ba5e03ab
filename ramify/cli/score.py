"""ramify score: the log-probability and surprisal of every word."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ramify.cli.common import (
    CharacterEncoding,
    Device,
    InputFormat,
    KernelName,
    KernelOption,
    Model,
    OnError,
    OnErrorOption,
    Output,
    Quiet,
    Treebank,
    note,
    on_errors,
    progress_bar,
)
from ramify.errors import CallError
from ramify.formats import Format, Sentence, output_format, read_sentences
from ramify.formats.conllu import MISC
from ramify.formats.files import total_bytes, whole_file
from ramify.formats.tables import Table, row_writer, table_format

if TYPE_CHECKING:
    from ramify.tasks.score import SentenceScore

_REPLACED = ("", "_", "LogProb", "Surprisal")  # in MISC: what is empty, and the values of an earlier run


def score(
    treebank: Treebank,
    model: Model,
    output: Output = None,
    table: Annotated[
        str | None, typer.Option("--output-format", help="tsv, csv, jsonl or conllu, where no suffix tells.")
    ] = None,
    states: Annotated[
        Path | None, typer.Option("--states", help="Also write each word's hidden state to this .npz.")
    ] = None,
    device: Device = "auto",
    kernel: KernelOption = KernelName.AUTO,
    input_format: InputFormat = None,
    encoding: CharacterEncoding = "utf-8",
    on_error: OnErrorOption = OnError.STOP,
    quiet: Quiet = False,
) -> None:
    """Print the log-probability and surprisal of every word.

    What the number is: a tree model gives -log2 P(word | dependency path). The tree is given, so words to the right can
    be part of the context: this is not incremental surprisal. For surprisal from left to right train an LSTM
    (ramify train --model lstm), which needs no tree: -log2 P(word | words before). Every word has a value, the first
    one too. logprob is natural, surprisal in bits; a word that the model does not know has the value of UNK, the class
    of all such words, and is marked. logprob_end is that of the sentence's end, beside its last word (LSTMs alone).

    As CoNLL-U (-o scored.conllu) the values stand in MISC as LogProb= and Surprisal= and in comments, and the file is
    otherwise the same, byte for byte.
    """
    from ramify.kernels.choice import chosen_kernel
    from ramify.model.folder import load_model
    from ramify.tasks.fit import Fit
    from ramify.tasks.score import COLUMNS, LM, in_windows
    from ramify.tasks.states import write_states
    from ramify.training.session import device_for

    chosen = _format(table, output)
    place = device_for(device)
    lm = LM(*load_model(model, place))
    fit = Fit(lm.vocabulary)

    def scored(sentences: Iterator[Sentence]) -> Iterator[tuple[Sentence, SentenceScore]]:
        for window in in_windows(sentences):
            yield from zip(window, lm.scores(sentence.tree for sentence in window), strict=True)

    with (
        chosen_kernel(kernel, place),
        on_errors(on_error) as handle,
        progress_bar("scoring", total_bytes([treebank]), quiet) as progress,
        whole_file(output or "-") as out,
    ):
        sentences = read_sentences(treebank, input_format, encoding=encoding, on_error=handle, progress=progress)
        if states is not None:
            sentences = write_states(lm, sentences, states)
        write_row = None if chosen == Format.CONLLU else row_writer(out, Table(chosen), COLUMNS)
        for sentence, found in scored(sentences):
            fit.add(found)
            if write_row is None:
                out.write(annotated(sentence, found).text)
                continue
            for row in found.rows:
                write_row(row)
    for warning in fit.warnings():
        note(f"warning: {warning}")
    note(f"the numbers are {lm.kind}; {fit.words:,} words, {fit.unknown:,} of them unknown to the model", quiet)


def _format(table: str | None, output: Path | None) -> str:
    if table is not None:
        known = [*map(str, Table), str(Format.CONLLU)]
        if table not in known:
            raise CallError(f"no output format {table}; known are {', '.join(known)}")
        return table
    if output is None or str(output) == "-":
        return Table.TSV
    if found := table_format(output):
        return found
    try:
        if output_format(output) is Format.CONLLU:
            return Format.CONLLU
    except CallError:  # a suffix that nobody knows
        pass
    raise CallError(f"scores have no place in {output}: take .conllu, .tsv, .csv or .jsonl")


def annotated(sentence: Sentence, found: SentenceScore) -> Sentence:
    """The sentence with its scores in MISC and comments."""
    rows = sentence.rows
    values = []
    for row, logprob, surprisal in zip(rows, found.logprobs.tolist(), found.surprisals.tolist(), strict=True):
        kept = [pair for pair in row[MISC].split("|") if pair.partition("=")[0] not in _REPLACED]
        values.append("|".join([*kept, f"LogProb={logprob:.4f}", f"Surprisal={surprisal:.4f}"]))
    annotated = sentence.with_column(MISC, values).with_comment("lm_logprob", f"{found.logprob:.4f}")
    return annotated if found.end is None else annotated.with_comment("lm_logprob_end", f"{found.end:.4f}")
