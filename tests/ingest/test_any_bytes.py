"""Whatever the bytes: the books balance, and numbers are exact."""

from __future__ import annotations

import math
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from support.archives import demo, faers, unpack

from srsql.engine.errors import IngestError
from srsql.engine.ingest import IngestOptions, ingest
from srsql.engine.store.warehouse import Warehouse
from srsql.schemas import load_dataset

pytestmark = pytest.mark.thorough

SLOW = [HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
DATASET = load_dataset("faers")
LENIENT = IngestOptions(max_reject_rate=1, max_unread=1, allow_incomplete=True)
pieces = st.sampled_from(
    [b"$", b"\n", b"\r\n", b"\r", b"\0", b'"', b"1", b"22", b"YR", b"M", b"\xff", b"\xc3\xa9",
     b" ", b"\xef\xbb\xbf", b"\xf4\x8f\xbf\xbf", b"\x01", b"'", b"\\", b"KG", b"-", b"."]
)  # fmt: skip
garbage = st.lists(pieces, max_size=120).map(b"".join) | st.binary(max_size=200)
records = st.lists(garbage, max_size=4).map(b"\n1$10$1$I$42$YR$M$70$KG$US\n".join)


@settings(max_examples=20, deadline=None, suppress_health_check=SLOW)
@given(demo_body=records, drug_body=garbage, list_body=garbage, header=st.booleans())
def test_of_any_bytes_every_line_is_loaded_or_rejected(
    tmp_path: Path, demo_body: bytes, drug_body: bytes, list_body: bytes, header: bool
) -> None:
    drug = b"primaryid$drugname\n" + drug_body if header else drug_body
    files = faers(demo=demo().encode() + demo_body, drug=drug)
    source = unpack(tmp_path / "q", files | {"DELETE21Q1.txt": list_body})
    with Warehouse(":memory:") as warehouse:
        try:
            (result,) = ingest(warehouse, [source], DATASET, LENIENT)
        except IngestError as error:
            refusal = str(error)
            result = None
        if result is None:
            assert "\n" not in refusal
            assert "defect" not in refusal
            return
        for file in result.files:
            assert file.records == file.loaded + file.rejected
            assert sum(file.reasons.values()) == file.rejected + file.values_rejected
        (report,) = (file for file in result.files if file.table == "demo")
        text = demo_body.replace(b"\0", b"").replace(b"\r\n", b"\n")  # NUL is dropped
        assert report.records == text.count(b"\n") + (text.rsplit(b"\n", 1)[-1] not in (b"", b"\r"))


number = st.one_of(
    st.integers(-5, 200).map(str),
    st.decimals(-3, 60_000, places=6, allow_nan=False).map(lambda d: format(d, "f")),
    st.integers(0, 20_000).map(str),
    st.tuples(st.integers(0, 500), st.sampled_from(["5", "50", "49999999", "0", ""])).map(
        lambda pair: f"{pair[0]}.{pair[1]}"
    ),
)


@settings(max_examples=10, deadline=None, suppress_health_check=SLOW)
@given(
    values=st.lists(
        st.tuples(
            number,
            st.sampled_from(["DEC", "YR", "MON", "WK", "DY", "HR"]),
            number,
            st.sampled_from(["KG", "LBS", "GMS"]),
        ),
        min_size=1,
        max_size=40,
    )
)
def test_granules_equal_those_of_exact_fractions(
    tmp_path: Path, values: list[tuple[str, str, str, str]]
) -> None:
    text = demo(*(f"{n}${n}$1$I${a}${au}$M${w}${wu}$" for n, (a, au, w, wu) in enumerate(values)))
    source = unpack(tmp_path / "q", faers(demo=text))
    age, weight = DATASET.qid[0], DATASET.qid[1]
    with Warehouse(":memory:") as warehouse:
        ingest(warehouse, [source], DATASET, LENIENT)
        found = warehouse.rows("SELECT srsql_age, srsql_wt FROM raw_faers.demo ORDER BY srsql_line")
    for (years, kilograms), (a, au, w, wu) in zip(found, values, strict=True):
        exact = math.floor(Fraction(a) * age.units[au])
        assert years == (exact if Fraction(a) >= 0 and exact <= 120 else None), (a, au)
        exact = math.floor(Fraction(w) * weight.units[wu] + Fraction(1, 2))
        assert kilograms == (exact if Fraction(w) >= 0 and exact <= 400 else None), (w, wu)
