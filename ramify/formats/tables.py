"""Tables of results: TSV, CSV or JSON lines, by suffix; written, and read again."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from enum import StrEnum
from pathlib import Path
from typing import Any, NamedTuple, TextIO

from ramify.errors import FormatError
from ramify.formats.blocks import BOM
from ramify.formats.files import Progress, bare_suffix, display_name, text_chunks

_SPACES = str.maketrans("\t\n\r", "   ")  # what would break a row: TSV has no quotes, and csv leaves out those of \r


class Table(StrEnum):
    TSV = "tsv"
    CSV = "csv"
    JSONL = "jsonl"


def table_format(target: str | Path) -> Table | None:
    """The table that a file's suffix names, compression left aside."""
    suffix = bare_suffix(target).removeprefix(".")
    return Table(suffix) if suffix in set(Table) else None


def row_writer(out: TextIO, table: Table, columns: Sequence[str]) -> Callable[[Sequence[Any]], object]:
    """A function that writes rows of a table whose header is written now. None is an empty field."""
    if table is Table.JSONL:
        return lambda row: _json_row(out, columns, row)
    if table is Table.CSV:
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow(columns)
        return lambda row: writer.writerow([_shown(value) for value in row])
    out.write("\t".join(columns) + "\n")
    return lambda row: out.write("\t".join(_shown(value) for value in row) + "\n")


def _json_row(out: TextIO, columns: Sequence[str], row: Sequence[Any]) -> None:
    out.write(json.dumps(dict(zip(columns, row, strict=True)), ensure_ascii=False) + "\n")


def _shown(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return str(int(value))
    if isinstance(value, float):
        return f"{value:.6f}"
    return str(value).translate(_SPACES)


# --- reading ---------------------------------------------------------------------------------------------------------


class Row(NamedTuple):
    """A row of a table with the line on which it starts. Values are text, as CSV has them; an empty field is ''."""

    line: int
    values: dict[str, str]


def read_table(source: str | Path, *, encoding: str = "utf-8", progress: Progress | None = None) -> Iterator[Row]:
    """The rows of a table; what no suffix tells is CSV."""
    chunks = text_chunks(source, encoding, progress)
    return table_rows(chunks, table_format(source) or Table.CSV, display_name(source))


def table_rows(chunks: Iterable[str], table: Table, name: str) -> Iterator[Row]:
    """The rows of a text, which is refused where it has none."""
    lines = lines_of(chunks)
    rows = _json_rows(lines, name) if table is Table.JSONL else _with_header(_cells(lines, table, name), name)
    row = None
    for row in rows:
        yield row
    if row is None:
        raise FormatError("there is no row in the file", name)


def lines_of(chunks: Iterable[str]) -> Iterator[str]:
    """Lines with their ends; a byte order mark is left out."""
    held, first = "", True
    for chunk in chunks:
        held += chunk
        if first:
            held, first = held.removeprefix(BOM), False
        *whole, held = held.split("\n")
        yield from (line + "\n" for line in whole)
    if held:
        yield held


def _cells(lines: Iterator[str], table: Table, name: str) -> Iterator[tuple[int, list[str]]]:
    """The cells of each row that is not blank."""
    if table is Table.TSV:
        yield from ((number, line.rstrip("\r\n").split("\t")) for number, line in enumerate(lines, 1) if line.strip())
        return
    reader = csv.reader(lines, strict=True)
    while True:
        start = reader.line_num + 1
        try:
            cells = next(reader, None)
        except csv.Error as error:
            message = f"the row that starts here is no CSV ({error}): is a quotation mark missing?"
            raise FormatError(message, name, start) from None
        if cells is None:
            return
        if cells:
            yield start, cells


def _with_header(rows: Iterator[tuple[int, list[str]]], name: str) -> Iterator[Row]:
    first = next(rows, None)
    if first is None:
        return
    line, header = first
    columns = [cell.strip() for cell in header]
    if twice := {column for column in columns if columns.count(column) > 1}:
        raise FormatError(f"the column {min(twice)!r} occurs twice", name, line)
    for line, cells in rows:
        if len(cells) != len(columns):
            message = f"{len(cells)} cells instead of {len(columns)}, as many as the header has"
            hint = ": a text with a comma stands in quotes" if len(cells) > len(columns) else ""
            raise FormatError(message + hint, name, line)
        yield Row(line, dict(zip(columns, cells, strict=True)))


def _json_rows(lines: Iterator[str], name: str) -> Iterator[Row]:
    for number, found in json_objects(lines, name):
        yield Row(number, {key: _as_text(value) for key, value in found.items()})


def json_objects(lines: Iterable[str], name: str) -> Iterator[tuple[int, dict[str, Any]]]:
    """The objects of JSON lines, each with its line."""
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            found = json.loads(line)
        except (json.JSONDecodeError, RecursionError) as error:
            why = error.msg if isinstance(error, json.JSONDecodeError) else "too deep"
            raise FormatError(f"the line is no JSON: {why}", name, number) from None
        if type(found) is not dict:
            raise FormatError("the line is no JSON object, {...}", name, number)
        yield number, found


def _as_text(value: Any) -> str:
    if value is None:
        return ""
    return str(int(value)) if isinstance(value, bool) else str(value)
