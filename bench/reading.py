"""CoNLL-U readers on all of English EWT, on one core: words a second, beside conllu and ufal.udpipe.

Each reader goes through the whole file and gives at least form, head and relation of each word. Ramify checks that
every sentence is a tree: `read_columns` gives forms, heads and relations, what `ramify encode` needs; `read_conllu`
also tags, identity and the exact text. The line split, a lower bound for Python, checks nothing and keeps nothing.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterable
from pathlib import Path

from bench.common import heading
from ramify.benchmark.timing import median_seconds
from ramify.formats import read_conllu
from ramify.formats.conllu import FORM, HEAD, ID, read_columns
from ramify.formats.files import text_chunks


def main() -> None:
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    heading("conllu", "ufal.udpipe")
    text = "".join(piece for part in ("train", "dev", "test") for piece in text_chunks(f"ewt:{part}"))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "ewt.conllu"
        path.write_text(text, encoding="utf-8")
        words = sum(len(sentence.tree) for sentence in read_conllu(path))
        print(f"data: EWT train, dev and test, {words:,} words, {path.stat().st_size / 1e6:.1f} MB, plain text\n")
        jobs: dict[str, Callable[[], object]] = {
            "ramify: columns of a corpus": lambda: read_with_ramify(read_columns, path),
            "ramify: trees and lossless text": lambda: read_with_ramify(read_conllu, path),
            "ramify: the same, written back": lambda: round_trip(path, Path(folder) / "again.conllu"),
            "line split, nothing checked": lambda: split_lines(path),
            "ufal.udpipe: parse alone": lambda: read_with_udpipe(path, attributes=False),
            "ufal.udpipe: and five attributes": lambda: read_with_udpipe(path, attributes=True),
            "conllu": lambda: read_with_conllu(path),
        }
        times = median_seconds(jobs)
    ours = times["ramify: columns of a corpus"]
    print(f"{'reader':<34}{'seconds':>9}{'words/s':>12}{'Ramify is faster by':>21}")
    for name, seconds in times.items():
        print(f"{name:<34}{seconds:>9.3f}{words / seconds:>12,.0f}{seconds / ours:>20.2f}x")


def read_with_ramify(reader: Callable[[Path], Iterable[object]], path: Path) -> None:
    for _ in reader(path):
        pass


def round_trip(path: Path, again: Path) -> None:
    with again.open("w", encoding="utf-8", newline="") as out:
        out.writelines(sentence.text for sentence in read_conllu(path))
    assert again.stat().st_size == path.stat().st_size


def split_lines(path: Path) -> None:
    with path.open(encoding="utf-8") as lines:
        for line in lines:
            fields = line.split("\t")
            if fields[ID].isdigit():
                _ = (fields[FORM], int(fields[HEAD]))


def read_with_udpipe(path: Path, attributes: bool) -> None:
    from ufal import udpipe

    reader = udpipe.InputFormat.newConlluInputFormat()
    reader.setText(path.read_text(encoding="utf-8"))
    sentence, error = udpipe.Sentence(), udpipe.ProcessingError()
    while reader.nextSentence(sentence, error):
        if attributes:
            for word in sentence.words:
                _ = (word.form, word.head, word.deprel, word.upostag, word.xpostag)


def read_with_conllu(path: Path) -> None:
    import conllu

    with path.open(encoding="utf-8") as file:
        for _ in conllu.parse_incr(file):
            pass


if __name__ == "__main__":
    main()
