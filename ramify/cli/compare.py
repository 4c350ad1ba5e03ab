"""ramify compare: two models on the same questions or the same sentences."""

from __future__ import annotations

from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ramify.cli.common import Json, print_json
from ramify.errors import CallError
from ramify.formats.answers import read_answers
from ramify.formats.predictions import read_predictions
from ramify.formats.tables import read_table

if TYPE_CHECKING:
    from ramify.tasks.compare import PairedChoices, PairedScores

_Table = Annotated[Path, typer.Argument(help="A table of ramify complete or ramify score.", show_default=False)]


def compare(
    a: _Table,
    b: _Table,
    answers: Annotated[
        str | None, typer.Option("--answers", help="For predictions: a table with the columns id and answer.")
    ] = None,
    known_words: Annotated[
        bool, typer.Option("--known-words", help="Of scores: leave out the words that either model does not know.")
    ] = False,
    seed: Annotated[int, typer.Option("--seed", min=0, help="Of bootstrap and permutations.")] = 1,
    as_json: Json = False,
) -> None:
    """Compare two models, paired.

    Predictions of ramify complete: how often both are right, one alone, or none, with McNemar's exact test, and the
    difference of accuracies with a bootstrap interval.

    Tables of ramify score: the difference of log-probabilities for a word with a bootstrap interval over sentences, and
    a permutation test of the sentences' sums. Different kinds of number, such as P(S|T) and P(S), cannot be compared,
    nor can models that know different words, unless --known-words leaves those out.
    """
    from ramify.tasks.compare import compare_choices, compare_scores
    from ramify.tasks.signature import signed

    if "-" in (str(a), str(b)):
        raise CallError("compare looks into its tables twice: they are files, not standard input")
    predictions = _are_predictions(a)
    if predictions != _are_predictions(b):
        raise CallError(f"of {a} and {b} one is a table of predictions, and the other is not")
    if predictions != (answers is not None):
        raise CallError("predictions are compared by their answers, --answers FILE, and scores without any")
    names = {"a": a.name, "b": b.name}
    if answers is not None:
        ours, theirs = read_predictions(a), read_predictions(b)
        known = read_answers(answers, {each.id: each.letters for each in ours})
        choices = compare_choices(ours, theirs, known, seed)
        about, lines, p = choices.to_json(), of_choices(choices), choices.table.p
        recipe: dict[str, object] = names | {"kinds": f"{ours[0].kind} and {theirs[0].kind}", "answered": len(known)}
        recipe |= {"test": "McNemar, exact"}
    else:
        scores = compare_scores(a, b, known_words=known_words, seed=seed)
        about, lines, p = scores.to_json(), of_scores(scores), scores.p
        recipe = names | {"kind": scores.kind, "sents": scores.sentences, "words": scores.words, "test": "permutation"}
        if known_words:
            recipe["unk"] = "left out"
    line = signed(f"p {p:.4g}", recipe | {"bootstrap": "95%", "seed": seed})
    if as_json:
        print_json(about | {"signature": line})
    else:
        print("\n".join([*lines, line]))


def _are_predictions(path: Path) -> bool:
    (row,) = islice(read_table(path), 1)
    return "choice" in row.values


def of_choices(found: PairedChoices) -> list[str]:
    """The table of right and wrong, accuracies and their difference."""
    table = found.table
    return [
        f"{'':<12}{'b right':>10}{'b wrong':>10}",
        f"{'a right':<12}{table.both:>10,}{table.only_a:>10,}",
        f"{'a wrong':<12}{table.only_b:>10,}{table.neither:>10,}",
        f"a: {found.a}",
        f"b: {found.b}",
        f"difference: {found.difference:+.2%} [{found.low:+.2%}, {found.high:+.2%}]",
    ]


def of_scores(found: PairedScores) -> list[str]:
    """Log-probabilities of a word, and their difference."""
    left_out = f", {found.left_out:,} more left out as unknown" if found.left_out else ""
    return [
        f"{found.words:,} words in {found.sentences:,} sentences{left_out}",
        f"a: {found.logprob_a / found.words:.4f} a word",
        f"b: {found.logprob_b / found.words:.4f} a word",
        f"difference: {found.difference:+.4f} [{found.low:+.4f}, {found.high:+.4f}]",
    ]
