"""The form that a reviewer signs: figures by plain counting, marks, and what it never tells."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from report.conftest import DRUGS, MARKUP, REACTIONS, report
from support.quarters import write_quarter

from srsql.engine.api.engine import Engine
from srsql.engine.errors import ReportError
from srsql.engine.report.report import Report, write_report

QUARTERS = ("2011Q2", "2011Q3")
GUIDES = ("EMA Policy 0070", "Health Canada PRCI", "NIST SP 800-188")


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    folder = tmp_path_factory.mktemp("form")
    with Engine(folder / "w.duckdb") as made:
        for place, quarter in enumerate(QUARTERS):
            reports = [report(n, place) for n in range(70 * place, 70 * place + 90)]
            made.ingest([write_quarter(folder, quarter, reports)])
            made.release.make(quarter, k=3, theta="0.5", seed=7, on_infeasible="withhold")
        yield made


@pytest.fixture(scope="module")
def form(engine: Engine) -> Report:
    return engine.artifact.report("2011Q3", form=True)


def rows_of(markdown: str, caption: str) -> dict[str, list[str]]:
    """First cell -> the others, of the table below a caption."""
    table = markdown.split(f"**{caption}**\n\n")[1].split("\n\n")[0].splitlines()[2:]
    split = [[cell.strip() for cell in row.strip("|").split(" | ")] for row in table]
    return {first: rest for first, *rest in split}


def counted(engine: Engine, statement: str) -> list[tuple[Any, ...]]:
    return engine.warehouse.con.execute(statement).fetchall()


def test_largest_and_mean_risk_are_those_of_plain_counting(engine: Engine, form: Report) -> None:
    risk = rows_of(form.markdown, "Measured risk")
    members = counted(engine, "SELECT group_id, case_no FROM srsql.member WHERE release_id = 2")
    sizes = Counter(group for group, _ in set(members))
    chances = [1 / sizes[group] for group, _ in set(members)]
    assert float(risk["largest risk, one release"][0]) == pytest.approx(max(chances), abs=5e-5)
    mean = sum(chances) / len(chances)
    assert float(risk["mean risk, one release"][0]) == pytest.approx(mean, abs=5e-5)
    values: dict[int, list[Any]] = {}
    for case, *value in sorted(
        counted(
            engine, "SELECT case_no, position, low, high FROM srsql.case_qid WHERE release_id = 2"
        ),
        key=str,
    ):
        values.setdefault(case, []).append(value)
    released = {case for _, case in members}
    classes = Counter(str(sorted(map(str, v))) for case, v in values.items() if case in released)
    alone = sum(size == 1 for size in classes.values())
    largest, how = risk["before: largest risk, originals"]
    assert float(largest) == pytest.approx(1 / min(classes.values()), abs=5e-5)
    assert how == f"{alone:,} of {len(released):,} cases are alone with their values"
    told = float(risk["before: mean risk, originals"][0])
    assert told == pytest.approx(len(classes) / len(released), abs=5e-5)
    remaining = int(risk["largest risk, releases joined"][1].split(" candidates")[0])
    assert remaining >= 3


def test_every_section_names_who_asks_for_it_and_marks_what_is_added_by_hand(form: Report) -> None:
    sections = form.markdown.split("\n## ")[1:]
    assert len(sections) == 9
    for section in sections:
        (asked,) = re.findall(r"^Asked for by: (.*)\.$", section, re.MULTILINE)
        assert set(asked.split(", ")) <= set(GUIDES)
        assert "* [ ] **To be completed by hand:** " in section
    marks = form.markdown.count("* [ ] ")
    assert form.html.count('<span class="fill">') == marks + 1  # one explains the mark
    assert f"<b>{marks} points</b>" in form.html


def test_treatment_names_every_released_column_and_thresholds_only_where_they_are_kept(
    engine: Engine, form: Report
) -> None:
    caption = "Treatment by variable; columns that are not listed are not released"
    treated = rows_of(form.markdown, caption)
    assert {"age", "wt", "sex"} <= treated.keys()
    assert treated["reac.pt"][1] == "as reported; thresholds bound its values"
    assert treated["drug.drugname"][1] == "as reported"
    engine.release.make("2011Q3", model="xy-anonymity", k=3, series="xy", seed=7, theta="0.5",
                        allow_linkable=True)  # fmt: skip
    other = engine.artifact.report("2011Q3", form=True, series="xy").markdown
    assert "thresholds bound" not in other


def test_the_form_tells_no_value_of_a_report_and_no_id(form: Report) -> None:
    for text in (form.html, form.markdown):
        for value in (*DRUGS, *REACTIONS, MARKUP, "7007070"):
            assert value not in text


def test_it_is_written_as_html_or_text_for_its_owner_alone(form: Report, tmp_path: Path) -> None:
    page, text = tmp_path / "form.html", tmp_path / "form.md"
    for file in (page, text):
        write_report(form, file)
        assert file.stat().st_mode & 0o777 == 0o600
    assert page.read_text(encoding="utf-8") == form.html
    assert text.read_text(encoding="utf-8") == form.markdown


@pytest.mark.parametrize("asked", [{"quarter": None}, {"quarter": "2011Q3", "public": True}])
def test_a_form_of_a_series_or_of_a_public_edition_is_refused(
    engine: Engine, asked: dict[str, Any]
) -> None:
    with pytest.raises(ReportError, match="give --quarter, without --public"):
        engine.artifact.report(form=True, **asked)


def test_models_that_draw_values_claim_no_risk_by_regions(engine: Engine) -> None:
    engine.release.make("2011Q3", model="msdp-all", epsilon=1, k=3, theta="0.5", series="noisy",
                        noise="seeded", seed=7, allow_linkable=True,
                        on_infeasible="withhold")  # fmt: skip
    text = engine.artifact.report("2011Q3", form=True, series="noisy").markdown
    risk = rows_of(text, "Measured risk")
    assert "largest risk, one release" not in risk
    assert "mean linkage by nearness (RR)" in risk
    assert "**Thresholds**" not in text
