"""Tables: TSV, CSV and JSON lines, written and read."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any

import pytest

from ramify.errors import FormatError
from ramify.formats.tables import Table, read_table, row_writer, table_format, table_rows

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


# --- reading ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("table", Table)
def test_what_is_written_is_read(table: Table, tmp_path: Path) -> None:
    path = tmp_path / f"t.{table}"
    path.write_text(written(table), encoding="utf-8", newline="")
    rows = list(read_table(path))
    assert [row.line for row in rows] == ([1, 2, 3] if table is Table.JSONL else [2, 3, 4])
    assert [row.values["form"] for row in rows] == [row[0] for row in ROWS]
    assert [row.values["is_unk"] for row in rows] == ["1", "0", ""]
    assert [row.values["end"] for row in rows] == ["", "", "é"]
    assert [float(row.values["logprob"]) for row in rows] == pytest.approx([0.5, 0.0, 12345.678901], abs=1e-6)


def test_no_suffix_means_csv_and_chunks_do_not_matter() -> None:
    text = 'a,b\r\n1,"x\r\ny"\r\n\r\n2,z'
    whole = list(table_rows([text], Table.CSV, "t"))
    assert [(row.line, row.values) for row in whole] == [(2, {"a": "1", "b": "x\r\ny"}), (5, {"a": "2", "b": "z"})]
    assert list(table_rows(list(text), Table.CSV, "t")) == whole


@pytest.mark.parametrize(
    ("text", "table", "said"),
    [
        ("", Table.TSV, "t: there is no row in the file"),
        ("a\tb\n", Table.TSV, "t: there is no row in the file"),
        ("a\tb\n1\t2\t3\n", Table.TSV, "t:2: 3 cells instead of 2"),
        ("a,b\n1\n", Table.CSV, "t:2: 1 cells instead of 2"),
        ("a,a\n1,2\n", Table.CSV, "t:1: the column 'a' occurs twice"),
        ("a,b\n1,2\r3\n", Table.CSV, "t:2: the row that starts here is no CSV"),
        ('{"a": 1}\n3\n', Table.JSONL, "t:2: the line is no JSON object"),
        ('{"a": 1}\n\n{\n', Table.JSONL, "t:3: the line is no JSON"),
    ],
)
def test_tables_that_are_refused(text: str, table: Table, said: str) -> None:
    with pytest.raises(FormatError) as refused:
        list(table_rows([text], table, "t"))
    assert str(refused.value).startswith(said)
