"""A model on disk: it comes back as it was, and what is damaged or foreign is refused with a reason."""

import json
import pickle
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from corpus_twins import corpus_of
from model_twins import KINDS, mixed_corpus, mixed_trees, small_model
from safetensors.torch import load_file, save_file

from ramify.errors import CallError, ModelError, RamifyError
from ramify.model.config import Kind, ModelConfig
from ramify.model.folder import (
    CONFIG,
    VOCABULARY,
    WEIGHTS,
    load_model,
    load_tensors,
    make_model,
    read_config,
    save_tensors,
    write_config,
    write_weights,
)
from ramify.model.language_model import LanguageModel
from ramify.model.output import NoiseContrastive


def _save(folder: Path, model: LanguageModel) -> None:
    folder.mkdir(exist_ok=True)
    write_config(folder, model.config, corpus_of(mixed_trees()).vocabulary)
    write_weights(folder, model)


def _model(kind: Kind = Kind.LDTREE, **options: Any) -> LanguageModel:
    return small_model(corpus_of(mixed_trees()).vocabulary, kind, **options).float()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    _save(tmp_path / "model", _model())
    return tmp_path / "model"


# --- there and back --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"layers": 2, "output_bias": False},
        {"tied": True, "projection": 3, "forget_bias": 1.0, "dropout_output": 0.3},
    ],
    ids=str,
)
def test_nothing_changes(tmp_path: Path, kind: Kind, options: dict[str, Any]) -> None:
    _, corpus = mixed_corpus()
    model = _model(kind, **options)
    _save(tmp_path, model)
    again, vocabulary = load_model(tmp_path)
    assert vocabulary == corpus.vocabulary
    assert again.config == model.config
    assert not again.training
    before, after = dict(model.named_parameters()), dict(again.named_parameters())
    assert before.keys() == after.keys()
    assert all(torch.equal(before[name], after[name]) for name in before)
    batch = model.build(corpus, corpus.everything)
    assert torch.equal(model.log_probabilities(batch), again.log_probabilities(batch))
    if model.config.tied:
        assert again.output.weight is again.embedding


def test_labels_come_back_too(tmp_path: Path) -> None:
    _, corpus = mixed_corpus()
    assert len(corpus.vocabulary.labels) > 2
    model = _model(label_aware=True)
    _save(tmp_path, model)
    again, _ = load_model(tmp_path)
    batch = model.build(corpus, corpus.everything)
    assert torch.equal(model.log_probabilities(batch), again.log_probabilities(batch))


def test_z_is_kept_but_not_needed(tmp_path: Path) -> None:
    _, corpus = mixed_corpus()
    model = _model()
    model.noise = NoiseContrastive(torch.from_numpy(corpus.vocabulary.counts.copy()), log_z=3.0)
    _save(tmp_path, model)
    assert load_file(tmp_path / WEIGHTS)["noise.z"].item() == pytest.approx(20.0855, rel=1e-4)
    again, _ = load_model(tmp_path)
    assert again.noise is None
    batch = model.build(corpus, corpus.everything)
    assert torch.equal(model.log_probabilities(batch), again.log_probabilities(batch))


def test_no_pickle_and_nothing_left_over(folder: Path) -> None:
    assert {path.name for path in folder.iterdir()} == {CONFIG, VOCABULARY, WEIGHTS}
    for path in folder.iterdir():
        with path.open("rb") as file, pytest.raises(Exception):  # noqa: B017, PT011 - whatever it says to foreign bytes
            pickle.load(file)
    json.loads((folder / CONFIG).read_text())
    json.loads((folder / VOCABULARY).read_text())


def test_the_config_can_be_read_by_people(folder: Path) -> None:
    about = json.loads((folder / CONFIG).read_text())
    assert about["format"] == "ramify-model"
    assert about["version"] == 1
    assert about["model"]["kind"] == "ldtree"
    assert read_config(folder) == _model().config


def test_saving_again_replaces(folder: Path) -> None:
    other = _model(seed=5)
    write_weights(folder, other)
    again, _ = load_model(str(folder))
    assert torch.equal(again.embedding, other.embedding)


def test_tensors_carry_what_is_said_of_them(tmp_path: Path) -> None:
    tensors = {"a": torch.arange(6).view(2, 3).t(), "b": torch.zeros(0)}
    save_tensors(tmp_path / "t.safetensors", tensors, {"epoch": 3, "name": "é"})
    again, about = load_tensors(tmp_path / "t.safetensors")
    assert about == {"epoch": 3, "name": "é"}
    assert {name: each.tolist() for name, each in again.items()} == {n: each.tolist() for n, each in tensors.items()}


def test_a_write_that_fails_leaves_the_old_file(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = (folder / WEIGHTS).read_bytes()

    def fail(*_: Any) -> None:
        raise OSError("no space left on device")

    monkeypatch.setattr("ramify.model.folder.save_file", fail)
    with pytest.raises(OSError, match="no space"):
        write_weights(folder, _model(seed=5))
    assert (folder / WEIGHTS).read_bytes() == before
    assert len(list(folder.iterdir())) == 3


# --- damage ----------------------------------------------------------------------------------------------------------


def _edit(name: str, change: Callable[[Any], Any]) -> Callable[[Path], None]:
    def apply(folder: Path) -> None:
        about = json.loads((folder / name).read_text())
        (folder / name).write_text(json.dumps(change(about)))

    return apply


def _write(name: str, content: bytes) -> Callable[[Path], None]:
    return lambda folder: (folder / name).write_bytes(content) and None


def _cut(name: str, part: float) -> Callable[[Path], None]:
    def apply(folder: Path) -> None:
        content = (folder / name).read_bytes()
        (folder / name).write_bytes(content[: int(len(content) * part)])

    return apply


def _remove(name: str) -> Callable[[Path], None]:
    return lambda folder: (folder / name).unlink()


def _weights(change: Callable[[dict[str, torch.Tensor]], Any]) -> Callable[[Path], None]:
    def apply(folder: Path) -> None:
        tensors = load_file(folder / WEIGHTS)
        change(tensors)
        save_file(tensors, folder / WEIGHTS)

    return apply


DAMAGES: dict[str, tuple[Callable[[Path], None], str]] = {
    "no config": (_remove(CONFIG), "no model.*ramify train"),
    "no vocabulary": (_remove(VOCABULARY), "not whole.*vocabulary.json is missing"),
    "no weights": (_remove(WEIGHTS), "not whole.*model.safetensors is missing"),
    "empty config": (_write(CONFIG, b""), "config.json cannot be read"),
    "cut config": (_cut(CONFIG, 0.5), "config.json cannot be read"),
    "config of bytes": (_write(CONFIG, b"\xff\xfe\x00"), "config.json cannot be read"),
    "config that is a list": (_write(CONFIG, b"[1, 2]"), "config.json cannot be read"),
    "config without a model": (_edit(CONFIG, lambda about: about.pop("model") and about), "cannot be read.*model"),
    "model that is a list": (_edit(CONFIG, lambda about: about | {"model": [1]}), "config.json cannot be read"),
    "other format": (_edit(CONFIG, lambda about: about | {"format": "gpt"}), "no model.*'gpt'"),
    "no format": (_write(CONFIG, b'{"architectures": ["GPT2LMHeadModel"]}'), "config.json cannot be read.*format"),
    "later version": (_edit(CONFIG, lambda about: about | {"version": 2}), "version 2, and this Ramify reads 1"),
    "version of no number": (_edit(CONFIG, lambda about: about | {"version": None}), "version None"),
    "unknown option": (_edit(CONFIG, lambda about: about | {"model": {"heads": 8}}), "config.json.*unknown.*heads"),
    "unknown kind": (
        _edit(CONFIG, lambda about: about | {"model": {"kind": "gpt"}}),
        "config.json cannot be read.*gpt",
    ),
    "size of no number": (
        _edit(CONFIG, lambda about: about | {"model": {"hidden": "4"}}),
        "config.json cannot be read",
    ),
    "size of half": (_edit(CONFIG, lambda about: about | {"model": {"hidden": 4.5}}), "config.json cannot be read"),
    "size of none": (_edit(CONFIG, lambda about: about | {"model": {"hidden": 0}}), "config.json.*at least 1"),
    "switch of text": (
        _edit(CONFIG, lambda about: about | {"model": about["model"] | {"tied": "no"}}),
        "config.json cannot be read.*true or false",
    ),
    "rate of text": (
        _edit(CONFIG, lambda about: about | {"model": about["model"] | {"dropout_input": "0.1"}}),
        "config.json cannot be read",
    ),
    "long vocabulary": (
        _edit(VOCABULARY, lambda parts: parts | {"words": [*parts["words"], ["another", 1]]}),
        r"embedding is \[\d+, 3\], not",
    ),
    "vocabulary of numbers": (
        _edit(VOCABULARY, lambda parts: parts | {"words": [*parts["words"][:-1], [7, 1]]}),
        "vocabulary.json is no vocabulary: words and labels are text",
    ),
    "counts below nothing": (
        _edit(VOCABULARY, lambda parts: parts | {"words": [*parts["words"][:-1], ["x", -1]]}),
        "vocabulary.json is no vocabulary: counts are whole numbers",
    ),
    "empty vocabulary": (_write(VOCABULARY, b""), "vocabulary.json is no vocabulary"),
    "cut vocabulary": (_cut(VOCABULARY, 0.7), "vocabulary.json is no vocabulary"),
    "foreign vocabulary": (_write(VOCABULARY, b'{"hello": 5}'), "vocabulary.json is no vocabulary"),
    "vocabulary that is a list": (_write(VOCABULARY, b'["hello"]'), "vocabulary.json is no vocabulary"),
    "short vocabulary": (
        _edit(VOCABULARY, lambda parts: parts | {"words": parts["words"][:-1]}),
        r"embedding is \[\d+, 3\], not",
    ),
    "empty weights": (_write(WEIGHTS, b""), "model.safetensors is damaged"),
    "cut weights": (_cut(WEIGHTS, 0.9), "model.safetensors is damaged"),
    "weights cut in the header": (_cut(WEIGHTS, 0.05), "model.safetensors is damaged"),
    "weights of something else": (_write(WEIGHTS, b"PK\x03\x04" + bytes(100)), "model.safetensors is damaged"),
    "weight missing": (_weights(lambda tensors: tensors.pop("embedding")), r"missing \['embedding'\]"),
    "weight too many": (_weights(lambda tensors: tensors.update(x=torch.ones(1))), r"unknown \['x'\]"),
    "weight of another size": (
        _weights(lambda tensors: tensors.update(embedding=torch.ones(2, 2))),
        r"embedding is \[2, 2\], not \[\d+, 3\]",
    ),
    "weight with another number of sides": (
        _weights(lambda tensors: tensors.update(embedding=torch.ones(()))),
        r"embedding is \[\], not",
    ),
    "weight of whole numbers": (
        _weights(lambda tensors: tensors.update(embedding=tensors["embedding"].int())),
        "embedding holds int32, not float numbers",
    ),
    "weight that is no number": (
        _weights(lambda tensors: tensors["embedding"][2, 1:].fill_(torch.nan)),
        "embedding has values that are no finite numbers",
    ),
    "weight that is infinite": (
        _weights(lambda tensors: tensors.update({"output.weight": tensors["output.weight"].double() * 1e300})),
        "output.weight has values that are no finite numbers",
    ),
    "weights of another kind": (
        _edit(CONFIG, lambda about: about | {"model": about["model"] | {"kind": "tree"}}),
        "does not fit its config.*unknown.*ld",
    ),
    "weights of more layers": (
        _edit(CONFIG, lambda about: about | {"model": about["model"] | {"layers": 2}}),
        r"does not fit its config.*missing \['gen.layers.1",
    ),
}


@pytest.mark.parametrize("name", DAMAGES)
def test_damage_is_refused_with_a_reason(folder: Path, name: str) -> None:
    damage, reason = DAMAGES[name]
    damage(folder)
    with pytest.raises(ModelError, match=reason) as refusal:
        load_model(folder)
    assert str(folder) in str(refusal.value)


def test_another_number_of_labels(tmp_path: Path) -> None:
    _save(tmp_path, _model(label_aware=True))
    _edit(VOCABULARY, lambda parts: parts | {"labels": parts["labels"][:-1]})(tmp_path)
    with pytest.raises(ModelError, match=r"label_embedding is \[\d+, 3\], not"):
        load_model(tmp_path)


def test_a_folder_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(CallError, match=r"no such model: .*nowhere"):
        load_model(tmp_path / "nowhere")


def test_foreign_folders_and_files(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "file").write_text("hello")
    for path in (tmp_path / "empty", tmp_path / "file", tmp_path):
        with pytest.raises(ModelError, match=r"is no model: it has no config\.json"):
            load_model(path)


def test_every_single_cut_of_the_weights_is_noticed(folder: Path, tmp_path: Path) -> None:
    """Wherever a copy broke off."""
    content = (folder / WEIGHTS).read_bytes()
    for end in {*range(0, len(content), 97), len(content) - 1}:
        (folder / WEIGHTS).write_bytes(content[:end])
        with pytest.raises(ModelError):
            load_model(folder)
    (folder / WEIGHTS).write_bytes(content)
    load_model(folder)


def test_moving_a_model_is_allowed(folder: Path, tmp_path: Path) -> None:
    shutil.move(folder, tmp_path / "elsewhere")
    load_model(tmp_path / "elsewhere")


def test_errors_are_of_the_family() -> None:
    assert issubclass(ModelError, RamifyError)
    with pytest.raises(RamifyError):
        make_model(ModelConfig(Kind.LSTM, label_aware=True), corpus_of(mixed_trees()).vocabulary)
