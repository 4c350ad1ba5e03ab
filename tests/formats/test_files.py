import gzip
import io
import lzma
import os
import sys
import threading
from itertools import pairwise
from types import SimpleNamespace

import pytest
import zstandard
from conllu_samples import GOOD, NEXT, block, place
from hypothesis import given
from hypothesis import strategies as st

from ramify import data
from ramify.errors import CallError, FormatError
from ramify.formats import files, read_conllu, read_sentences
from ramify.formats.files import bare_suffix, display_name, locate, text_chunks, whole_file

COMPRESS = {
    ".gz": gzip.compress,
    ".xz": lzma.compress,
    ".zst": zstandard.ZstdCompressor(write_checksum=True).compress,
    "": bytes,
}
DEV = lzma.decompress(data.TREEBANKS["ewt:dev"].read_bytes())
ARCHIVES = pytest.mark.parametrize("suffix", [".gz", ".xz", ".zst"])


def read_until_fault(path, **options):
    """The sentences that are delivered, and the error that ends them."""
    sentences = []
    try:
        for sentence in read_conllu(path, **options):
            sentences.append(sentence)
    except FormatError as error:
        return sentences, error
    pytest.fail("nothing was refused")


def text_of(sentences):
    return "".join(sentence.text for sentence in sentences)


# --- compressed, from standard input, by name -----------------------------------------------------------------------


@pytest.mark.parametrize("suffix", COMPRESS)
def test_compressed_files(tmp_path, suffix):
    path = tmp_path / f"dev.conllu{suffix}"
    path.write_bytes(COMPRESS[suffix](DEV))
    assert text_of(read_conllu(path)).encode() == DEV
    assert text_of(read_sentences(str(path))).encode() == DEV


@ARCHIVES
def test_compression_is_seen_in_the_bytes_not_in_the_name(tmp_path, suffix):
    path = tmp_path / "dev.conllu"
    path.write_bytes(COMPRESS[suffix](DEV))
    assert text_of(read_conllu(path)).encode() == DEV


@ARCHIVES
def test_archives_in_several_parts(tmp_path, suffix):
    path = tmp_path / "dev.conllu"
    cuts = [0, 1, 1000, 1001, 500_000, len(DEV)]
    path.write_bytes(b"".join(COMPRESS[suffix](DEV[a:b]) for a, b in pairwise(cuts)))
    assert text_of(read_conllu(path)).encode() == DEV


@pytest.mark.parametrize("suffix", COMPRESS)
def test_standard_input(monkeypatch, suffix):
    stdin = io.BytesIO(COMPRESS[suffix](GOOD.encode()))
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=stdin))
    (sentence,) = read_conllu("-")
    assert sentence.text == GOOD
    assert sentence.tree.address == "<stdin>:1 (sent_id s1)"
    assert not stdin.closed


@pytest.mark.parametrize("suffix", COMPRESS)
def test_a_slow_pipe_delivers_what_it_has(monkeypatch, suffix):
    """The first sentence comes while the writer still holds the end back; a first piece of one byte confuses nobody."""
    reading, writing = os.pipe()
    whole = COMPRESS[suffix](b"".join(f"1\tw{i}\t_\t_\t_\t_\t0\t_\t_\t_\n\n".encode() for i in range(100_000)))
    with os.fdopen(reading, "rb") as pipe, os.fdopen(writing, "wb", buffering=0) as out:
        monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=pipe))
        held_back = threading.Event()

        def write():
            out.write(whole[:1])
            out.write(whole[1 : len(whole) - 100])
            held_back.wait(20)
            out.write(whole[len(whole) - 100 :])
            out.close()

        writer = threading.Thread(target=write)
        writer.start()
        sentences = read_conllu("-")
        assert next(sentences).tree.forms == ("w0",)
        assert not held_back.is_set()
        held_back.set()
        assert sum(1 for _ in sentences) == 99_999
        writer.join()


def test_standard_input_that_is_closed(monkeypatch):
    monkeypatch.setattr("sys.stdin", None)
    with pytest.raises(CallError, match="standard input is closed"):
        next(read_conllu("-"))


def test_faults_of_standard_input_have_an_address(monkeypatch):
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(b"oops")))
    with pytest.raises(FormatError, match=r"^<stdin>:1: 1 column instead of 10"):
        list(read_conllu("-"))


def test_progress_counts_the_bytes_on_disk():
    read = []
    list(read_conllu("ewt:dev", progress=read.append))
    assert sum(read) == data.TREEBANKS["ewt:dev"].stat().st_size


def test_a_reader_that_is_left_early_closes_its_file(tmp_path):
    path = tmp_path / "dev.conllu"
    path.write_text(GOOD + NEXT)
    sentences = read_conllu(path)
    next(sentences)
    sentences.close()  # a file left open would be a warning, and warnings are errors here


@pytest.mark.parametrize(
    ("name", "suffix"),
    [("dev.conllu", ".conllu"), ("a.b.CONLLU.XZ", ".conllu"), ("ewt:dev", ".conllu"), ("-", ""), ("x.gz", "")],
)
def test_the_suffix_that_names_the_format(name, suffix):
    assert bare_suffix(name) == suffix


def test_names():
    assert display_name("-") == "<stdin>"
    assert display_name("a/b.conllu") == "a/b.conllu"
    assert display_name(os.fsdecode(b"caf\xe9.conllu")) == "caf\N{REPLACEMENT CHARACTER}.conllu"
    assert locate("ewt:dev") == data.TREEBANKS["ewt:dev"]


# --- the call was wrong ---------------------------------------------------------------------------------------------


def test_what_is_no_file(tmp_path):
    with pytest.raises(CallError, match=r"^no such file: ewt:foo \(bundled treebanks: ewt:train, ewt:dev, ewt:test\)$"):
        list(read_conllu("ewt:foo"))
    with pytest.raises(CallError, match=f"^{tmp_path} is a folder, not a file$"):
        list(read_conllu(tmp_path))
    with pytest.raises(CallError, match=r"^unknown encoding: utf-9$"):
        list(read_conllu("ewt:dev", encoding="utf-9"))


def test_zst_without_the_library(tmp_path, monkeypatch):
    path = tmp_path / "dev.conllu.zst"
    path.write_bytes(COMPRESS[".zst"](DEV))
    monkeypatch.setitem(sys.modules, "zstandard", None)
    with pytest.raises(CallError, match=r"pip install 'ramify\[zst\]'"):
        list(read_conllu(path))
    with pytest.raises(CallError, match=r"pip install 'ramify\[zst\]'"), whole_file(tmp_path / "new.zst"):
        pass
    assert list(tmp_path.iterdir()) == [path]


# --- encodings ------------------------------------------------------------------------------------------------------

CAFE = block("# sent_id = s2", "1 Café 2", "2 öffnet 0")


@pytest.mark.parametrize("encoding", ["latin-1", "cp1252", "utf-16", "utf-16-be", "utf-8-sig"])
def test_other_encodings_when_asked(tmp_path, encoding):
    path = tmp_path / "dev.conllu"
    path.write_bytes((GOOD + CAFE).encode(encoding))
    assert [sentence.text for sentence in read_conllu(path, encoding=encoding)] == [GOOD, CAFE]


@pytest.mark.parametrize("chunk", [6, 7, 16, 1 << 19])
@pytest.mark.parametrize(
    ("bad", "shown"),
    [
        (b"\xff", "0xff"),  # never in UTF-8
        (b"\xc3(", "0xc3"),  # a character begun and not ended
        (b"\xe6\x97(", "0xe6"),
        (b"\xa9", "0xa9"),  # the end of one that never began
    ],
)
@pytest.mark.parametrize("pad", range(7))
def test_not_utf_8(tmp_path, monkeypatch, chunk, bad, shown, pad):
    monkeypatch.setattr(files, "CHUNK", chunk)
    before = (GOOD + CAFE + "# text = é" + "日" * pad).encode()
    path = tmp_path / "dev.conllu"
    path.write_bytes(before + bad + f"\n{GOOD}".encode())
    sentences, error = read_until_fault(path)
    assert [sentence.text for sentence in sentences] == [GOOD, CAFE]
    assert error.message == (
        f"byte {shown} at offset {len(before)} is not utf-8: give the file's --encoding, such as cp1252"
    )
    assert place(error) == (str(path), 9, "")


@pytest.mark.parametrize("chunk", [16, 1 << 19])
def test_not_utf_8_right_behind_a_sentence(tmp_path, monkeypatch, chunk):
    monkeypatch.setattr(files, "CHUNK", chunk)
    path = tmp_path / "dev.conllu"
    path.write_bytes((GOOD + CAFE).encode() + b"\xff")
    sentences, error = read_until_fault(path)
    assert [sentence.text for sentence in sentences] == [GOOD, CAFE]
    assert place(error) == (str(path), 9, "")


def test_a_file_that_ends_within_a_character(tmp_path):
    path = tmp_path / "dev.conllu"
    path.write_bytes(GOOD.encode() + "# é".encode()[:-1])
    sentences, error = read_until_fault(path)
    assert [sentence.text for sentence in sentences] == [GOOD]
    assert error.message.startswith(f"byte 0xc3 at offset {len(GOOD) + 2} is not utf-8")
    assert error.line == 5


@pytest.mark.parametrize("encoding", ["klingon", "", "hex", "rot13", "undefined"])
def test_what_is_no_encoding(tmp_path, encoding):
    path = tmp_path / "dev.conllu"
    path.write_bytes(GOOD.encode())
    with pytest.raises(CallError, match=f"^unknown encoding: {encoding}$"):
        next(read_conllu(path, encoding=encoding))


def test_utf_8_is_not_utf_16(tmp_path):
    path = tmp_path / "dev.conllu"
    path.write_bytes(GOOD.encode())
    with pytest.raises(FormatError, match=r"dev\.conllu:1: the file is not utf-16: "):
        next(read_conllu(path, encoding="utf-16"))


def test_large_offsets_are_readable(tmp_path):
    path = tmp_path / "dev.conllu"
    path.write_bytes(DEV + b"\xff")
    sentences, error = read_until_fault(path)
    assert f"at offset {len(DEV):,} is" in error.message
    assert error.line == DEV.count(b"\n") + 1
    assert len(sentences) == 2_001


def test_utf_16_that_breaks_off(tmp_path, monkeypatch):
    monkeypatch.setattr(files, "CHUNK", 16)
    path = tmp_path / "dev.conllu"
    good = "\ufeff".encode("utf-16-be") + (GOOD + CAFE).encode("utf-16-be")
    path.write_bytes(good + b"\xd8\x00\x00#")  # half of a surrogate pair
    sentences, error = read_until_fault(path, encoding="utf-16")
    assert [sentence.text for sentence in sentences] == [GOOD, CAFE]
    assert error.message.startswith(f"byte 0xd8 at offset {len(good)} is not utf-16")
    assert error.line == 9


@given(st.binary(max_size=60), st.integers(6, 20))
def test_the_first_bad_byte_is_found_wherever_the_chunks_end(tmp_path_factory, content, chunk):
    path = tmp_path_factory.getbasetemp() / "bytes"
    path.write_bytes(b"plain:" + content)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(files, "CHUNK", chunk)
        bad = first_bad_byte(path.read_bytes())
        if bad is None:
            assert "".join(text_chunks(path)) == path.read_bytes().decode()
            return
        with pytest.raises(FormatError, match=f"at offset {bad} is") as caught:
            list(text_chunks(path))
        assert caught.value.line == 1 + path.read_bytes()[:bad].count(b"\n")


def first_bad_byte(content):
    try:
        content.decode()
    except UnicodeDecodeError as error:
        return error.start
    return None


# --- damaged archives -----------------------------------------------------------------------------------------------


@ARCHIVES
@pytest.mark.parametrize("kept", [0.3, 0.9, 0.9999])
def test_truncated_archives(tmp_path, suffix, kept):
    path = tmp_path / f"dev.conllu{suffix}"
    archive = COMPRESS[suffix](DEV)
    path.write_bytes(archive[: int(len(archive) * kept)])
    sentences, error = read_until_fault(path)
    assert len(sentences) > 2_001 * kept / 3  # what could be read is not lost
    assert DEV.decode().startswith(text_of(sentences))
    found = int(error.message.removeprefix("the archive is truncated or damaged after ").split()[0].replace(",", ""))
    assert text_of(sentences).encode() == DEV[: len(text_of(sentences).encode())]
    assert 0 <= found - len(text_of(sentences).encode()) < 20_000  # a sentence begun
    assert error.line == 1 + DEV[:found].count(b"\n")
    assert error.source == str(path)


@ARCHIVES
def test_damaged_archives(tmp_path, suffix):
    path = tmp_path / f"dev.conllu{suffix}"
    archive = bytearray(COMPRESS[suffix](DEV))
    archive[len(archive) // 2] ^= 0x55
    path.write_bytes(archive)
    with pytest.raises(FormatError, match=r"^\S+: the archive is truncated or damaged after [\d,]+ bytes of text$"):
        list(text_chunks(path, "latin-1"))


@pytest.mark.parametrize("suffix", [".gz", ".zst"])  # behind .xz Python itself takes rubbish as padding
def test_rubbish_behind_an_archive(tmp_path, suffix):
    path = tmp_path / f"dev.conllu{suffix}"
    path.write_bytes(COMPRESS[suffix](GOOD.encode()) + b"rubbish")
    sentences, error = read_until_fault(path)
    assert [sentence.text for sentence in sentences] == [GOOD]
    assert error.message == f"the archive is truncated or damaged after {len(GOOD)} bytes of text"


@pytest.mark.parametrize("suffix", COMPRESS)
def test_nothing_in_it(tmp_path, suffix):
    path = tmp_path / f"dev.conllu{suffix}"
    path.write_bytes(COMPRESS[suffix](b""))
    with pytest.raises(FormatError, match=f"^{path}: the file is empty: it has no sentence$"):
        list(read_conllu(path))


# --- written whole or not at all ------------------------------------------------------------------------------------

MAGIC = {"": b"# se", ".gz": b"\x1f\x8b", ".xz": b"\xfd7zXZ\0", ".zst": b"\x28\xb5\x2f\xfd"}


@pytest.mark.parametrize("suffix", MAGIC)
def test_written_as_the_suffix_says(tmp_path, suffix):
    path = tmp_path / f"new.conllu{suffix}"
    text = (GOOD + CAFE).replace("\n", "\r\n")
    with whole_file(path) as out:
        out.write(text)
        assert not path.exists()
    assert path.read_bytes().startswith(MAGIC[suffix])
    assert "".join(text_chunks(path)) == text
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("suffix", MAGIC)
@pytest.mark.parametrize("error", [FormatError("damaged"), KeyboardInterrupt()], ids=["error", "interrupt"])
def test_nothing_is_left_behind_when_the_work_fails(tmp_path, suffix, error):
    path = tmp_path / f"new.conllu{suffix}"

    def write():
        with whole_file(path) as out:
            out.write("half of it")
            raise error

    with pytest.raises(type(error)):
        write()
    assert list(tmp_path.iterdir()) == []
    path.write_bytes(b"old")
    with pytest.raises(type(error)):
        write()
    assert list(tmp_path.iterdir()) == [path]
    assert path.read_bytes() == b"old"


def test_an_old_file_is_replaced_and_a_link_to_it_stays(tmp_path):
    old, link = tmp_path / "old.conllu", tmp_path / "link.conllu.gz"
    old.write_text("old")
    link.symlink_to(old)
    with whole_file(link) as out:
        out.write("new")
    assert link.is_symlink()
    assert gzip.decompress(old.read_bytes()) == b"new"


def test_a_pipe_is_written_to_and_not_replaced(tmp_path):
    pipe = tmp_path / "pipe.conllu"
    os.mkfifo(pipe)
    read = []
    reader = threading.Thread(target=lambda: read.append(pipe.read_text()))
    reader.start()
    with whole_file(pipe) as out:
        out.write(GOOD)
    reader.join(10)
    assert read == [GOOD]
    assert pipe.is_fifo()


def test_where_nothing_can_be_written(tmp_path):
    with pytest.raises(CallError, match=f"^{tmp_path} is a folder, not a file$"), whole_file(tmp_path):
        pass
    with pytest.raises(CallError, match=f"^no such folder: {tmp_path / 'no'}$"), whole_file(tmp_path / "no" / "x"):
        pass


def test_standard_output_stays_open(monkeypatch):
    stdout = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", SimpleNamespace(buffer=stdout))
    for _ in range(2):
        with whole_file("-") as out:
            out.write("Café\r\n\n")
    assert stdout.getvalue() == "Café\r\n\n".encode() * 2
