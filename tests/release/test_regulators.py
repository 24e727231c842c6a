"""Files of other regulators as they publish them, of our own making: read, released, published."""

from __future__ import annotations

from pathlib import Path

import pytest

from srsql import Engine, verify
from srsql.schemas import load_dataset

CANADA = {
    "reports.txt": [
        '"1"$"000000001"$"1"$"31-JAN-26"$"15-JAN-26"$$"1"$"Spontaneous"$"Spontané"$"2"$"Female"$'
        '"Féminin"$"54.5"$"54.5"$"Years"$"Années"$$$$"132"$"Pound"$"Livre"' + '$""' * 20,
        '"2"$"000000002"$"1"$"31-JAN-26"$"15-DEC-25"$$"1"$"Spontaneous"$"Spontané"$"1"$"Male"$'
        '"Masculin"$"7"$"7"$"Years"$"Années"$$$$"22"$"Kilogram"$"Kilogramme"' + '$""' * 20,
    ],
    "report_drug.txt": [
        f'"{n}"$"{n}"$"7"$"ALPHAMAB ""FORTE"""$"Suspect"$"Soupçonné"' + "$" * 16 for n in (1, 2)
    ],
    "reactions.txt": [f'"{n}"$"{n}"$$$$"Rash"$"Éruption"$"Skin"$"Peau"$"v.28.0"' for n in (1, 2)],
}
JADER = {
    "demo202604.csv": [
        "識別番号,報告回数,性別,年齢,体重,身長,報告年度・四半期,状況,報告の種類,報告者の資格,E2B",
        "AB-1,1,男性,70歳代,60kg台,160cm台,2025・第四,調査完了,自発報告,医師,E2B(R3)",
        "AB-2,1,不明,高齢者,,,2025・第三,調査完了,自発報告,医師,E2B(R3)",
    ],
    "drug202604.csv": [
        "識別番号,報告回数,医薬品連番,医薬品の関与,医薬品（一般名）,医薬品（販売名）",
        "AB-1,1,1,被疑薬,アルファマブ,商品Ａ",
        "AB-2,1,1,併用薬,ベータロール,商品Ｂ",
    ],
    "reac202604.csv": [
        "識別番号,報告回数,有害事象連番,有害事象,転帰",
        "AB-1,1,1,間質性肺疾患,回復",
        "AB-2,1,1,発熱,回復",
    ],
    "hist202604.csv": ["識別番号,報告回数,原疾患等連番,原疾患等", "AB-1,1,1,高血圧"],
}
MAUDE = {
    "patient.txt": [
        "MDR_REPORT_KEY|PATIENT_SEQUENCE_NUMBER|DATE_RECEIVED|PATIENT_AGE|PATIENT_SEX",
        "7|1|2026/01/05|54 YR|Female",
        "7|2|2026/02/05|18 MO|Unknown",
        "8|1|2025/12/31|60 YR|Male",
    ],
    "foidev.txt": ["MDR_REPORT_KEY|BRAND_NAME", '7|CATHETER 6" É', "8|STENT"],
    "patientproblemcode.txt": [
        "MDR_REPORT_KEY|PATIENT_SEQUENCE_NO|PROBLEM_CODE", "7|1|1994", "7|2|2001", "8|1|1994",
    ],
}  # fmt: skip
LISTING = {
    "Run Line Listing Report.csv": [
        "EU Local Number,EV Gateway Receipt Date,Primary Source Qualification,"
        "Primary Source Country for Regulatory Purposes,Patient Age Group,Patient Sex,"
        '"Reaction List PT (Duration – Outcome - Seriousness Criteria)",'
        '"Suspect/interacting Drug List (Drug Char - Indication PT - Action taken - '
        '[Duration - Dose - Route])"',
        "EU-EC-1,2026-01-05 00:00:00,Healthcare Professional,European Economic Area,18-64 Years,"
        'Female,"Rash (2d - Recovered/Resolved - ),<BR><BR>Pain (n/a - Unknown - Death)",'
        '"ALPHAMAB FORTE [SUB-A] (S - Pain - n/a - [n/a - 5mg - Oral]),<BR><BR>'
        '[SUB-B] (I - n/a - n/a - [n/a - n/a - n/a])"',
        "EU-EC-2,2026-02-05 00:00:00,Healthcare Professional,European Economic Area,Not Specified,"
        'Male,"Rash (n/a - Unknown - )","BETA (S - n/a - n/a - [n/a - n/a - n/a])"',
    ]
}
Rows = list[tuple[object, ...]]


def write(folder: Path, files: dict[str, list[str]], encoding: str) -> Path:
    for name, lines in files.items():
        (folder / name).write_bytes("".join(f"{line}\r\n" for line in lines).encode(encoding))
    return folder


@pytest.mark.slow
@pytest.mark.parametrize(
    ("dataset", "files", "encoding", "period", "reports", "items"),
    [
        ("canada", CANADA, "utf-8", "2026-01", [(1, 54, "F", 60)],
         ['ALPHAMAB "FORTE"', "Rash"]),
        ("jader", JADER, "cp932", "2025-FQ4", [("AB-1", "70歳代", "M")],
         ["アルファマブ", "間質性肺疾患"]),
        ("maude", MAUDE, "cp1252", "2026Q1", [("7:1", 54, "F"), ("7:2", 1, None)],
         ["1994", "2001", 'CATHETER 6" É', 'CATHETER 6" É']),
        ("eudravigilance", LISTING, "utf-8", "2026-01",
         [("EU-EC-1", "18-64 Years", "F", "European Economic Area")],
         ["ALPHAMAB FORTE", "Pain", "Rash", "SUB-B"]),
    ],
)  # fmt: skip
def test_files_as_published_are_read_by_the_dataset_that_ships(
    tmp_path: Path,
    dataset: str,
    files: dict[str, list[str]],
    encoding: str,
    period: str,
    reports: Rows,
    items: list[str],
) -> None:
    declared = load_dataset(dataset)
    qids = ", ".join(f"srsql_{qid.name}" for qid in declared.qid)
    with Engine(":memory:") as engine:
        (done,) = engine.ingest([write(tmp_path, files, encoding)], dataset=dataset, period=period)
        assert sum(file.rejected + file.values_rejected for file in done.files) == 0
        assert all(file.other_periods for file in done.files)
        ask = engine.con.execute
        rows = ask(
            f"SELECT {declared.report_id}, {qids} FROM raw_{dataset}.{declared.report_table} "
            "ORDER BY 1"
        ).fetchall()
        found = [
            term
            for each in (*declared.sensitive, *declared.quasi_sensitive)
            for (term,) in ask(f"SELECT {each.column} FROM raw_{dataset}.{each.table}").fetchall()
        ]
    assert rows == reports
    assert sorted(found) == sorted(items)


@pytest.mark.slow
def test_ids_of_text_are_published_as_numbers_where_they_are_pseudonyms_and_that_verifies(
    tmp_path: Path,
) -> None:
    many = {
        name: [lines[0], *(lines[1].replace("AB-1", f"AB-{n}") for n in range(30))]
        for name, lines in JADER.items()
    }
    (tmp_path / "in").mkdir()
    with Engine(tmp_path / "w.duckdb") as engine:
        source = write(tmp_path / "in", many, "cp932")
        engine.ingest([source], dataset="jader", period="2025-FQ4")
        engine.release("2025-FQ4", dataset="jader", k=5, theta="1", seed=1)
        engine.publish("2025-FQ4", tmp_path / "art", dataset="jader")
    assert verify(tmp_path / "art").passed
