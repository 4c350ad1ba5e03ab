"""ramify complete: which candidate belongs in the blank of a sentence?"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ramify.cli.common import (
    CharacterEncoding,
    Device,
    InputFormat,
    KernelName,
    KernelOption,
    Output,
    Quiet,
    note,
    progress_bar,
    table_for,
)
from ramify.errors import CallError
from ramify.formats import Format, read
from ramify.formats.answers import own_answers, read_answers
from ramify.formats.files import place_of, whole_file
from ramify.formats.parses import Parses, parses_of
from ramify.formats.predictions import Measure, read_predictions, write_predictions
from ramify.formats.questions import Question, read_questions
from ramify.formats.tables import Table, row_writer

if TYPE_CHECKING:
    from ramify.tasks.complete import Outcome, Sentences
    from ramify.tasks.score import LM


def complete(
    questions: Annotated[
        str,
        typer.Argument(
            help="CSV (id,question,a),b),...), JSON lines, or a line <s> ... </s> for each candidate.",
            metavar="QUESTIONS",
            show_default=False,
        ),
    ],
    model: Annotated[
        list[Path],
        typer.Option(
            "--model",
            "-m",
            help="A model, or a table that this command wrote; several make a mixture.",
            show_default=False,
        ),
    ],
    parses: Annotated[
        str | None,
        typer.Option(
            "--parses", help="A treebank: sent_id q17c is candidate c of question 17, q17 the question itself."
        ),
    ] = None,
    output: Output = None,
    table: Annotated[
        Table | None, typer.Option("--output-format", help="tsv, csv or jsonl, where no suffix tells.")
    ] = None,
    answers: Annotated[
        str | None, typer.Option("--answers", help="A table with the columns id and answer; some may be missing.")
    ] = None,
    share_parse: Annotated[
        bool, typer.Option("--share-parse", help="Put every candidate into each parse that its question has.")
    ] = False,
    measure: Annotated[
        Measure,
        typer.Option(
            "--score", help="The sum over the sentence, its mean, or the sum over what the candidate touches."
        ),
    ] = Measure.SUM,
    unk_correction: Annotated[
        bool,
        typer.Option(
            "--unk-correction", help="Divide the probability of an unknown candidate by the types in its class."
        ),
    ] = False,
    unk_types: Annotated[
        int | None,
        typer.Option("--unk-types", min=1, help="So many; or else they are estimated from the vocabulary."),
    ] = None,
    weights: Annotated[
        str | None, typer.Option("--weights", help="Of a mixture, such as 0.7,0.3; equal ones when left out.")
    ] = None,
    tune: Annotated[
        bool, typer.Option("--tune", help="Tune the weights on the answers; accuracy is then that of cross-validation.")
    ] = False,
    folds: Annotated[int, typer.Option("--folds", min=2, help="Of the cross-validation.")] = 5,
    seed: Annotated[int, typer.Option("--seed", min=0, help="Of folds and bootstrap.")] = 1,
    top: Annotated[
        int | None, typer.Option("--top", min=1, help="In place of a choice, so many of the likeliest words.")
    ] = None,
    shortlist: Annotated[
        int, typer.Option("--shortlist", min=1, help="For --top: words that are tried in the whole sentence.")
    ] = 200,
    numbers: Annotated[
        Path | None, typer.Option("--json", help="Also write accuracy and signature to this file.")
    ] = None,
    device: Device = "auto",
    kernel: KernelOption = KernelName.AUTO,
    input_format: InputFormat = None,
    encoding: CharacterEncoding = "utf-8",
    quiet: Quiet = False,
) -> None:
    """Choose the candidate that fills the blank of a sentence best.

    Each candidate's score is the log-probability of the whole sentence with the candidate in it, as in the paper: given
    its parse for a tree model, with the sentence's end for an LSTM. A tree model needs --parses; of several parses of a
    candidate counts log mean P(S|T). An LSTM takes its tokens from the parses, or else from the text split at blanks.

    The table has a row for each question: choice, margin over the second, kind of the scores, all scores. Of equal
    candidates the first is chosen.

    --top N lists the likeliest words for the blank instead, whatever the candidates. The --shortlist words that are
    likeliest by the place alone are each put there and the whole sentence is scored; the log-probabilities are
    normalised over them. A tree model needs a parse with the question's own sent_id and one word in the blank,
    whichever it is.
    """
    written = table_for(output, table)
    if numbers is not None:
        place_of(numbers)
    given = _weights(weights, len(model), tune)
    asked = read_questions(questions, encoding=encoding)
    trees = _read_parses(parses, asked, share_parse, input_format, encoding, quiet)
    if top is not None:
        _check_top(top, shortlist, model)
        _check_model(model[0], trees is not None, quiet)
        with _opened(model[0], device, kernel) as lm:
            _list_words(lm, asked, trees, top, shortlist, output, written, quiet)
        return

    from ramify.tasks.complete import Outcome, choices, fill_in, from_predictions, right, score_candidates
    from ramify.tasks.mixture import check_folds, mix
    from ramify.tasks.mixture import tune as tuned_on

    sentences = fill_in(asked, trees, shared=share_parse)  # what is wrong is said before models are opened
    total = sum(len(each) for question in sentences for each in question)
    if trees is not None and share_parse:
        _count_left_out(sentences, trees, quiet)
    known = _read_answers(answers, asked, tune or numbers is not None, encoding)
    if tune:
        check_folds(folds, len(known))
    for path in model:
        if not path.is_file():
            _check_model(path, trees is not None, quiet)
    found = {path: from_predictions(read_predictions(path), asked) for path in model if path.is_file()}
    for path in model:
        if path not in found:
            with _opened(path, device, kernel) as lm:
                types = _types_of_unk(lm, unk_correction, unk_types, quiet)
                with progress_bar(f"scoring with {path.name}", total, quiet, unit="sentences") as progress:
                    found[path] = score_candidates(
                        lm, asked, trees, measure=measure, shared=share_parse, unk_types=types, progress=progress
                    )
            unknown = f"{found[path].unknown:,} candidates are unknown to it"
            note(f"{path}: {found[path].kind}, {total:,} sentences; {unknown}", quiet)
    each = [found[path] for path in model]
    tuned = tuned_on(each, known, folds=folds, seed=seed) if tune else None
    chosen = tuned.weights if tuned else given
    mixed = mix(each, chosen)
    with whole_file(output or "-") as out:
        write_predictions(mixed.predictions, out, written)
    if known:
        outcome = Outcome.of(tuned.right if tuned else right(choices(mixed), known), seed)
        recipe: dict[str, object] = {"model": "+".join(path.name for path in model), "kind": mixed.kind}
        if len(model) > 1:
            recipe["weights"] = ",".join(f"{weight:.3f}" for weight in chosen)
        if tuned:
            recipe["tuned"] = f"{folds} folds, seed {seed}"
        counts = {"questions": len(asked), "answered": len(known)}
        _report(outcome, recipe | counts | {"bootstrap": f"95%, seed {seed}"}, chosen, numbers)


def _report(outcome: Outcome, recipe: dict[str, object], weights: Sequence[float], numbers: Path | None) -> None:
    """Say the accuracy, with what it is of; also in a file where that is asked."""
    from ramify.tasks.signature import signed

    line = signed(str(outcome), recipe)
    note(line)
    if numbers is not None:
        with whole_file(numbers) as out:
            about = recipe | outcome.to_json() | {"weights": list(weights), "signature": line}
            out.write(json.dumps(about, indent=2, ensure_ascii=False) + "\n")


# --- what is given ---------------------------------------------------------------------------------------------------


def _weights(text: str | None, models: int, tune: bool) -> tuple[float, ...]:
    if models == 1 and (tune or text is not None):
        raise CallError("weights are for several models: name each with -m")
    if text is None:
        return (1 / models,) * models
    if tune:
        raise CallError("--weights names the weights and --tune looks for them: take one of the two")
    try:
        found = tuple(map(float, text.split(",")))
    except ValueError:
        raise CallError(f"--weights {text}: these are no numbers with commas between them") from None
    if len(found) != models:
        raise CallError(f"--weights {text}: {len(found)} weights for {models} models")
    if not all(weight >= 0 for weight in found) or abs(sum(found) - 1) > 1e-6:
        raise CallError(f"--weights {text}: weights are 0 or more and sum to 1")
    return found


def _read_parses(
    source: str | None, questions: Sequence[Question], shared: bool, form: Format | None, encoding: str, quiet: bool
) -> list[Parses] | None:
    if source is None:
        if shared:
            raise CallError("--share-parse needs --parses")
        return None
    strangers: list[str] = []
    trees = read(source, form, encoding=encoding)
    found = parses_of(questions, trees, shared=shared, on_stranger=lambda tree: strangers.append(tree.sent_id))
    if strangers:
        note(f"parses that belong to none of the questions: {len(strangers):,}, such as {strangers[0]!r}", quiet)
    return found


def _read_answers(source: str | None, questions: Sequence[Question], needed: bool, encoding: str) -> dict[str, str]:
    if source is not None:
        return read_answers(source, {each.id: each.letters for each in questions}, encoding=encoding)
    found = own_answers(questions)
    if needed and not found:
        raise CallError("--tune and --json need answers: give them with --answers")
    return found


def _check_top(top: int, shortlist: int, model: Sequence[Path]) -> None:
    if len(model) > 1 or model[0].is_file():
        raise CallError("--top asks one model, not several and no table")
    if top > shortlist:
        raise CallError(f"--top {top} of a --shortlist of {shortlist}: the list must be as long at least")


def _check_model(folder: Path, parsed: bool, quiet: bool) -> None:
    """A tree model needs parses; what others read without them is said."""
    from ramify.model.folder import read_config

    reads_trees = read_config(folder).kind.reads_trees
    if reads_trees and not parsed:
        raise CallError(
            f"{folder} is a tree model, and needs --parses: a treebank with a parse of every candidate "
            "(sent_id q17c for candidate c of question 17), made by any parser"
        )
    if not parsed:
        note(f"{folder}: the tokens are the text split at blanks; --parses gives those of a treebank", quiet)


def _count_left_out(sentences: Sentences, parses: Sequence[Parses], quiet: bool) -> None:
    """Parses that a question has and cannot share."""
    given = sum(len(each.of_question) or sum(map(len, each.of_candidates)) for each in parses)
    if left_out := given - sum(len(question[0]) for question in sentences):
        note(f"parses left out, as their blank has not as many words as the candidates: {left_out:,}", quiet)


# --- what a model says -----------------------------------------------------------------------------------------------


@contextmanager
def _opened(folder: Path, device: str, kernel: str) -> Iterator[LM]:
    """A model where it is to compute."""
    from ramify.kernels.choice import chosen_kernel
    from ramify.tasks.score import load
    from ramify.training.session import device_for

    place = device_for(device)
    with chosen_kernel(kernel, place):
        yield load(folder, place)


def _types_of_unk(lm: LM, corrected: bool, types: int | None, quiet: bool) -> float | None:
    """How many words UNK stands for, where its probability is to be shared among them."""
    from ramify.tasks.complete import types_of_unk

    if types is None and corrected:
        estimate = types_of_unk(lm.vocabulary)
        note(f"UNK stands for {estimate:,.0f} words, as far as the vocabulary tells", quiet)
        return estimate
    return types


def _list_words(
    lm: LM,
    questions: Sequence[Question],
    parses: Sequence[Parses] | None,
    top: int,
    shortlist: int,
    output: Path | None,
    table: Table,
    quiet: bool,
) -> None:
    """The likeliest words for each blank, a row for each."""
    from ramify.tasks.blank import place_of_blank
    from ramify.tasks.fill import fillings

    trees = [None] * len(questions) if parses is None else parses
    places = [place_of_blank(question, each) for question, each in zip(questions, trees, strict=True)]
    with (
        progress_bar("filling", len(questions), quiet, unit="questions") as progress,
        whole_file(output or "-") as out,
    ):
        write = row_writer(out, table, ("id", "rank", "word", "logprob", "kind"))
        for question, words in zip(questions, fillings(lm, places, top, shortlist), strict=True):
            for rank, (word, logprob) in enumerate(words, 1):
                write((question.id, rank, word, logprob, f"{lm.kind} of {shortlist}"))
            progress(1)
