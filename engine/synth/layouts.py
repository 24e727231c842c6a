"""The headers of each era's files, exactly as the archives have them."""

from __future__ import annotations

from collections.abc import Mapping

from srsql.engine.synth.quarters import LEGACY_END, label_of

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


def archive_name(index: int) -> str:
    """Return the archive's name without its ending, such as ``aers_ascii_2011q4``."""
    kind = "aers" if index < LEGACY_END else "faers"
    return f"{kind}_ascii_{label_of(index).lower()}"


def member_name(index: int, table: str) -> str:
    """Return the name of a table's file inside the archive, such as ``ascii/DEMO11Q4.TXT``."""
    ending = "TXT" if index < LEGACY_END else "txt"
    folder = "deleted" if table == "delete" else "ascii"
    return f"{folder}/{table.upper()}{label_of(index)[2:]}.{ending}"


def byte_order_mark(index: int, table: str) -> bytes:
    """Return the mark that only DRUG12Q4 begins with."""
    return b"\xef\xbb\xbf" if (index, table) == (LEGACY_END, "drug") else b""
