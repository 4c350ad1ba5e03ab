"""ModelConfig: what it refuses, how it is written, and the sizes that it leads to."""

import json
from dataclasses import fields
from typing import Any

import pytest
import torch

from ramify.errors import CallError
from ramify.model.config import Kind, ModelConfig
from ramify.model.output import NoiseContrastive
from ramify.model.sequence import SequenceLSTM
from ramify.model.treelstm import TreeLSTM

PAPER_VOCABULARY = 65_346


@pytest.mark.parametrize(
    ("kind", "hidden", "expected"),
    [
        ("tree", 300, 31_575_301),
        ("tree", 400, 43_060_401),
        ("ldtree", 300, 32_477_701),
        ("ldtree", 400, 44_663_601),
        ("lstm", 300, 29_948_101),
        ("lstm", 400, 40_170_801),
        ("lstm", 450, 45_327_151),
        ("bilstm", 200, 33_156_201),
        ("bilstm", 300, 50_094_301),
        ("bilstm", 400, 67_272_401),
    ],
)
def test_table_1_of_the_paper(kind: str, hidden: int, expected: int) -> None:
    """S = D / 2, no output bias with NCE, and Z is learned."""
    config = ModelConfig(kind=Kind(kind), hidden=hidden, embedding=hidden // 2, output_bias=False)
    with torch.device("meta"):  # sizes without numbers
        counts = torch.ones(PAPER_VOCABULARY)
        model = (TreeLSTM if config.kind.reads_trees else SequenceLSTM)(config, counts)
        model.noise = NoiseContrastive(counts)
    assert model.n_parameters == expected


def test_parameters_by_hand() -> None:
    """V = 10, S = 2, D = 3, LD of 2 with two layers, two layers above, a bias and a projection of 4."""
    config = ModelConfig(Kind.LDTREE, 3, 2, 2, 2, 2, True, projection=4, label_aware=True)
    model = TreeLSTM(config, torch.ones(10), labels=5)
    first, second = 4 * (12 * 2 + 12 * 3 + 2 * 12), 4 * (12 * 3 + 12 * 3 + 2 * 12)
    ld = 2 * (8 * 2 + 8 * 2 + 2 * 8) + 12 * 2
    assert model.n_parameters == 10 * 2 + first + second + ld + 3 * 4 + 10 * 4 + 10 + 5 * 2


def test_tied_embeddings_count_once() -> None:
    config = ModelConfig(Kind.TREE, hidden=3, embedding=3, output_bias=False)
    tied = ModelConfig(Kind.TREE, hidden=3, embedding=3, output_bias=False, tied=True)
    assert TreeLSTM(config, torch.ones(10)).n_parameters - TreeLSTM(tied, torch.ones(10)).n_parameters == 30


@pytest.mark.parametrize(
    "options",
    [
        {"hidden": 0},
        {"hidden": 4.5},
        {"embedding": "4"},
        {"embedding": 0},
        {"hidden": 1 << 31},
        {"hidden": True},
        {"layers": 0},
        {"ld_layers": 0},
        {"ld_hidden": -1},
        {"projection": -3},
        {"dropout_input": -0.1},
        {"dropout_between": 1.0},
        {"dropout_output": 1.5},
        {"tied": True},  # 200 is not 400
        {"tied": True, "projection": 100},
        {"tied": True, "kind": "bilstm", "hidden": 200},  # two directions: 400
        {"kind": "lstm", "label_aware": True},
        {"kind": "bilstm", "label_aware": True},
        {"forget_bias": float("nan")},
        {"forget_bias": "1"},
        {"dropout_input": float("nan")},
        {"output_bias": "no"},
        {"tied": 1, "projection": 200},
    ],
)
def test_refused(options: dict[str, Any]) -> None:
    with pytest.raises(CallError):
        ModelConfig(**options)


@pytest.mark.parametrize(
    "options",
    [
        {"tied": True, "projection": 200},
        {"tied": True, "embedding": 400},
        {"tied": True, "kind": "bilstm", "hidden": 100},
        {"label_aware": True},
        {"dropout_input": 0.0, "dropout_between": 0.5, "dropout_output": 0.999},
        {"ld_hidden": 1, "ld_layers": 3},
    ],
)
def test_allowed(options: dict[str, Any]) -> None:
    ModelConfig(**options)


def test_nothing_and_none_are_the_same_size() -> None:
    """A command line cannot say None: 0 takes back the projection, or LD size, of a recipe."""
    zero, none = (ModelConfig(hidden=3, embedding=2, projection=size, ld_hidden=size) for size in (0, None))
    assert zero.before_output == none.before_output == 3
    assert TreeLSTM(zero, torch.ones(10)).n_parameters == TreeLSTM(none, torch.ones(10)).n_parameters


def test_a_refusal_says_what_would_help() -> None:
    with pytest.raises(CallError, match=r"S = 200 .* 400: add a projection of 200"):
        ModelConfig(tied=True)


def test_unknown_kinds_are_refused() -> None:
    with pytest.raises(ValueError, match="transformer"):
        ModelConfig(kind="transformer")  # type: ignore[arg-type]


def test_unknown_keys_are_refused_by_name() -> None:
    with pytest.raises(CallError, match="unknown model options: heads, width"):
        ModelConfig.from_json({"kind": "tree", "width": 3, "heads": 8})


@pytest.mark.parametrize("kind", Kind)
def test_comes_back_from_json(kind: Kind) -> None:
    config = ModelConfig(kind, 20, 10, 2, dropout_output=0.25, forget_bias=1.0, projection=10, tied=True)
    parts = json.loads(json.dumps(config.to_json()))
    assert ModelConfig.from_json(parts) == config
    assert set(parts) == {field.name for field in fields(ModelConfig)}
    assert parts["kind"] == str(kind)


def test_what_is_left_out_is_the_default() -> None:
    assert ModelConfig.from_json({}) == ModelConfig()


def test_three_kinds_of_number() -> None:
    assert {str(kind): kind.number for kind in Kind} == {
        "tree": "P(S|T)",
        "ldtree": "P(S|T)",
        "lstm": "P(S)",
        "bilstm": "pseudo-likelihood",
    }
    assert [kind.reads_trees for kind in (Kind.TREE, Kind.LDTREE, Kind.LSTM, Kind.BILSTM)] == [True, True, False, False]


def test_widths() -> None:
    assert ModelConfig(hidden=7).before_output == ModelConfig(hidden=7).state == 7
    both = ModelConfig(Kind.BILSTM, hidden=7, projection=5)
    assert (both.state, both.before_output) == (14, 5)
