"""Stores: whole or not at all, and refused when a byte is missing or changed."""

import json
import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from corpus_twins import assert_same_corpus, conllu, corpus_of, plain, random_tree

import ramify.corpus.store
from ramify.corpus import Corpus, Encoding, encode, encode_to_store, is_store, open_store, save_store
from ramify.corpus.store import read_meta, read_vocabulary
from ramify.errors import CallError, FormatError, RamifyError, StoreError
from ramify.trees import Tree

ARRAYS = ("words", "heads", "labels", "lengths", "depths", "held_out")
FILES = sorted([*(f"{name}.npy" for name in ARRAYS), "store.json", "vocabulary.json"])


def some_trees(seed: int = 1, count: int = 40) -> list[Tree]:
    random = np.random.default_rng(seed)
    return [random_tree(random, int(n)) for n in random.integers(1, 30, count)]


@pytest.fixture
def corpus() -> Corpus:
    return corpus_of(some_trees(), hold_out=7)


@pytest.fixture
def store(tmp_path: Path, corpus: Corpus) -> Path:
    save_store(corpus, tmp_path / "store")
    return tmp_path / "store"


@pytest.fixture
def treebank(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("treebank") / "trees.conllu"
    file.write_text(conllu(some_trees(2)))
    return file


def content(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


# --- there and back --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("verify", [True, False])
def test_open_gives_what_was_saved(store: Path, corpus: Corpus, verify: bool) -> None:
    found = open_store(store, verify=verify)
    assert_same_corpus(found, corpus)
    assert list(found.trees()) == list(corpus.trees())
    assert found.training.tolist() == corpus.training.tolist()
    assert sorted(path.name for path in store.iterdir()) == FILES
    assert is_store(store)
    assert is_store(str(store))


def test_arrays_are_mapped_and_cannot_be_changed(store: Path) -> None:
    found = open_store(str(store))
    for name in ARRAYS:
        array = getattr(found, name)
        base = array
        while base is not None and not isinstance(base, np.memmap):
            base = base.base
        assert isinstance(base, np.memmap), name
        assert base.mode == "r"
        assert Path(base.filename or "").name == f"{name}.npy"
        with pytest.raises(ValueError, match="read-only"):
            array[...] = 0
        with pytest.raises(ValueError, match="cannot set WRITEABLE"):
            array.setflags(write=True)


def test_nothing_held_out(tmp_path: Path) -> None:
    corpus = corpus_of(some_trees())
    save_store(corpus, tmp_path / "store")
    assert_same_corpus(open_store(tmp_path / "store"), corpus)


def test_meta_says_what_the_store_is(store: Path, corpus: Corpus) -> None:
    meta = json.loads((store / "store.json").read_text(encoding="utf-8"))
    assert meta == read_meta(store)
    assert (meta["format"], meta["version"], meta["ramify"]) == ("ramify-store", 1, ramify.__version__)
    assert (meta["sentences"], meta["words"]) == (40, corpus.n_words)
    assert (meta["vocabulary"], meta["held_out"]) == (len(corpus.vocabulary), 7)
    assert meta["about"] == corpus.about
    assert sorted([*meta["files"], "store.json"]) == FILES
    assert {name: about["bytes"] for name, about in meta["files"].items()} == {
        name: (store / name).stat().st_size for name in meta["files"]
    }


def test_a_vocabulary_of_a_store_or_beside_it(store: Path, corpus: Corpus) -> None:
    assert read_vocabulary(store) == corpus.vocabulary
    assert read_vocabulary(store / "vocabulary.json") == corpus.vocabulary
    (store / "store.json").unlink()  # a model has a vocabulary.json too
    assert read_vocabulary(store) == corpus.vocabulary


def test_a_store_can_be_moved_and_copied(store: Path, tmp_path: Path, corpus: Corpus) -> None:
    shutil.copytree(store, tmp_path / "copy")
    store.rename(tmp_path / "moved")
    for name in ("copy", "moved"):
        assert_same_corpus(open_store(tmp_path / name), corpus)


def test_an_opened_store_can_be_saved_again_and_over_itself(store: Path, tmp_path: Path, corpus: Corpus) -> None:
    save_store(open_store(store), tmp_path / "again")
    assert content(tmp_path / "again") == content(store)
    save_store(open_store(store), store, overwrite=True)
    assert_same_corpus(open_store(store), corpus)


@pytest.mark.parametrize("hold_out", [0, 5])
def test_encoding_straight_into_a_store(treebank: Path, tmp_path: Path, hold_out: int) -> None:
    encoding = Encoding(min_count=1, hold_out=hold_out, lowercase=True, max_length=20)
    heard: list[int] = []
    found = encode_to_store([treebank], tmp_path / "store", encoding, progress=heard.append)
    assert_same_corpus(found, encode([treebank], encoding))
    assert_same_corpus(open_store(tmp_path / "store"), found)
    assert sum(heard) == treebank.stat().st_size
    assert [path.name for path in tmp_path.iterdir()] == ["store"]
    save_store(encode([treebank], encoding), tmp_path / "saved")
    assert content(tmp_path / "saved") == content(tmp_path / "store")


def test_encoding_into_a_store_with_processes(treebank: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.conllu"
    other.write_text(conllu(some_trees(3)))
    found = encode_to_store([treebank, other], tmp_path / "store", processes=2)
    assert_same_corpus(found, encode([treebank, other]))
    assert_same_corpus(open_store(tmp_path / "store"), found)


# --- what is refused -------------------------------------------------------------------------------------------------


def refused(store: Path, *says: str) -> None:
    with pytest.raises(StoreError) as error:
        open_store(store)
    for part in (store.name, *says):
        assert part in str(error.value)


def change_meta(store: Path, change: Callable[[dict[str, Any]], object]) -> None:
    meta = json.loads((store / "store.json").read_text(encoding="utf-8"))
    change(meta)
    (store / "store.json").write_text(json.dumps(meta), encoding="utf-8")


@pytest.mark.parametrize("name", [name for name in FILES if name != "store.json"])
class TestDamagedFiles:
    def test_truncated(self, store: Path, name: str) -> None:
        os.truncate(store / name, (store / name).stat().st_size - 1)
        refused(store, name, "damaged", "encode it again")

    def test_longer(self, store: Path, name: str) -> None:
        with (store / name).open("ab") as file:
            file.write(b"\0")
        refused(store, name, "damaged", "encode it again")

    def test_empty(self, store: Path, name: str) -> None:
        os.truncate(store / name, 0)
        refused(store, name, "damaged", "encode it again")

    def test_missing(self, store: Path, name: str) -> None:
        (store / name).unlink()
        refused(store, name, "missing", "encode it again")

    @pytest.mark.parametrize("at", [0, -1])
    def test_flipped(self, store: Path, name: str, at: int) -> None:
        data = bytearray((store / name).read_bytes())
        data[at] ^= 1
        (store / name).write_bytes(data)
        refused(store, name, "checksum", "encode it again")

    def test_a_folder_in_its_place(self, store: Path, name: str) -> None:
        (store / name).unlink()
        (store / name).mkdir()
        refused(store, name, "encode it again")

    def test_named_without_size(self, store: Path, name: str) -> None:
        change_meta(store, lambda meta: meta["files"][name].pop("bytes"))
        refused(store, "store.json", "encode it again")

    def test_named_without_checksum(self, store: Path, name: str) -> None:
        change_meta(store, lambda meta: meta["files"][name].pop("sha256"))
        refused(store, "store.json", "encode it again")

    def test_not_named(self, store: Path, name: str) -> None:
        change_meta(store, lambda meta: meta["files"].pop(name))
        refused(store, "store.json", "encode it again")


def test_a_size_is_looked_at_even_without_verification(store: Path) -> None:
    os.truncate(store / "words.npy", 200)
    with pytest.raises(StoreError, match=r"words\.npy"):
        open_store(store, verify=False)


def test_an_array_that_is_none_is_refused_even_without_verification(store: Path) -> None:
    data = bytearray((store / "words.npy").read_bytes())
    data[:6] = b"BROKEN"
    (store / "words.npy").write_bytes(data)
    with pytest.raises(StoreError, match=r"words\.npy"):
        open_store(store, verify=False)


@pytest.mark.parametrize("text", ["", "{", '{"format": "ramify-store"', "not JSON", "\0\0\0\0", "\ufeff{}"])
def test_broken_json(store: Path, text: str) -> None:
    (store / "store.json").write_text(text, encoding="utf-8")
    refused(store, "store.json", "encode it again")


def test_json_that_is_no_text(store: Path) -> None:
    (store / "store.json").write_bytes(b"\xff\xfe\x00")
    refused(store, "store.json", "encode it again")


@pytest.mark.parametrize("text", ["[]", "3", "null", '"ramify-store"', "{}", '{"format": "other", "version": 1}'])
def test_foreign_json(store: Path, text: str) -> None:
    (store / "store.json").write_text(text)
    refused(store, "store.json")


@pytest.mark.parametrize("version", [0, 2, None, "1", [1]])
def test_another_version(store: Path, version: object) -> None:
    change_meta(store, lambda meta: meta.update(version=version))
    refused(store, f"version {version}", "reads 1", "encode it again")


@pytest.mark.parametrize(
    "key", ["format", "version", "files", "about", "sentences", "words", "vocabulary", "held_out", "ramify"]
)
def test_missing_keys(store: Path, key: str) -> None:
    change_meta(store, lambda meta: meta.pop(key))
    refused(store)


@pytest.mark.parametrize("files", [None, 3, [], {}, FILES, dict.fromkeys(FILES, 3), "words.npy"])
def test_files_of_another_kind(store: Path, files: object) -> None:
    names = [name for name in FILES if name != "store.json"]
    files = names if files == FILES else dict.fromkeys(names, 3) if isinstance(files, dict) and files else files
    change_meta(store, lambda meta: meta.update(files=files))
    refused(store, "store.json", "encode it again")


def test_a_file_too_many_is_named(store: Path) -> None:
    change_meta(store, lambda meta: meta["files"].update({"../../secret": {"bytes": 1, "sha256": ""}}))
    refused(store, "store.json", "encode it again")


@pytest.mark.parametrize(
    "about",
    [
        3,
        {"options": []},
        {"left_out": 3},
        {"left_out": {"too_long": "3"}},
        {"sources": {}},
        {"sources": ["ewt:dev"]},
        {"sources": [{"name": "ewt:dev", "sentences": 3}]},
        {"sources": [{"name": None, "sentences": 3, "words": 9}]},
    ],
)
def test_about_of_another_kind(about: object, store: Path) -> None:
    change_meta(store, lambda meta: meta.update(about=about))
    refused(store, "store.json", "encode it again")


def test_foreign_folders(tmp_path: Path) -> None:
    (tmp_path / "photos").mkdir()
    (tmp_path / "photos" / "words.npy").write_bytes(b"")
    assert not is_store(tmp_path / "photos")
    with pytest.raises(StoreError, match=r"photos is no store.*ramify encode"):
        open_store(tmp_path / "photos")


def test_a_file_is_no_store(tmp_path: Path) -> None:
    (tmp_path / "trees.conllu").write_text(conllu([plain([0])]))
    assert not is_store(tmp_path / "trees.conllu")
    with pytest.raises(StoreError, match="is no store"):
        open_store(tmp_path / "trees.conllu")


def test_no_such_store(tmp_path: Path) -> None:
    assert not is_store(tmp_path / "nowhere")
    with pytest.raises(CallError, match="no such store"):
        open_store(tmp_path / "nowhere")


# --- whole or not at all ---------------------------------------------------------------------------------------------


class Boom(BaseException):
    pass


def raising(error: BaseException, calls: int = 0) -> Callable[..., None]:
    left = [calls]

    def call(*_: object, **__: object) -> None:
        if not left[0]:
            raise error
        left[0] -= 1

    return call


@pytest.fixture(params=["new", "old"])
def target(request: pytest.FixtureRequest, tmp_path: Path, corpus: Corpus) -> Iterator[Path]:
    """A place for a store, free or taken by one; all must stay as it was."""
    folder = tmp_path / "place"
    folder.mkdir()
    if request.param == "old":
        save_store(corpus, folder / "store")
    before = content(folder / "store") if request.param == "old" else {}
    yield folder / "store"
    assert [path.name for path in folder.iterdir()] == (["store"] if before else [])
    if before:
        assert content(folder / "store") == before
        assert_same_corpus(open_store(folder / "store"), corpus)


def test_malformed(target: Path, treebank: Path) -> None:
    with treebank.open("a") as file:
        file.write("1\tb\t_\t_\t_\t_\t7\troot\t_\t_\n\n")
    with pytest.raises(FormatError):
        encode_to_store([treebank], target, overwrite=True)


def test_nothing_to_encode(target: Path, treebank: Path) -> None:
    with pytest.raises(CallError):
        encode_to_store([treebank], target, Encoding(max_length=0), overwrite=True)


def test_hold_out_too_large(target: Path, treebank: Path) -> None:
    with pytest.raises(CallError):
        encode_to_store([treebank], target, Encoding(hold_out=40), overwrite=True)


@pytest.mark.parametrize("error", [KeyboardInterrupt(), Boom()])
def test_stopped_while_reading(target: Path, treebank: Path, error: BaseException) -> None:
    with pytest.raises(type(error)):
        encode_to_store([treebank], target, progress=raising(error), overwrite=True)


@pytest.mark.parametrize("calls", range(6))
def test_stopped_while_writing_arrays(
    target: Path, treebank: Path, calls: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    create = ramify.corpus.store._file
    stop = raising(KeyboardInterrupt(), calls)

    def stopping(*column: Any) -> Any:
        stop()
        return create(*column)

    monkeypatch.setattr(ramify.corpus.store, "_file", stopping)
    with pytest.raises(KeyboardInterrupt):
        encode_to_store([treebank], target, Encoding(hold_out=3), overwrite=True)


@pytest.mark.parametrize("name", ["_write_meta", "_checksum"])
@pytest.mark.parametrize("save", [True, False])
def test_stopped_at_the_end(
    target: Path, treebank: Path, name: str, save: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fill() -> object:
        if save:
            return save_store(corpus_of(some_trees(5)), target, overwrite=True)
        return encode_to_store([treebank], target, overwrite=True)

    with monkeypatch.context() as patch:
        patch.setattr(ramify.corpus.store, name, raising(OSError(28, "No space left on device")))
        with pytest.raises(RamifyError, match="store cannot be written: No space left on device"):
            fill()


def test_a_full_disk_is_seen_before_anything_is_written(
    target: Path, treebank: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Writing to a mapped file that the disk has no room for kills the process (SIGBUS)."""
    with monkeypatch.context() as patch:
        patch.setattr(os, "posix_fallocate", raising(OSError(28, "No space left on device"), 2), raising=False)
        with pytest.raises(RamifyError, match="store cannot be written: No space left on device"):
            encode_to_store([treebank], target, overwrite=True)


@pytest.mark.skipif(not hasattr(os, "posix_fallocate"), reason="this system cannot reserve space")
def test_the_space_of_an_array_is_reserved(tmp_path: Path) -> None:
    array = ramify.corpus.store._file(tmp_path, "words", np.dtype(np.uint16), 1 << 20)
    about = (tmp_path / "words.npy").stat()
    assert about.st_blocks * 512 >= about.st_size > 2 << 20
    array[:] = 7
    assert np.load(tmp_path / "words.npy", mmap_mode="r").shape == (1 << 20,)


@pytest.mark.parametrize(("nth", "after"), [(0, False), (0, True), (1, False)])
def test_stopped_while_taking_the_place(
    target: Path, treebank: Path, nth: int, after: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where there was a store, two renamings are needed; to be stopped between them must not lose it."""
    if (nth, after) != (0, False) and not target.exists():
        return  # a new store needs one renaming
    rename, count = Path.rename, [0]

    def stopping(self: Path, to: Path) -> Path:
        count[0] += 1
        if count[0] != nth + 1:
            return rename(self, to)
        if after:
            rename(self, to)
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(Path, "rename", stopping)
        with pytest.raises(KeyboardInterrupt):
            encode_to_store([treebank], target, overwrite=True)


def test_what_a_killed_process_left_is_no_hindrance(tmp_path: Path, treebank: Path) -> None:
    """In a container the next process may well have the same number."""
    left = tmp_path / f".store.{os.getpid()}.tmp"
    left.mkdir()
    (left / "junk.npy").write_bytes(b"junk")
    found = encode_to_store([treebank], tmp_path / "store")
    assert_same_corpus(open_store(tmp_path / "store"), found)
    assert sorted(path.name for path in (tmp_path / "store").iterdir()) == FILES
    assert [path.name for path in tmp_path.iterdir()] == ["store"]


def test_a_folder_that_may_not_be_written(tmp_path: Path, treebank: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(Path, "mkdir", raising(PermissionError(13, "Permission denied")))
        with pytest.raises(CallError, match="store cannot be written: Permission denied"):
            encode_to_store([treebank], tmp_path / "store")


def test_a_store_is_replaced_when_that_is_asked(store: Path, treebank: Path, tmp_path: Path) -> None:
    found = encode_to_store([treebank], store, overwrite=True)
    assert_same_corpus(found, encode([treebank]))
    assert [path.name for path in tmp_path.iterdir()] == ["store"]


def test_who_holds_the_old_store_may_go_on_reading(store: Path, treebank: Path, corpus: Corpus) -> None:
    held = open_store(store)
    encode_to_store([treebank], store, overwrite=True)
    assert_same_corpus(held, corpus)


def test_a_store_is_not_replaced_unasked(target: Path, treebank: Path) -> None:
    if not target.exists():
        return
    heard: list[int] = []
    with pytest.raises(CallError, match=r"store is already there.*--force"):
        encode_to_store([treebank], target, progress=heard.append)
    assert heard == []  # said before the work, not after it
    with pytest.raises(CallError, match="already there"):
        save_store(corpus_of(some_trees(5)), target)


@pytest.mark.parametrize("overwrite", [True, False])
@pytest.mark.parametrize("kind", ["folder", "empty folder", "file"])
def test_what_is_no_store_is_never_replaced(tmp_path: Path, treebank: Path, kind: str, overwrite: bool) -> None:
    target = tmp_path / "thesis"
    if kind == "file":
        target.write_text("chapter 1")
    else:
        target.mkdir()
        if kind == "folder":
            (target / "chapter-1.tex").write_text("chapter 1")
    with pytest.raises(CallError) as error:
        encode_to_store([treebank], target, overwrite=overwrite)
    assert "thesis is already there" in str(error.value)
    assert "--force" not in str(error.value)
    assert [path.name for path in tmp_path.iterdir()] == ["thesis"]
    assert kind != "folder" or (target / "chapter-1.tex").read_text() == "chapter 1"
    assert kind != "file" or target.read_text() == "chapter 1"


def test_no_folder_to_put_it_in(tmp_path: Path, treebank: Path) -> None:
    with pytest.raises(CallError, match=r"no such folder: .*nowhere"):
        encode_to_store([treebank], tmp_path / "nowhere" / "store")
    assert list(tmp_path.iterdir()) == []


def test_a_link_to_a_store_goes_on_leading_to_it(store: Path, tmp_path: Path, treebank: Path) -> None:
    link = tmp_path / "link"
    link.symlink_to(store, target_is_directory=True)
    found = encode_to_store([treebank], link, overwrite=True)
    assert link.is_symlink()
    assert_same_corpus(open_store(store), found)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["link", "store"]
