"""The quarters of FAERS, and weeks of them: labels, counts of rows and cases, layouts of files.

The headers of each era are exactly as the archives have them.
"""

from __future__ import annotations

import csv
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, timedelta
from functools import cache
from importlib import resources

from srsql.engine.catalog.periods import days_of, named_period
from srsql.engine.errors import SrsqlError

LEGACY_END = 2012 * 4 + 3
"""Index of the first quarter of the current layout (2012Q4)."""

FIRST = 2004 * 4
"""Index of the first quarter published as ASCII (2004Q1)."""

TABLES = ("demo", "drug", "reac", "outc", "rpsr", "ther", "indi")

_LABEL = re.compile(r"(\d{4})[Qq]([1-4])")
_WEEK = re.compile(r"\d{4}-?[Ww]\d{2}")
_FIRST_CASE = 4_060_000
_FIRST_ISR = 4_262_000
_COUNTRY_SINCE = 2005 * 4 + 2
_WIDE_SINCE = 2014 * 4 + 2

_LEGACY = {
    "demo": "ISR$CASE$I_F_COD$FOLL_SEQ$IMAGE$EVENT_DT$MFR_DT$FDA_DT$REPT_COD$MFR_NUM$MFR_SNDR$AGE"
    "$AGE_COD$GNDR_COD$E_SUB$WT$WT_COD$REPT_DT$OCCP_COD$DEATH_DT$TO_MFR$CONFID",
    "drug": "ISR$DRUG_SEQ$ROLE_COD$DRUGNAME$VAL_VBM$ROUTE$DOSE_VBM$DECHAL$RECHAL$LOT_NUM$EXP_DT"
    "$NDA_NUM",
    "reac": "ISR$PT",
    "outc": "ISR$OUTC_COD",
    "rpsr": "ISR$RPSR_COD",
    "ther": "ISR$DRUG_SEQ$START_DT$END_DT$DUR$DUR_COD",
    "indi": "ISR$DRUG_SEQ$INDI_PT",
}
_CURRENT = {
    "demo": "primaryid$caseid$caseversion$i_f_code$event_dt$mfr_dt$init_fda_dt$fda_dt$rept_cod"
    "$auth_num$mfr_num$mfr_sndr$lit_ref$age$age_cod$age_grp$sex$e_sub$wt$wt_cod$rept_dt$to_mfr"
    "$occp_cod$reporter_country$occr_country",
    "drug": "primaryid$caseid$drug_seq$role_cod$drugname$prod_ai$val_vbm$route$dose_vbm"
    "$cum_dose_chr$cum_dose_unit$dechal$rechal$lot_num$exp_dt$nda_num$dose_amt$dose_unit"
    "$dose_form$dose_freq",
    "reac": "primaryid$caseid$pt$drug_rec_act",
    "outc": "primaryid$caseid$outc_cod",
    "rpsr": "primaryid$caseid$rpsr_cod",
    "ther": "primaryid$caseid$dsg_drug_seq$start_dt$end_dt$dur$dur_cod",
    "indi": "primaryid$caseid$indi_drug_seq$indi_pt",
}
_ADDED_IN_2014 = ("auth_num", "lit_ref", "age_grp", "prod_ai", "drug_rec_act")
_CANONICAL = {
    "isr": "primaryid",
    "case": "caseid",
    "i_f_cod": "i_f_code",
    "gndr_cod": "sex",
    "dsg_drug_seq": "drug_seq",
    "indi_drug_seq": "drug_seq",
    "outc_code": "outc_cod",
    "lot_nbr": "lot_num",
}


class SynthError(SrsqlError):
    """A synthetic quarter cannot be made; nothing of it was written."""


def weeks_of(first: str, last: str) -> list[str]:
    """Return the labels ``YYYYWww`` of the ISO weeks from ``first`` to ``last``, both included."""
    start, end = (date.fromisoformat(_monday(label)) for label in (first, last))
    if start > end:
        raise SynthError(f"the range {first} to {last} is reversed; put the earlier week first")
    mondays = (start + timedelta(weeks=n) for n in range((end - start).days // 7 + 1))
    return [f"{m.isocalendar().year}W{m.isocalendar().week:02}" for m in mondays]


def _monday(label: str) -> str:
    days = days_of(named_period(label, ())) if is_week(label) else None
    if days is None:
        raise SynthError(f"{label!r} is not an ISO week; write it like 2024W07")
    return days[0]


def is_week(label: str) -> bool:
    """Return whether a label is written as that of an ISO week is."""
    return _WEEK.fullmatch(named_period(label, ())) is not None


def quarters_in(week: str) -> list[int]:
    """Return the numbers of the quarters that have days of an ISO week: one, or two.

    Raises:
        SynthError: the archives of the two look otherwise.
    """
    days = days_of(week)
    assert days is not None
    found = sorted({int(day[:4]) * 4 + (int(day[5:7]) - 1) // 3 for day in days})
    if len({tuple(headers(index).items()) for index in found}) > 1:
        raise SynthError(
            f"{week} lies in {' and '.join(map(label_of, found))}, whose files have other columns: "
            "make weeks that do not, or quarters"
        )
    for index in found:
        index_of(label_of(index))
    return found


def index_of(label: str) -> int:
    """Return the number of a quarter (four a year) for its label ``YYYYQn``."""
    match = _LABEL.fullmatch(named_period(label, ()).strip())
    if match is None:
        raise SynthError(f"{label!r} is not a quarter; write it like 2011Q4")
    index = int(match[1]) * 4 + int(match[2]) - 1
    if not FIRST <= index < 2100 * 4:
        raise SynthError(f"{label} is outside 2004Q1 to 2099Q4, the quarters of the FAERS layouts")
    return index


def label_of(index: int) -> str:
    """Return the label ``YYYYQn`` of a quarter's number."""
    return f"{index // 4}Q{index % 4 + 1}"


def quarter_range(first: str, last: str) -> list[str]:
    """Return the labels from ``first`` to ``last``, both included: quarters, or ISO weeks."""
    if is_week(first) or is_week(last):
        return weeks_of(first, last)
    start, end = index_of(first), index_of(last)
    if start > end:
        raise SynthError(f"the range {first} to {last} is reversed; put the earlier quarter first")
    return [label_of(index) for index in range(start, end + 1)]


@cache
def real_counts() -> Mapping[int, Mapping[str, int]]:
    """Return the rows per table of every real quarter, keyed by the quarter's number."""
    text = resources.files("srsql.schemas").joinpath("faers_row_counts.csv").read_text("utf-8")
    return {
        index_of(row["quarter"]): {table: int(row[table]) for table in TABLES}
        for row in csv.DictReader(text.splitlines())
    }


def nearest_counts(index: int) -> Mapping[str, int]:
    """Return the real counts of the quarter nearest to ``index``."""
    counts = real_counts()
    return counts[min(max(index, min(counts)), max(counts))]


def followup_share(index: int) -> float:
    """Return the share of a quarter's rows that are later versions of a case.

    Over a long run this is the share of rows superseded by a later version: 27.7 % of the
    legacy rows; 13.9 % is given for FAERS.
    """
    return 0.277 if index < LEGACY_END else 0.139


def same_quarter_share(index: int) -> float:
    """Return the share of follow-ups that arrive in the quarter of the version before them."""
    return 0.33 if index < LEGACY_END else 0.02


@dataclass(frozen=True)
class Plan:
    """How many rows and cases a quarter has: ``cases`` new ones, or the real counts scaled."""

    seed: int
    cases: int | None = None
    scale: float | None = None

    def rows(self, index: int) -> int | None:
        """Return the exact number of DEMO rows, or None where follow-ups decide it."""
        if self.scale is None:
            return None
        return max(1, round(nearest_counts(index)["demo"] * self.scale))

    def births(self, index: int) -> int:
        """Return the number of cases that begin in the quarter and may return later."""
        rows = self.rows(index)
        if rows is None:
            assert self.cases is not None
            return self.cases
        return max(1, round(rows * (1 - followup_share(index))))

    def children(self, index: int, table: str, reports: int) -> int:
        """Return the exact number of rows of a child table.

        Args:
            index: the number of the quarter.
            table: the table.
            reports: how many reports the quarter has.
        """
        counts = nearest_counts(index)
        if self.scale is not None:
            return round(counts[table] * self.scale)
        return round(counts[table] * reports / counts["demo"])

    @property
    def _stretch(self) -> int:
        if self.scale is not None:
            return max(1, math.ceil(self.scale))
        smallest = min(row["demo"] for row in real_counts().values())
        return max(1, math.ceil(2 * (self.cases or 0) / smallest))

    def first_case(self, index: int) -> tuple[int, int]:
        """Return the first case id of the quarter and how many ids it owns.

        The numbers of the quarters follow one another over both layouts; a quarter owns as many
        as the real one had rows (more where more are asked for).
        """
        return self._numbers(index, max(_FIRST_CASE, 10 * self._stretch * _oldest()))

    def first_isr(self, index: int) -> int:
        """Return the first report number (legacy) of the quarter."""
        return self._numbers(index, max(_FIRST_ISR, 10 * self._stretch * _oldest()))[0]

    def _numbers(self, index: int, origin: int) -> tuple[int, int]:
        before = sum(nearest_counts(i)["demo"] for i in range(FIRST, index))
        before -= _oldest() * max(0, FIRST - index)
        return origin + before * self._stretch, nearest_counts(index)["demo"] * self._stretch


def _oldest() -> int:
    return nearest_counts(FIRST)["demo"]


def headers(index: int) -> Mapping[str, str]:
    """Return the header line of each table in a quarter."""
    if index < LEGACY_END:
        country = "$REPORTER_COUNTRY" if index >= _COUNTRY_SINCE else ""
        return _LEGACY | {"demo": _LEGACY["demo"] + country}
    if index >= _WIDE_SINCE:
        return _CURRENT
    narrow = {table: _narrow(line) for table, line in _CURRENT.items()}
    if index > LEGACY_END:
        return narrow
    odd = {"demo": ("rept_dt", " rept_dt"), "drug": ("lot_num", "lot_nbr")}
    odd |= {"outc": ("outc_cod", "outc_code")}
    return narrow | {table: narrow[table].replace(*pair) for table, pair in odd.items()}


def _narrow(header: str) -> str:
    names = [name for name in header.split("$") if name not in _ADDED_IN_2014]
    return "$".join("gndr_cod" if name == "sex" else name for name in names)


def columns_of(header: str) -> list[str]:
    """Return the names by which the generator knows a header's columns."""
    names = [name.strip().lower() for name in header.split("$")]
    return [_CANONICAL.get(name, name) for name in names]


def archive_name(index: int, label: str) -> str:
    """Return the archive's name without its ending, such as ``aers_ascii_2011q4``.

    Args:
        index: the number of the quarter, or of the last one that a week lies in.
        label: of the period.
    """
    kind = "aers" if index < LEGACY_END else "faers"
    return f"{kind}_ascii_{label.lower()}"


def member_name(index: int, label: str, table: str) -> str:
    """Return the name of a table's file inside the archive, such as ``ascii/DEMO11Q4.TXT``."""
    ending = "TXT" if index < LEGACY_END else "txt"
    folder = "deleted" if table == "delete" else "ascii"
    return f"{folder}/{table.upper()}{label[2:]}.{ending}"


def byte_order_mark(index: int, table: str) -> bytes:
    """Return the mark that only DRUG12Q4 begins with."""
    return b"\xef\xbb\xbf" if (index, table) == (LEGACY_END, "drug") else b""
