"""ramify rerank: a parser's k-best lists in the order that a tree model gives them."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
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
)
from ramify.cli.figures import gain_of, table_of
from ramify.errors import CallError
from ramify.formats import Format, group, output_format, read, read_sentences, write
from ramify.formats.files import STDIN, display_name, place_of, total_bytes, whole_file

if TYPE_CHECKING:
    from ramify.tasks.rerank_report import Report
    from ramify.tasks.rerank_rule import Rule
    from ramify.tasks.score import LM


def rerank(
    kbest: Annotated[
        str,
        typer.Argument(
            help="K-best lists: CoNLL-U with sent_id s1/k_1, s1/k_2, ..., or FILE beside FILE.mstscores.",
            metavar="KBEST",
            show_default=False,
        ),
    ],
    model: Annotated[
        list[Path],
        typer.Option("--model", "-m", help="A tree model; of several the mean score counts.", show_default=False),
    ],
    output: Output = None,
    k: Annotated[
        int | None,
        typer.Option("--candidates", "-k", min=1, help="Choose among so many.", show_default="4; with --tune, tuned"),
    ] = None,
    mix: Annotated[
        float | None,
        typer.Option(
            "--mix",
            min=0,
            max=1,
            help="The share of the tree score beside the parser's.",
            show_default="1; with --tune, tuned",
        ),
    ] = None,
    gold: Annotated[
        str | None, typer.Option("--gold", help="The gold trees of the same sentences: report attachment scores.")
    ] = None,
    tune: Annotated[
        bool, typer.Option("--tune", help="Find -k and --mix, or the one that is not given, on the gold trees.")
    ] = False,
    whole: Annotated[bool, typer.Option("--all", help="Write the whole lists in their new order.")] = False,
    numbers: Annotated[
        Path | None, typer.Option("--json", help="Also write the figures and the signature to this file.")
    ] = None,
    seed: Annotated[int, typer.Option("--seed", min=0, help="Of the bootstrap.")] = 1,
    device: Device = "auto",
    kernel: KernelOption = KernelName.AUTO,
    input_format: InputFormat = None,
    encoding: CharacterEncoding = "utf-8",
    quiet: Quiet = False,
) -> None:
    """Choose the best of a parser's candidate trees with a tree model.

    Among the first K candidates of a sentence the highest score wins, and of equals the first. The score is that of the
    tree, log P(S|T), as in the paper, or with --mix A the mixture (1 - A) log P_base + A log P_tree, where P_base is
    the softmax of the parser's scores over the sentence's list.

    --gold reports UAS, LAS and CLAS (see ramify eval-parse --help) of the parser's first trees, of the chosen ones, and
    of the best, worst and random choice among the first K, with the gain over the parser and a paired bootstrap test.
    --tune finds K and A by UAS on these trees: give them to a call on other trees with -k and --mix.

    The chosen trees keep their text; comments say the candidate's rank and all scores.
    """
    from ramify.tasks.beside_gold import counts_beside_gold
    from ramify.tasks.rerank import by_rule, score_lists, tuned_rule
    from ramify.tasks.rerank_report import report
    from ramify.tasks.rerank_rule import K, Rule

    if gold is None and (tune or numbers is not None):
        raise CallError("--tune and --json need gold trees: give them with --gold")
    if tune and k is not None and mix is not None:
        raise CallError("-k and --mix are both given: there is nothing left to --tune")
    if gold == kbest == STDIN:
        raise CallError("standard input is one file: the lists and --gold are two")
    rule = Rule(K if k is None else k, 1.0 if mix is None else mix)
    form = output_format(output or STDIN)
    if whole and form is not Format.CONLLU:
        raise CallError(f"--all writes lists as CoNLL-U: {output} has no place for their names and scores")
    for target in (output, numbers):
        if target is not None and str(target) != STDIN:
            place_of(target)
    _check_models(model)
    with progress_bar("reading", total_bytes([kbest]), quiet) as progress:
        lists = list(group(read_sentences(kbest, input_format, encoding=encoding, progress=progress)))
    counts = None if gold is None else counts_beside_gold(list(read(gold, encoding=encoding)), lists)
    total = sum(len(each.candidates) for each in lists)
    with progress_bar("scoring", total * len(model), quiet, unit="candidates") as progress:
        scored = score_lists(lists, _opened(model, device, kernel), progress)
    note(
        f"{len(lists):,} sentences, {total:,} candidates, {max(len(each.candidates) for each in lists)} at most of one",
        quiet,
    )
    if tune and counts is not None:
        rule = tuned_rule(scored, counts, k=k, mix=mix)
        note(f"tuned: -k {rule.k} --mix {rule.mix:g}")
    found = by_rule(scored, rule)
    if form is not Format.CONLLU:
        note(f"{output}: the trees alone, as this format has no comments for the scores", quiet)
    write((sentence for each in found for sentence in (each.sentences if whole else [each.best])), output or STDIN)
    if gold is not None and counts is not None:
        recipe = {
            "model": "+".join(path.name for path in model),
            "kbest": display_name(kbest),
            "gold": display_name(gold),
            "k": rule.k,
            "mix": f"{rule.mix:g}",
            **({"tuned": "on these trees"} if tune else {}),
            "rule": "conll18",
            "subtypes": "left out",
            "sents": len(lists),
            "bootstrap": f"95%, seed {seed}",
        }
        _report(report(found, counts, rule.k, seed=seed), rule, recipe, numbers)


def _check_models(folders: Sequence[Path]) -> None:
    """All of them read trees: said before the first one works."""
    from ramify.model.folder import read_config

    for folder in folders:
        if not read_config(folder).kind.reads_trees:
            raise CallError(f"{folder} reads no trees: to it all candidates of a sentence are the same")


def _opened(folders: Sequence[Path], device: str, kernel: str) -> Iterator[LM]:
    """Models where they are to compute, one at a time."""
    from ramify.kernels.choice import chosen_kernel
    from ramify.tasks.score import load
    from ramify.training.session import device_for

    place = device_for(device)
    with chosen_kernel(kernel, place):
        for folder in folders:
            yield load(folder, place)


def _report(found: Report, rule: Rule, recipe: dict[str, object], numbers: Path | None) -> None:
    """Say the figures; also in a file where that is asked."""
    from ramify.tasks.signature import signed

    of_k = {name: f"{name} of {rule.k}" for name in ("oracle", "worst", "random")}
    line = signed(f"las {found.systems['reranked']['las']}", recipe)
    note("\n".join(table_of({of_k.get(name, name): figures for name, figures in found.systems.items()})))
    note("\n".join(["gain over base, paired bootstrap:", *gain_of(found.gain)]))
    note(f"{found.changed:,} trees changed\n{line}")
    if numbers is not None:
        with whole_file(numbers) as out:
            about = recipe | {"mix": rule.mix} | found.to_json() | {"signature": line}
            out.write(json.dumps(about, indent=2, ensure_ascii=False) + "\n")
