"""Tables: TSV, CSV and JSON lines."""

from __future__ import annotations

import csv
import io
import json
from typing import Any

import pytest

from ramify.formats.tables import Table, row_writer, table_format

ROWS: list[list[Any]] = [
    ["a", 1, 0.5, True, None],
    ['say "x", y', -3, -1e-9, False, ""],
    ["日\u2028本", 10**12, 12345.6789012, None, "é"],
]


def written(table: Table) -> str:
    out = io.StringIO(newline="")
    write = row_writer(out, table, ["form", "id", "logprob", "is_unk", "end"])
    for row in ROWS:
        write(row)
    return out.getvalue()


def test_tsv() -> None:
    assert written(Table.TSV) == (
        "form\tid\tlogprob\tis_unk\tend\n"
        "a\t1\t0.500000\t1\t\n"
        'say "x", y\t-3\t-0.000000\t0\t\n'
        "日\u2028本\t1000000000000\t12345.678901\t\té\n"
    )


@pytest.mark.parametrize("table", [Table.TSV, Table.CSV])
@pytest.mark.parametrize("stray", "\t\r\n")
def test_what_would_break_a_row(stray: str, table: Table) -> None:
    out = io.StringIO(newline="")
    row_writer(out, table, ["sent_id", "id"])([f"a{stray}b", 1])
    assert out.getvalue().splitlines()[1].split({Table.TSV: "\t", Table.CSV: ","}[table]) == ["a b", "1"]


def test_csv_as_csv_reads_it() -> None:
    text = written(Table.CSV)
    assert "\r" not in text
    assert list(csv.reader(io.StringIO(text, newline=""))) == [
        ["form", "id", "logprob", "is_unk", "end"],
        ["a", "1", "0.500000", "1", ""],
        ['say "x", y', "-3", "-0.000000", "0", ""],
        ["日\u2028本", "1000000000000", "12345.678901", "", "é"],
    ]


def test_json_lines_keep_types() -> None:
    lines = written(Table.JSONL).removesuffix("\n").split("\n")
    assert [list(json.loads(line).values()) for line in lines] == ROWS
    assert list(json.loads(lines[0])) == ["form", "id", "logprob", "is_unk", "end"]
    assert "日" in lines[2]
    with pytest.raises(ValueError, match="zip"):
        row_writer(io.StringIO(), Table.JSONL, ["form"])(["a", "b"])


@pytest.mark.parametrize(
    ("name", "table"),
    [
        ("a.tsv", Table.TSV),
        ("a.TSV", Table.TSV),
        ("b/a.csv", Table.CSV),
        ("a.b.jsonl", Table.JSONL),
        ("a.tsv.gz", Table.TSV),
        ("a.jsonl.xz", Table.JSONL),
        ("a.conllu", None),
        ("tsv", None),
        ("a.gz", None),
        ("-", None),
    ],
)
def test_the_suffix_names_the_table(name: str, table: Table | None) -> None:
    assert table_format(name) is table
