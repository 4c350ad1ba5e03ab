"""Recipe: every choice of a training run, from a TOML file, the command line, or code; saved with the model."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from enum import StrEnum
from pathlib import Path
from typing import Any

from ramify.errors import CallError
from ramify.model.config import Kind, ModelConfig
from ramify.training.choices import Choices, checked, known, read_toml, says

_BUNDLED = Path(__file__).parent / "recipes"


class Objective(StrEnum):
    NLL = "nll"
    NCE = "nce"


class Optimiser(StrEnum):
    SGD = "sgd"
    ADAGRAD = "adagrad"
    ADAMW = "adamw"


class Decay(StrEnum):
    HALVING = "halving"  # the original's: halve when validation stalls, stop when it stalls again
    LINEAR = "linear"  # down to nothing at the last epoch
    CONSTANT = "constant"


class Precision(StrEnum):
    FLOAT32 = "float32"
    TF32 = "tf32"
    BF16 = "bf16"


@dataclass(frozen=True)
class Recipe(Choices):
    """One field for each choice, in the order in which they matter; the help of the command line is made from them."""

    model: Kind = says(Kind.LDTREE, "What to train: tree, ldtree, lstm or bilstm.")
    hidden: int = says(400, "D, the hidden size.")
    embedding: int = says(200, "S, the embedding size.")
    layers: int = says(1, "Layers of the LSTMs.")
    objective: Objective = says(Objective.NLL, "nll (full softmax) or nce.")
    noise: int = says(20, "NCE: k, noise words for each word.")
    shared_noise: bool = says(False, "NCE: one set of noise words for the whole batch.")
    log_z: float = says(9.0, "NCE: ln Z at the start.")
    batch_size: int = says(64, "Sentences in a batch, over all processes.")
    epochs: int = says(50, "Epochs at most.")
    optimiser: Optimiser = says(Optimiser.SGD, "sgd, adagrad or adamw.")
    lr: float = says(1.0, "The learning rate; it refers to the loss of a sentence (sum over its words).")
    weight_decay: float = says(0.0, "AdamW: decay of the weights.")
    clip: float = says(5.0, "The gradient's norm at most; 0 for no limit.")
    decay: Decay = says(Decay.HALVING, "How the learning rate falls: halving, linear or constant.")
    patience: int = says(1, "Stalled epochs before halving starts; before stopping, where nothing is halved.")
    improvement: float = says(1.0001, "Halving: an epoch stalls unless entropy falls by this factor.")
    min_lr: float = says(1e-7, "Halving: stop below this learning rate.")
    init: float = says(0.1, "Weights start uniform between -INIT and INIT.")
    seed: int = says(1, "Of weights, batches, noise and dropout.")
    window: int = says(20, "Batches that are sorted by length together.")
    dropout_input: float = says(0.0, "Dropout on the input embeddings.")
    dropout_between: float = says(0.0, "Dropout between layers.")
    dropout_output: float = says(0.0, "Dropout before the output layer.")
    ld_hidden: int | None = says(None, "Size of the LD LSTM, where it is not D.")
    ld_layers: int = says(1, "Layers of the LD LSTM.")
    projection: int | None = says(None, "A linear layer of this size between D and the output.")
    tied: bool = says(False, "One matrix for input and output embeddings.")
    forget_bias: float = says(0.0, "Added to the forget gates' biases at the start.")
    label_aware: bool = says(False, "Give the model the relation of the word to be predicted.")
    vectors_frozen: bool = says(False, "Leave pretrained vectors as they are.")
    precision: Precision = says(Precision.FLOAT32, "float32, tf32 or bf16.")
    min_count: int = says(1, "Of a treebank: words that occur no more often become UNK.")
    max_vocab: int | None = says(None, "Of a treebank: the vocabulary's size at most.")
    lowercase: bool = says(False, "Of a treebank: lower-case all words.")
    max_length: int | None = says(None, "Of a treebank: leave longer sentences out.")

    def __post_init__(self) -> None:
        for name, kind in (
            ("model", Kind),
            ("objective", Objective),
            ("optimiser", Optimiser),
            ("decay", Decay),
            ("precision", Precision),
        ):
            try:
                object.__setattr__(self, name, kind(getattr(self, name)))
            except ValueError:
                known = ", ".join(kind)
                raise CallError(f"{name} is {getattr(self, name)!r}; known are {known}") from None
        if min(self.batch_size, self.epochs, self.noise, self.window, self.patience) < 1:
            raise CallError("batch_size, epochs, noise, window and patience are at least 1")
        self.check_numbers()
        if min(self.clip, self.weight_decay, self.init, self.min_lr, self.min_count) < 0 or self.lr <= 0:
            raise CallError("lr is above 0; clip, weight_decay, init, min_lr and min_count are 0 or more")
        if self.improvement <= 0:
            raise CallError("improvement is a factor above 0, such as 1.0001")
        if abs(self.log_z) > 80:
            raise CallError(f"log_z lies between -80 and 80: e to the power of {self.log_z:g} is no float32")
        if not 0 <= self.seed < 1 << 63:
            raise CallError(f"a seed is 0 or more and has 63 bits at most, not {self.seed}")
        _ = self.config  # refuses sizes that do not fit together

    @property
    def config(self) -> ModelConfig:
        """The part that decides what the model computes."""
        shared = {each.name for each in fields(ModelConfig)} & {each.name for each in fields(self)}
        parts = {name: getattr(self, name) for name in shared}
        return ModelConfig(kind=self.model, output_bias=self.objective is Objective.NLL, **parts)


def recipes() -> list[str]:
    """The names of the recipes that come with Ramify."""
    return sorted(path.stem for path in _BUNDLED.glob("*.toml"))


def load_recipe(name: str | Path | None = None, **changes: Any) -> Recipe:
    """A recipe by name or from a file, with some fields changed. Unknown fields are refused."""
    return replace(checked(Recipe(), _read(name) if name else {}, str(name)), **known(Recipe, changes))


def _read(name: str | Path) -> dict[str, Any]:
    bundled = _BUNDLED / f"{name}.toml"
    path = bundled if bundled.is_file() else Path(name)
    if not path.is_file():
        raise CallError(f"no recipe {name}; known are {', '.join(recipes())}, or a TOML file")
    return read_toml(path)
