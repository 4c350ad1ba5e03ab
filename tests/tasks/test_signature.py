"""The line that travels with a number."""

from __future__ import annotations

import pytest

from ramify import __version__
from ramify.model.config import Kind, ModelConfig
from ramify.tasks.evaluate import Evaluation
from ramify.tasks.signature import signature
from ramify.trees import NonProjective


def test_the_line() -> None:
    found = Evaluation("P(S|T)", 2077, 25094, 1000, -25094 * 4.6457, 0.0)
    assert signature(found, ModelConfig(), 9999) == (
        "ppl 104.14 | model:ldtree-400 | kind:P(S|T) | vocab:9999 | unk:counted | punct:kept | sents:2077 | words:25094"
        f" | ramify:{__version__}"
    )


@pytest.mark.parametrize("rule", NonProjective)
def test_non_projective_trees(rule: NonProjective) -> None:
    line = signature(Evaluation("P(S|T)", 1, 1, 0, -1.0, 0.0), ModelConfig(), 5, str(rule))
    assert ("| punct:kept | sents:1 |" in line) == (rule is NonProjective.KEEP)
    assert (f"| nonprojective:{rule} |" in line) == (rule is not NonProjective.KEEP)


def test_each_kind_is_named() -> None:
    for kind in Kind:
        line = signature(Evaluation(kind.number, 1, 1, 0, -1.0, 0.0), ModelConfig(kind, hidden=7), 5)
        assert line.startswith(f"ppl 2.72 | model:{kind}-7 | kind:{kind.number} | vocab:5 | ")
