"""A model on disk: a folder that says all of itself, without pickle.

config.json         format, version, kind of number, ModelConfig
vocabulary.json     words with counts, labels
model.safetensors   the parameters
recipe.toml         how it was trained
log.jsonl           what happened meanwhile
README.md           the model card
"""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file

from ramify import __version__
from ramify.corpus.vocabulary import Vocabulary
from ramify.errors import CallError, ModelError, RamifyError, StoreError
from ramify.formats.files import whole_file
from ramify.model.config import Kind, ModelConfig
from ramify.model.language_model import LanguageModel

FORMAT, VERSION = "ramify-model", 1
CONFIG, VOCABULARY, WEIGHTS, RECIPE, LOG, CARD = (
    "config.json",
    "vocabulary.json",
    "model.safetensors",
    "recipe.toml",
    "log.jsonl",
    "README.md",
)


_NO_MEMORY = ("can't allocate memory", "Storage size calculation overflowed")  # where torch has no class for it


def is_lack_of_memory(error: Exception) -> bool:
    return isinstance(error, MemoryError | torch.OutOfMemoryError) or any(sign in str(error) for sign in _NO_MEMORY)


@contextlib.contextmanager
def enough_memory() -> Iterator[None]:
    """Say what to do where a model is too large."""
    try:
        yield
    except (MemoryError, RuntimeError) as error:
        if is_lack_of_memory(error):
            raise RamifyError(
                "no memory left for a model of this size: lower --hidden, --embedding or --max-vocab, or go to a "
                "machine or --device that has more"
            ) from error
        raise


@enough_memory()
def make_model(config: ModelConfig, vocabulary: Vocabulary) -> LanguageModel:
    """A model with fresh parameters for a vocabulary."""
    from ramify.model.sequence import SequenceLSTM
    from ramify.model.treelstm import TreeLSTM

    counts = torch.from_numpy(vocabulary.counts.copy())
    if config.kind in (Kind.TREE, Kind.LDTREE):
        return TreeLSTM(config, counts, len(vocabulary.labels))
    return SequenceLSTM(config, counts)


def write_config(folder: Path, config: ModelConfig, vocabulary: Vocabulary) -> None:
    """What is known of a model before it is trained."""
    about = {"format": FORMAT, "version": VERSION, "ramify": __version__, "model": config.to_json()}
    with whole_file(folder / CONFIG) as out:
        out.write(json.dumps(about, indent=2) + "\n")
    vocabulary.save(folder / VOCABULARY)


def write_weights(folder: Path, model: LanguageModel) -> None:
    save_tensors(folder / WEIGHTS, {name: value.data for name, value in model.named_parameters()})


def save_tensors(path: Path, tensors: dict[str, torch.Tensor], about: dict[str, Any] | None = None) -> None:
    """Write tensors (and JSON beside them) to a file that appears whole or not at all."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        save_file(
            {name: tensor.detach().cpu().contiguous() for name, tensor in tensors.items()},
            temporary,
            {"about": json.dumps(about or {})},
        )
        temporary.chmod(0o666 & ~_umask())  # it was made for its owner alone
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)


def _umask() -> int:
    os.umask(mask := os.umask(0))
    return mask


def load_tensors(path: Path) -> tuple[dict[str, torch.Tensor], dict[str, Any]]:
    """Tensors and the JSON beside them."""
    try:
        with safe_open(path, "pt") as file:
            about = json.loads((file.metadata() or {}).get("about", "{}"))
            return {name: file.get_tensor(name) for name in file.keys()}, about  # noqa: SIM118 - it is no dictionary
    except FileNotFoundError:
        raise ModelError(f"{path.parent} is not whole: {path.name} is missing") from None
    except (SafetensorError, ValueError) as error:
        raise ModelError(f"{path} is damaged: {error}") from None


def read_config(folder: Path) -> ModelConfig:
    """The configuration of a model; refused when the folder holds none, or one of another version."""
    if not folder.exists():
        raise CallError(f"no such model: {folder}")
    path = folder / CONFIG
    if not path.is_file():
        raise ModelError(f"{folder} is no model: it has no {CONFIG}; make one with: ramify train TREEBANK -o MODEL")
    try:
        about = json.loads(path.read_text(encoding="utf-8"))
        if about["format"] != FORMAT:
            raise ModelError(f"{folder} is no model: {CONFIG} names the format {about['format']!r}")
        if about["version"] != VERSION:
            raise ModelError(f"{folder} has version {about['version']}, and this Ramify reads {VERSION}")
        return ModelConfig.from_json(about["model"])
    except (ValueError, KeyError, TypeError, CallError) as error:
        raise ModelError(f"{path} cannot be read: {error!r}") from None


def read_vocabulary(folder: Path) -> Vocabulary:
    """The vocabulary of a model; where it is missing or damaged, the model is."""
    try:
        return Vocabulary.load(folder / VOCABULARY)
    except CallError:
        raise ModelError(f"{folder} is not whole: {VOCABULARY} is missing") from None
    except StoreError as error:
        raise ModelError(str(error)) from None


@enough_memory()
def on_device(model: LanguageModel, device: str) -> LanguageModel:
    """The model there; of several GPUs that one becomes the current one, on which kernels are launched."""
    if torch.device(device).type == "cuda":
        torch.cuda.set_device(torch.device(device).index or 0)
    return model.to(device)


def load_model(folder: str | Path, device: str = "cpu") -> tuple[LanguageModel, Vocabulary]:
    """A trained model and its vocabulary."""
    folder = Path(folder)
    config = read_config(folder)
    vocabulary = read_vocabulary(folder)
    model = make_model(config, vocabulary)
    load_weights(model, folder / WEIGHTS)
    return on_device(model, device).eval(), vocabulary


def load_weights(model: LanguageModel, path: Path) -> None:
    """Put the parameters of a file into a model; each must be there, in its size."""
    tensors, _ = load_tensors(path)
    own = dict(model.named_parameters())
    missing, unknown = set(own) - set(tensors), set(tensors) - set(own) - {"noise.z"}
    if missing - {"noise.z"} or unknown:
        raise ModelError(f"{path} does not fit its config: missing {sorted(missing)}, unknown {sorted(unknown)}")
    with torch.no_grad():
        for name, parameter in own.items():
            if name not in tensors:
                continue
            value = tensors[name]
            if value.shape != parameter.shape:
                raise ModelError(f"{path}: {name} is {list(value.shape)}, not {list(parameter.shape)}")
            if not value.is_floating_point():
                raise ModelError(f"{path}: {name} holds {str(value.dtype).removeprefix('torch.')}, not float numbers")
            value = value.to(parameter.dtype)
            if not value.isfinite().all():
                raise ModelError(f"{path}: {name} has values that are no finite numbers; train the model again")
            parameter.copy_(value)
