"""Sessions: what is trained and validated on, and which folders are taken."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from small_runs import SMALL, small_corpus, small_lm, some_trees, write_treebank

from ramify.corpus import Corpus, Encoding, Vocabulary, encode_to_store, open_store
from ramify.errors import CallError, FormatError, ModelError, RamifyError, StoreError
from ramify.model.folder import CONFIG, VOCABULARY, WEIGHTS, load_model, read_config
from ramify.training.card import read_data
from ramify.training.recipe import Recipe, load_recipe
from ramify.training.session import Plan, adopt, device_for, prepare, start
from ramify.training.trainer import CHECKPOINT, Interrupted, Trainer, Watcher

RECIPE = Recipe(**(SMALL | {"epochs": 1}))


@pytest.fixture
def treebank(tmp_path: Path) -> str:
    return str(write_treebank(tmp_path / "some.conllu"))


@pytest.fixture
def other(tmp_path: Path) -> str:
    return str(write_treebank(tmp_path / "other.conllu", 10, start=40))


def store(path: Path, treebank: str, **options: Any) -> str:
    encode_to_store([treebank], path, Encoding(**options))
    return str(path)


def begin(plan: Plan, folder: Path, recipe: Recipe = RECIPE, **options: Any) -> Trainer:
    return start(plan, recipe, *prepare(plan, recipe), folder, **options)


def shapes(corpora: list[Corpus]) -> list[tuple[int, int]]:
    return [(len(corpus), len(corpus.held_out)) for corpus in corpora]


# --- what is validated on --------------------------------------------------------------------------------------------


def test_a_share_of_a_lone_treebank(treebank: str) -> None:
    corpora, (corpus, sentences) = prepare(Plan([treebank]), RECIPE)
    assert shapes(corpora) == [(40, 2)]
    assert corpus is corpora[0]
    assert sentences is corpus.held_out


def test_a_treebank_apart(treebank: str, other: str) -> None:
    corpora, (corpus, sentences) = prepare(Plan([treebank], valid=other), RECIPE)
    assert shapes(corpora) == [(40, 0)]
    assert (len(corpus), len(sentences)) == (10, 10)
    assert corpus.vocabulary == corpora[0].vocabulary
    assert [tree.heads for tree in corpus.trees()] == [tree.heads for tree in some_trees(50)[40:]]


def test_a_number_of_sentences(treebank: str) -> None:
    corpora, (corpus, sentences) = prepare(Plan([treebank], hold_out=7), RECIPE)
    assert shapes(corpora) == [(40, 7)]
    assert corpus is corpora[0]
    assert len(sentences) == 7
    other_seed = prepare(Plan([treebank], hold_out=7), replace(RECIPE, seed=2))[1][1]
    assert sentences.tolist() != other_seed.tolist()


def test_several_treebanks_are_one_corpus(treebank: str, other: str) -> None:
    corpora, _ = prepare(Plan([treebank, other], hold_out=5), RECIPE)
    assert shapes(corpora) == [(50, 5)]


def test_what_a_store_holds_out(treebank: str, tmp_path: Path) -> None:
    path = store(tmp_path / "store", treebank, hold_out=6)
    corpora, (corpus, sentences) = prepare(Plan([path]), RECIPE)
    assert shapes(corpora) == [(40, 6)]
    assert sentences.tolist() == corpus.held_out.tolist()
    assert prepare(Plan([path], hold_out=3), RECIPE)[1][1].tolist() != sentences[:3].tolist()
    assert shapes(prepare(Plan([path], hold_out=3), RECIPE)[0]) == [(40, 3)]


def test_a_store_apart(treebank: str, other: str, tmp_path: Path) -> None:
    path = store(tmp_path / "store", treebank)
    valid = store(tmp_path / "valid", other, vocabulary=open_store(path).vocabulary)
    corpora, (corpus, sentences) = prepare(Plan([path], valid=valid), RECIPE)
    assert shapes(corpora) == [(40, 0)]
    assert (len(corpus), len(sentences)) == (10, 10)


def test_a_store_with_nothing_held_out(treebank: str, tmp_path: Path) -> None:
    path = store(tmp_path / "store", treebank)
    with pytest.raises(CallError, match="nothing to validate on: give --valid or --hold-out"):
        prepare(Plan([path]), RECIPE)


def test_a_store_and_a_treebank(treebank: str, other: str, tmp_path: Path) -> None:
    """The vocabulary is the store's. What it holds out is validated on, unless some of the treebank was asked for."""
    path = store(tmp_path / "store", treebank, hold_out=6)
    for sources in ([path, other], [other, path]):
        corpora, (corpus, sentences) = prepare(Plan(sources), RECIPE)
        assert shapes(corpora) == [(40, 6), (10, 0)]
        assert corpora[1].vocabulary == corpora[0].vocabulary
        assert (corpus, len(sentences)) == (corpora[0], 6)
    corpora, (corpus, sentences) = prepare(Plan([path, other], hold_out=3), RECIPE)
    assert (corpus, len(sentences)) == (corpora[1], 3)


@pytest.mark.parametrize("hold_out", [40, 99])
def test_holding_out_too_much(treebank: str, hold_out: int) -> None:
    with pytest.raises(CallError, match=f"cannot hold out {hold_out} of 40 sentences"):
        prepare(Plan([treebank], hold_out=hold_out), RECIPE)


def test_the_recipe_decides_on_the_words(treebank: str) -> None:
    recipe = replace(RECIPE, lowercase=True, max_vocab=30, max_length=12)
    corpora, _ = prepare(Plan([treebank]), recipe)
    vocabulary = corpora[0].vocabulary
    assert len(vocabulary) == 30
    assert all(word == word.lower() for word in vocabulary.words)
    assert len(corpora[0]) == sum(len(tree) <= 12 for tree in some_trees())


# --- several stores --------------------------------------------------------------------------------------------------


def test_several_stores_with_weights(treebank: str, other: str, tmp_path: Path) -> None:
    first = store(tmp_path / "first", treebank, hold_out=6)
    second = store(tmp_path / "second", other, vocabulary=open_store(first).vocabulary)
    plan = Plan([first, second], weights=[1.0, 2.0])
    trainer = begin(plan, tmp_path / "m")
    jobs = trainer.batches.plan(0)
    assert sum(len(sentences) for _, sentences in jobs) == 34 + 2 * 10
    with pytest.raises(CallError, match="1 weights for 2 stores"):
        prepare(replace(plan, weights=[1.0]), RECIPE)
    with pytest.raises(CallError, match="weights are for stores, one for each"):
        prepare(Plan([first, other], weights=[1.0, 2.0]), RECIPE)


def test_stores_of_other_words(treebank: str, other: str, tmp_path: Path) -> None:
    first, second = store(tmp_path / "first", treebank), store(tmp_path / "second", other)
    for plan in (Plan([first, second]), Plan([first], valid=second)):
        with pytest.raises(CallError, match=r"second has another vocabulary: encode it with --vocabulary"):
            prepare(plan, RECIPE)


def test_a_damaged_store(treebank: str, tmp_path: Path) -> None:
    path = Path(store(tmp_path / "store", treebank))
    (path / "words.npy").write_bytes(b"")
    with pytest.raises(StoreError, match="damaged"):
        prepare(Plan([str(path)]), RECIPE)


# --- going on from a model -------------------------------------------------------------------------------------------


@pytest.fixture
def model(treebank: str, tmp_path: Path) -> Path:
    recipe = replace(RECIPE, model="tree", hidden=6, dropout_output=0.5, lowercase=True)
    begin(Plan([treebank], hold_out=4), tmp_path / "model", recipe).run()
    return tmp_path / "model"


def test_vocabulary_and_parameters_of_the_model(model: Path, other: str, tmp_path: Path) -> None:
    recipe = adopt(RECIPE, model)
    assert (recipe.model, recipe.hidden, recipe.embedding, recipe.dropout_output) == ("tree", 6, 8, 0.0)
    plan = Plan([other], begin_from=model)
    trainer = begin(plan, tmp_path / "next", recipe)
    old, vocabulary = load_model(model)
    assert prepare(plan, recipe)[0][0].vocabulary == vocabulary
    assert Vocabulary.load(tmp_path / "next" / VOCABULARY) == vocabulary
    for name, parameter in trainer.model.named_parameters():
        assert torch.equal(parameter, dict(old.named_parameters())[name])
    assert read_config(tmp_path / "next") == replace(read_config(model), dropout_output=0.0)
    assert load_recipe(tmp_path / "next" / "recipe.toml") == recipe
    trainer.run()
    data = read_data(tmp_path / "next")
    assert f"begun from {model}" in data
    assert any(line.startswith("there trained on ") for line in data)


def test_sizes_are_the_model_s_whoever_starts(model: Path, other: str, tmp_path: Path) -> None:
    begin(Plan([other], begin_from=model), tmp_path / "next", RECIPE)
    assert load_recipe(tmp_path / "next" / "recipe.toml").hidden == read_config(tmp_path / "next").hidden == 6


def test_other_sizes_are_refused(model: Path) -> None:
    assert adopt(replace(RECIPE, hidden=6), model, asked=["hidden", "lr"]).hidden == 6
    with pytest.raises(CallError, match="model has hidden 6, which cannot become 8"):
        adopt(RECIPE, model, asked=["hidden"])
    with pytest.raises(CallError, match="model has model tree, which cannot become ldtree"):
        adopt(RECIPE, model, asked=["model"])


def test_what_the_model_has_settled(model: Path, other: str, tmp_path: Path) -> None:
    """Case and counts are those of its vocabulary; what its parameters started from is past."""
    recipe = adopt(replace(RECIPE, min_count=5, init=0.3, max_vocab=50, forget_bias=2.0), model)
    assert (recipe.lowercase, recipe.min_count) == (True, 1)
    assert (recipe.init, recipe.max_vocab, recipe.forget_bias) == (0.1, None, 0.0)
    assert adopt(replace(RECIPE, lowercase=True), model, asked=["lowercase", "init"]).lowercase
    for name, value in {"lowercase": False, "min_count": 5, "init": 0.3, "max_vocab": 50, "forget_bias": 2.0}.items():
        with pytest.raises(CallError, match=f"model has {name} .*, which cannot become {value}"):
            adopt(replace(RECIPE, **{name: value}), model, asked=[name])  # type: ignore[arg-type]
    begin(Plan([other], begin_from=model), tmp_path / "next", replace(RECIPE, init=0.3))
    assert load_recipe(tmp_path / "next" / "recipe.toml").init == 0.1


def test_nce_does_not_train_a_bias(model: Path) -> None:
    with pytest.raises(CallError, match="has an output bias, which NCE does not train"):
        adopt(replace(RECIPE, objective="nce"), model)  # type: ignore[arg-type]


@pytest.mark.parametrize("objective", ["nce", "nll"])
def test_from_a_model_of_nce(objective: str, treebank: str, tmp_path: Path) -> None:
    begin(Plan([treebank]), tmp_path / "old", replace(RECIPE, objective="nce")).run()  # type: ignore[arg-type]
    plan = Plan([treebank], begin_from=tmp_path / "old")
    begin(plan, tmp_path / "new", replace(RECIPE, objective=objective)).run()  # type: ignore[arg-type]
    assert not load_model(tmp_path / "new")[0].config.output_bias


def test_a_store_must_have_the_words_of_the_model(model: Path, other: str, tmp_path: Path) -> None:
    path = store(tmp_path / "store", other, hold_out=2)
    with pytest.raises(CallError, match="encode it with --vocabulary of the first, or of the model"):
        prepare(Plan([path], begin_from=model), RECIPE)
    path = store(tmp_path / "right", other, hold_out=2, vocabulary=Vocabulary.load(model / VOCABULARY))
    assert shapes(prepare(Plan([path], begin_from=model), RECIPE)[0]) == [(10, 2)]


def test_a_model_may_be_replaced_by_what_goes_on_from_it(model: Path, other: str) -> None:
    before = load_model(model)[0].embedding
    trainer = begin(Plan([other], begin_from=model), model, force=True)
    assert torch.equal(trainer.model.embedding, before)
    trainer.run()
    assert load_model(model)[1] == trainer.corpora[0].vocabulary


def test_what_replaces_a_model_keeps_its_history(model: Path, treebank: str, other: str) -> None:
    plan = Plan([other], begin_from=model)
    expected = [f"begun from {model}", f"there trained on {treebank}: 40 sentences"]
    with pytest.raises(Interrupted):
        begin(plan, model, force=True, watcher=Watcher(stop=lambda: True)).run()
    for _ in range(2):  # stopped; resumed, when the folder is all that is left
        data = read_data(model)
        assert [line.partition(",")[0] for line in data if line.startswith(("begun", "there trained"))] == expected
        if (model / CHECKPOINT).is_file():
            begin(plan, model, resume=True).run()


def test_the_card_names_weights_and_vectors(treebank: str, other: str, tmp_path: Path) -> None:
    first = store(tmp_path / "first", treebank, hold_out=6)
    second = store(tmp_path / "second", other, vocabulary=open_store(first).vocabulary)
    (tmp_path / "v.txt").write_text("the" + " 1" * 8)
    begin(Plan([first, second], weights=[1.0, 0.5], vectors=tmp_path / "v.txt"), tmp_path / "m").run()
    assert read_data(tmp_path / "m")[3:] == ["weights of the stores: 1, 0.5", f"word vectors from {tmp_path / 'v.txt'}"]


# --- folders ---------------------------------------------------------------------------------------------------------


def test_what_is_there_from_the_start(treebank: str, tmp_path: Path) -> None:
    folder = tmp_path / "new" / "m"
    begin(Plan([treebank]), folder)
    names = {"config.json", "vocabulary.json", "recipe.toml", "log.jsonl", "checkpoint.safetensors"}
    assert {path.name for path in folder.iterdir()} == names
    assert (folder / "recipe.toml").read_text() == RECIPE.to_toml()


def test_folders_that_are_there(treebank: str, model: Path, tmp_path: Path) -> None:
    plan = Plan([treebank])
    (tmp_path / "empty").mkdir()
    begin(plan, tmp_path / "empty")
    with pytest.raises(CallError, match=r"model is already there; --force replaces it"):
        begin(plan, model)
    begin(plan, model, force=True)
    assert not (model / WEIGHTS).exists()
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "mine.txt").write_text("mine")
    for force in (False, True):
        with pytest.raises(CallError, match="docs is there and is no model"):
            begin(plan, tmp_path / "docs", force=force)
        with pytest.raises(CallError, match=r"mine.txt is a file, not a folder"):
            begin(plan, tmp_path / "docs" / "mine.txt", force=force)
    with pytest.raises(CallError, match="cannot be made"):
        begin(plan, tmp_path / "docs" / "mine.txt" / "m")
    assert (tmp_path / "docs" / "mine.txt").read_text() == "mine"


def test_a_link_to_a_model_stays_one(treebank: str, model: Path, tmp_path: Path) -> None:
    link = tmp_path / "link"
    link.symlink_to(model)
    begin(Plan([treebank]), link, force=True)
    assert link.is_symlink()
    assert not (model / WEIGHTS).exists()
    assert (model / CHECKPOINT).is_file()


@pytest.mark.parametrize("wrong", ["vectors", "begin_from"])
def test_force_replaces_nothing_where_the_start_fails(wrong: str, treebank: str, model: Path, tmp_path: Path) -> None:
    (tmp_path / "v.txt").write_text("the 1\n")
    (tmp_path / "broken").mkdir()
    plan = Plan([treebank], hold_out=4, **{wrong: tmp_path / ("v.txt" if wrong == "vectors" else "broken")})
    with pytest.raises((CallError, ModelError, FormatError, StoreError)):
        begin(plan, model, force=True)
    load_model(model)


def test_resuming(treebank: str, model: Path, tmp_path: Path) -> None:
    plan = Plan([treebank])
    with pytest.raises(CallError, match=r"m has no checkpoint to go on from$"):
        begin(plan, tmp_path / "m", resume=True)
    with pytest.raises(CallError, match=r"model has no checkpoint to go on from: it is finished$"):
        begin(plan, model, resume=True)
    stopping = Watcher(stop=lambda: True)
    with pytest.raises(Interrupted):
        begin(plan, tmp_path / "m", watcher=stopping).run()
    with pytest.raises(CallError, match=r"m is already there; --resume goes on, --force replaces it"):
        begin(plan, tmp_path / "m")
    state = begin(plan, tmp_path / "m", resume=True).run()
    assert state.finished
    assert not (tmp_path / "m" / CHECKPOINT).exists()


# --- vectors ---------------------------------------------------------------------------------------------------------


@pytest.fixture
def vectors(tmp_path: Path) -> Path:
    path = tmp_path / "vectors.txt"
    path.write_text("".join(f"{word} {' '.join(['0.5'] * 8)}\n" for word in ("the", "of", "nothere")))
    return path


def test_vectors_are_fine_tuned(treebank: str, vectors: Path, tmp_path: Path) -> None:
    told: list[tuple[int, int]] = []
    watcher = Watcher(vectors=lambda found, words: told.append((found, words)))
    trainer = begin(Plan([treebank], vectors=vectors), tmp_path / "m", watcher=watcher)
    vocabulary = trainer.corpora[0].vocabulary
    known = vocabulary.ids(["the", "of"])
    with_capitals = [vocabulary.index[word] for word in ("The", "Of") if word in vocabulary.index]
    assert told == [(2 + len(with_capitals), len(vocabulary))]
    before = trainer.model.embedding.detach().clone()
    assert before[known].eq(0.5).all()
    assert int(before.eq(0.5).all(1).sum()) == told[0][0]
    trainer.run()
    assert not trainer.model.embedding[known].eq(0.5).any()


@pytest.mark.parametrize("objective", ["nll", "nce"])
@pytest.mark.parametrize("optimiser", ["sgd", "adamw"])
def test_frozen_vectors_do_not_move(
    objective: str, optimiser: str, treebank: str, vectors: Path, tmp_path: Path
) -> None:
    recipe = replace(RECIPE, vectors_frozen=True, objective=objective, optimiser=optimiser, weight_decay=0.1, lr=0.1)  # type: ignore[arg-type]
    trainer = begin(Plan([treebank], vectors=vectors), tmp_path / "m", recipe)
    before = {name: value.detach().clone() for name, value in trainer.model.named_parameters()}
    trainer.run()
    for name, value in trainer.model.named_parameters():
        assert torch.equal(value, before[name]) == (name == "embedding") or name == "noise.z", name
    assert torch.equal(load_model(tmp_path / "m")[0].embedding, before["embedding"])


def test_there_must_be_vectors_to_freeze(treebank: str, tmp_path: Path) -> None:
    with pytest.raises(CallError, match="no vectors to freeze: give --vectors"):
        begin(Plan([treebank]), tmp_path / "m", replace(RECIPE, vectors_frozen=True))


def test_vectors_of_another_size(treebank: str, vectors: Path, tmp_path: Path) -> None:
    with pytest.raises(FormatError, match=r"vectors.txt:1: the vector of 'the' has 8 numbers, the embedding 9"):
        begin(Plan([treebank], vectors=vectors), tmp_path / "m", replace(RECIPE, embedding=9))
    assert not (tmp_path / "m").exists()


# --- devices ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "gpu", "rank", "expected"),
    [
        ("auto", False, None, "cpu"),
        ("auto", True, None, "cuda"),
        ("auto", True, "3", "cuda:3"),
        ("auto", False, "3", "cpu"),
        ("cuda", True, "1", "cuda:1"),
        ("cuda:0", True, "1", "cuda:0"),
        ("cpu", True, "1", "cpu"),
    ],
)
def test_devices(name: str, gpu: bool, rank: str | None, expected: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: gpu)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 4)
    monkeypatch.delenv("LOCAL_RANK", raising=False)
    if rank is not None:
        monkeypatch.setenv("LOCAL_RANK", rank)
    assert device_for(name) == expected


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("gpu0", "no device gpu0; known are auto"),
        ("meta", "no device meta; known are auto"),
        ("mps", "no device mps"),
        ("cuda:-1", "no device cuda:-1"),
        ("cpu:0", "no device cpu:0"),
        ("cuda:1", "there is no GPU"),
    ],
)
def test_no_such_device(name: str, said: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    with pytest.raises(CallError, match=said):
        device_for(name)


def test_no_gpu_of_that_number(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 2)
    with pytest.raises(CallError, match="there is no cuda:2: the last GPU here is cuda:1"):
        device_for("cuda:2")


def test_no_memory_for_a_model(treebank: str, tmp_path: Path) -> None:
    with pytest.raises(RamifyError, match="no memory left for a model of this size: lower --hidden, --embedding"):
        begin(Plan([treebank]), tmp_path / "m", replace(RECIPE, hidden=(1 << 31) - 1))
    assert not (tmp_path / "m").exists()


def test_initial_parameters(treebank: str, tmp_path: Path) -> None:
    """Uniform between -INIT and INIT; the same ones for the same seed."""
    recipe = replace(RECIPE, init=0.03)
    made: list[Callable[[], Trainer]] = [
        lambda: begin(Plan([treebank]), tmp_path / "a", recipe),
        lambda: begin(Plan([treebank]), tmp_path / "b", recipe),
        lambda: begin(Plan([treebank], hold_out=2), tmp_path / "c", replace(recipe, seed=9)),
    ]
    one, same, unlike = (make().model.embedding.detach() for make in made)
    assert torch.equal(one, same)
    assert not torch.equal(one, unlike)
    assert 0.029 < one.abs().max() <= 0.03
    assert math.isclose(float(np.var(one.numpy())), 0.03**2 / 3, rel_tol=0.2)


def test_a_folder_of_a_model_names_its_parts(model: Path) -> None:
    assert (model / CONFIG).is_file()
    assert small_lm("tree").config.kind == read_config(model).kind
    assert small_corpus().vocabulary != Vocabulary.load(model / VOCABULARY)
