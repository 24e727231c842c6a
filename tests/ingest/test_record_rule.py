"""What makes a record, for all readers, against a state machine written from the contract."""

from __future__ import annotations

import random
import re
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from oracles.source_records import Rule, any_text, cleaned, lines_of, records, whole_number

from srsql.engine.errors import IngestError
from srsql.engine.ingest.quoted import ReportIds
from srsql.engine.ingest.records import RecordTable, extract_text, read_records
from srsql.engine.ingest.sources import Member
from srsql.engine.store.warehouse import Warehouse
from srsql.schemas import Source

NAMES = ("id", "b", "c", "d")
Found = list[tuple[int, int, list[str] | None, int | None]]


@pytest.fixture(scope="module")
def warehouse() -> Iterator[Warehouse]:
    with Warehouse(":memory:") as opened:
        yield opened


def read(
    warehouse: Warehouse, folder: Path, text: str, source: Source, ids: ReportIds
) -> RecordTable:
    """The records of a text as a file."""
    path = folder / "x.csv"
    path.write_text(text, encoding="utf-8", newline="")
    extracted = extract_text(Member("x.csv", path), folder / "x.txt")
    return read_records(warehouse, "x.csv", extracted, source, ids=ids)


def found_records(warehouse: Warehouse) -> Found:
    """Line, lines, fields (None: rejected), and the line that is named as the reason."""
    rows = warehouse.rows(
        "SELECT line, lines, field, fault, regexp_extract(fault, 'line ([0-9]+),', 1) "
        "FROM temp.main.srsql_record ORDER BY line"
    )
    return [
        (line, lines, None if fault and fault != "blank line" else field, int(named or 0) or None)
        for line, lines, field, fault, named in rows
    ]


def expected_records(text: str, rule: Rule) -> Found:
    return [
        (r.line, r.lines, r.fields and [cleaned(field) for field in r.fields], r.names)
        for r in records(lines_of(text), rule)
    ]


def check(warehouse: Warehouse, folder: Path, text: str, rule: Rule) -> None:
    integer = rule.is_id is whole_number
    columns = None if rule.header_lines else NAMES[: rule.width]
    ids = ReportIds((NAMES[rule.place],), integer, columns)
    source = Source(
        reader="csv",
        delimiter=rule.delimiter,
        quote=rule.quote,
        escape=rule.escape,
        header=columns is None,
    )
    read(warehouse, folder, text, source, ids)
    assert found_records(warehouse) == expected_records(text, rule)


@settings(max_examples=30, suppress_health_check=list(HealthCheck))
@given(
    body=st.text(alphabet='1a""",,,\n\n \r', max_size=50),
    width=st.integers(1, 4),
    place=st.integers(0, 3),
    integer=st.booleans(),
)
def test_the_records_of_any_text_are_those_of_the_contract(
    warehouse: Warehouse, tmp_path: Path, body: str, width: int, place: int, integer: bool
) -> None:
    rule = Rule(",", True, width, place % width, whole_number if integer else any_text)
    text = ",".join(NAMES[:width]) + "\n" + body
    check(warehouse, tmp_path, text, rule)


@settings(max_examples=40, suppress_health_check=list(HealthCheck))
@given(
    body=st.text(alphabet="1a'''###,,,\n\n \r", min_size=1, max_size=50),
    width=st.integers(1, 4),
    place=st.integers(0, 3),
    integer=st.booleans(),
    escape=st.sampled_from([None, "#"]),
    header_lines=st.integers(0, 1),
)
def test_the_records_of_any_text_are_those_of_its_quote_escape_and_header(
    warehouse: Warehouse,
    tmp_path: Path,
    body: str,
    width: int,
    place: int,
    integer: bool,
    escape: str | None,
    header_lines: int,
) -> None:
    rule = Rule(
        ",", True, width, place % width, whole_number if integer else any_text, "'", escape,
        header_lines,
    )  # fmt: skip
    text = (",".join(NAMES[:width]) + "\n") * header_lines + body
    if len(lines_of(text)) > 1 or "\r" not in text:
        check(warehouse, tmp_path, text, rule)


def large_file(seed: int) -> tuple[str, Rule]:
    """Some 1,500 short lines of little but quotes and delimiters, so that spans overlap, end where
    others begin, and hold each other."""
    rng = random.Random(seed)
    width = rng.randint(1, 4)
    pieces = rng.choice(
        (
            ('"', '"', "1", ",", '",', ',"', '","', '""', "a", "1,", "1,a,", "a,1"),
            tuple('1a"",,'),
            ("1", '","'),
            tuple('1a"",x,"\r'),
        )
    )
    lines = [
        "".join(rng.choice(pieces) for _ in range(rng.choice((0, 1, 2, 3, 4, 5, 8))))
        for _ in range(1500)
    ]
    rule = Rule(",", True, width, rng.randrange(width), rng.choice((whole_number, any_text)))
    return "\n".join((",".join(NAMES[:width]), *lines)), rule


def test_the_records_of_large_files_of_quotes_are_those_of_the_contract(
    warehouse: Warehouse, tmp_path: Path
) -> None:
    for seed in range(6):
        check(warehouse, tmp_path, *large_file(seed))


@pytest.mark.thorough
def test_the_records_of_many_large_files_of_quotes_are_those_of_the_contract(
    warehouse: Warehouse, tmp_path: Path
) -> None:
    several = 0
    for seed in range(100, 300):
        text, rule = large_file(seed)
        check(warehouse, tmp_path, text, rule)
        several += sum(lines > 1 for _, lines, _, _ in found_records(warehouse))
    assert several > 2_000


NEVER = "a quote is opened and never closed"
FILES = {
    "an open quote is rejected, not the lines up to the next inch sign": (
        "|",
        [
            '1|"ALPHA" 6 MG TABLET|Rash',
            '2|"BETA|Pain',
            "3|X|Rash",
            "4|Y|Rash",
            '5|GAMMA 10" PATCH|Rash',
            '6|"DELTA"|Rash',
        ],
        [
            (2, 1, ["1", "ALPHA 6 MG TABLET", "Rash"]),
            (3, 1, "a quoted field goes on to line 6, where text follows its closing quote"),
            (4, 1, ["3", "X", "Rash"]),
            (5, 1, ["4", "Y", "Rash"]),
            (6, 1, ["5", 'GAMMA 10" PATCH', "Rash"]),
            (7, 1, ["6", "DELTA", "Rash"]),
        ],
    ),
    "a line that closes an open quote and is a record is a record": (
        ",",
        ['1,"BETA,Pain', "2,X,Rash", '3,Y,5"'],
        [
            (2, 1, "a quoted field holds line 3, a record of its own"),
            (3, 1, ["2", "X", "Rash"]),
            (4, 1, ["3", "Y", '5"']),
        ],
    ),
    "a line that opens a quote behind its id is no part of a field": (
        ",",
        ['1,X,"Pain', '2,Y,"', '3,"Z', 'z",Rash'],
        [
            (2, 1, "a quoted field holds line 3, a record of its own"),
            (3, 1, "a quoted field goes on to line 4, where text follows its closing quote"),
            (4, 2, ["3", "Z z", "Rash"]),
        ],
    ),
    "a narrative goes over lines, with doubled quotes and blank lines": (
        ",",
        ['1,"He said ""no"",', "", "2 days later, then 3,", '""so""', '",Rash', "2,X,Rash"],
        [
            (2, 5, ["1", 'He said "no", 2 days later, then 3, "so"', "Rash"]),
            (7, 1, ["2", "X", "Rash"]),
        ],
    ),
    "of a narrative with a line that looks like a record only the first line is lost with it": (
        ",",
        ['1,"as before:', "2,X,Rash", 'so it was",Pain', "3,Y,Rash"],
        [
            (2, 1, "a quoted field holds line 3, a record of its own"),
            (3, 1, ["2", "X", "Rash"]),
            (4, 1, ['so it was"', "Pain"]),
            (5, 1, ["3", "Y", "Rash"]),
        ],
    ),
    "two fields of one record may go over lines": (
        ",",
        ['1,"first', 'second, and third","fourth', 'fifth"', "2,X,Rash"],
        [(2, 3, ["1", "first second, and third", "fourth fifth"]), (5, 1, ["2", "X", "Rash"])],
    ),
    "what no quote closes is rejected at the end of the file as well": (
        ",",
        ["1,X,Rash", '2,Y,"', "3,Y,Pain", '4,Y,"Z'],
        [
            (2, 1, ["1", "X", "Rash"]),
            (3, 1, "a quoted field goes on to line 5, where text follows its closing quote"),
            (4, 1, ["3", "Y", "Pain"]),
            (5, 1, NEVER),
        ],
    ),
    "lines that make no record of the width of the header are read one by one": (
        ",",
        ['1,"a', 'b"', "2,X,Rash"],
        [
            (2, 1, "a quoted field goes on to line 3, but that makes no record of the width of"
                   " the header"),
            (3, 1, ['b"']),
            (4, 1, ["2", "X", "Rash"]),
        ],
    ),
    "a separator at the end of a record over lines makes no other width": (
        ";",
        ['1;X;"a', 'b";', "2;Y;Rash;"],
        [(2, 2, ["1", "X", "a b", ""]), (4, 1, ["2", "Y", "Rash", ""])],
    ),
    "a quote within an unquoted field is a character": (
        "\t",
        ['1\tX"\t10" x 5"', '2\t""\t"a\tb"'],
        [(2, 1, ["1", 'X"', '10" x 5"']), (3, 1, ["2", "", "a\tb"])],
    ),
}  # fmt: skip


def earlier(fault: str) -> str:
    """The same fault where every line stands one line earlier."""
    return re.sub("line ([0-9]+)", lambda found: f"line {int(found[1]) - 1}", fault)


@pytest.mark.parametrize("by_position", [False, True])
@pytest.mark.parametrize("name", FILES)
def test_one_rule(warehouse: Warehouse, tmp_path: Path, name: str, by_position: bool) -> None:
    """Without a header the same lines are the same records, one line earlier."""
    delimiter, lines, wanted = FILES[name]
    text = "\n".join(lines if by_position else (delimiter.join(NAMES[:3]), *lines))
    ids = ReportIds(("id",), True, NAMES[:3] if by_position else None)
    source = Source(reader="csv", delimiter=delimiter, header=not by_position)
    if by_position:
        wanted = [(a - 1, b, earlier(c) if isinstance(c, str) else c) for a, b, c in wanted]
    for end in ("", "\n", "\r\n"):
        written = "\ufeff" * by_position + text.replace("\n", end or "\n") + end
        read(warehouse, tmp_path, written, source, ids)
        found = warehouse.rows(
            "SELECT line, lines, coalesce(fault, '') AS fault, field "
            "FROM temp.main.srsql_record ORDER BY line"
        )
        cells = [(a, b, c if isinstance(c, str) else "") for a, b, c in wanted]
        assert [(line, lines, fault) for line, lines, fault, _ in found] == cells
        fields = [[cleaned(f) for f in c] for _, _, c in wanted if not isinstance(c, str)]
        assert [field for _, _, fault, field in found if not fault] == fields


@pytest.mark.parametrize(
    ("header", "why"),
    [
        ('id,b,"c', "a quote is opened and not closed in that line"),
        ('"id', "a quote is opened and not closed in that line"),
    ],
)
def test_a_header_that_is_no_record_of_one_line_is_refused(
    warehouse: Warehouse, tmp_path: Path, header: str, why: str
) -> None:
    text = f'{header}\n1,X,Rash\n2,Y,"Pain"\n'
    with pytest.raises(IngestError, match="no header in line 1") as caught:
        read(warehouse, tmp_path, text, Source(reader="csv"), ReportIds(("id",), integer=True))
    assert why in str(caught.value)


def test_a_quoted_header_names_the_columns(warehouse: Warehouse, tmp_path: Path) -> None:
    text = '"Id","b, or not","c ""x"""\n1,"X\ny",Rash\n'
    table = read(warehouse, tmp_path, text, Source(reader="csv"), ReportIds(("id",), integer=True))
    assert (table.names, table.width, table.cleaned) == (("id", "b, or not", 'c "x"'), 3, True)
    assert found_records(warehouse) == [(2, 2, ["1", "X y", "Rash"], None)]


def test_a_field_of_many_lines_and_megabytes_is_one_value(
    warehouse: Warehouse, tmp_path: Path
) -> None:
    lines = [f'line {n}, with ""quotes"" and {"x" * 40}' for n in range(50_000)]
    text = 'id,b,c\n1,"' + "\n".join(lines) + '",Rash\n2,X,Rash\n'
    read(warehouse, tmp_path, text, Source(reader="csv"), ReportIds(("id",), integer=True))
    value = " ".join(lines).replace('""', '"')
    assert found_records(warehouse) == [
        (2, 50_000, ["1", value, "Rash"], None),
        (50_002, 1, ["2", "X", "Rash"], None),
    ]


def test_time_grows_with_the_file_where_every_line_opens_a_quote_and_none_closes_one(
    warehouse: Warehouse, tmp_path: Path
) -> None:
    def seconds(lines: int) -> float:
        text = "id,b,c\n" + '1","w\n' * lines + '2,"\n'
        begun = time.process_time()
        read(warehouse, tmp_path, text, Source(reader="csv"), ReportIds(("id",), integer=True))
        return time.process_time() - begun

    seconds(1_000)
    assert seconds(80_000) < 24 * seconds(10_000)
