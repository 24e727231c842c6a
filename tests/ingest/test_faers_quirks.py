"""Every quirk of real FAERS/AERS archives, one test each."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from support.archives import DEMO, LEGACY_DEMO, ages, demo, faers, lines, unpack

from srsql.engine.errors import IngestError
from srsql.engine.ingest import IngestedFile, IngestedPeriod, ingest
from srsql.engine.store.warehouse import Warehouse
from srsql.schemas import load_dataset

pytestmark = pytest.mark.thorough

Take = Callable[..., IngestedPeriod]


def file(result: IngestedPeriod, table: str) -> IngestedFile:
    return next(f for f in result.files if f.table == table)


def test_a_valid_quarter_is_loaded_whole(take: Take, warehouse: Warehouse) -> None:
    result = take(faers())
    assert (result.quarter, result.status, result.deleted_cases) == ("2021Q1", "loaded", 0)
    assert warehouse.rows(
        "SELECT quarter, srsql_line, primaryid, caseid, age, srsql_age, srsql_wt, srsql_sex "
        "FROM raw_faers.demo"
    ) == [
        ("2021Q1", 2, 101, 10, "42", 42, 70, "M"),
        ("2021Q1", 3, 201, 20, None, None, None, "F"),
    ]
    assert warehouse.rows("SELECT drugname, srsql_drugname, prod_ai FROM raw_faers.drug") == [
        ("Aspirin", "aspirin", None), ("Ibuprofen", "ibuprofen", None),
    ]  # fmt: skip


def test_quotes_carets_and_backslashes_are_data(take: Take, warehouse: Warehouse) -> None:
    names = ['"A"', "5' O\\x", "^B", '"open', "a\tb", "#x", "NULL"]
    take(faers(drug=lines("primaryid$drugname", *(f"101${name}" for name in names))))
    found = warehouse.rows("SELECT drugname FROM raw_faers.drug ORDER BY srsql_line")
    assert [name for (name,) in found] == [name.replace("\t", " ") for name in names]


def test_a_trailing_separator_is_judged_by_the_file_and_not_by_the_era(
    take: Take, warehouse: Warehouse
) -> None:
    legacy = {
        "ascii/DEMO05Q1.TXT": lines(LEGACY_DEMO, "1$10$I$42$YR$M$70$KG$", "2$20$I$42$YR$F$$$"),
        "ascii/DRUG05Q1.TXT": lines("ISR$DRUG_SEQ$ROLE_COD$DRUGNAME", "1$7$PS$ASPIRIN$"),
        "ascii/REAC05Q1.TXT": lines("ISR$PT$", "1$NAUSEA$"),
        "ascii/INDI05Q1.TXT": lines("ISR$DRUG_SEQ$INDI_PT$", "1$7$PAIN"),
        "ascii/OUTC05Q1.TXT": lines("isr$outc_cod$v3", "1$HO$"),
    }
    result = take(legacy)
    assert all(f.rejected == 0 and f.orphans == 0 for f in result.files)
    assert result.quarter == "2005Q1"
    assert warehouse.rows("SELECT primaryid, caseid, sex, srsql_wt FROM raw_faers.demo") == [
        (1, 10, "M", 70),
        (2, 20, "F", None),
    ]
    assert warehouse.rows("SELECT primaryid, caseid, drugname FROM raw_faers.drug") == [
        (1, None, "ASPIRIN")
    ]
    assert warehouse.value("SELECT indi_pt FROM raw_faers.indi") == "PAIN"


@pytest.mark.parametrize("place", [0, 1, 2])
def test_what_most_records_end_in_decides_wherever_the_others_stand(take: Take, place: int) -> None:
    records = ["1$1$A$", "1$1$B$"]
    records.insert(place, "1$1$C")
    result = take(faers(outc=lines("primaryid$caseid$outc_cod", *records)))
    assert file(result, "outc").reasons == {
        "too few fields (a short row, or a line end inside a value)": 1
    }
    records = ["1$1$A", "1$1$B"]
    records.insert(place, "1$1$C$")
    result = take(faers("21Q2", outc=lines("primaryid$caseid$outc_cod", *records)))
    assert file(result, "outc").reasons == {"too many fields (a separator inside a value)": 1}


def test_rows_stand_in_the_order_of_their_lines_whoever_splits_them(
    take: Take, warehouse: Warehouse
) -> None:
    rows = 300_000  # more than two threads of DuckDB read at once
    many = [f"101$10$TERM {number:06}" for number in range(rows)]
    assert all(f.rejected == 0 for f in take(faers(reac=lines("primaryid$caseid$pt", *many))).files)
    many[123_456] = "101$10$A$B"
    take(faers("21Q2", reac=lines("primaryid$caseid$pt", *many)))
    for quarter, loaded in (("2021Q1", rows), ("2021Q2", rows - 1)):
        found = warehouse.rows("SELECT pt FROM raw_faers.reac WHERE quarter = ?", [quarter])
        assert len(found) == loaded
        assert found == sorted(found)


def test_a_case_id_that_is_none_is_kept_with_its_line_and_the_row_is_loaded(
    take: Take, warehouse: Warehouse
) -> None:
    take(faers(reac=lines("primaryid$caseid$pt", "101$10$A", "101$ten$B", "101$$C", "101$ 10 $D")))
    assert warehouse.rows("SELECT caseid, pt FROM raw_faers.reac ORDER BY srsql_line") == [
        (10, "A"), (None, "B"), (None, "C"), (10, "D")
    ]  # fmt: skip
    assert warehouse.rows("SELECT line, kind, column_name, value, reason FROM srsql.reject") == [
        (3, "value", "caseid", "ten", "case id is not an integer")
    ]


def test_header_names_may_have_a_bom_white_space_any_case_and_old_spellings(
    take: Take, warehouse: Warehouse
) -> None:
    take(
        faers(
            demo=lines("PRIMARYID$ CaseID$I_F_COD$gndr_cod$ rept_dt$AGE", "101$10$I$F$2012$5"),
            drug="\ufeffprimaryid$caseid$drugname$lot_nbr\n101$10$Aspirin$L1\n".encode(),
            outc=lines("primaryid$caseid$outc_code", "101$10$HO"),
        )
    )
    assert warehouse.rows("SELECT primaryid, caseid, sex, rept_dt FROM raw_faers.demo") == [
        (101, 10, "F", "2012")
    ]
    assert warehouse.value("SELECT lot_num FROM raw_faers.drug") == "L1"
    assert warehouse.value("SELECT outc_cod FROM raw_faers.outc") == "HO"


def test_columns_the_schema_does_not_declare_are_skipped(take: Take, warehouse: Warehouse) -> None:
    take(faers(outc=lines("primaryid$secret$outc_cod", "101$x$HO")))
    columns = warehouse.rows("DESCRIBE raw_faers.outc")
    assert [c[0] for c in columns] == ["quarter", "srsql_line", "primaryid", "caseid", "outc_cod"]


def test_crlf_and_a_missing_final_newline_change_nothing(take: Take, warehouse: Warehouse) -> None:
    text = lines("primaryid$caseid$outc_cod", "101$10$HO", "201$20$DE").replace("\n", "\r\n")
    result = take(faers(outc=text.removesuffix("\r\n")))
    assert file(result, "outc").loaded == 2
    assert warehouse.rows("SELECT outc_cod FROM raw_faers.outc") == [("HO",), ("DE",)]


def test_a_lone_carriage_return_and_a_nul_byte_lose_no_row(
    take: Take, warehouse: Warehouse
) -> None:
    result = take(faers(drug=b"primaryid$drugname\n101$A\rB\n10\x001$C\x00D\n"))
    assert warehouse.rows("SELECT primaryid, drugname FROM raw_faers.drug") == [
        (101, "A B"),
        (101, "CD"),
    ]
    assert file(result, "drug").repaired == 2
    assert file(result, "drug").cleaned == {"drugname": 1}


def test_a_file_of_bare_carriage_returns_is_refused_and_not_taken_for_a_header(take: Take) -> None:
    with pytest.raises(IngestError, match="carriage returns"):
        take(faers(outc="primaryid$outc_cod\r101$HO\r"))


def test_bytes_that_are_not_utf8_are_read_as_cp1252_and_counted(
    take: Take, warehouse: Warehouse
) -> None:
    names = b"primaryid$drugname\n101$CAF\xc9 \x93X\x94\n101$caf\xc3\xa9 \x81\n"
    result = take(faers(drug=names))
    assert file(result, "drug").repaired == 4
    assert [n for (n,) in warehouse.rows("SELECT drugname FROM raw_faers.drug")] == [
        "CAFÉ “X”",
        "café",
    ]


def test_bad_bytes_on_a_chunk_border_are_repaired_too(take: Take, warehouse: Warehouse) -> None:
    filler = b"x" * ((1 << 20) - len(b"primaryid$drugname\n101$") - 1)
    take(faers(drug=b"primaryid$drugname\n101$" + filler + "é\r\n201$é\r\n".encode()))
    assert warehouse.rows("SELECT length(drugname), right(drugname, 1) FROM raw_faers.drug") == [
        (len(filler) + 1, "é"),
        (1, "é"),
    ]


def test_two_records_merged_on_one_line_are_named_so(take: Take) -> None:
    record = "101$10$1$PS$A"
    header = "primaryid$caseid$drug_seq$role_cod$drugname"
    merged = [record + "$" + record, record + record]
    result = take(faers(drug=lines(header, record, *merged)))
    assert file(result, "drug").reasons == {"two records on one line": 2}
    trailing = [f"{record}$", f"{record}$", f"{record}${record}$", f"{record}{record}$"]
    result = take(faers("21Q2", drug=lines(header, *trailing)))
    assert file(result, "drug").reasons == {"two records on one line": 2}


def test_a_separator_inside_a_value_is_rejected_with_its_line_and_record(
    take: Take, warehouse: Warehouse
) -> None:
    bad = "301$30$1$I$42$YR$M$70$KG$U$S"
    result = take(faers(demo=demo("101$10$1$I$42$YR$M$70$KG$US", bad)))
    assert file(result, "demo").reasons == {"too many fields (a separator inside a value)": 1}
    assert warehouse.rows("SELECT file, line, kind, value, record FROM srsql.reject") == [
        ("ascii/DEMO21Q1.txt", 3, "row", "11 fields", bad)
    ]


def test_a_line_end_inside_a_value_rejects_both_halves_and_blank_lines_count(take: Take) -> None:
    result = take(
        faers(drug=lines("primaryid$drug_seq$drugname", "101$1", "x$", "", " ", "101$1$A"))
    )
    counts = file(result, "drug")
    assert (counts.records, counts.loaded) == (5, 1)
    assert counts.reasons == {
        "too few fields (a short row, or a line end inside a value)": 2,
        "blank line": 2,
    }


def test_null_case_ids_and_broken_ids_are_rejected(take: Take) -> None:
    rest = "$1$I$42$YR$M$70$KG$US"
    result = take(
        faers(
            demo=demo(
                *(f"{ids}{rest}" for ids in ("1$10", "2$", "$30", "x$40", "5$1e3", "1$60")),
                f"99999999999999999999$70{rest}",
            )
        )
    )
    assert file(result, "demo").loaded == 1
    assert file(result, "demo").reasons == {
        "blank case id": 1,
        "blank report id": 1,
        "case id is not an integer": 1,
        "duplicate report id": 1,
        "report id is not an integer": 2,
    }


def test_of_a_report_id_that_comes_twice_the_first_good_record_is_kept(
    take: Take, warehouse: Warehouse
) -> None:
    rest = "$1$I$42$YR$M$70$KG$US"
    take(faers(demo=demo("1$", f"1$10{rest}", f"01$20{rest}")))
    assert warehouse.rows("SELECT srsql_line, caseid FROM raw_faers.demo") == [(3, 10)]


def test_ages_in_all_units_become_completed_years(take: Take, warehouse: Warehouse) -> None:
    values = {
        "12$MON": 1, "860$MON": 71, "30456$DY": 83, "7305$DY": 20, "7304$DY": 19, "8$DEC": 80,
        "105191$HR": 11, "105192$HR": 12, "53$WK": 1, "52$WK": 0, "42.999$YR": 42, "0$YR": 0,
        " 7 $ yr ": 7, "120.9$YR": 120, ".5$DEC": 5, "+3$YR": 3,
    }  # fmt: skip
    result = take(faers(demo=ages(*values)))
    found = warehouse.rows("SELECT srsql_age FROM raw_faers.demo ORDER BY srsql_line")
    assert [age for (age,) in found] == list(values.values())
    assert file(result, "demo").values_rejected == 0


def test_impossible_ages_count_as_missing_and_are_kept_as_value_rejects(
    take: Take, warehouse: Warehouse
) -> None:
    reasons = {
        "-5$YR": "negative", "121$YR": "outside 0 to 120 years",
        "1452$MON": "outside 0 to 120 years", "42$": "no unit", "42$XX": "unknown unit",
        "abc$YR": "not a number", "1e2$YR": "not a number",
        f"{'9' * 50}$YR": "outside 0 to 120 years", ".$YR": "not a number",
    }  # fmt: skip
    result = take(faers(demo=ages(*reasons, "$", "$YR")))
    found = warehouse.rows(
        "SELECT kind, column_name, value, reason FROM srsql.reject ORDER BY line"
    )
    assert found == [
        ("value", "age", value.replace("$", " ").strip(), reason)
        for value, reason in reasons.items()
    ]
    assert warehouse.value("SELECT count(srsql_age) FROM raw_faers.demo") == 0
    counts = file(result, "demo")
    assert (counts.rejected, counts.values_rejected) == (0, len(reasons))
    assert counts.reasons["age: negative"] == 1


def test_weights_are_kilograms_with_halves_rounded_up(take: Take, warehouse: Warehouse) -> None:
    values = {
        "58.05$KG": 58, "0.5$KG": 1, "69.5$KG": 70, "69.4999999999$KG": 69, "150$LBS": 68,
        "154.32358352941430650$LBS": 70, "3250$GMS": 3, "3500$GMS": 4, "400.4$KG": 400,
    }  # fmt: skip
    records = [f"{n}1${n}$1$I$$$M${value}$US" for n, value in enumerate(values, start=1)]
    take(faers(demo=demo(*records)))
    found = warehouse.rows("SELECT srsql_wt FROM raw_faers.demo ORDER BY srsql_line")
    assert [weight for (weight,) in found] == list(values.values())


def test_unknown_sexes_are_missing_and_other_codes_are_value_rejects(
    take: Take, warehouse: Warehouse
) -> None:
    codes = {"M": "M", "f": "F", "Female": "F", "UNK": None, "NS": None, "": None, "any": None,
             "YR": None}  # fmt: skip
    records = [f"{n}1${n}$1$I$$${code}$$$US" for n, code in enumerate(codes, start=1)]
    take(faers(demo=demo(*records)))
    found = warehouse.rows("SELECT srsql_sex FROM raw_faers.demo ORDER BY srsql_line")
    assert [sex for (sex,) in found] == list(codes.values())
    assert warehouse.rows("SELECT line, value, reason FROM srsql.reject") == [
        (9, "YR", "unknown code")
    ]


def test_placeholder_indications_are_missing_values(take: Take, warehouse: Warehouse) -> None:
    terms = {
        "Product used for unknown indication": None, " DRUG USE FOR UNKNOWN INDICATION\u00a0": None,
        "\u3000Breast cancer ": "breast cancer", "": None, "  ": None,
    }  # fmt: skip
    take(faers(indi=lines("primaryid$indi_pt", *(f"101${term}" for term in terms))))
    found = warehouse.rows("SELECT indi_pt, srsql_indi_pt FROM raw_faers.indi ORDER BY srsql_line")
    assert found == [(term or None, wanted) for term, wanted in terms.items()]


def test_partial_dates_and_duplicate_child_rows_stay_as_they_are(
    take: Take, warehouse: Warehouse
) -> None:
    header = f"{DEMO}$event_dt"
    records = [f"{n}1${n}$1$I$$$M$$$US${d}" for n, d in enumerate(("2010", "201002"), start=1)]
    reactions = ["101$10$Rash$"] * 7
    take(
        faers(
            demo=lines(header, *records),
            reac=lines("primaryid$caseid$pt$drug_rec_act", *reactions),
        )
    )
    assert warehouse.rows("SELECT event_dt FROM raw_faers.demo") == [("2010",), ("201002",)]
    assert warehouse.value("SELECT count(*) FROM raw_faers.reac") == 7


def test_orphan_child_rows_are_loaded_and_counted(take: Take) -> None:
    result = take(faers(outc=lines("primaryid$outc_cod", "101$HO", "999$DE", "998$DE")))
    assert (file(result, "outc").loaded, file(result, "outc").orphans) == (3, 2)


def test_lists_of_withdrawn_cases_have_no_header_and_may_hold_a_line_of_one_space(
    take: Take, warehouse: Warehouse
) -> None:
    files = faers() | {
        "deleted/DELETE21Q1.txt": " $\n10$\n0020\n\n10\nx1\n",
        "ADR21Q1DeletedCases.TXT": "30",
    }
    result = take(files, max_reject_rate=0.3)
    lists = [f for f in result.files if f.table == "deleted"]
    assert [(f.records, f.loaded, f.rejected) for f in lists] == [(6, 3, 3), (1, 1, 0)]
    assert result.deleted_cases == 3
    assert warehouse.rows("SELECT case_id FROM srsql.deleted_case ORDER BY 1") == [
        ("10",),
        ("20",),
        ("30",),
    ]


def test_stray_files_are_ignored_and_a_new_edition_wins(take: Take, warehouse: Warehouse) -> None:
    files = faers("18Q1") | {
        "ASCII/DEMO18Q1_new.txt": demo("901$90$1$I$42$YR$M$70$KG$US"),
        "STAT18Q1.TXT": "x",
        "SIZE18Q1.TXT": "x",
        "Thumbs.db": b"\0",
        "ASC_NTS.pdf": b"%PDF",
        "__MACOSX/._DEMO18Q1.txt": b"\0",
    }
    result = take(files)
    assert len(result.files) == 5
    assert warehouse.rows("SELECT primaryid FROM raw_faers.demo") == [(901,)]


def test_two_files_for_one_table_are_refused(take: Take) -> None:
    with pytest.raises(IngestError, match="both fit table demo"):
        take(faers() | {"ascii/demo21q1_old.TXT": "x"})


def test_a_header_without_records_is_an_empty_table(take: Take, warehouse: Warehouse) -> None:
    result = take(faers(drug="primaryid$drugname\n", outc="primaryid$outc_cod"))
    assert (file(result, "drug").records, file(result, "outc").records) == (0, 0)


def test_a_directory_holds_a_quarter_as_a_zip_does(warehouse: Warehouse, tmp_path: Path) -> None:
    folder = unpack(tmp_path / "we[i]rd *dir", faers())
    (result,) = ingest(warehouse, [folder], load_dataset("faers"))
    assert result.quarter == "2021Q1"
    assert ingest(warehouse, [folder], load_dataset("faers"))[0].status == "unchanged"


def test_hostile_names_and_values_are_data(take: Take, warehouse: Warehouse) -> None:
    evil = "'; DROP TABLE raw_faers.demo; --"
    header = f'primaryid$caseid$drugname$"{evil}'
    take(
        faers(drug=lines(header, f"101$10${evil}$x"), demo=ages(f"{evil}${evil}"))
        | {f"{evil}/DELETE21Q1.txt": f"{evil}\n"}
    )
    assert warehouse.value("SELECT drugname FROM raw_faers.drug") == evil
    assert warehouse.value("SELECT count(*) FROM raw_faers.demo") == 1
    assert warehouse.rows("SELECT file, record FROM srsql.reject WHERE kind = 'row'") == [
        (f"{evil}/DELETE21Q1.txt", evil)
    ]
