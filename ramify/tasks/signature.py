"""The recipe that travels with a number: `ppl 104.2 | model:ldtree-400 | ... | ramify:0.1`."""

from __future__ import annotations

from collections.abc import Mapping

from ramify import __version__
from ramify.model.config import ModelConfig
from ramify.tasks.evaluate import Evaluation
from ramify.trees import NonProjective


def signature(found: Evaluation, config: ModelConfig, vocabulary: int, nonprojective: str = NonProjective.KEEP) -> str:
    """An evaluation in one line. Words are all tokens, punctuation included; UNK counts as a word.

    That non-projective trees were lifted or skipped is said: then it is another text, or other trees.
    """
    parts = {
        "model": f"{config.kind}-{config.hidden}",
        "kind": found.kind,
        "vocab": vocabulary,
        "unk": "counted",
        "punct": "kept",
        **({} if nonprojective == NonProjective.KEEP else {"nonprojective": nonprojective}),
        "sents": found.sentences,
        "words": found.words,
    }
    return signed(f"ppl {found.ppl:.2f}", parts)


def signed(number: str, parts: Mapping[str, object]) -> str:
    """A number with its recipe."""
    return " | ".join([number, *(f"{key}:{value}" for key, value in (*parts.items(), ("ramify", __version__)))])
