"""Store: a corpus as a folder, its arrays mapped into memory when it is opened.

    store.json         what this is: format, version, options, sources, and a checksum for each file
    vocabulary.json    words and counts, a line each
    words.npy  heads.npy  labels.npy      one number for each word
    lengths.npy  depths.npy               one number for each sentence
    held_out.npy                          the sentences that training leaves alone

A store appears whole or not at all, and is refused when a byte of it is missing or changed.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ramify import __version__
from ramify.corpus.corpus import Corpus
from ramify.corpus.encode import Encoding, encode
from ramify.corpus.structure import Array
from ramify.corpus.vocabulary import Vocabulary
from ramify.errors import CallError, RamifyError, StoreError
from ramify.formats.files import Progress

FORMAT, VERSION = "ramify-store", 1
META, VOCABULARY = "store.json", "vocabulary.json"
ARRAYS = ("words", "heads", "labels", "lengths", "depths", "held_out")


def is_store(path: str | Path) -> bool:
    return (Path(path) / META).is_file()


def encode_to_store(
    sources: Sequence[str | Path],
    target: str | Path,
    encoding: Encoding | None = None,
    *,
    processes: int = 1,
    progress: Progress | None = None,
    overwrite: bool = False,
) -> Corpus:
    """Encode treebank files straight into a store, so that memory does not grow with the corpus, and open it."""
    with _whole_folder(Path(target), overwrite) as folder:
        corpus = encode(
            sources, encoding, processes=processes, progress=progress, allocate=lambda *column: _file(folder, *column)
        )
        _write_meta(folder, corpus)
    return open_store(target, verify=False)


def save_store(corpus: Corpus, target: str | Path, *, overwrite: bool = False) -> None:
    """Write a corpus as a store."""
    with _whole_folder(Path(target), overwrite) as folder:
        for name in ARRAYS:
            np.save(folder / f"{name}.npy", getattr(corpus, name))
        _write_meta(folder, corpus)


def open_store(path: str | Path, *, verify: bool = True) -> Corpus:
    """Open a store; its arrays stay on disk until they are read. `verify` compares every byte with its checksum."""
    folder = Path(path)
    meta = read_meta(folder)
    for name, about in meta["files"].items():
        file = folder / name
        if not file.is_file():
            raise StoreError(f"{folder} is not whole: {name} is missing; encode it again")
        if file.stat().st_size != about["bytes"]:
            size = file.stat().st_size
            raise StoreError(f"{folder} is damaged: {name} has {size} bytes, not {about['bytes']}; encode it again")
        if verify and _checksum(file) != about["sha256"]:
            raise StoreError(f"{folder} is damaged: {name} does not match its checksum; encode it again")
    arrays = {name: _mapped(folder, f"{name}.npy") for name in ARRAYS}
    return Corpus(Vocabulary.load(folder / VOCABULARY), **arrays, about=meta["about"])


def read_vocabulary(path: str | Path) -> Vocabulary:
    """The vocabulary of a store or a model, or of a vocabulary.json anywhere."""
    return Vocabulary.load(Path(path) / VOCABULARY if Path(path).is_dir() else path)


def read_meta(folder: Path) -> dict[str, Any]:
    """What a store says of itself; refused when it is none or of another version."""
    if not folder.exists():
        raise CallError(f"no such store: {folder}")
    how = "make one with: ramify encode TREEBANK -o STORE"
    if not is_store(folder):
        raise StoreError(f"{folder} is no store: it has no {META}; {how}")
    try:
        meta: dict[str, Any] = json.loads((folder / META).read_text(encoding="utf-8"))
        found, version = meta.get("format"), meta.get("version")
    except (ValueError, AttributeError) as error:
        raise StoreError(f"{folder / META} cannot be read: {error}; encode it again") from None
    if found != FORMAT:
        raise StoreError(f"{folder} is no store: {META} names the format {found!r}; {how}")
    if version != VERSION:
        raise StoreError(f"{folder} has version {version} and this Ramify reads {VERSION}; encode it again")
    files, about = meta.get("files"), meta.get("about")
    if (
        not (isinstance(files, dict) and isinstance(about, dict))
        or files.keys() != {VOCABULARY, *(f"{name}.npy" for name in ARRAYS)}
        or not all(isinstance(file, dict) and file.keys() >= {"bytes", "sha256"} for file in files.values())
    ):
        raise StoreError(f"{folder} is damaged: {META} does not describe the files of a store; encode it again")
    if not (
        all(type(meta.get(key)) is int for key in ("sentences", "words", "vocabulary", "held_out"))
        and isinstance(meta.get("ramify"), str)
        and _is_sound(about)
    ):
        raise StoreError(f"{folder} is damaged: {META} does not say what the store holds; encode it again")
    return meta


def _is_sound(about: dict[str, Any]) -> bool:
    """Has what is said of a corpus the shape that its readers expect? All of it may be missing."""
    left_out, sources = about.get("left_out", {}), about.get("sources", [])
    return (
        isinstance(about.get("options", {}), dict)
        and isinstance(left_out, dict)
        and all(type(count) is int for count in left_out.values())
        and isinstance(sources, list)
        and all(isinstance(source, dict) for source in sources)
        and all(isinstance(source.get("name"), str) for source in sources)
        and all(type(source.get(key)) is int for source in sources for key in ("sentences", "words"))
    )


def _mapped(folder: Path, name: str) -> Array:
    try:
        return np.asarray(np.load(folder / name, mmap_mode="r"))
    except (ValueError, EOFError) as error:  # possible where the checksum was not asked for
        raise StoreError(f"{folder} is damaged: {name} cannot be read: {error}; encode it again") from None


def _file(folder: Path, name: str, dtype: np.dtype[Any], size: int) -> Array:
    if not size:  # an empty file cannot be mapped
        np.save(folder / f"{name}.npy", np.empty(0, dtype))
        return np.empty(0, dtype)
    file = folder / f"{name}.npy"
    array = np.lib.format.open_memmap(file, "w+", dtype, (size,))
    if hasattr(os, "posix_fallocate"):  # or else a full disk ends the process at some later write, without a word
        with file.open("r+b") as opened:
            os.posix_fallocate(opened.fileno(), 0, file.stat().st_size)
    return array


def _write_meta(folder: Path, corpus: Corpus) -> None:
    for name in ARRAYS:
        array = getattr(corpus, name)
        if isinstance(array, np.memmap):
            array.flush()
    corpus.vocabulary.save(folder / VOCABULARY)
    files = sorted(file for file in folder.iterdir() if file.is_file())
    meta = {
        "format": FORMAT,
        "version": VERSION,
        "ramify": __version__,
        "sentences": len(corpus),
        "words": corpus.n_words,
        "vocabulary": len(corpus.vocabulary),
        "held_out": len(corpus.held_out),
        "about": corpus.about,
        "files": {file.name: {"bytes": file.stat().st_size, "sha256": _checksum(file)} for file in files},
    }
    (folder / META).write_text(json.dumps(meta, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")


def _checksum(file: Path) -> str:
    with file.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


@contextlib.contextmanager
def _whole_folder(target: Path, overwrite: bool) -> Iterator[Path]:
    """A new folder beside the target that takes its place when all went well, and vanishes otherwise."""
    if target.exists() and not (overwrite and is_store(target)):
        raise CallError(f"{target} is already there" + ("; --force replaces a store" if is_store(target) else ""))
    target = target.resolve()  # a link to a store stays one
    if not target.parent.is_dir():
        raise CallError(f"no such folder: {target.parent}")
    temporary, old = (target.with_name(f".{target.name}.{os.getpid()}.{suffix}") for suffix in ("tmp", "old"))
    shutil.rmtree(temporary, ignore_errors=True)  # left by a process that was killed and had our number
    try:
        temporary.mkdir()
        yield temporary
        if target.exists():
            target.rename(old)
        temporary.rename(target)
    except PermissionError as error:
        raise CallError(f"{target} cannot be written: {error.strerror}") from error
    except OSError as error:  # the disk is full
        raise RamifyError(f"{target} cannot be written: {error.strerror or error}") from error
    finally:
        if old.exists() and not target.exists():  # stopped between the two renamings
            old.rename(target)
        shutil.rmtree(temporary, ignore_errors=True)
        shutil.rmtree(old, ignore_errors=True)
