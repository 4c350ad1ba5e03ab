"""Trainer: epochs of steps with validation, a checkpoint that survives anything, and a log.

The folder of a run holds config, vocabulary and recipe from the start, `model.safetensors` with the best parameters so
far, `checkpoint.safetensors` while it is not finished, and `log.jsonl`. What is random in a step depends on seed,
epoch, position and rank alone, so a resumed run has the losses of an unbroken one.
"""

from __future__ import annotations

import json
import math
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from ramify.corpus import Corpus, Loader, Mixture, Schedule
from ramify.corpus.structure import Array
from ramify.errors import ModelError, TrainingError
from ramify.formats.files import whole_file
from ramify.kernels.choice import Kernel, current
from ramify.kernels.inputs import Inputs
from ramify.model.folder import LOG, WEIGHTS, is_lack_of_memory, load_tensors, load_weights, save_tensors, write_weights
from ramify.model.language_model import LanguageModel
from ramify.model.output import NoiseContrastive
from ramify.tasks.evaluate import evaluate
from ramify.training.card import write_card
from ramify.training.descent import Descent
from ramify.training.distributed import Group
from ramify.training.gradient import clip, make_dense
from ramify.training.halving import Halving
from ramify.training.ledger import Entry, Ledger
from ramify.training.recipe import Decay, Objective, Optimiser, Precision, Recipe
from ramify.training.recorder import Recorder
from ramify.training.seeding import seed_step

CHECKPOINT = "checkpoint.safetensors"


@dataclass
class Watcher:
    """What a run tells while it goes; the command line shows it."""

    epoch: Callable[[int, int, int], None] = lambda epoch, batches, done: None  # an epoch starts, or goes on
    step: Callable[[int, float], None] = lambda words, loss: None  # a step: its words, the epoch's loss so far
    vectors: Callable[[int, int], None] = lambda found, words: None  # so many words have a pretrained vector
    valid: Callable[[dict[str, Any]], None] = lambda record: None  # what was logged at the end of an epoch
    stop: Callable[[], bool] = lambda: False  # asked after each step: True ends the run with a checkpoint


@dataclass
class State:
    """Where a run stands."""

    epoch: int = 0  # the epoch that is running
    position: int = 0  # batches of it that are done
    loss: float = 0.0  # summed over them
    words: int = 0
    lr: float = 0.0  # of the last step
    seconds: float = 0.0  # of training, over the whole run
    seconds_before: float = 0.0  # of these, before this epoch
    best_epoch: int = -1
    best_entropy: float = math.inf
    finished: bool = False
    halving: dict[str, Any] = field(default_factory=dict)


class Interrupted(TrainingError):  # noqa: N818 - it is no failure
    """The run was asked to stop; its checkpoint is written."""


class Trainer:
    """Trains a model on corpora by a recipe."""

    def __init__(
        self,
        model: LanguageModel,
        recipe: Recipe,
        corpora: list[Corpus],
        validation: tuple[Corpus, Array],
        folder: Path,
        *,
        weights: list[float] | None = None,
        group: Group | None = None,
        watcher: Watcher | None = None,
        threads: int = 1,
        checkpoint_every: float = 600.0,
        more_data: Sequence[str] = (),
    ) -> None:
        self.model = model
        self.recipe = recipe
        self.corpora = corpora
        self.weights = weights
        self.validation = validation
        self.more_data = more_data
        self.folder = folder
        self.group = group or Group()
        self.watcher = watcher or Watcher()
        self.checkpoint_every = checkpoint_every
        device = model.embedding.device
        if recipe.objective is Objective.NCE and model.noise is None:
            counts = torch.from_numpy(corpora[0].vocabulary.counts.copy())
            model.noise = NoiseContrastive(counts, recipe.noise, recipe.shared_noise, log_z=recipe.log_z).to(device)
        model.sparse_gradients = (
            self.group.world == 1
            and recipe.optimiser is not Optimiser.ADAMW
            and recipe.objective is Objective.NCE
            and device.type == "cpu"  # a GPU adds dense gradients faster than it sorts sparse ones
        )
        if recipe.vectors_frozen:
            model.embedding.requires_grad_(False)
        self.parameters = [parameter for parameter in model.parameters() if parameter.requires_grad]
        self.optimiser = _optimiser(recipe, self.parameters)
        alone = device.type == "cuda" and self.group.world == 1
        plain = alone and recipe.optimiser is Optimiser.SGD
        self.descent = Descent(model, recipe, self.optimiser) if plain else None
        schedule = Schedule(
            recipe.batch_size, window=recipe.window, seed=recipe.seed, rank=self.group.rank, world=self.group.world
        )
        self.batches: Loader | Mixture
        if len(corpora) == 1 and not weights:
            self.batches = Loader(corpora[0], schedule, threads=threads, build=model.build)
        else:
            self.batches = Mixture(corpora, weights or [1.0] * len(corpora), schedule, threads, build=model.build)
        self.halving = Halving(recipe.lr, recipe.patience, recipe.improvement, recipe.min_lr)
        self.ledger = Ledger(device)
        recordable = alone and recipe.optimiser is not Optimiser.ADAGRAD
        to_sample = next((corpus for corpus in corpora if len(corpus.training)), None)
        self.recorder = Recorder(model, self._learn, to_sample) if recordable and to_sample is not None else None
        self.state = State()

    # --- the run ---------------------------------------------------------------------------------------------------

    def run(self) -> State:
        """Train to the end, from wherever the state stands."""
        self.group.same_everywhere(self.parameters)
        self._write_card()
        try:
            while not self.state.finished:
                self._train_epoch()
                self._end_epoch()
        finally:
            self.recorder = None  # its memory, on a GPU, is wanted by the next run
            self.model.kept = None  # from here on, gradients are autograd's again
        self._write_card()
        if self.group.writes:
            (self.folder / CHECKPOINT).unlink(missing_ok=True)
        return self.state

    def _write_card(self) -> None:
        if self.group.writes:
            write_card(self.folder, self.model, self.recipe, self.corpora, self.validation, self.more_data)

    def _train_epoch(self) -> None:
        state, model = self.state, self.model
        plan = self.batches.plan(state.epoch)
        self.watcher.epoch(state.epoch, len(plan), state.position)
        started = saved = time.monotonic()
        before = state.seconds
        model.train()
        if self.descent is not None:
            self.descent.stale = True  # other parameters may have been loaded
        for batch in self.batches.epoch(state.epoch, state.position):
            self._set_learning_rate(len(plan))
            values = self.step(batch)
            state.position += 1
            self._account(self.ledger.enter(state.position, batch.sentences, batch.n_words, values))
            now = time.monotonic()
            state.seconds = before + now - started
            self.watcher.step(batch.n_words, state.loss / max(1, state.words))
            asked = self.group.most(2 if self.watcher.stop() else int(now - saved > self.checkpoint_every))
            if asked:
                self._account(self.ledger.settle())
                state.seconds = before + time.monotonic() - started  # a GPU has only now done all of it
                self.save()
                saved = now
            if asked == 2:
                raise Interrupted(
                    f"stopped in epoch {state.epoch + 1} after batch {state.position} of {len(plan)}; the checkpoint "
                    "is written: repeat the command with --resume to go on"
                )
        self._account(self.ledger.settle())
        state.seconds = before + time.monotonic() - started

    def _account(self, steps: list[Entry]) -> None:
        """Add up steps whose losses are known; one that is no number ends the run."""
        for step in steps:
            self._refuse_if_not_finite(step)
            self.state.loss += step.loss
            self.state.words += step.words

    def step(self, batch: Any) -> Tensor:
        """One step of the optimiser; the loss of the batch, summed over its words, and the gradient's norm [2]."""
        seed_step(self.recipe.seed, self.state.epoch, self.state.position, self.group.rank)
        fits = current(self.model.embedding) is Kernel.TRITON
        take = self.recorder if self.recorder is not None and fits else self._learn
        if self.descent is not None:
            self.descent.prepare(fits)
        try:
            return take(batch)
        except (MemoryError, RuntimeError) as error:
            if is_lack_of_memory(error):
                message = f"no memory left for {len(batch)} sentences, {batch.n_words} words: lower --batch-size"
                raise TrainingError(message) from error
            raise

    def _learn(self, batch: Any) -> Tensor:
        """The part of a step that a GPU does; the batch may be there already, as inputs."""
        recipe, model = self.recipe, self.model
        device = model.embedding.device.type
        empty = not isinstance(batch, Inputs) and not batch.n_words  # no share of the batch
        with torch.autocast(device, torch.bfloat16, enabled=recipe.precision is Precision.BF16):
            loss = self.parameters[0].sum() * 0.0 if empty else model.loss(batch)
        if self.descent is not None:
            norm = self.descent(loss)
        else:
            (loss / recipe.batch_size).backward()
            if recipe.optimiser is Optimiser.ADAMW:
                make_dense(self.parameters)
            self.group.sum_gradients(self.parameters)
            norm = clip(self.parameters, recipe.clip)
        values = torch.stack([loss.detach(), norm])
        if device == "cpu":  # a GPU tells too late
            self._refuse_if_not_finite(Entry(self.state.position + 1, batch.sentences, 0, *values.tolist()))
        if self.descent is None:
            self.optimiser.step()
        self.optimiser.zero_grad(set_to_none=True)
        return values

    def _refuse_if_not_finite(self, step: Entry) -> None:
        for what, value in (("loss", step.loss), ("gradient", step.norm)):
            if not math.isfinite(value):
                some = ", ".join(map(str, step.sentences[:5]))
                raise TrainingError(
                    f"the {what} is {value} at batch {step.position} of epoch {self.state.epoch + 1} "
                    f"(sentences {some}, ... of the corpus): try a lower --lr or --clip"
                )

    def _end_epoch(self) -> None:
        state, recipe = self.state, self.recipe
        found = evaluate(self.model, *self.validation)
        if not math.isfinite(found.entropy):
            raise TrainingError(
                f"the validation entropy is {found.entropy} after epoch {state.epoch + 1}: try a lower --lr or --clip"
            )
        totals = self.group.sum(torch.tensor([state.loss, state.words], dtype=torch.float64))
        record = {
            "epoch": state.epoch + 1,
            "lr": state.lr,
            "objective": str(recipe.objective),
            "train_loss": float(totals[0] / totals[1]),
            "valid_ppl": found.ppl,
            "valid_entropy": found.entropy,
            "words": int(totals[1]),
            "seconds": round(state.seconds, 1),
            "words_per_second": round(float(totals[1]) / max(1e-9, state.seconds - state.seconds_before)),
        }
        if found.entropy < state.best_entropy:
            state.best_entropy, state.best_epoch = found.entropy, state.epoch
            if self.group.writes:
                write_weights(self.folder, self.model)
        elif recipe.decay is Decay.HALVING:
            self.group.wait()
            load_weights(self.model, self.folder / WEIGHTS)  # the original: go on from the best parameters
            record["rolled_back"] = True
        self.halving.after_epoch(found.entropy)
        state.epoch, state.position, state.loss, state.words = state.epoch + 1, 0, 0.0, 0
        state.seconds_before = state.seconds
        stalled = state.epoch - 1 - state.best_epoch >= recipe.patience
        state.finished = state.epoch >= recipe.epochs or (
            self.halving.done if recipe.decay is Decay.HALVING else stalled and recipe.decay is Decay.CONSTANT
        )
        if self.group.writes:
            with (self.folder / LOG).open("a", encoding="utf-8") as log:
                log.write(json.dumps(record) + "\n")
        if not state.finished:
            self.save()
        self.watcher.valid(record)

    def _set_learning_rate(self, batches: int) -> None:
        recipe, state = self.recipe, self.state
        if recipe.decay is Decay.HALVING:
            lr = self.halving.lr
        elif recipe.decay is Decay.LINEAR:
            lr = recipe.lr * (1 - (state.epoch + state.position / batches) / recipe.epochs)
        else:
            lr = recipe.lr
        state.lr = lr
        for parameters in self.optimiser.param_groups:
            read = parameters["lr"] if self.descent is None else self.descent.lr
            if isinstance(read, Tensor):  # by recorded steps, where it lies
                read.fill_(lr)
            else:
                parameters["lr"] = lr

    # --- checkpoints -----------------------------------------------------------------------------------------------

    def save(self) -> None:
        """Write where the run stands; the file appears whole or not at all. All processes take part."""
        totals = self.group.sum(torch.tensor([self.state.loss, self.state.words], dtype=torch.float64))
        if self.group.writes:
            self._write(replace(self.state, loss=float(totals[0]), words=int(totals[1]), halving=asdict(self.halving)))
        self.group.wait()

    def _write(self, state: State) -> None:
        names = {id(parameter): name for name, parameter in self.model.named_parameters()}
        tensors = {f"model/{name}": parameter.data for name, parameter in self.model.named_parameters()}
        for parameter, moments in self.optimiser.state.items():
            for key, value in moments.items():
                tensors[f"optimiser/{names[id(parameter)]}/{key}"] = torch.as_tensor(value)
        about = {"state": asdict(state), "recipe": self.recipe.to_json(), "data": self._data}
        save_tensors(self.folder / CHECKPOINT, tensors, about)

    def resume(self) -> None:
        """Go on from the checkpoint in the folder."""
        path = self.folder / CHECKPOINT
        tensors, about = load_tensors(path)
        own = {"recipe": (self.recipe.to_json(), "another recipe"), "data": (self._data, "other data")}
        for key, (value, what) in own.items():
            if about.get(key) != value:
                raise ModelError(f"{path} belongs to {what}: resume with the options of the first start")
        on_host = self.recipe.optimiser is Optimiser.ADAGRAD  # its counts of steps
        for name, parameter in self.model.named_parameters():
            parameter.data.copy_(tensors[f"model/{name}"])
            moments = {
                key.rpartition("/")[2]: value if on_host and key.endswith("/step") else value.to(parameter.device)
                for key, value in tensors.items()
                if key.startswith(f"optimiser/{name}/")
            }
            if moments:
                self.optimiser.state[parameter] = moments
        self.state = State(**about["state"])
        self.halving = Halving(**self.state.halving)
        if self.group.writes:
            cut_log(self.folder / LOG, self.state.epoch)
        else:  # what was summed over the processes, the first one has
            self.state.loss, self.state.words = 0.0, 0

    @property
    def _data(self) -> dict[str, Any]:
        """By what the data of a run are known again."""
        sizes = [[len(corpus.training), corpus.n_words] for corpus in [*self.corpora, self.validation[0]]]
        return {"sizes": sizes, "weights": self.weights}


def cut_log(path: Path, epochs: int) -> None:
    """Forget epochs that were logged after the checkpoint was written."""
    if path.is_file():
        lines = path.read_text(encoding="utf-8").splitlines(keepends=True)[:epochs]
        with whole_file(path) as out:
            out.writelines(lines)


def _optimiser(recipe: Recipe, parameters: list[torch.nn.Parameter]) -> torch.optim.Optimizer:
    on_gpu = parameters[0].is_cuda
    lr: Any = torch.tensor(recipe.lr, device=parameters[0].device) if on_gpu else recipe.lr
    if recipe.optimiser is Optimiser.SGD:
        return torch.optim.SGD(parameters, lr, fused=on_gpu)  # on the CPU it may meet sparse gradients
    if recipe.optimiser is Optimiser.ADAGRAD:
        return torch.optim.Adagrad(parameters, recipe.lr)
    return torch.optim.AdamW(parameters, lr, weight_decay=recipe.weight_decay, fused=True, capturable=on_gpu)
