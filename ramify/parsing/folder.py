"""A parser on disk: a folder like that of a language model, under a format of its own.

config.json         format, version, ParserConfig
vocabulary.json     the lexicon
model.safetensors   the parameters, and the pretrained vectors that it began with
recipe.toml         how it was trained
log.jsonl           what happened meanwhile
README.md           the card
"""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path

import torch

from ramify import __version__
from ramify.errors import CallError, ModelError
from ramify.formats.files import whole_file
from ramify.model.folder import CONFIG, VOCABULARY, WEIGHTS, enough_memory, load_tensors, save_tensors
from ramify.parsing.lexicon import Lexicon
from ramify.parsing.model import ParserModel
from ramify.parsing.parser import Parser
from ramify.parsing.recipe import ParserConfig

FORMAT, VERSION = "ramify-parser", 1


def write_config(folder: Path, config: ParserConfig, lexicon: Lexicon) -> None:
    """What is known of a parser before it is trained."""
    about = {"format": FORMAT, "version": VERSION, "ramify": __version__, "parser": asdict(config)}
    with whole_file(folder / CONFIG) as out:
        out.write(json.dumps(about, indent=2) + "\n")
    lexicon.save(folder / VOCABULARY)


def write_weights(folder: Path, model: ParserModel) -> None:
    save_tensors(folder / WEIGHTS, model.state_dict())


def read_config(folder: Path) -> ParserConfig:
    """The configuration of a parser; refused when the folder holds none, or one of another version."""
    if not folder.exists():
        raise CallError(f"no such parser: {folder}")
    path = folder / CONFIG
    if not path.is_file():
        raise ModelError(f"{folder} is no parser: it has no {CONFIG}; make one with: ramify train-parser TREEBANK")
    try:
        about = json.loads(path.read_text(encoding="utf-8"))
        if about["format"] != FORMAT:
            raise ModelError(f"{folder} is no parser: {CONFIG} names the format {about['format']!r}")
        if about["version"] != VERSION:
            raise ModelError(f"{folder} has version {about['version']}, and this Ramify reads {VERSION}")
        return ParserConfig(**about["parser"])
    except (ValueError, KeyError, TypeError, CallError) as error:
        raise ModelError(f"{path} cannot be read: {error!r}") from None


def is_parser(folder: Path) -> bool:
    """Does a folder's config say that it is a parser, sound or not?"""
    try:
        return bool(json.loads((folder / CONFIG).read_text(encoding="utf-8"))["format"] == FORMAT)
    except (OSError, ValueError, KeyError, TypeError):
        return False


def load_weights(model: ParserModel, path: Path) -> None:
    """Put the parameters of a file into a parser; each must be there, in its size."""
    tensors, _ = load_tensors(path)
    own = model.state_dict()
    if set(own) != set(tensors):
        missing, unknown = sorted(set(own) - set(tensors)), sorted(set(tensors) - set(own))
        raise ModelError(f"{path} does not fit its config: missing {missing}, unknown {unknown}")
    for name, value in tensors.items():
        if value.shape != own[name].shape or not value.is_floating_point():
            raise ModelError(f"{path}: {name} is {list(value.shape)}, not {list(own[name].shape)}")
        if not value.isfinite().all():
            raise ModelError(f"{path}: {name} has values that are no finite numbers; train the parser again")
    model.load_state_dict(tensors)


@enough_memory()
def load(folder: str | Path, device: str = "cpu") -> Parser:
    """Open a trained parser."""
    folder = Path(folder)
    config = read_config(folder)
    lexicon = Lexicon.load(folder / VOCABULARY)
    model = ParserModel(config, lexicon)
    load_weights(model, folder / WEIGHTS)
    return Parser(model.to(torch.device(device)), lexicon)
