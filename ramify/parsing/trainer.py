"""ParserTrainer: epochs of steps with validation, a checkpoint that survives anything, and a log.

The folder is that of a language model's run: config, lexicon and recipe from the start, the best parameters so far, a
checkpoint while it is not finished, and the log. What is random in a step depends on seed, epoch and position alone,
so a resumed run has the losses of an unbroken one.
"""

from __future__ import annotations

import json
import math
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from ramify.corpus.structure import Array
from ramify.errors import ModelError, TrainingError
from ramify.model.folder import LOG, is_lack_of_memory, load_tensors, save_tensors
from ramify.parsing.accuracy import Accuracy, accuracy
from ramify.parsing.card import write_card
from ramify.parsing.examples import Examples, build, shuffled
from ramify.parsing.folder import write_weights
from ramify.parsing.lexicon import Lexicon
from ramify.parsing.model import ParserModel
from ramify.parsing.parser import Parser
from ramify.parsing.recipe import ParserRecipe
from ramify.training.gradient import clip
from ramify.training.ledger import Entry, Ledger
from ramify.training.recipe import Precision
from ramify.training.seeding import seed_step
from ramify.training.trainer import CHECKPOINT, Interrupted, Watcher, cut_log
from ramify.trees import Tree


@dataclass
class ParserState:
    """Where a run stands."""

    epoch: int = 0  # the epoch that is running
    position: int = 0  # batches of it that are done
    loss: float = 0.0  # summed over them
    words: int = 0
    lr: float = 0.0  # of the last step
    seconds: float = 0.0  # of training, over the whole run
    best_epoch: int = -1
    best_las: float = -math.inf
    best_uas: float = 0.0


@dataclass(frozen=True)
class Data:
    """What a run learns from and is validated on, and what its card says of it."""

    training: Examples
    valid: Examples
    gold: Sequence[Tree]
    lines: list[str]


class ParserTrainer:
    """Trains a parser on examples by a recipe."""

    def __init__(
        self,
        model: ParserModel,
        lexicon: Lexicon,
        recipe: ParserRecipe,
        data: Data,
        folder: Path,
        *,
        watcher: Watcher | None = None,
        checkpoint_every: float = 600.0,
    ) -> None:
        self.model = model
        self.recipe = recipe
        self.data = data
        self.folder = folder
        self.watcher = watcher or Watcher()
        self.checkpoint_every = checkpoint_every
        self.parser = Parser(model, lexicon)
        self.parameters = list(model.parameters())
        self.optimiser = torch.optim.AdamW(
            self.parameters, recipe.lr, betas=(0.9, 0.95), weight_decay=recipe.weight_decay, fused=True
        )
        self.ledger = Ledger(model.device)
        self.state = ParserState()

    def run(self) -> ParserState:
        """Train to the end, from wherever the state stands."""
        write_card(self.folder, self.model, self.recipe, self.data.lines)
        while self.state.epoch < self.recipe.epochs:
            self._train_epoch()
            self._end_epoch()
        write_card(self.folder, self.model, self.recipe, self.data.lines)
        (self.folder / CHECKPOINT).unlink(missing_ok=True)
        return self.state

    def _train_epoch(self) -> None:
        state, recipe, data = self.state, self.recipe, self.data
        batches = shuffled(data.training, np.arange(len(data.training)), recipe.batch_words, recipe.seed, state.epoch)
        if state.position > len(batches):
            raise ModelError(f"{self.folder / CHECKPOINT} stands behind the end of an epoch: train again with --force")
        self.watcher.epoch(state.epoch, len(batches), state.position)
        started = saved = time.monotonic()
        before = state.seconds
        self.model.train()
        for sentences in batches[state.position :]:
            state.lr = recipe.lr * (1 - (state.epoch + state.position / len(batches)) / recipe.epochs)
            self.optimiser.param_groups[0]["lr"] = state.lr
            words = int(data.training.lengths[sentences].sum())
            values = self.step(sentences)
            state.position += 1
            self._account(self.ledger.enter(state.position, sentences, words, values))
            now = time.monotonic()
            state.seconds = before + now - started
            self.watcher.step(words, state.loss / max(1, state.words))
            asked = self.watcher.stop()
            if asked or now - saved > self.checkpoint_every:
                self._account(self.ledger.settle())
                self.save()
                saved = now
            if asked:
                raise Interrupted(
                    f"stopped in epoch {state.epoch + 1} after batch {state.position} of {len(batches)}; the "
                    "checkpoint is written: repeat the command with --resume to go on"
                )
        self._account(self.ledger.settle())
        state.seconds = before + time.monotonic() - started

    def step(self, sentences: Array) -> Tensor:
        """One step of the optimiser; the loss of the batch, summed over its words, and the gradient's norm [2]."""
        recipe = self.recipe
        seed_step(recipe.seed, self.state.epoch, self.state.position)
        batch = build(self.data.training, sentences)
        try:
            with torch.autocast(self.model.device.type, torch.bfloat16, enabled=recipe.precision is Precision.BF16):
                loss = self.model.loss(batch)
            (loss / batch.n_words).backward()
            norm = clip(self.parameters, recipe.clip)
            self.optimiser.step()
        except (MemoryError, RuntimeError) as error:
            if is_lack_of_memory(error):
                message = f"no memory left for {len(sentences)} sentences, {batch.n_words} words: lower --batch-words"
                raise TrainingError(message) from error
            raise
        self.optimiser.zero_grad(set_to_none=True)
        return torch.stack([loss.detach().float(), norm])

    def _account(self, steps: list[Entry]) -> None:
        """Add up steps whose losses are known; one that is no number ends the run."""
        for step in steps:
            if not math.isfinite(step.loss) or not math.isfinite(step.norm):
                raise TrainingError(
                    f"the loss is {step.loss} and the gradient {step.norm} at batch {step.position} of epoch "
                    f"{self.state.epoch + 1}: try a lower --lr or --clip"
                )
            self.state.loss += step.loss
            self.state.words += step.words

    def validate(self) -> Accuracy:
        self.model.eval()
        found = self.parser.annotate(self.data.valid)
        return accuracy(zip(self.data.gold, (each[0] for each in found), strict=True))

    def _end_epoch(self) -> None:
        state, before = self.state, time.monotonic()
        found = self.validate()
        record: dict[str, Any] = {
            "epoch": state.epoch + 1,
            "lr": state.lr,
            "train_loss": state.loss / max(1, state.words),
            "valid_uas": found.uas,
            "valid_las": found.las,
            "valid_upos": found.upos,
            "words": state.words,
            "seconds": round(state.seconds, 1),
            "seconds_of_validation": round(time.monotonic() - before, 1),
        }
        if found.las > state.best_las:
            state.best_las, state.best_uas, state.best_epoch = found.las, found.uas, state.epoch
            write_weights(self.folder, self.model)
        state.epoch, state.position, state.loss, state.words = state.epoch + 1, 0, 0.0, 0
        with (self.folder / LOG).open("a", encoding="utf-8") as log:
            log.write(json.dumps(record) + "\n")
        if state.epoch < self.recipe.epochs:
            self.save()
        self.watcher.valid(record)

    # --- checkpoints -----------------------------------------------------------------------------------------------

    def save(self) -> None:
        """Write where the run stands; the file appears whole or not at all."""
        names = {id(parameter): name for name, parameter in self.model.named_parameters()}
        tensors = {f"model/{name}": value for name, value in self.model.state_dict().items()}
        for parameter, moments in self.optimiser.state.items():
            for key, value in moments.items():
                tensors[f"optimiser/{names[id(parameter)]}/{key}"] = torch.as_tensor(value)
        about = {"state": asdict(self.state), "recipe": self.recipe.to_json(), "data": self.data.lines}
        save_tensors(self.folder / CHECKPOINT, tensors, about)

    def resume(self) -> None:
        """Go on from the checkpoint in the folder."""
        path = self.folder / CHECKPOINT
        tensors, about = load_tensors(path)
        own = {"recipe": (self.recipe.to_json(), "another recipe"), "data": (self.data.lines, "other data")}
        for key, (value, what) in own.items():
            if about.get(key) != value:
                raise ModelError(f"{path} belongs to {what}: resume with the options of the first start")
        self.model.load_state_dict({name: tensors[f"model/{name}"] for name in self.model.state_dict()})
        for name, parameter in self.model.named_parameters():
            start = f"optimiser/{name}/"
            moments = {key.removeprefix(start): value for key, value in tensors.items() if key.startswith(start)}
            if moments:
                self.optimiser.state[parameter] = {key: value.to(parameter.device) for key, value in moments.items()}
        self.state = ParserState(**about["state"])
        cut_log(self.folder / LOG, self.state.epoch)
