"""Synthetic archives look like the real ones and are the same bytes every time."""

from __future__ import annotations

import csv
import zipfile
from importlib import resources
from pathlib import Path

import pytest

from srsql.engine.extras.synth import SynthError, quarter_range, synthesize

LEGACY_DEMO = (
    "ISR$CASE$I_F_COD$FOLL_SEQ$IMAGE$EVENT_DT$MFR_DT$FDA_DT$REPT_COD$MFR_NUM$MFR_SNDR$AGE$AGE_COD"
    "$GNDR_COD$E_SUB$WT$WT_COD$REPT_DT$OCCP_COD$DEATH_DT$TO_MFR$CONFID"
)
CURRENT_DEMO = (
    "primaryid$caseid$caseversion$i_f_code$event_dt$mfr_dt$init_fda_dt$fda_dt$rept_cod$auth_num"
    "$mfr_num$mfr_sndr$lit_ref$age$age_cod$age_grp$sex$e_sub$wt$wt_cod$rept_dt$to_mfr$occp_cod"
    "$reporter_country$occr_country"
)


def real_counts(quarter: str) -> dict[str, int]:
    text = resources.files("srsql.schemas").joinpath("faers_row_counts.csv").read_text()
    (row,) = [row for row in csv.DictReader(text.splitlines()) if row["quarter"] == quarter]
    return {table.upper(): int(n) for table, n in row.items() if table != "quarter"}


def contents(archive: Path) -> dict[str, list[str]]:
    with zipfile.ZipFile(archive) as files:
        return {name: files.read(name).decode().split("\r\n") for name in files.namelist()}


@pytest.mark.slow
@pytest.mark.parametrize(
    "size", [{"cases": 50}, pytest.param({"scale": 0.002}, marks=pytest.mark.thorough)]
)
def test_same_arguments_give_the_same_bytes_whatever_the_range(
    tmp_path: Path, size: dict[str, int]
) -> None:
    quarters = quarter_range("2012Q2", "2013Q1")
    whole = synthesize(tmp_path / "a", quarters, seed=7, **size)
    alone = synthesize(tmp_path / "b", quarters[-1:], seed=7, **size)
    other = synthesize(tmp_path / "c", quarters[-1:], seed=8, **size)
    again = synthesize(tmp_path / "d", quarters, seed=7, **size)
    assert [path.name for path in whole] == [
        "aers_ascii_2012q2.zip", "aers_ascii_2012q3.zip",
        "faers_ascii_2012q4.zip", "faers_ascii_2013q1.zip",
    ]  # fmt: skip
    assert [p.read_bytes() for p in whole] == [p.read_bytes() for p in again]
    assert whole[-1].read_bytes() == alone[0].read_bytes() != other[0].read_bytes()


@pytest.mark.slow
@pytest.mark.parametrize("quarter", ["2004Q1", "2011Q4", "2013Q1", "2022Q4"])
def test_row_counts_are_the_real_ones_scaled(tmp_path: Path, quarter: str) -> None:
    (path,) = synthesize(tmp_path, [quarter], scale=0.01)
    rows = {name.split("/")[1][:4]: len(text) - 2 for name, text in contents(path).items()}
    rows.pop("DELE", None)
    assert rows == {table: round(n * 0.01) for table, n in real_counts(quarter).items()}


def test_cases_gives_so_many_new_cases_and_the_ratios_of_the_quarter(tmp_path: Path) -> None:
    (path,) = synthesize(tmp_path, ["2011Q4"], cases=2000)
    text = contents(path)
    demo = [line.split("$") for line in text["ascii/DEMO11Q4.TXT"][1:-1]]
    assert sum(line[2] == "I" for line in demo) == 2000
    assert 1.15 < len(demo) / 2000 < 1.6
    real = real_counts("2011Q4")
    drugs = len(text["ascii/DRUG11Q4.TXT"]) - 2
    assert drugs == round(len(demo) * real["DRUG"] / real["DEMO"])


def test_legacy_lines_end_in_a_dollar_and_headers_do_not(tmp_path: Path) -> None:
    for path, country in zip(
        synthesize(tmp_path, ["2005Q2", "2005Q3"], cases=20), ["", "$REPORTER_COUNTRY"], strict=True
    ):
        text = contents(path)
        assert len(text) == 7
        for name, (header, *lines, last) in text.items():
            assert name.endswith(".TXT")
            assert not last
            assert not header.endswith("$")
            assert all(line.endswith("$") for line in lines)
            assert {line.count("$") for line in lines} == {header.count("$") + 1}
            if "DEMO" in name:
                assert header == LEGACY_DEMO + country
            else:
                assert header.startswith("ISR$")
                assert "CASE" not in header


def test_current_lines_have_as_many_fields_as_headers(tmp_path: Path) -> None:
    early, late = synthesize(tmp_path, ["2014Q2", "2014Q3"], cases=20)
    for path in (early, late):
        for header, *lines, _ in contents(path).values():
            assert {line.count("$") for line in lines} == {header.count("$")}
            assert header.startswith("primaryid$caseid$")
    assert contents(late)["ascii/DEMO14Q3.txt"][0] == CURRENT_DEMO
    narrow = contents(early)
    assert "$gndr_cod$" in narrow["ascii/DEMO14Q2.txt"][0]
    assert "age_grp" not in narrow["ascii/DEMO14Q2.txt"][0]
    assert "prod_ai" not in narrow["ascii/DRUG14Q2.txt"][0]
    assert "prod_ai" in contents(late)["ascii/DRUG14Q3.txt"][0]


def test_the_first_current_quarter_has_its_oddities(tmp_path: Path) -> None:
    text = contents(synthesize(tmp_path, ["2012Q4"], cases=20)[0])
    assert "$ rept_dt$" in text["ascii/DEMO12Q4.txt"][0]
    assert text["ascii/DRUG12Q4.txt"][0].startswith("\ufeffprimaryid")
    assert "$lot_nbr$" in text["ascii/DRUG12Q4.txt"][0]
    assert text["ascii/OUTC12Q4.txt"][0].endswith("$outc_code")


@pytest.mark.slow
def test_a_folder_holds_the_same_files_as_the_archive(tmp_path: Path) -> None:
    (folder,) = synthesize(tmp_path, ["2019Q1"], cases=60, zipped=False)
    (path,) = synthesize(tmp_path, ["2019Q1"], cases=60)
    with zipfile.ZipFile(path) as files:
        for name in files.namelist():
            assert (folder / name).read_bytes() == files.read(name)
    assert [folder] == synthesize(tmp_path, ["2019Q1"], cases=60, zipped=False)


@pytest.mark.slow
def test_a_different_archive_is_never_overwritten(tmp_path: Path) -> None:
    (path,) = synthesize(tmp_path, ["2011Q4"], cases=10)
    before = path.read_bytes()
    assert synthesize(tmp_path, ["2011Q4"], cases=10) == [path]
    with pytest.raises(SynthError, match="exists and differs"):
        synthesize(tmp_path, ["2011Q4"], cases=11)
    assert path.read_bytes() == before
    assert [p.name for p in tmp_path.iterdir()] == [path.name]


def test_a_failed_write_leaves_nothing(tmp_path: Path) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("")
    with pytest.raises(SynthError, match="cannot write"):
        synthesize(blocked, ["2011Q4"], cases=1)


@pytest.mark.parametrize(
    ("first", "last", "reason"),
    [
        ("2011Q4", "2011Q1", "reversed"),
        ("2011", "2011Q1", "not a quarter"),
        ("2011Q1", "2011Q5", "not a quarter"),
        ("2003Q4", "2011Q1", "outside"),
    ],
)
def test_wrong_ranges_are_refused_in_one_line(first: str, last: str, reason: str) -> None:
    with pytest.raises(SynthError, match=reason) as caught:
        quarter_range(first, last)
    assert "\n" not in str(caught.value)


def test_ranges_run_over_years() -> None:
    assert quarter_range("2011Q3", "2012Q2") == ["2011Q3", "2011Q4", "2012Q1", "2012Q2"]


def test_a_scale_is_a_whole_number_or_not(tmp_path: Path) -> None:
    made = [synthesize(tmp_path / f"{scale!r}", ["2004Q1"], scale=scale) for scale in (1, 1.0)]
    assert made[0][0].read_bytes() == made[1][0].read_bytes()
    with pytest.raises(SynthError, match=r"--scale True: give a number such as 0[.]5"):
        synthesize(tmp_path / "none", ["2004Q1"], scale=True)


def test_sizes_that_cannot_be_made_are_refused(tmp_path: Path) -> None:
    with pytest.raises(SynthError, match="2031Q2"):
        synthesize(tmp_path, ["2031Q2"], scale=0.1)
    with pytest.raises(SynthError, match="either"):
        synthesize(tmp_path, ["2011Q4"])
    with pytest.raises(SynthError, match="either"):
        synthesize(tmp_path, ["2011Q4"], cases=1, scale=0.1)
    with pytest.raises(SynthError, match="at least 1"):
        synthesize(tmp_path, ["2011Q4"], cases=0)
    with pytest.raises(SynthError, match="scale"):
        synthesize(tmp_path, ["2011Q4"], scale=0.0)
    assert not list(tmp_path.iterdir())


@pytest.mark.slow
@pytest.mark.parametrize("cases", [1, 2, 5])
def test_a_handful_of_cases_works(tmp_path: Path, cases: int) -> None:
    paths = synthesize(tmp_path, ["2004Q1", "2012Q4", "2030Q1"], cases=cases)
    for path in paths:
        assert all(len(lines) >= 2 for lines in contents(path).values())
