"""What a model reads of a batch: packed and moved it is the same, and with room for more its loss is the same."""

from typing import Any

import numpy as np
import pytest
import torch
from model_twins import KINDS, mixed_corpus, small_model

from ramify.kernels.inputs import Inputs
from ramify.kernels.rows import Room, Rows
from ramify.kernels.tiles import HEIGHTS
from ramify.model.config import Kind
from ramify.model.output import NoiseContrastive


def _room(sizes: Any, more: int) -> Room:
    return Room(int(sum(sizes)) + more, tuple(int(size) + more for size in sizes))


def _roomy(model: Any, batch: Any, more: int) -> Inputs:
    found: Inputs = model.inputs(batch, [_room(sizes, more) for sizes in model.sizes(batch)])
    return found


@pytest.mark.parametrize("kind", KINDS)
def test_packed_numbers_are_the_same(kind: Kind) -> None:
    _, corpus = mixed_corpus()
    model = small_model(corpus.vocabulary, kind)
    inputs = model.inputs(model.build(corpus, corpus.everything)).tiled()
    packed = inputs.packed()
    again = inputs.unpacked(packed)
    assert len(again.tensors) == len(inputs.tensors)
    assert all(torch.equal(one, other) for one, other in zip(again.tensors, inputs.tensors, strict=True))
    assert all(tensor.storage_offset() % 4 == 0 for tensor in again.tensors)
    there = inputs.to(torch.device("meta"))
    assert {tensor.device.type for tensor in there.tensors} == {"meta"}
    assert [tensor.shape for tensor in there.tensors] == [tensor.shape for tensor in inputs.tensors]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("more", [0, 1, 7])
def test_sizes_are_those_of_the_rows(kind: Kind, more: int) -> None:
    _, corpus = mixed_corpus()
    model = small_model(corpus.vocabulary, kind)
    batch = model.build(corpus, corpus.everything)
    exact, roomy = model.inputs(batch), _roomy(model, batch, more)
    for sizes, rows, more_rows in zip(model.sizes(batch), exact.rows, roomy.rows, strict=True):
        assert [part.stop - part.start for part in rows.of_sets] == list(sizes)
        assert [part.stop - part.start for part in more_rows.of_sets] == [size + more for size in sizes]
        assert len(more_rows) == len(rows) + more
        for part, roomier in zip(rows.of_sets, more_rows.of_sets, strict=True):
            n = part.stop - part.start
            assert torch.equal(more_rows.order[roomier][:n], rows.order[part])
            assert not more_rows.order[roomier][n:].any()
        for height in HEIGHTS:
            _assert_same_tiles(rows.tiled(height), more_rows.tiled(height))


def _assert_same_tiles(rows: Rows, roomy: Rows) -> None:
    assert rows.tiles is not None
    assert roomy.tiles is not None
    count = len(rows.tiles.tiles)
    assert rows.tiles.levels.tolist() == roomy.tiles.levels[: len(rows.tiles.levels)].tolist()
    ours, theirs = roomy.tiles.tiles[:count], rows.tiles.tiles
    assert torch.equal(ours[:, [0, 1, 3]], theirs[:, [0, 1, 3]])
    for (_, n, here, _), (_, _, there, _) in zip(ours.tolist(), theirs.tolist(), strict=True):
        assert roomy.order[here : here + n].tolist() == rows.order[there : there + n].tolist()


@pytest.mark.parametrize("size", [1, 1000])
def test_room_of_one_size_gives_tensors_of_one_shape(size: int) -> None:
    """Whatever batch fits: a recorded step knows no other shapes."""
    _, corpus = mixed_corpus()
    model = small_model(corpus.vocabulary, "ldtree")
    shapes = set()
    for sentences in (corpus.everything, corpus.everything[:2], corpus.everything[:0]):
        rooms = [Room(4 * size + 200, (size + 90,) * 4), Room(size + 90, (size + 90,))]
        inputs = model.inputs(model.build(corpus, np.ascontiguousarray(sentences)), rooms).tiled()
        shapes.add(tuple(tensor.shape for tensor in inputs.tensors))
    assert len(shapes) == 1


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("shared", [True, False])
def test_room_that_is_left_over_costs_nothing_in_nce(kind: Kind, shared: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    _, corpus = mixed_corpus()
    model = small_model(corpus.vocabulary, kind)
    model.noise = NoiseContrastive(torch.from_numpy(corpus.vocabulary.counts.copy()), 2, shared).double()
    monkeypatch.setattr(model.noise, "draw", lambda shape: torch.ones(shape, dtype=torch.int64))
    batch = model.build(corpus, corpus.everything)
    h, inputs = model.before_output(batch), model.inputs(batch)
    more = torch.cat([h, torch.ones_like(h[:3])]), torch.cat([inputs.targets, torch.full((3,), -1).int()])
    exact = model.noise.loss(h, inputs.targets, model.output.weight)
    roomy = model.noise.loss(*more, model.output.weight)
    torch.testing.assert_close(exact, roomy)
