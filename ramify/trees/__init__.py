"""What a dependency tree is: the tree itself, its dependency paths, projectivity, and pictures."""

from ramify.trees.paths import (
    Dependents,
    EdgeType,
    Path,
    Step,
    breadth_first,
    dependency_path,
    dependents,
    levels,
    predecessors,
    tree_from_paths,
)
from ramify.trees.projectivity import NonProjective, is_projective, lift
from ramify.trees.tree import ROOT, Tree, Word

__all__ = [
    "ROOT",
    "Dependents",
    "EdgeType",
    "NonProjective",
    "Path",
    "Step",
    "Tree",
    "Word",
    "breadth_first",
    "dependency_path",
    "dependents",
    "is_projective",
    "levels",
    "lift",
    "predecessors",
    "tree_from_paths",
]
