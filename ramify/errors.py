"""What can go wrong, as one small family.

RamifyError            the work failed: the command line says why and exits with 1
├── CallError          the call was wrong (no such file, unknown name): exit 2
├── TreeError          heads that are no tree; knows the word at fault
├── FormatError        a treebank file that cannot be read; knows file, line and sent_id
├── StoreError         a corpus store that is truncated, foreign or of another version
├── ModelError         a model folder that is damaged, foreign or of another version
└── TrainingError      training that cannot go on: a loss that is no number, no memory left
"""

from __future__ import annotations


class RamifyError(Exception):
    """The base of every error that Ramify raises on purpose."""


class CallError(RamifyError):
    """The call itself is wrong, whatever the data."""


class TreeError(RamifyError):
    """These heads are not a dependency tree; `word` (1-based, 0 if none) is where it shows."""

    def __init__(self, message: str, word: int = 0) -> None:
        super().__init__(message, word)
        self.message = message
        self.word = word

    def __str__(self) -> str:
        return self.message


class FormatError(RamifyError):
    """A file says something that its format does not allow: `dev.conllu:14 (sent_id s3): why`."""

    def __init__(self, message: str, source: str = "", line: int = 0, sent_id: str = "") -> None:
        super().__init__(message, source, line, sent_id)  # all of them, so that it can be pickled
        self.message = message
        self.source = source
        self.line = line
        self.sent_id = sent_id

    @property
    def address(self) -> str:
        place = f"{self.source}:{self.line}" if self.line else self.source
        return f"{place} (sent_id {self.sent_id})" if self.sent_id else place

    def __str__(self) -> str:
        return f"{self.address}: {self.message}" if self.address else self.message


class StoreError(RamifyError):
    """A folder that is no corpus store, or a store that was damaged or made by another version."""


class ModelError(RamifyError):
    """A folder that is no model, or a model that was damaged or made by another version."""


class TrainingError(RamifyError):
    """Training that cannot go on; what was reached is kept in the model's folder."""
