"""ramify evaluate: the perplexity of a treebank under a model."""

from __future__ import annotations

from typing import Annotated

import typer

from ramify.cli.common import (
    CharacterEncoding,
    Device,
    InputFormat,
    Json,
    KernelName,
    KernelOption,
    Model,
    NonProjectiveOption,
    OnError,
    OnErrorOption,
    Quiet,
    print_json,
    progress_bar,
    report_skipped,
)
from ramify.errors import CallError
from ramify.trees import NonProjective


def evaluate(
    treebank: Annotated[
        str, typer.Argument(help="A treebank, or a store.", metavar="TREEBANK|STORE", show_default=False)
    ],
    model: Model,
    held_out: Annotated[bool, typer.Option("--held-out", help="Of a store, its held-out sentences alone.")] = False,
    as_json: Json = False,
    device: Device = "auto",
    kernel: KernelOption = KernelName.AUTO,
    input_format: InputFormat = None,
    encoding: CharacterEncoding = "utf-8",
    nonprojective: NonProjectiveOption = NonProjective.KEEP,
    on_error: OnErrorOption = OnError.STOP,
    quiet: Quiet = False,
) -> None:
    """Print the perplexity of a treebank under a model.

    A tree model gives P(S|T): each word from its dependency path, the tree being given. An LSTM gives P(S), each word
    from those before it. A BiLSTM gives a pseudo-likelihood. The three cannot be compared.
    """
    from ramify.corpus import Encoding, encode, is_store, open_store
    from ramify.kernels.choice import chosen_kernel
    from ramify.model.folder import load_model
    from ramify.tasks.evaluate import evaluate as run
    from ramify.tasks.signature import signature
    from ramify.training.session import device_for

    place = device_for(device)
    lm, vocabulary = load_model(model, place)
    if is_store(treebank):
        corpus = open_store(treebank)
        if corpus.vocabulary.words != vocabulary.words:
            raise CallError(
                f"{treebank} has another vocabulary than {model}: give the treebank files, or encode them again"
            )
    else:
        skip = on_error is OnError.SKIP
        how = Encoding(input_format, encoding, nonprojective=nonprojective, skip_errors=skip, vocabulary=vocabulary)
        corpus = encode([treebank], how)
        report_skipped(corpus.about)
    if held_out and not len(corpus.held_out):
        raise CallError(f"{treebank} has no held-out sentences")
    total_words = None if held_out else corpus.n_words
    with chosen_kernel(kernel, place), progress_bar("scoring", total_words, quiet, unit="words") as progress:
        found = run(lm, corpus, corpus.held_out if held_out else None, progress)
    taken = corpus.about.get("options", {}).get("nonprojective", NonProjective.KEEP)  # of a store, when it was encoded
    line = signature(found, lm.config, len(vocabulary), taken)
    if as_json:
        print_json(found.to_json() | {"signature": line})
        return
    print(line)
    rate = found.unknown / found.words
    print(f"without UNK: ppl {found.ppl_known:.2f} over {found.words - found.unknown:,} words; UNK rate {rate:.2%}")
    total = found.logprob + (found.logprob_ends or 0.0)
    print(f"mean log-probability of a sentence: {total / found.sentences:.2f} (natural)")
    if found.logprob_ends is not None:
        print(f"of its end: {found.logprob_ends / found.sentences:.2f}, not in the perplexity")
