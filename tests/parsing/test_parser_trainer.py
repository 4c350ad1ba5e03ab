"""Training a parser: it learns, survives being saved and stopped, and refuses what cannot be."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from small_parsers import batch_of, broken_run, small_parser, small_trainer, some_projective

from ramify.errors import CallError, FormatError, ModelError, TrainingError
from ramify.model.folder import save_tensors
from ramify.parsing import load
from ramify.parsing.folder import read_config
from ramify.parsing.recipe import ParserRecipe, load_parser_recipe
from ramify.parsing.scorers import NEVER
from ramify.parsing.session import ParserPlan, read_treebanks
from ramify.parsing.vectors import Vectors
from ramify.training.recipe import Precision
from ramify.training.trainer import CHECKPOINT


def log_of(folder: Path) -> list[dict[str, Any]]:
    records = [json.loads(line) for line in (folder / "log.jsonl").read_text().splitlines()]
    return [{key: value for key, value in record.items() if not key.startswith("seconds")} for record in records]


@pytest.mark.parametrize("order", [1, 2])
def test_ten_sentences_are_learnt_by_heart(order: int, tmp_path: Path) -> None:
    trees = some_projective()
    sizes = {"hidden": 40, "labels": 30, "arcs": 30, "words": 20, "batch_words": 30}
    choices = {"epochs": 45, "lr": 0.01, "dropout": 0.0, "word_dropout": 0.0}
    trainer = small_trainer(tmp_path / "p", trees=trees, order=order, **sizes, **choices)
    assert trainer.run().best_las == 100
    assert trainer.validate() == (100, 100, 100)
    for tree, found in zip(trees, load(tmp_path / "p").parse(trees), strict=True):
        ours = found.candidates[0].tree
        assert (ours.heads, ours.deprels) == (tree.heads, tree.deprels)


def test_stopped_and_resumed_as_unbroken(tmp_path: Path) -> None:
    small_trainer(tmp_path / "whole").run()
    broken_run(tmp_path / "broken", 2)
    assert log_of(tmp_path / "broken") == log_of(tmp_path / "whole")
    weights = [(tmp_path / name / "model.safetensors").read_bytes() for name in ("whole", "broken")]
    assert weights[0] == weights[1]
    assert not (tmp_path / "broken" / CHECKPOINT).exists()


def test_resumed_with_another_recipe(tmp_path: Path) -> None:
    small_trainer(tmp_path / "p")
    with pytest.raises(ModelError, match="belongs to another recipe"):
        small_trainer(tmp_path / "p", resume=True, lr=0.1)
    trainer = small_trainer(tmp_path / "p", resume=True)
    trainer.data.lines.append("and more")
    with pytest.raises(ModelError, match="belongs to other data"):
        trainer.resume()


def test_a_loss_that_is_no_number(tmp_path: Path) -> None:
    with pytest.raises(TrainingError, match="try a lower --lr or --clip"):
        small_trainer(tmp_path / "p", lr=1e30, clip=0.0).run()


def test_the_card(tmp_path: Path) -> None:
    small_trainer(tmp_path / "p", epochs=1).run()
    card = (tmp_path / "p" / "README.md").read_text()
    assert "second-order (head, dependent, adjacent sibling) projective dependency parser" in card
    assert "- trained on some trees" in card
    assert "after epoch 1: tokens given" in card


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("config.json", "{}", "cannot be read"),
        ("config.json", '{"format": "ramify-model", "version": 1}', "no parser: config.json names the format"),
        ("config.json", '{"format": "ramify-parser", "version": 9}', "has version 9, and this Ramify reads 1"),
        ("config.json", None, "no parser: it has no config.json; make one with: ramify train-parser"),
        ("vocabulary.json", None, "not whole: vocabulary.json is missing"),
        ("model.safetensors", None, "not whole: model.safetensors is missing"),
        ("model.safetensors", "none", "is damaged"),
    ],
)
def test_a_damaged_folder(name: str, content: str | None, said: str, tmp_path: Path) -> None:
    small_trainer(tmp_path / "p", epochs=1).run()
    if content is None:
        (tmp_path / "p" / name).unlink()
    else:
        (tmp_path / "p" / name).write_text(content)
    with pytest.raises(ModelError, match=said):
        load(tmp_path / "p")


def test_parameters_that_do_not_fit(tmp_path: Path) -> None:
    trainer = small_trainer(tmp_path / "p", epochs=1)
    trainer.run()
    path = tmp_path / "p" / "model.safetensors"
    good = trainer.model.state_dict()
    weight = good["arcs.weight"]
    for value, said in (
        (weight[1:], "arcs.weight is"),
        (weight * torch.nan, "no finite numbers"),
        (None, r"missing \['arcs.weight'\]"),
    ):
        others = {key: each for key, each in good.items() if key != "arcs.weight"}
        save_tensors(path, others if value is None else others | {"arcs.weight": value})
        with pytest.raises(ModelError, match=said):
            load(tmp_path / "p")


def test_no_such_parser(tmp_path: Path) -> None:
    with pytest.raises(CallError, match="no such parser"):
        load(tmp_path / "nowhere")


@pytest.mark.parametrize(
    ("choices", "said"),
    [
        ({"order": 3}, "order is 3"),
        ({"hidden": 0}, "hidden is 0"),
        ({"dropout": 1.0}, "dropout rates"),
        ({"sibling_weight": 0.0}, "sibling_weight is 0"),
        ({"epochs": 0}, "epochs, batch_words and max_length"),
        ({"lr": 0.0}, "lr is above 0"),
        ({"seed": -1}, "a seed is 0 or more"),
        ({"precision": "half"}, "precision is 'half'"),
        ({"clip": float("nan")}, "clip is nan"),
    ],
)
def test_recipes_that_cannot_be(choices: dict[str, Any], said: str) -> None:
    with pytest.raises(CallError, match=said):
        ParserRecipe(**choices)


def test_a_recipe_from_a_file(tmp_path: Path) -> None:
    recipe = ParserRecipe(hidden=50, lr=0.1)
    (tmp_path / "r.toml").write_text(recipe.to_toml())
    assert load_parser_recipe(tmp_path / "r.toml") == recipe
    assert load_parser_recipe(tmp_path / "r.toml", hidden=9).hidden == 9
    (tmp_path / "r.toml").write_text("hiden = 3\n")
    with pytest.raises(CallError, match=r"r\.toml: unknown field hiden"):
        load_parser_recipe(tmp_path / "r.toml")
    with pytest.raises(CallError, match="no recipe"):
        load_parser_recipe(tmp_path / "nowhere.toml")


def test_held_out_sentences_are_no_part_of_the_training(tmp_path: Path) -> None:
    found = read_treebanks(ParserPlan(["ewt:dev"], hold_out=100), ParserRecipe(max_length=20))
    assert len(found.valid) == 100
    held_out = {tree.sent_id for tree in found.valid}
    assert not held_out & {tree.sent_id for tree in found.training}
    assert len(found.training) + found.too_long == 2001 - 100
    assert max(map(len, found.training)) == 20


def test_nothing_is_left_to_train_on(tmp_path: Path) -> None:
    path = tmp_path / "a.conllu"
    path.write_text("1\ta\t_\t_\t_\t_\t0\troot\t_\t_\n2\tb\t_\t_\t_\t_\t1\tx\t_\t_\n\n")
    with pytest.raises(CallError, match="no sentence to train on: raise --max-length"):
        read_treebanks(ParserPlan([str(path)], str(path)), ParserRecipe(max_length=1))


def test_vectors(tmp_path: Path) -> None:
    path = tmp_path / "v.txt"
    path.write_text("3 2\nthe 1 2\ncat 3 4\n. . 5 6\nthe 7 8\n")
    vectors = Vectors.read(path)
    assert vectors.words == ("the", "cat")
    assert vectors.values.tolist() == [[1, 2], [3, 4]]
    parser = small_parser()
    assert parser.model.encoder.vectors.shape == (0, 0)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("\n", "there are no vectors"),
        ("a 1 2\nb 1\n", "should be 2 numbers"),
        ("a 1 x\n", "not all numbers"),
        ("a 1 nan\n", "all of them finite"),
        ("a 1 1e9\n", "all of them finite"),
    ],
)
def test_vectors_that_are_none(text: str, said: str, tmp_path: Path) -> None:
    (tmp_path / "v.txt").write_text(text)
    with pytest.raises(FormatError, match=said):
        Vectors.read(tmp_path / "v.txt")


def test_where_the_config_lies(tmp_path: Path) -> None:
    trainer = small_trainer(tmp_path / "p")
    assert read_config(tmp_path / "p") == trainer.model.config


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs an NVIDIA GPU")
def test_on_a_gpu_as_on_the_cpu(tmp_path: Path) -> None:
    """The same readings, and a training that learns and is resumed."""
    parser = small_parser()
    trees = sorted(some_projective(), key=len, reverse=True)
    batch = batch_of(parser, trees)
    ours = parser.model.read(batch)
    loss = parser.model.loss(batch).item()
    parser.model.to("cuda")
    for one, other in zip(ours, parser.model.read(batch), strict=True):
        can_be = one.scores > NEVER / 10
        np.testing.assert_allclose(one.scores[can_be], other.scores[can_be], atol=1e-2)
    assert parser.model.loss(batch).item() == pytest.approx(loss, rel=1e-2)
    for precision in Precision:
        trainer = broken_run(tmp_path / precision, 3, device="cuda", precision=precision, epochs=12, lr=0.01)
        losses = [record["train_loss"] for record in log_of(tmp_path / precision)]
        assert losses[-1] < losses[0] / 2
        assert trainer.model.device.type == "cuda"
