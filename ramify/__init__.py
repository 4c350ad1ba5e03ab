"""Ramify: a language model that grows dependency trees top-down."""

from typing import TYPE_CHECKING, Any

from ramify.errors import CallError, FormatError, ModelError, RamifyError, StoreError, TrainingError, TreeError
from ramify.formats import Sentence, parse_conllu, read, read_sentences, write
from ramify.trees import (
    EdgeType,
    NonProjective,
    Tree,
    breadth_first,
    dependency_path,
    is_projective,
    levels,
    lift,
    predecessors,
    tree_from_paths,
)

if TYPE_CHECKING:
    from ramify.tasks.score import LM, load

__version__ = "0.1.0"

__all__ = [
    "LM",
    "CallError",
    "EdgeType",
    "FormatError",
    "ModelError",
    "NonProjective",
    "RamifyError",
    "Sentence",
    "StoreError",
    "TrainingError",
    "Tree",
    "TreeError",
    "breadth_first",
    "dependency_path",
    "is_projective",
    "levels",
    "lift",
    "load",
    "parse_conllu",
    "predecessors",
    "read",
    "read_sentences",
    "tree_from_paths",
    "write",
]


def __getattr__(name: str) -> Any:
    """What needs torch is imported when it is asked for."""
    if name in ("LM", "load"):
        from ramify.tasks import score

        return getattr(score, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
