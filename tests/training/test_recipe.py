"""Recipes: from TOML and back, from the command line, and what is refused."""

from __future__ import annotations

import json
from dataclasses import fields, replace
from pathlib import Path

import pytest
import torch
from small_runs import OPTIONS, write_treebank

from ramify.cli import run
from ramify.errors import CallError
from ramify.model.config import Kind, ModelConfig
from ramify.training.recipe import Decay, Objective, Optimiser, Precision, Recipe, load_recipe, recipes

UNLIKE = Recipe(
    model=Kind.BILSTM,
    hidden=7,
    embedding=5,
    layers=2,
    objective=Objective.NCE,
    noise=3,
    shared_noise=True,
    log_z=1.5,
    batch_size=9,
    epochs=4,
    optimiser=Optimiser.ADAGRAD,
    lr=1e-05,
    weight_decay=0.5,
    clip=0.0,
    decay=Decay.CONSTANT,
    patience=3,
    improvement=1.5,
    min_lr=0.25,
    init=0.75,
    seed=0,
    window=1,
    dropout_input=0.1,
    dropout_between=0.2,
    dropout_output=0.3,
    ld_hidden=6,
    ld_layers=2,
    projection=5,
    tied=True,
    forget_bias=-1.0,
    vectors_frozen=True,
    precision=Precision.TF32,
    min_count=0,
    max_vocab=100,
    lowercase=True,
    max_length=50,
)


def test_the_bundled_recipes() -> None:
    assert recipes() == ["modern", "paper-msr", "paper-ptb"]
    assert all(isinstance(load_recipe(name), Recipe) for name in recipes())


@pytest.mark.parametrize("name", ["paper-msr", "paper-ptb"])
def test_what_both_recipes_of_the_paper_hold(name: str) -> None:
    """Section 3 of the notes. SGD at 1.0 of the sum over words / 64, clip 5, U(-0.1, 0.1), halving, no extras."""
    recipe = load_recipe(name)
    assert (recipe.model, recipe.optimiser, recipe.decay) == ("ldtree", "sgd", "halving")
    assert (recipe.lr, recipe.batch_size, recipe.clip, recipe.init) == (1.0, 64, 5.0, 0.1)
    assert (recipe.epochs, recipe.patience, recipe.improvement, recipe.min_lr) == (50, 1, 1.0001, 1e-7)
    assert (recipe.weight_decay, recipe.dropout_input, recipe.dropout_between, recipe.forget_bias) == (0, 0, 0, 0)
    assert (recipe.tied, recipe.projection, recipe.label_aware, recipe.shared_noise) == (False, None, False, False)
    assert (recipe.embedding * 2, recipe.ld_hidden, recipe.precision) == (recipe.hidden, None, "float32")


def test_the_recipe_for_msr() -> None:
    recipe = load_recipe("paper-msr")
    assert (recipe.hidden, recipe.embedding, recipe.layers, recipe.dropout_output) == (400, 200, 1, 0.0)
    assert (recipe.objective, recipe.noise, recipe.log_z) == ("nce", 20, 9.0)
    assert (recipe.min_count, recipe.lowercase, recipe.max_length) == (5, True, 100)
    assert not recipe.config.output_bias


def test_the_recipe_for_ptb() -> None:
    recipe = load_recipe("paper-ptb")
    assert (recipe.hidden, recipe.embedding, recipe.layers, recipe.dropout_output) == (200, 100, 2, 0.2)
    assert (recipe.objective, recipe.min_count, recipe.lowercase, recipe.max_length) == ("nll", 1, False, 150)
    assert recipe.config.output_bias


@pytest.mark.parametrize(
    "recipe", [Recipe(), UNLIKE, *map(load_recipe, recipes())], ids=["default", "unlike", *recipes()]
)
def test_to_toml_and_back(recipe: Recipe, tmp_path: Path) -> None:
    path = tmp_path / "own.toml"
    path.write_text(recipe.to_toml(), encoding="utf-8")
    assert load_recipe(path) == load_recipe(str(path)) == recipe
    assert Recipe(**json.loads(json.dumps(recipe.to_json()))) == recipe
    assert [type(getattr(load_recipe(path), each.name)) for each in fields(Recipe)] == [
        type(getattr(recipe, each.name)) for each in fields(Recipe)
    ]


def test_every_choice_was_unlike_the_default() -> None:
    alike = [each.name for each in fields(Recipe) if getattr(UNLIKE, each.name) == getattr(Recipe(), each.name)]
    assert alike == ["label_aware"]  # which a model that reads no trees refuses


def test_every_line_of_the_toml_explains_itself() -> None:
    for line, each in zip(UNLIKE.to_toml().splitlines(), fields(Recipe), strict=True):
        assert line.startswith(f"{each.name} = ")
        assert line.endswith(f"# {each.metadata['help']}")


def test_changes_come_last() -> None:
    recipe = load_recipe("paper-ptb", hidden=30, model="tree")
    assert (recipe.hidden, recipe.model, recipe.layers) == (30, Kind.TREE, 2)
    assert load_recipe(None, lr=0.5) == load_recipe(lr=0.5) == Recipe(lr=0.5)
    with pytest.raises(CallError, match="unknown field colour; known are model, hidden, "):
        load_recipe("modern", colour=3)


def test_a_number_without_a_point_is_a_number(tmp_path: Path) -> None:
    path = tmp_path / "own.toml"
    path.write_text("lr = 1\nclip = 0", encoding="utf-8")
    assert load_recipe(path) == Recipe(lr=1.0, clip=0.0)


@pytest.mark.parametrize(
    ("toml", "said"),
    [
        ("hiden = 3", "unknown field hiden; known are model, hidden, "),
        ("hidden = 3.5", "hidden = 3.5 should be of type int"),
        ("hidden = '3'", "hidden = '3' should be of type int"),
        ("hidden = true", "hidden = True should be of type int"),
        ("lr = 'high'", "lr = 'high' should be of type float"),
        ("lr = true", "lr = True should be of type float"),
        ("tied = 1", "tied = 1 should be of type bool"),
        ("projection = 'x'", "projection = 'x' should be of type int"),
        ("max_vocab = 1e4", "max_vocab = 10000.0 should be of type int"),
        ("ld_hidden = false", "ld_hidden = False should be of type int"),
        ("model = 3", "model = 3 should be of type str"),
        ("decay = ['linear']", "decay = ['linear'] should be of type str"),
        ("model = 'tre'", "model is 'tre'; known are tree, ldtree, lstm, bilstm"),
        ("objective = 'mse'", "objective is 'mse'; known are nll, nce"),
        ("optimiser = 'adam'", "optimiser is 'adam'; known are sgd, adagrad, adamw"),
        ("decay = 'cosine'", "decay is 'cosine'; known are halving, linear, constant"),
        ("precision = 'fp8'", "precision is 'fp8'; known are float32, tf32, bf16"),
        ("batch_size = 0", "batch_size, epochs, noise, window and patience are at least 1"),
        ("lr = 0.0", "lr is above 0"),
        ("lr = nan", "lr is nan; it should be a number, of at most 1e"),
        ("lr = inf", "lr is inf; it should be a number"),
        ("init = 1e300", "init is 1e+300; it should be a number, of at most 1e+30"),
        ("weight_decay = nan", "weight_decay is nan"),
        ("improvement = nan", "improvement is nan"),
        ("min_lr = nan", "min_lr is nan"),
        ("forget_bias = inf", "forget_bias is inf"),
        ("dropout_between = nan", "dropout_between is nan"),
        ("improvement = 0.0", "improvement is a factor above 0"),
        ("log_z = 100.0", "log_z lies between -80 and 80"),
        ("clip = -1.0", "clip, weight_decay, init, min_lr and min_count are 0 or more"),
        ("min_lr = -1.0", "min_lr and min_count are 0 or more"),
        ("seed = -1", "a seed is 0 or more"),
        ("seed = 9223372036854775808", "63 bits at most, not 9223372036854775808"),
        ("window = 2147483648", "window is 2147483648; it should be below 2^31"),
        ("hidden = 0", "sizes and numbers of layers are"),
        ("dropout_input = 1.0", "dropout rates lie between 0 and 1"),
        ("tied = true", "tied embeddings need S = 200 to be the size before the output, 400"),
        ("label_aware = true\nmodel = 'lstm'", "label-aware edges need a tree model"),
        ("hidden 3", "is no TOML"),
        ("[train]\nhidden = 3", "unknown field train"),
    ],
)
def test_what_is_refused_is_named_with_its_file(toml: str, said: str, tmp_path: Path) -> None:
    path = tmp_path / "own.toml"
    path.write_text(toml, encoding="utf-8")
    with pytest.raises(CallError) as error:
        load_recipe(path)
    assert str(error.value).startswith(str(path))
    assert said in str(error.value)


def test_a_file_that_is_no_text(tmp_path: Path) -> None:
    path = tmp_path / "own.toml"
    path.write_bytes(b"\xff\xfe")
    with pytest.raises(CallError, match=r"own.toml is no TOML"):
        load_recipe(path)


def test_a_recipe_that_is_not_there() -> None:
    with pytest.raises(CallError, match="no recipe modren; known are modern, paper-msr, paper-ptb, or a TOML file"):
        load_recipe("modren")


def test_the_part_of_the_model() -> None:
    """All of a model's options can be chosen by a recipe; kind and bias follow from others."""
    names = {each.name for each in fields(ModelConfig)} - {"kind", "output_bias"}
    assert names <= {each.name for each in fields(Recipe)}
    config = replace(UNLIKE, objective=Objective.NLL).config
    assert (config.kind, config.output_bias) == (Kind.BILSTM, True)
    assert all(getattr(config, name) == getattr(UNLIKE, name) for name in names)


# --- on the command line ---------------------------------------------------------------------------------------------


def test_the_help_lists_every_field(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["train", "--help"]) == 0
    shown = capsys.readouterr().out.split()
    for each in fields(Recipe):
        assert "--" + each.name.replace("_", "-") in shown
        if isinstance(each.default, bool):
            assert "--no-" + each.name.replace("_", "-") in shown


def test_what_is_set_arrives_in_the_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[str] = []
    monkeypatch.setattr(torch, "set_float32_matmul_precision", told.append)
    treebank = write_treebank(tmp_path / "some.conllu", 12)
    own = tmp_path / "own.toml"
    own.write_text("model = 'tree'\nhidden = 99\nepochs = 9\nlr = 0.5\nlowercase = true\n", encoding="utf-8")
    call = ["train", str(treebank), "-o", str(tmp_path / "m"), "--recipe", str(own), "-q", *OPTIONS]
    call += [
        "--ld-hidden",
        "5",
        "--tied",
        "--no-lowercase",
        "--decay",
        "constant",
        "--max-length",
        "15",
        "--init",
        "0.2",
    ]
    call += ["--dropout-output", "0.5", "--model", "ldtree", "--precision", "tf32", "--epochs", "1"]
    assert run(call) == 0
    expected = Recipe(**{
        **dict.fromkeys(["hidden", "embedding", "projection", "batch_size"], 8),
        "model": Kind.LDTREE, "epochs": 1, "lr": 0.5, "ld_hidden": 5, "tied": True, "decay": Decay.CONSTANT,
        "max_length": 15, "init": 0.2, "dropout_output": 0.5, "precision": Precision.TF32,
    })  # fmt: skip
    assert load_recipe(tmp_path / "m" / "recipe.toml") == expected
    assert told == ["high"]
