"""Synthetic archives made once and read back as tables of text."""

from __future__ import annotations

import csv
import io
import zipfile
from pathlib import Path

import pandas as pd
import pytest

from srsql.engine.extras.synth import quarter_range, synthesize

Tables = dict[str, pd.DataFrame]


def read(archive: Path) -> Tables:
    """Return the tables of one archive with lower-case current names, blanks as empty text."""
    names = {"isr": "primaryid", "case": "caseid", "i_f_cod": "i_f_code", "gndr_cod": "sex"}
    found = {}
    with zipfile.ZipFile(archive) as files:
        for member in files.namelist():
            text = io.BytesIO(files.read(member))
            if member.startswith("deleted/"):
                found["DELETE"] = pd.read_csv(text, names=["caseid"], dtype=str)
                continue
            header = text.readline().decode("utf-8-sig").strip().lower().split("$")
            columns = [names.get(name.strip(), name.strip()) for name in header]
            trailing = ["end"] if archive.name.startswith("aers") else []
            table = pd.read_csv(
                text, sep="$", dtype=str, keep_default_na=False, quoting=csv.QUOTE_NONE,
                names=columns + trailing,
            )  # fmt: skip
            found[member.split("/")[1][:4]] = table[columns]
    return found


@pytest.fixture(scope="session")
def legacy(tmp_path_factory: pytest.TempPathFactory) -> list[Tables]:
    """Eight legacy quarters with the real row counts times 0.03."""
    folder = tmp_path_factory.mktemp("legacy")
    return [
        read(path) for path in synthesize(folder, quarter_range("2010Q1", "2011Q4"), scale=0.03)
    ]


@pytest.fixture(scope="session")
def current(tmp_path_factory: pytest.TempPathFactory) -> Tables:
    """2022Q4 with the real row counts times 0.06."""
    (path,) = synthesize(tmp_path_factory.mktemp("current"), ["2022Q4"], scale=0.06, seed=3)
    return read(path)
