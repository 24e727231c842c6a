"""A text file is read by its mark, by what the dataset declares, or as UTF-8; what does not fit is
counted by lines, and a file most of which does not fit is refused with a likely cause."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from support.command import srsql

from srsql.engine.errors import IngestError
from srsql.engine.ingest import IngestedPeriod, IngestOptions, ingest
from srsql.engine.ingest.encodings import Cleaner, OddLines
from srsql.engine.ingest.records import extract_text
from srsql.engine.ingest.sources import CHUNK, Member
from srsql.engine.store.warehouse import Warehouse
from srsql.schemas import SchemaError, load_dataset

TOML = """
name = "own"
report_table = "rep"
report_id = "id"
case_id = "id"
[source]
reader = "csv"
SOURCE
[tables.rep]
files = ["*.csv"]
columns = ["id", "age", "pt"]
[[qid]]
name = "age"
kind = "numeric"
column = "age"
domain = [0, 120]
[[sensitive]]
table = "rep"
column = "pt"
"""
JAPANESE = ["肝機能異常", "アナフィラキシー反応", "間質性肺疾患", "発疹", "横紋筋融解症"]
CHINESE = ["肝功能异常", "过敏性休克", "间质性肺病", "皮疹", "横纹肌溶解"]
TAIWANESE = ["肝功能異常", "過敏性休克", "間質性肺病", "皮疹", "橫紋肌溶解"]
KOREAN = ["간기능 이상", "아나필락시스 반응", "간질성 폐질환", "발진"]
FRENCH = ["Anaphylaxie sévère", "Oedème de Quincke à répétition", "Diarrhée", "Éruption", "Fièvre"]
Put = Callable[..., IngestedPeriod]


@pytest.fixture
def put(warehouse: Warehouse, tmp_path: Path) -> Put:
    """Ingest one file of bytes by the dataset with these keys under [source]."""

    def put(content: bytes, source: str = "", **options: float) -> IngestedPeriod:
        toml = tmp_path / "own.toml"
        toml.write_text(TOML.replace("SOURCE", source), encoding="utf-8")
        (tmp_path / "rep.csv").write_bytes(content)
        chosen = IngestOptions(period="2024", replace=True, **options)  # type: ignore[arg-type]
        (done,) = ingest(warehouse, [tmp_path / "rep.csv"], load_dataset(toml), chosen)
        return done

    return put


def table(terms: list[str], rows: int = 200) -> str:
    return "id,age,pt\n" + "".join(f"{n},40,{terms[n % len(terms)]}\n" for n in range(1, rows + 1))


@pytest.mark.parametrize(
    ("encoding", "terms"),
    [
        ("utf-8", JAPANESE), ("cp932", JAPANESE), ("shift_jis", JAPANESE), ("euc-jp", JAPANESE),
        ("utf-16", JAPANESE), ("utf-16-le", FRENCH), ("utf-16-be", KOREAN), ("utf-32", CHINESE),
        ("gb18030", CHINESE), ("euc-kr", KOREAN), ("iso2022_jp", JAPANESE), ("cp1252", FRENCH),
        ("latin-1", FRENCH), ("utf-7", FRENCH), ("utf-8-sig", FRENCH),
    ],
)  # fmt: skip
def test_a_declared_encoding_gives_the_terms_as_they_were_written(
    put: Put, warehouse: Warehouse, encoding: str, terms: list[str]
) -> None:
    done = put(table(terms).encode(encoding), f'encoding = "{encoding}"')
    assert (done.files[0].loaded, done.files[0].odd_lines, done.files[0].repaired) == (200, 0, 0)
    found = warehouse.rows("SELECT DISTINCT pt FROM raw_own.rep")
    assert {term for (term,) in found} == set(terms)


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-32"])
def test_a_byte_order_mark_says_the_encoding_where_nothing_is_declared(
    put: Put, warehouse: Warehouse, encoding: str
) -> None:
    done = put(table(FRENCH).encode(encoding))
    assert done.files[0].encoding == encoding.removesuffix("-sig")
    assert warehouse.value("SELECT count(DISTINCT pt) FROM raw_own.rep") == len(FRENCH)


def test_utf_16_without_a_mark_is_refused_with_what_to_declare(put: Put) -> None:
    with pytest.raises(IngestError, match=r"rep.csv is not utf-16 .* utf-16-le or utf-16-be"):
        put(table(FRENCH).encode("utf-16-le"), 'encoding = "utf-16"')


def test_a_byte_order_mark_counts_more_than_what_is_declared(put: Put) -> None:
    assert put(table(FRENCH).encode("utf-16"), 'encoding = "cp1252"').files[0].encoding == "utf-16"


@pytest.mark.parametrize(
    ("encoding", "terms", "likely"),
    [
        ("cp932", JAPANESE, "cp932"), ("euc-jp", JAPANESE, "euc_jp"), ("gbk", CHINESE, "gb18030"),
        ("euc-kr", KOREAN, "euc_kr"), ("big5", TAIWANESE, "big5"),
        ("cp1252", FRENCH, "cp1252"), ("utf-16-le", FRENCH, "utf-16-le"),
        ("utf-16-be", FRENCH, "utf-16-be"),
    ],
)  # fmt: skip
def test_a_file_in_another_encoding_is_refused_with_its_likely_name_and_the_key(
    put: Put, warehouse: Warehouse, encoding: str, terms: list[str], likely: str
) -> None:
    with pytest.raises(IngestError) as caught:
        put(table(terms).encode(encoding))
    text = str(caught.value)
    assert f'encoding = "{likely}"' in text
    assert "are not utf-8" in text
    assert "nothing was changed" in text
    assert warehouse.value("SELECT count(*) FROM srsql.ingestion") == 0


def test_a_line_that_fits_no_encoding_is_counted_and_so_is_its_term(put: Put) -> None:
    done = put(table(["Rash"], 300).encode() + b"999,40,caf\xe9\n")
    assert (done.files[0].odd_lines, done.files[0].repaired) == (1, 1)
    assert done.files[0].columns[-1].unread == 1


def test_lines_that_do_not_fit_a_declared_encoding_are_counted_by_it(put: Put) -> None:
    bad = b"".join(b"%d,40,\x81\xff\n" % n for n in range(2000, 2011))
    with pytest.raises(IngestError, match=r"11 of 1,012 lines .* are not cp932"):
        put(table(["Rash"], 1000).encode() + bad, 'encoding = "cp932"')


def test_a_header_in_another_encoding_is_named_as_that(put: Put) -> None:
    header = "識別番号,年齢,pt\n".encode("cp932")
    body = "".join(f"{n},40,Rash\n" for n in range(1, 300)).encode()
    with pytest.raises(IngestError) as caught:
        put(header + body)
    assert "the header is not utf-8" in str(caught.value)
    assert 'encoding = "cp932"' in str(caught.value)


def test_a_stray_byte_is_read_as_cp1252_as_ever_and_the_command_says_so(tmp_path: Path) -> None:
    toml, data = tmp_path / "own.toml", tmp_path / "rep.csv"
    toml.write_text(TOML.replace("SOURCE", ""), encoding="utf-8")
    data.write_bytes(table(["Rash"], 300).encode() + b"999,40,caf\xe9\n")
    run = srsql(
        "ingest", data, "--dataset", toml, "--period", "2024", "--db", tmp_path / "w.duckdb"
    )
    assert run.code == 0
    assert "rep.csv: 1 line is not utf-8, their stray bytes read as cp1252" in run.out
    assert "1 of 301 values of pt not understood (0.3%)" in run.out


@pytest.mark.parametrize("name", ["utf-99", "hex", "undefined", "rot13"])
def test_what_is_no_text_encoding_is_refused_where_it_is_declared(
    tmp_path: Path, name: str
) -> None:
    (tmp_path / "own.toml").write_text(TOML.replace("SOURCE", f'encoding = "{name}"'))
    with pytest.raises(SchemaError, match=rf"source.encoding: '{name}' is no text encoding"):
        load_dataset(tmp_path / "own.toml")


def test_texts_of_east_asia_are_told_apart_from_letters_with_accents() -> None:
    for encoding, terms, expected in (
        ("cp932", JAPANESE, "cp932"), ("cp1252", FRENCH, "cp1252"), ("gb18030", CHINESE, "gb18030"),
    ):  # fmt: skip
        odd = OddLines("utf-8")
        for number, term in enumerate(terms, 1):
            odd.add(number, term.encode(encoding).decode("utf-8", "surrogateescape"))
        assert odd.likely() == expected


def plain_lines(content: bytes, encoding: str) -> tuple[list[str], set[int]]:
    """By definition: the lines of a text, and the numbers of those that have a misfit byte."""
    if encoding == "utf-8":
        raw = content.removeprefix(b"\xef\xbb\xbf").replace(b"\r\n", b"\n").split(b"\n")
        lines, odd = [], set()
        for number, line in enumerate(raw, 1):
            text = ""
            for character in line.decode("utf-8", "surrogateescape"):
                byte = ord(character) - 0xDC00
                if 0x80 <= byte <= 0xFF:
                    odd.add(number)
                    kept = bytes([byte]).decode("cp1252", "ignore")
                    text += kept or chr(byte)
                elif character == "\0":
                    odd.add(number)
                else:
                    text += character
            lines.append(text)
        return lines, odd
    text = content.decode(encoding, "replace").removeprefix("\ufeff").replace("\r\n", "\n")
    numbered = list(enumerate(text.split("\n"), 1))
    odd = {number for number, line in numbered if "\ufffd" in line or "\0" in line}
    return [line.replace("\0", "") for _, line in numbered], odd


@settings(max_examples=200, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    parts=st.lists(
        st.one_of(
            st.sampled_from(
                [b"\n", b"\r\n", b"a,b", b"\xe9", "é".encode(), "肝".encode("cp932"), b"\0"]
            ),
            st.binary(max_size=4).filter(lambda b: b"\r" not in b),
        ),
        max_size=30,
    ),
    encoding=st.sampled_from(["utf-8", "cp932", "euc_jp", "cp1252", "gb18030"]),
    sizes=st.lists(st.integers(1, 7), min_size=1, max_size=5),
)
def test_any_bytes_in_pieces_of_any_size_give_the_lines_of_the_definition(
    parts: list[bytes], encoding: str, sizes: list[int]
) -> None:
    content = b"".join(parts)
    if content[:2] in (b"\xff\xfe", b"\xfe\xff") or content[:3] == b"\xef\xbb\xbf":
        return  # a mark, of which there are tests of its own
    cleaner, clean, place = Cleaner(encoding), b"", 0
    while place < len(content):
        size = sizes[place % len(sizes)]
        clean += cleaner.feed(content[place : place + size], final=False)
        place += size
    clean += cleaner.feed(b"", final=True)
    lines, odd = plain_lines(content, encoding)
    assert clean.decode().split("\n") == lines
    assert set(cleaner.odd.numbers) == odd


def test_a_character_that_lies_on_the_border_of_two_chunks_is_read_whole(tmp_path: Path) -> None:
    file, target = tmp_path / "x.txt", tmp_path / "y.txt"
    file.write_bytes(b"a" * (CHUNK - 1) + "肝\n".encode("cp932"))
    extracted = extract_text(Member("x.txt", file), target, "cp932")
    assert target.read_text(encoding="utf-8").endswith("a肝\n")
    assert (extracted.lines, extracted.repaired) == (1, 0)
