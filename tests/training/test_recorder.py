"""The sizes for which steps are recorded: every batch fits one, and there are few.

On a GPU, recorded steps are the plain ones.
"""

from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest
import torch
from corpus_twins import corpus_of, random_tree
from hypothesis import given
from hypothesis import strategies as st
from model_twins import KINDS, small_model

from ramify.corpus import Schedule
from ramify.kernels.choice import chosen_kernel
from ramify.model.config import Kind
from ramify.model.folder import make_model
from ramify.training.recipe import load_recipe
from ramify.training.recorder import TRIES, Rooms
from ramify.training.trainer import Trainer

RANDOM = np.random.default_rng(5)
CORPUS = corpus_of([random_tree(RANDOM, int(n)) for n in RANDOM.integers(1, 40, 400)])


@pytest.mark.parametrize("kind", KINDS)
def test_batches_fit_and_share_sizes(kind: Kind) -> None:
    model = small_model(CORPUS.vocabulary, kind)
    rooms, seen = Rooms(model, CORPUS), []
    plans = [Schedule(40).epoch(CORPUS, CORPUS.everything, epoch) for epoch in range(4)]
    for sentences in (plan[position] for plan in plans for position in range(len(plan))):
        batch = model.build(CORPUS, sentences)
        sizes = model.sizes(batch)
        found = rooms.fit(sizes, len(batch))
        assert found is not None
        seen.append(found)
        for room, each in zip(found, sizes, strict=True):
            assert all(each <= room.sets)
            assert sum(each) <= room.rows
        smaller = model.build(CORPUS, sentences[:1])
        one, other = (model.inputs(each, found).tiled().tensors for each in (batch, smaller))
        assert [tensor.shape for tensor in one] == [tensor.shape for tensor in other]
    assert len(set(seen)) < len(seen) / 2


@given(st.lists(st.integers(0, 5000), min_size=4, max_size=4), st.integers(0, 5000))
def test_what_fits_is_not_much_too_large(sets: list[int], chain_words: int) -> None:
    rooms = Rooms(small_model(CORPUS.vocabulary, "ldtree"), CORPUS)
    sizes = [np.array(sets), np.array([chain_words])]
    found = rooms.fit(sizes, 40)
    if found is not None:
        assert all(sizes[0] <= found[0].sets)
        assert chain_words <= found[1].rows
        n = sum(sets)
        assert n <= found[0].rows <= n + (TRIES + 1) * max(32, n / 16)


@pytest.mark.gpu
@pytest.mark.skipif(
    not torch.cuda.is_available() or find_spec("triton") is None, reason="needs an NVIDIA GPU, and triton"
)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("optimiser", ["sgd", "adamw"])
def test_recorded_steps_are_those_of_the_eager_kernel(kind: Kind, optimiser: str, tmp_path: Path) -> None:
    plans = [Schedule(40).epoch(CORPUS, CORPUS.everything, epoch) for epoch in range(5)]
    values = []
    for kernel in ("auto", "auto", "eager"):
        torch.manual_seed(1)
        sizes = {"hidden": 24, "embedding": 16, "batch_size": 40, "dropout_output": 0.0, "lr": 0.01}
        recipe = load_recipe("paper-ptb", model=kind, optimiser=optimiser, **sizes)
        model = make_model(recipe.config, CORPUS.vocabulary).cuda()
        trainer = Trainer(model, recipe, [CORPUS], (CORPUS, CORPUS.held_out), tmp_path)
        with chosen_kernel(kernel, "cuda"):
            found = [
                trainer.step(model.build(CORPUS, plan[position])) for plan in plans for position in range(len(plan))
            ]
        values.append(torch.stack(found).cpu())
        assert trainer.recorder is not None
        assert any(trainer.recorder.recordings.values()) == (kernel == "auto")
    recorded, again, eager = values
    assert torch.equal(recorded, again)
    torch.testing.assert_close(recorded, eager, rtol=1e-3, atol=1e-3)
