"""ModelConfig: everything that decides what a model computes; saved with its weights."""

from __future__ import annotations

from dataclasses import asdict, dataclass, fields
from enum import StrEnum
from typing import Any

from ramify.errors import CallError


class Kind(StrEnum):
    TREE = "tree"  # TreeLSTM
    LDTREE = "ldtree"  # LdTreeLSTM
    LSTM = "lstm"  # the paper's sequence baseline, left to right
    BILSTM = "bilstm"  # and its bidirectional one

    @property
    def reads_trees(self) -> bool:
        return self in (Kind.TREE, Kind.LDTREE)

    @property
    def number(self) -> str:
        """What the log-probabilities of this kind of model are; numbers of different kinds cannot be compared."""
        return {Kind.LSTM: "P(S)", Kind.BILSTM: "pseudo-likelihood"}.get(self, "P(S|T)")


@dataclass(frozen=True)
class ModelConfig:
    """Sizes and options of a model. The paper's models have one or two layers and S = D / 2; the rest is off there."""

    kind: Kind = Kind.LDTREE
    hidden: int = 400  # D
    embedding: int = 200  # S
    layers: int = 1
    ld_hidden: int | None = None  # size of the LD LSTM; D when left out
    ld_layers: int = 1
    output_bias: bool = True  # the original: yes with the softmax, no with NCE
    projection: int | None = None  # a linear layer of this size between D and the output
    tied: bool = False  # one matrix for input and output embeddings; S must be the size before the output
    forget_bias: float = 0.0  # added to the initial biases of forget gates
    label_aware: bool = False  # the relation of the word to be predicted, embedded and added to the input
    dropout_input: float = 0.0
    dropout_between: float = 0.0  # between layers
    dropout_output: float = 0.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "kind", Kind(self.kind))
        sizes = self.hidden, self.embedding, self.layers, self.ld_layers, self.ld_hidden or 1, self.projection or 1
        if not all(type(size) is int and 1 <= size < 1 << 31 for size in sizes):
            raise CallError("sizes and numbers of layers are whole numbers, at least 1 and below 2^31")
        if not all(type(switch) is bool for switch in (self.output_bias, self.tied, self.label_aware)):
            raise CallError("output_bias, tied and label_aware are true or false")
        if type(self.forget_bias) not in (int, float) or not abs(self.forget_bias) <= 1e30:
            raise CallError("forget_bias is a number")
        if any(not 0 <= p < 1 for p in (self.dropout_input, self.dropout_between, self.dropout_output)):
            raise CallError("dropout rates lie between 0 and 1")
        if self.tied and self.embedding != self.before_output:
            raise CallError(
                f"tied embeddings need S = {self.embedding} to be the size before the output, {self.before_output}: "
                f"add a projection of {self.embedding}"
            )
        if self.label_aware and not self.kind.reads_trees:
            raise CallError("label-aware edges need a tree model")

    @property
    def before_output(self) -> int:
        """The width of the output matrix."""
        return self.projection or self.state

    @property
    def state(self) -> int:
        """The width of a state: D, or 2 D where two directions meet."""
        return 2 * self.hidden if self.kind is Kind.BILSTM else self.hidden

    def to_json(self) -> dict[str, Any]:
        return asdict(self) | {"kind": str(self.kind)}

    @classmethod
    def from_json(cls, parts: dict[str, Any]) -> ModelConfig:
        unknown = set(parts) - {field.name for field in fields(cls)}
        if unknown:
            raise CallError(f"unknown model options: {', '.join(sorted(unknown))}")
        return cls(**parts)
