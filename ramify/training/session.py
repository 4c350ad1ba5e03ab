"""Session: from names of sources to a trainer that is ready to run, fresh, from another model, or resumed."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Callable, Collection
from dataclasses import dataclass, replace
from pathlib import Path

import torch

from ramify.corpus import Corpus, Encoding, Vocabulary, encode, is_store, open_store
from ramify.corpus.encode import draw
from ramify.corpus.structure import Array
from ramify.errors import CallError, ModelError
from ramify.formats.files import whole_file
from ramify.model.folder import (
    CONFIG,
    LOG,
    RECIPE,
    WEIGHTS,
    enough_memory,
    load_weights,
    make_model,
    on_device,
    read_config,
    read_vocabulary,
    write_config,
)
from ramify.training.card import data_lines, history, kept_history, read_data, read_log
from ramify.training.distributed import Group
from ramify.training.recipe import Objective, Precision, Recipe, load_recipe
from ramify.training.trainer import CHECKPOINT, Trainer, Watcher
from ramify.training.vectors import read_vectors

Validation = tuple[Corpus, Array]


@dataclass(frozen=True)
class Plan:
    """What to train on, and where from."""

    sources: list[str]
    valid: str | None = None
    hold_out: int | None = None
    begin_from: Path | None = None
    weights: list[float] | None = None
    vectors: Path | None = None
    device: str = "cpu"
    threads: int = 1
    checkpoint_every: float = 600.0


def device_for(name: str) -> str:
    """`auto` is the GPU where there is one; under torchrun, each process has its own."""
    if name == "auto":
        name = "cuda" if torch.cuda.is_available() else "cpu"
    if name == "cuda" and "LOCAL_RANK" in os.environ:
        name = f"cuda:{os.environ['LOCAL_RANK']}"
    kind, _, index = name.partition(":")
    if not re.fullmatch(r"cpu|cuda(:\d+)?", name):
        raise CallError(f"no device {name}; known are auto, cpu, cuda, cuda:0, ...")
    if kind == "cuda" and not torch.cuda.is_available():
        raise CallError("there is no GPU that torch can use: take --device cpu")
    if index and int(index) >= torch.cuda.device_count():
        raise CallError(f"there is no {name}: the last GPU here is cuda:{torch.cuda.device_count() - 1}")
    return name


_OF_MODEL = (
    "hidden",
    "embedding",
    "layers",
    "ld_hidden",
    "ld_layers",
    "projection",
    "tied",
    "label_aware",
    "forget_bias",  # it has had its effect, as have those below
)
_OF_VOCABULARY = ("lowercase", "min_count")
_OF_RECIPE = ("init", "max_vocab")


def adopt(recipe: Recipe, begin_from: Path, asked: Collection[str] = ()) -> Recipe:
    """The recipe with what is settled by the model that it goes on from: kind, sizes, the making of its vocabulary.

    Those that were asked for must be the same.
    """
    config, vocabulary = read_config(begin_from), read_vocabulary(begin_from)
    own = {"model": config.kind} | {name: getattr(config, name) for name in _OF_MODEL}
    own |= {name: getattr(vocabulary, name) for name in _OF_VOCABULARY}
    before = load_recipe(begin_from / RECIPE) if (begin_from / RECIPE).is_file() else Recipe()
    own |= {name: getattr(before, name) for name in _OF_RECIPE}
    for name in asked:
        if name in own and getattr(recipe, name) != own[name]:
            raise CallError(f"{begin_from} has {name} {own[name]}, which cannot become {getattr(recipe, name)}")
    if config.output_bias and recipe.objective is Objective.NCE:
        raise CallError(f"{begin_from} has an output bias, which NCE does not train: go on with --objective nll")
    return replace(recipe, **own)


def prepare(plan: Plan, recipe: Recipe) -> tuple[list[Corpus], Validation]:
    """The corpora under one vocabulary, and what to validate on."""
    vocabulary = read_vocabulary(plan.begin_from) if plan.begin_from else None
    corpora: list[Corpus] = []
    held_out = plan.hold_out or (0 if plan.valid else None)
    treebanks = [source for source in plan.sources if not is_store(source)]
    stores = [source for source in plan.sources if is_store(source)]
    if plan.weights is not None and (treebanks or len(plan.weights) != len(stores)):
        raise CallError(f"{len(plan.weights)} weights for {len(stores)} stores: weights are for stores, one for each")
    for store in stores:
        corpora.append(open_store(store))
        vocabulary = vocabulary or corpora[-1].vocabulary
        if corpora[-1].vocabulary.words != vocabulary.words:
            raise CallError(
                f"{store} has another vocabulary: encode it with --vocabulary of the first, or of the model"
            )
    if treebanks:
        corpus = _encode(treebanks, recipe, vocabulary, 0)
        if held_out is None and not any(len(each.held_out) for each in corpora):
            held_out = min(4000, max(1, len(corpus) // 20))
        corpus = replace(corpus, held_out=draw(len(corpus), held_out or 0, recipe.seed))
        corpora.append(corpus)
        vocabulary = vocabulary or corpus.vocabulary
    elif plan.hold_out:
        corpora[0] = replace(corpora[0], held_out=draw(len(corpora[0]), plan.hold_out, recipe.seed))
    assert vocabulary is not None
    if plan.valid is not None:
        valid = open_store(plan.valid) if is_store(plan.valid) else _encode([plan.valid], recipe, vocabulary, 0)
        if valid.vocabulary.words != vocabulary.words:
            raise CallError(f"{plan.valid} has another vocabulary: encode it with --vocabulary")
        return corpora, (valid, valid.everything)
    asked_first = corpora[::-1] if plan.hold_out and treebanks else corpora  # the treebanks come last
    validation = next(((each, each.held_out) for each in asked_first if len(each.held_out)), None)
    if validation is None:
        raise CallError("there is nothing to validate on: give --valid or --hold-out")
    return corpora, validation


def _encode(treebanks: list[str], recipe: Recipe, vocabulary: Vocabulary | None, hold_out: int) -> Corpus:
    return encode(
        treebanks,
        Encoding(
            min_count=recipe.min_count,
            max_vocabulary=recipe.max_vocab,
            vocabulary=vocabulary,
            hold_out=hold_out,
            lowercase=recipe.lowercase,
            max_length=recipe.max_length,
        ),
    )


@enough_memory()
def start(
    plan: Plan,
    recipe: Recipe,
    corpora: list[Corpus],
    validation: Validation,
    folder: Path,
    resume: bool = False,
    force: bool = False,
    group: Group | None = None,
    watcher: Watcher | None = None,
) -> Trainer:
    """A trainer whose folder is made and whose parameters are set.

    A checkpoint is there from the start, so a folder with parameters and without one is that of a finished run.
    """
    group = group or Group()
    begun = resume and can_resume(folder)
    vocabulary = corpora[0].vocabulary
    config = recipe.config
    if plan.begin_from is not None:
        recipe = adopt(recipe, plan.begin_from)
        config = replace(recipe.config, output_bias=read_config(plan.begin_from).output_bias)
    if recipe.vectors_frozen and plan.vectors is None and plan.begin_from is None:
        raise CallError("there are no vectors to freeze: give --vectors")
    if group.writes and not resume:
        check_folder(folder, force)
    torch.manual_seed(recipe.seed)
    torch.set_float32_matmul_precision("high" if recipe.precision is Precision.TF32 else "highest")
    model = make_model(config, vocabulary)
    model.initialise(recipe.init)
    if plan.begin_from is not None and not begun:
        load_weights(model, plan.begin_from / WEIGHTS)
    if plan.vectors is not None:
        words, values = read_vectors(plan.vectors, vocabulary, config.embedding)
        model.embedding.data[words] = values
        watcher = watcher or Watcher()
        watcher.vectors(len(words), len(vocabulary))
    model = on_device(model, plan.device)
    more = _more_data(plan, kept_history(folder) if begun else None)  # read before the folder may be replaced
    trainer = Trainer(
        model,
        recipe,
        corpora,
        validation,
        folder,
        weights=plan.weights,
        group=group,
        watcher=watcher,
        threads=plan.threads,
        checkpoint_every=plan.checkpoint_every,
        more_data=more,
    )
    if begun:
        group.wait()
        trainer.resume()
        return trainer
    if group.writes:
        if not resume:
            make_folder(folder)  # last of all: what it replaces may be the model that this one goes on from
        write_config(folder, config, vocabulary)
        with whole_file(folder / RECIPE) as out:
            out.write(recipe.to_toml())
        (folder / LOG).write_text("", encoding="utf-8")
    trainer.save()
    return trainer


_AS_BEFORE = "resume with the options of the first start, or take another folder"


def is_finished(folder: Path) -> bool:
    return (folder / WEIGHTS).is_file() and not (folder / CHECKPOINT).is_file()


def best_ppl(plan: Plan, recipe: Recipe, corpora: list[Corpus], validation: Validation, folder: Path) -> float:
    """The perplexity that a finished run came to; refused where it was not the run that is asked for."""
    before = load_recipe(folder / RECIPE).to_json()
    for name, value in recipe.to_json().items():
        if before[name] != value:
            raise CallError(f"{folder} was trained with {name} {before[name]}, not {value}: {_AS_BEFORE}")
    if read_data(folder) != data_lines(corpora, validation, _more_data(plan)):
        raise CallError(f"{folder} was trained on other data, as its card says: {_AS_BEFORE}")
    log = read_log(folder)
    if not log:
        raise ModelError(f"{folder} is not whole: {LOG} has no epoch; train it again")
    return min(float(record["valid_ppl"]) for record in log)


def _more_data(plan: Plan, kept: list[str] | None = None) -> list[str]:
    """Lines for the card on what else the training starts from; `kept`: those on another model, of a resumed run."""
    lines = []
    if plan.weights is not None:
        lines.append(f"weights of the stores: {', '.join(f'{weight:g}' for weight in plan.weights)}")
    if plan.vectors is not None:
        lines.append(f"word vectors from {plan.vectors}")
    if plan.begin_from is not None:
        lines += kept or history(plan.begin_from)
    return lines


def can_resume(folder: Path, read_config: Callable[[Path], object] = read_config) -> bool:
    """True where there is a checkpoint, False where a run was killed before its first one and is to start anew."""
    if (folder / CHECKPOINT).is_file():
        return True
    if is_finished(folder):
        raise CallError(f"{folder} has no checkpoint to go on from: it is finished")
    if (folder / CONFIG).is_file():
        read_config(folder)  # what is foreign is not written over
    elif not folder.is_dir() or any(not path.name.startswith(".") for path in folder.iterdir()):
        raise CallError(f"{folder} has no checkpoint to go on from")
    return False


def check_folder(folder: Path, force: bool) -> None:
    """Refuse a folder before any work is done."""
    if folder.is_file():
        raise CallError(f"{folder} is a file, not a folder")
    if folder.exists() and any(folder.iterdir()):
        if not (folder / CONFIG).is_file():
            raise CallError(f"{folder} is there and is no model")
        if not force:
            goes_on = "--resume goes on, " if (folder / CHECKPOINT).is_file() else ""
            raise CallError(f"{folder} is already there; {goes_on}--force replaces it")


def make_folder(folder: Path) -> None:
    folder = folder.resolve()  # a link to a model stays one
    try:
        if folder.exists():
            shutil.rmtree(folder)
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise CallError(f"{folder} cannot be made: {error.strerror}") from error
