"""Halving, by hand: the rule of the original as section 3 of the notes has it."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Any

import pytest

from ramify.training.halving import Halving

FALLING = [9.0, 8.0, 7.0, 6.0, 5.0, 4.0, 3.0, 2.0, 1.0]  # nine epochs without a stall

# validation entropies, epoch by epoch -> learning rate of the next epoch (None: the training ends)
TABLE: list[tuple[str, dict[str, Any], list[float], list[float | None]]] = [
    ("never stalls", {}, [6, 5, 4, 3], [1, 1, 1, 1]),
    ("first stall halves at once, then every epoch", {}, [6, 6, 5, 4, 3], [1, 0.5, 0.25, 0.125, 0.0625]),
    ("the second stall stops", {}, [6, 5, 5, 4.9, 4.9], [1, 1, 0.5, 0.25, None]),
    ("two stalls in a row", {}, [6, 6, 6], [1, 0.5, None]),
    ("worse stalls too", {}, [6, 7, 8], [1, 0.5, None]),
    ("a fall of 0.008 % is none", {}, [5, 4.9996], [1, 0.5]),
    ("a fall of 0.012 % is one", {}, [5, 4.9994], [1, 1]),
    ("compared with the epoch before, not the best", {}, [5, 6, 5.9, 5.8, 5.8], [1, 0.5, 0.25, 0.125, None]),
    ("a stricter rule", {"improvement": 1.1}, [5, 4.6, 4.5], [1, 0.5, None]),
    ("patience 2", {"patience": 2}, [5, 5, 4.9, 4.9, 4.8, 4.8], [1, 1, 1, 0.5, 0.25, None]),
    ("patience 2, stalls in a row", {"patience": 2}, [5, 5, 5, 5], [1, 1, 0.5, None]),
    ("patience 2 is 1 from epoch 10 on", {"patience": 2}, [*FALLING, 1.0, 0.9, 0.9], [*[1] * 9, 0.5, 0.25, None]),
    ("epoch 9 is not yet 10", {"patience": 2}, [*FALLING[:8], 2.0, 1.0, 1.0], [*[1] * 8, 1, 1, 0.5]),
    ("patience 5, one stall before and one after", {"patience": 5}, [9, *FALLING, 1.0], [*[1] * 10, 0.5]),
    ("the least learning rate", {"min_lr": 0.3}, [5, 5, 4], [1, 0.5, None]),
    ("at the least learning rate it goes on", {"min_lr": 0.25}, [5, 5, 4, 3], [1, 0.5, 0.25, None]),
]  # fmt: skip


@pytest.mark.parametrize(("choices", "entropies", "rates"), [row[1:] for row in TABLE], ids=[row[0] for row in TABLE])
@pytest.mark.parametrize("saved", [False, True])
def test_by_hand(choices: dict[str, Any], entropies: list[float], rates: list[float | None], saved: bool) -> None:
    halving = Halving(1.0, **choices)
    for entropy, rate in zip(entropies, rates, strict=True):
        assert not halving.done
        halving.after_epoch(entropy)
        if saved:  # in a checkpoint, after every epoch
            halving = Halving(**json.loads(json.dumps(asdict(halving))))
        assert halving.done == (rate is None)
        if rate is not None:
            assert halving.lr == rate


def test_a_stop_leaves_the_rate_alone() -> None:
    halving = Halving(1.0)
    for entropy in (5.0, 5.0, 5.0):
        halving.after_epoch(entropy)
    assert (halving.done, halving.lr) == (True, 0.5)
