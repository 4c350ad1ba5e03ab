"""Ramify: a language model that grows dependency trees top-down."""

from ramify.errors import CallError, FormatError, RamifyError, StoreError, TreeError
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

__version__ = "0.1.0"

__all__ = [
    "CallError",
    "EdgeType",
    "FormatError",
    "NonProjective",
    "RamifyError",
    "Sentence",
    "StoreError",
    "Tree",
    "TreeError",
    "breadth_first",
    "dependency_path",
    "is_projective",
    "levels",
    "lift",
    "parse_conllu",
    "predecessors",
    "read",
    "read_sentences",
    "tree_from_paths",
    "write",
]
