"""Fit: does a text look like what a model was trained on? Warnings for accidents of casing and tokenisation."""

from __future__ import annotations

from dataclasses import dataclass

from ramify.corpus import Vocabulary
from ramify.corpus.vocabulary import UNK
from ramify.tasks.score import SentenceScore

_MARKS = ".,;:!?\"'()[]"


@dataclass
class Fit:
    """Counts over scored sentences; `warnings` says what looks wrong."""

    vocabulary: Vocabulary
    words: int = 0
    unknown: int = 0
    known_in_other_case: int = 0
    known_without_marks: int = 0

    def add(self, score: SentenceScore) -> None:
        index = self.vocabulary.index
        self.words += len(score.tree)
        for form, unknown in zip(score.tree.forms, score.is_unk.tolist(), strict=True):
            if unknown:
                self.unknown += 1
                self.known_in_other_case += form.lower() in index or form.capitalize() in index
                self.known_without_marks += form != (bare := form.strip(_MARKS)) and bare in index

    def warnings(self) -> list[str]:
        if self.words < 20:
            return []
        counts = self.vocabulary.counts
        expected = counts[UNK] / max(1, counts.sum())
        rate = self.unknown / self.words
        found = []
        if rate > 0.05 + 2 * expected:
            found.append(f"{rate:.1%} of the words are unknown to the model, {expected:.1%} were in its training data")
        if self.known_in_other_case > 0.03 * self.words:
            found.append(
                f"{self.known_in_other_case:,} unknown words are known in another case: is the casing the same?"
            )
        if self.known_without_marks > 0.02 * self.words:
            found.append(
                f"{self.known_without_marks:,} unknown words are known without the marks around them: "
                "is the text tokenised?"
            )
        return found
