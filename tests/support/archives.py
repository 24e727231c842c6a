"""Small FAERS and VAERS archives, made in the tests."""

from __future__ import annotations

import re
import zipfile
from pathlib import Path

DEMO = "primaryid$caseid$caseversion$i_f_code$age$age_cod$sex$wt$wt_cod$reporter_country"
LEGACY_DEMO = "ISR$CASE$I_F_COD$AGE$AGE_COD$GNDR_COD$WT$WT_COD"


def faers(period: str = "21Q1", **changed: str | bytes | None) -> dict[str, str | bytes]:
    """A whole valid quarter as file name -> content; ``demo=…`` replaces a file, None drops it."""
    parts: dict[str, str | bytes | None] = {
        "demo": demo("101$10$1$I$42$YR$M$70$KG$US", "201$20$1$I$$$F$$$US"),
        "drug": lines(
            "primaryid$caseid$drug_seq$role_cod$drugname",
            "101$10$1$PS$Aspirin",
            "201$20$1$PS$Ibuprofen",
        ),
        "reac": lines("primaryid$caseid$pt$drug_rec_act", "101$10$Nausea$", "201$20$Rash$"),
        "indi": lines("primaryid$caseid$indi_drug_seq$indi_pt", "101$10$1$Pain"),
        "outc": lines("primaryid$caseid$outc_cod", "101$10$HO"),
        **changed,
    }
    return {
        f"ascii/{name.upper()}{period}.txt": content
        for name, content in parts.items()
        if content is not None
    }


def demo(*records: str) -> str:
    return lines(DEMO, *records)


def ages(*values: str) -> str:
    """A DEMO file of one report for each ``age$unit``."""
    return demo(*(f"{n}1${n}$1$I${value}$M$$$US" for n, value in enumerate(values, start=1)))


def lines(*texts: str) -> str:
    return "".join(f"{text}\n" for text in texts)


def vaers(data: str | bytes, year: str = "2004") -> dict[str, str | bytes]:
    """A year; where the reports have no date of receipt they get one, in front."""
    if isinstance(data, bytes):
        data = data.decode("latin-1")
        return vaers(data, year) | {f"{year}VAERSDATA.csv": _received(data, year).encode("latin-1")}
    data = _received(data, year)
    return {
        f"{year}VAERSDATA.csv": data,
        f"{year}VAERSVAX.csv": "VAERS_ID,VAX_TYPE,VAX_NAME\n1,FLU,FLU (FLUZONE)\n",
        f"{year}VAERSSYMPTOMS.csv": "VAERS_ID,SYMPTOM1,SYMPTOMVERSION1,SYMPTOM2\n1,Pain,9.1,Rash\n",
    }


def _received(data: str, year: str) -> str:
    if "RECVDATE" in data.partition("\n")[0].upper():
        return data
    day = f"01/05/{year}" if year.isdigit() else "01/05/2021"
    dated = re.sub(r"(?m)^(?=\d+(,|\r?$))", f"{day},", data)
    return re.sub("(?=VAERS_ID)", "RECVDATE,", dated, count=1)


def pack(path: Path, files: dict[str, str | bytes]) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(zipfile.ZipInfo(name), content)  # the same bytes whenever packed
    return path


def unpack(path: Path, files: dict[str, str | bytes]) -> Path:
    for name, content in files.items():
        target = path / name
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path
