"""Tables of results: TSV, CSV or JSON lines, by suffix."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Sequence
from enum import StrEnum
from pathlib import Path
from typing import Any, TextIO

from ramify.formats.files import bare_suffix

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
