"""The recipe that travels with a number: `ppl 104.2 | model:ldtree-400 | ... | ramify:0.1`."""

from __future__ import annotations

from ramify import __version__
from ramify.model.config import ModelConfig
from ramify.tasks.evaluate import Evaluation


def signature(found: Evaluation, config: ModelConfig, vocabulary: int) -> str:
    """An evaluation in one line. Words are all tokens, punctuation included; UNK counts as a word."""
    parts = {
        "model": f"{config.kind}-{config.hidden}",
        "kind": found.kind,
        "vocab": vocabulary,
        "unk": "counted",
        "punct": "kept",
        "sents": found.sentences,
        "words": found.words,
        "ramify": __version__,
    }
    return " | ".join([f"ppl {found.ppl:.2f}", *(f"{key}:{value}" for key, value in parts.items())])
