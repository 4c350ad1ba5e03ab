"""ParserRecipe: every choice of a parser's training run; the sizes among them decide what the parser computes."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

from ramify.errors import CallError
from ramify.training.choices import Choices, checked, known, read_toml, says
from ramify.training.recipe import Precision


@dataclass(frozen=True)
class ParserConfig:
    """What the parser computes; saved with its weights."""

    words: int
    characters: int
    filters: int
    vectors: int
    hidden: int
    layers: int
    arcs: int
    labels: int
    siblings: int
    order: int
    sibling_weight: float
    dropout: float
    word_dropout: float

    def __post_init__(self) -> None:
        for name in (each.name for each in fields(self) if each.type == "int"):
            value = getattr(self, name)
            if type(value) is not int or not (0 if name == "vectors" else 1) <= value < 1 << 20:
                raise CallError(f"{name} is {value!r}; sizes are whole numbers, at least 1 and at most a million")
        if self.order not in (1, 2):
            raise CallError(f"order is {self.order}: scores are of arcs (1) or of adjacent siblings too (2)")
        if not 0 <= self.dropout < 1 or not 0 <= self.word_dropout < 1:
            raise CallError("dropout rates lie between 0 and 1")
        if not 0 < self.sibling_weight <= 100:
            raise CallError(f"sibling_weight is {self.sibling_weight:g}; it lies between 0 and 100")


@dataclass(frozen=True)
class ParserRecipe(Choices):
    """One field for each choice, in the order in which they matter."""

    hidden: int = says(300, "The hidden size of the LSTMs, in each direction.")
    layers: int = says(3, "Layers of LSTMs.")
    words: int = says(100, "The size of word embeddings.")
    characters: int = says(32, "The size of character embeddings.")
    filters: int = says(100, "The size of what the characters of a word become.")
    arcs: int = says(300, "The size in which heads and dependents meet.")
    siblings: int = says(128, "The size in which a head and its last dependent meet the next one.")
    labels: int = says(100, "The size in which heads and dependents meet for their relation.")
    order: int = says(2, "1 scores arcs, 2 adjacent siblings too.")
    sibling_weight: float = says(1.0, "What siblings count beside arcs.")
    epochs: int = says(15, "Epochs.")
    batch_words: int = says(500, "Words in a batch.")
    lr: float = says(2e-3, "The learning rate of AdamW at the start; it falls to nothing at the last epoch.")
    weight_decay: float = says(0.01, "Decay of the weights.")
    clip: float = says(5.0, "The gradient's norm at most; 0 for no limit.")
    dropout: float = says(0.33, "Dropout, the same for all words of a sentence.")
    word_dropout: float = says(0.15, "How often a word is hidden, so that its characters must do.")
    min_count: int = says(1, "Words that occur no more often have no embedding of their own.")
    max_length: int = says(150, "Longer sentences are left out of the training.")
    seed: int = says(1, "Of weights, batches and dropout.")
    precision: Precision = says(Precision.FLOAT32, "float32, tf32 or bf16.")

    def __post_init__(self) -> None:
        try:
            object.__setattr__(self, "precision", Precision(self.precision))
        except ValueError:
            raise CallError(f"precision is {self.precision!r}; known are {', '.join(Precision)}") from None
        self.check_numbers()
        if min(self.epochs, self.batch_words, self.max_length) < 1:
            raise CallError("epochs, batch_words and max_length are at least 1")
        if min(self.clip, self.weight_decay, self.min_count) < 0 or self.lr <= 0:
            raise CallError("lr is above 0; clip, weight_decay and min_count are 0 or more")
        if not 0 <= self.seed < 1 << 63:
            raise CallError(f"a seed is 0 or more and has 63 bits at most, not {self.seed}")
        _ = self.config(0)  # refuses sizes that cannot be

    def config(self, vectors: int) -> ParserConfig:
        """What is computed, with pretrained vectors of this size (0: without)."""
        shared = {each.name for each in fields(ParserConfig)} & {each.name for each in fields(self)}
        return ParserConfig(vectors=vectors, **{name: getattr(self, name) for name in shared})


def load_parser_recipe(path: Path | None = None, **changes: Any) -> ParserRecipe:
    """The recipe of a file, or the usual one, with some fields changed."""
    recipe = ParserRecipe()
    if path is not None:
        if not path.is_file():
            raise CallError(f"no recipe {path}: it is a TOML file")
        recipe = checked(recipe, read_toml(path), str(path))
    return replace(recipe, **known(ParserRecipe, changes))
