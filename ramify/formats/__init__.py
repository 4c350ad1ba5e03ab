"""Treebank files in and out: CoNLL-U, CoNLL-X, Stanford tuples, k-best lists."""

from ramify.formats.conllu import Sentence, parse_conllu, read_conllu, stop
from ramify.formats.kbest import KBest, group
from ramify.formats.registry import Format, input_format, output_format, read, read_sentences, write

__all__ = [
    "Format",
    "KBest",
    "Sentence",
    "group",
    "input_format",
    "output_format",
    "parse_conllu",
    "read",
    "read_conllu",
    "read_sentences",
    "stop",
    "write",
]
