"""Files in and out: plain, .gz, .xz and .zst, standard input and output, the bundled treebanks by name.

Text is read in chunks, so the size of a file does not matter, and written to a temporary file that takes its name
only when it is whole.
"""

from __future__ import annotations

import codecs
import contextlib
import gzip
import io
import lzma
import os
import sys
import zlib
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, BinaryIO, TextIO, cast

from ramify import data
from ramify.errors import CallError, FormatError

STDIN = "-"
COMPRESSED = (".gz", ".xz", ".zst")
CHUNK = 1 << 19  # bytes

Progress = Callable[[int], None]  # told how many more bytes of the file, as it lies on disk, have been read


def locate(source: str | Path) -> Path:
    """The path behind a name: that of a bundled treebank, or of a file that must be there."""
    path = data.treebank(str(source)) or Path(source)
    if path.is_dir():
        raise CallError(f"{source} is a folder, not a file")
    if not path.exists():
        known = ", ".join(data.TREEBANKS)
        raise CallError(f"no such file: {source} (bundled treebanks: {known})")
    return path


def size_on_disk(source: str | Path) -> int:
    return locate(source).stat().st_size


def total_bytes(sources: Iterable[str | Path]) -> int | None:
    """The size of all files together, for a progress bar; None when standard input is among them."""
    names = list(sources)
    return None if STDIN in map(str, names) else sum(map(size_on_disk, names))


def display_name(source: str | Path) -> str:
    """A file as messages and stores name it; bytes of the name that are not UTF-8 become �."""
    return "<stdin>" if str(source) == STDIN else os.fsencode(source).decode(errors="replace")


def bare_suffix(source: str | Path) -> str:
    """The suffix that names the format, compression left aside: `.conllu` for `dev.conllu.xz`."""
    path = data.treebank(str(source)) or Path(source)
    return path.with_suffix("").suffix.lower() if path.suffix.lower() in COMPRESSED else path.suffix.lower()


def text_chunks(source: str | Path, encoding: str = "utf-8", progress: Progress | None = None) -> Iterator[str]:
    """The text of a file piece by piece, line ends and byte order mark as they are."""
    try:
        b"\n".decode(encoding, "replace")  # refuses codecs that are no text encodings, such as hex
        decoder = codecs.getincrementaldecoder(encoding)()
    except (LookupError, UnicodeError):
        raise CallError(f"unknown encoding: {encoding}") from None
    name = display_name(source)
    offset, line = 0, 1  # of what was decoded so far
    pieces = _byte_chunks(source, progress)
    while True:
        try:
            piece = next(pieces, b"")
        except (EOFError, OSError, lzma.LZMAError, zlib.error) as error:
            if isinstance(error, OSError) and not isinstance(error, gzip.BadGzipFile):
                raise CallError(f"{name} cannot be read: {error.strerror or error}") from error
            raise FormatError(
                f"the archive is truncated or damaged after {offset:,} bytes of text", name, line
            ) from error
        try:
            text = decoder.decode(piece, final=not piece)
        except UnicodeDecodeError as error:
            at = len(piece) - len(error.object) + error.start  # below 0: in what the decoder kept of the piece before
            text = decoder.decode(piece[: max(at, 0)])  # what stands before is not lost
            yield text
            raise FormatError(
                f"byte 0x{error.object[error.start]:02x} at offset {offset + at:,} is not {encoding}: "
                "give the file's --encoding, such as cp1252",
                name,
                line + text.count("\n"),
            ) from None
        except UnicodeError as error:  # of a whole text: UTF-16 without a byte order mark
            raise FormatError(f"the file is not {encoding}: {error}", name, line) from None
        offset += len(piece)
        line += text.count("\n")
        if text:
            yield text
        if not piece:
            return


def _byte_chunks(source: str | Path, progress: Progress | None) -> Iterator[bytes]:
    with contextlib.nullcontext(_stdin()) if str(source) == STDIN else locate(source).open("rb") as raw:
        magic = raw.read(6)
        buffered = io.BufferedReader(_Counted(raw, magic, progress), CHUNK)
        if magic.startswith(b"\x28\xb5\x2f\xfd"):
            yield from _zstandard_chunks(buffered)
            return
        file: Any = buffered
        if magic.startswith(b"\x1f\x8b"):
            file = gzip.GzipFile(fileobj=buffered)
        elif magic.startswith(b"\xfd7zXZ\0"):
            file = lzma.LZMAFile(buffered)  # noqa: SIM115 - it owns nothing; `raw` is closed above
        while piece := file.read1(CHUNK):  # read1: what could be read before a damaged place is handed on
            yield piece


def _stdin() -> io.BufferedIOBase:
    if sys.stdin is None:
        raise CallError("standard input is closed")
    return cast(io.BufferedIOBase, sys.stdin.buffer)


class _Counted(io.RawIOBase):
    """A raw file that tells how much of it has been read; `start` is what was read before."""

    def __init__(self, file: io.BufferedIOBase, start: bytes, progress: Progress | None) -> None:
        self.file = file
        self.start = start
        self.progress = progress

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        piece = self.start or self.file.read1(len(buffer))  # read1: what a slow pipe has now, not when it is full
        self.start = b""
        buffer[: len(piece)] = piece
        if self.progress:
            self.progress(len(piece))
        return len(piece)


def _zstandard_chunks(file: Any) -> Iterator[bytes]:
    zstandard = _zstandard()
    frame = zstandard.ZstdDecompressor().decompressobj()
    open_frame = False
    while piece := file.read1(CHUNK):
        while piece:
            open_frame = True
            try:
                text = frame.decompress(piece)
            except zstandard.ZstdError as error:
                raise EOFError(str(error)) from error
            if text:  # nothing yet is not the end
                yield text
            if not frame.eof:
                break
            piece = frame.unused_data  # one frame may follow another
            frame = zstandard.ZstdDecompressor().decompressobj()
            open_frame = False
    if open_frame:
        raise EOFError("the last frame is not whole")


def _zstandard() -> Any:
    try:
        import zstandard
    except ImportError:
        raise CallError(".zst files need one more package: pip install 'ramify[zst]'") from None
    return zstandard


@contextlib.contextmanager
def whole_file(target: str | Path) -> Iterator[TextIO]:
    """Open a text file for writing, compressed as its suffix says; it appears whole or not at all. `-` is stdout."""
    if str(target) == STDIN:
        binary = sys.stdout.buffer
        stdout = io.TextIOWrapper(binary, encoding="utf-8", newline="", line_buffering=binary.isatty())
        try:
            yield stdout
        finally:
            stdout.flush()
            stdout.detach()  # closing the wrapper would close standard output
        return
    with whole_place(target) as place, _open_compressed(place, Path(target).suffix.lower()) as binary:
        text = io.TextIOWrapper(binary, encoding="utf-8", newline="")
        yield text
        text.flush()
        text.detach()


@contextlib.contextmanager
def whole_place(target: str | Path) -> Iterator[Path]:
    """Where to write a file so that it appears whole or not at all: beside the target, whose name it takes at last."""
    place = place_of(target)
    device = place.exists() and not place.is_file()  # /dev/null or a pipe must be written to, not replaced
    temporary = place if device else place.with_name(f".{place.name}.{os.getpid()}.tmp")
    try:
        yield temporary
        if not device:
            temporary.replace(place)
    except PermissionError as error:
        raise CallError(f"{target} cannot be written: {error.strerror}") from error
    finally:
        if not device:
            temporary.unlink(missing_ok=True)


def place_of(target: str | Path) -> Path:
    """The file that a name stands for: a link stays, and what it points to is replaced. A folder is refused."""
    place = Path(target)
    if place.is_dir():
        raise CallError(f"{target} is a folder, not a file")
    if place.is_file() or not place.exists():  # and a pipe behind /dev/stdout has no name but this one
        place = place.resolve()
    if not place.parent.is_dir():
        raise CallError(f"no such folder: {Path(target).parent}")
    return place


def _open_compressed(path: Path, suffix: str) -> BinaryIO:
    if suffix == ".gz":
        return cast(BinaryIO, gzip.open(path, "wb"))
    if suffix == ".xz":
        return cast(BinaryIO, lzma.open(path, "wb"))
    if suffix == ".zst":
        return cast(BinaryIO, _zstandard().open(path, "wb"))
    return path.open("wb")
