"""ramify eval-parse: attachment scores of a system's trees."""

from __future__ import annotations

from typing import Annotated

import typer

from ramify.cli.common import CharacterEncoding, InputFormat, Json, print_json
from ramify.cli.figures import table_of
from ramify.errors import CallError
from ramify.formats import group, read, read_sentences
from ramify.formats.files import STDIN, display_name


def eval_parse(
    gold: Annotated[
        str, typer.Argument(help="The gold standard, a treebank or ewt:dev.", metavar="GOLD", show_default=False)
    ],
    system: Annotated[
        str, typer.Argument(help="The system's trees, or k-best lists.", metavar="SYSTEM", show_default=False)
    ],
    seed: Annotated[int, typer.Option("--seed", min=0, help="Of the bootstrap.")] = 1,
    form: InputFormat = None,
    encoding: CharacterEncoding = "utf-8",
    as_json: Json = False,
) -> None:
    """Print UAS, LAS and CLAS of a system's trees.

    By the rule of the CoNLL 2018 shared task all words count, and CLAS is the F1 of content words. By the paper's rule
    words are left out whose gold tag (XPOS) is one of `` '' . , : and so are no others. Relations are compared without
    subtypes. The intervals are those of a bootstrap over sentences, 95%. Both sides need the same sentences with the
    same tokens in the same order.

    Of k-best lists, in CoNLL-U (sent_id s1/k_1, s1/k_2, ...) or as the pair of files FILE and FILE.mstscores, also the
    oracle: the best that could be chosen among the first 1, 2, 4, ... and all candidates.
    """
    from ramify.tasks.eval_parse import eval_parse as evaluate
    from ramify.tasks.signature import signed

    if gold == system == STDIN:
        raise CallError("standard input is one file: GOLD and SYSTEM are two")
    trees = read(gold, encoding=encoding)
    found = evaluate(trees, group(read_sentences(system, form, encoding=encoding)), seed=seed)
    recipe = {
        "gold": display_name(gold),
        "system": display_name(system),
        "rule": "conll18",
        "subtypes": "left out",
        "sents": found.sentences,
        "words": found.words,
        "bootstrap": f"95%, seed {seed}",
    }
    line = signed(f"las {found.first['las']}", recipe)
    if as_json:
        print_json(found.to_json() | {"signature": line})
        return
    rows = {"first" if found.oracles else "system": found.first}
    rows |= {f"oracle of {k}": figures for k, figures in found.oracles.items()}
    print("\n".join(table_of(rows)))
    print(f"paper: {found.kept:,} of {found.words:,} words, without punctuation by the gold tag")
    print(line)
