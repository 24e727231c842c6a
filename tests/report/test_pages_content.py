"""What the pages say is what the engine measures and what plain counting finds."""

from __future__ import annotations

from collections import Counter, defaultdict

import pytest
from report.conftest import QUARTERS, SEED, Pages
from support.released import regions, rows, terms_of

from srsql.engine.api.engine import Engine

pytestmark = pytest.mark.thorough

QUARTER = QUARTERS[1]
SCHEMA = f"release_{QUARTER.lower()}"


def cell(value: object) -> object:
    """A value as a table of a page holds it."""
    if value is None:
        return "–"
    return {True: "yes", False: "NO"}[value] if isinstance(value, bool) else value


def test_every_metric_is_on_the_internal_page_with_its_full_value(
    engine: Engine, pages: Pages
) -> None:
    shown = pages.page[f"internal {QUARTER}"].tables["measures"]
    wanted = [
        [
            cell(v)
            for v in (m.measure, m.scope, m.violating, m.total, m.ratio, m.threshold, m.passed)
        ]
        for m in engine.metrics(QUARTER)
    ]
    assert [row[:7] for row in shown.rows][: len(wanted)] == wanted
    checks = {row[0] for row in shown.rows[len(wanted) :]}
    assert {"check_k", "check_theta", "check_complete", "check_inside"} <= checks
    assert all(row[6] == "yes" for row in shown.rows[len(wanted) :])


def test_the_facts_are_those_of_the_private_manifest(engine: Engine, pages: Pages) -> None:
    facts = pages.page[f"internal {QUARTER}"].facts
    (manifest,) = [
        text
        for (text,) in engine.sql(
            "SELECT private_manifest->>'$.cases' FROM srsql.release WHERE quarter = ?", [QUARTER]
        )
    ]
    assert f'"withheld":{facts["withheld"]:.0f}' in manifest.replace(" ", "")
    assert facts["cases"] == len(terms_of(engine.con, SCHEMA))
    assert facts["broken"] == 0
    assert (
        facts["groups"]
        == engine.sql(
            "SELECT count(DISTINCT group_id) FROM srsql.member AS m JOIN srsql.release AS r "
            "USING (release_id) WHERE r.quarter = ?",
            [QUARTER],
        )[0][0]
    )


def test_parameters_and_input_hashes_are_listed_with_the_seed_on_the_internal_page_only(
    engine: Engine, pages: Pages
) -> None:
    page = pages.page[f"internal {QUARTER}"]
    told = {str(row[0]): str(row[1]) for row in page.tables["parameters"].rows}
    assert told["seed"] == str(SEED)
    assert (told["k"], told["theta"], told["model"]) == ("3.0", "1/2", "ppms++")
    hashes = engine.sql(
        "SELECT f.sha256 FROM srsql.ingested_file AS f JOIN srsql.ingestion AS i "
        "USING (ingestion_id) WHERE i.quarter = ?",
        [QUARTER],
    )
    assert {(h,) for h in page.tables["files"].column("SHA-256")} == set(hashes)
    assert "INTERNAL" in pages.html[f"internal {QUARTER}"].partition("<main>")[0]
    assert "INTERNAL" not in pages.html[f"public {QUARTER}"]


def test_the_guarantee_and_what_is_not_defended_are_on_every_page(
    engine: Engine, pages: Pages
) -> None:
    (guarantee,) = engine.sql(f"SELECT guarantee FROM {SCHEMA}.manifest")[0]
    for page in pages.page.values():
        assert page.within("guarantee") == guarantee
        undefended = page.within("undefended")
        assert "persistence" in undefended
        assert "MD" in undefended
        assert "backward" not in undefended


def test_what_was_withheld_is_told_by_reason_with_its_meaning(engine: Engine, pages: Pages) -> None:
    table = pages.page[f"internal {QUARTER}"].tables["withheld"]
    expected = engine.sql(
        "SELECT w.reason, count(*), sum(w.reports)::INTEGER FROM srsql.withheld AS w "
        "JOIN srsql.release AS r USING (release_id) WHERE r.quarter = ? GROUP BY 1",
        [QUARTER],
    )
    assert {(r[0], r[2], r[3]) for r in table.rows} == set(expected)
    assert all(str(meaning) for meaning in table.column("meaning"))


def test_missing_values_are_counted_before_and_after(engine: Engine, pages: Pages) -> None:
    table = pages.page[f"internal {QUARTER}"].tables["missingness"].by("quasi-identifier")
    raw = rows(
        engine.con,
        f"SELECT srsql_age, srsql_wt, srsql_sex FROM raw_faers.demo WHERE quarter = '{QUARTER}'",
    )
    shown = rows(engine.con, f"SELECT * FROM {SCHEMA}.demo")
    for name, published in (("age", "age_low"), ("wt", "wt_low")):
        row = table[name,]
        assert row["cases of the quarter"] == len(raw)
        assert row["missing"] == sum(r[f"srsql_{name}"] is None for r in raw)
        blank = sum(r[published] is None for r in shown)
        assert float(row["missing before"]) + float(row["given up"]) == blank
        assert row["share missing as released"] == pytest.approx(blank / len(shown))


def test_the_losses_of_the_quasi_identifiers_average_to_nil(engine: Engine, pages: Pages) -> None:
    table = pages.page[f"internal {QUARTER}"].tables["loss"]
    *each, whole = table.rows
    nil = next(m.ratio for m in engine.metrics(QUARTER) if m.measure == "nil")
    assert whole[3] == nil
    assert sum(float(row[3]) for row in each) / len(each) == pytest.approx(nil)


def test_the_public_page_counts_regions_and_confidences_of_the_released_rows(
    engine: Engine, pages: Pages
) -> None:
    page = pages.page[f"public {QUARTER}"]
    found, terms = regions(engine.con, SCHEMA), terms_of(engine.con, SCHEMA)
    assert page.facts["regions"] == len(found)
    assert page.facts["smallest"] == min(map(len, found.values()))
    held = [Counter(t for case in cases for t in terms[case]) for cases in found.values()]
    highest = max(
        n / len(cases)
        for own, cases in zip(held, found.values(), strict=True)
        for n in own.values()
    )
    (row,) = page.tables["thetas"].rows
    assert row[:2] == [0.5, len({t for own in held for t in own})]
    assert row[2] == pytest.approx(highest)
    assert row[3] == "yes"
    outcome = page.tables["smallest"].by("step")
    assert outcome["candidates in the smallest region",]["outcome"] == page.facts["smallest"]
    worst = outcome["highest confidence in a value, as a share of its threshold",]
    assert worst["outcome"] == pytest.approx(highest / 0.5)
    blank = page.tables["missingness"].by("quasi-identifier")
    assert blank["wt",]["cases"] == sum(len(c) for r, c in found.items() if r[2] is None)
    assert blank["sex",]["cases"] == sum(len(c) for r, c in found.items() if r[4] == "Any")


def test_signals_before_and_after_are_those_of_the_command(engine: Engine, pages: Pages) -> None:
    table = pages.page[f"internal {QUARTER}"].tables["criteria"].by("condition", "criterion")
    for title, age in (("all cases", None), ("age ≥ 18 years", 18)):
        found = engine.signals(every_pair=True, quarter=QUARTER, min_age=age).signals
        pairs = [(s.original.signal_mhra, s.released.signal_mhra) for s in found if s.original]
        row = table[title, "MHRA: PRR ≥ 2, a ≥ 3, χ² ≥ 4"]
        names = ("pairs", "before", "after", "kept", "lost", "undecided", "gained")
        assert [row[n] for n in names] == [
            len(found),
            sum(before == "holds" for before, _ in pairs),
            sum(after == "holds" for _, after in pairs),
            pairs.count(("holds", "holds")),
            pairs.count(("holds", "does not")),
            pairs.count(("holds", "undecided")),
            pairs.count(("does not", "holds")),
        ]
        assert len(found) >= 8
    changed = pages.page[f"internal {QUARTER}"].tables["changed-0"]
    assert changed.rows  # cases are withheld


def test_the_public_signals_are_the_released_ones(engine: Engine, pages: Pages) -> None:
    found = engine.signals(every_pair=True, quarter=QUARTER, released_only=True).signals
    known = {(s.drug, s.reaction): s.released for s in found}
    rows_ = pages.page[f"public {QUARTER}"].tables["pairs"].rows
    assert len(rows_) >= 4
    for drug, reaction, cases, prr, low, high, *_ in rows_:
        measures = known[str(drug), str(reaction)]
        assert (cases, prr, low, high) == (
            measures.a, measures.prr, measures.prr_low, measures.prr_high,
        )  # fmt: skip


def test_the_walk_is_the_attack_on_the_target_of_which_the_fewest_remain(
    engine: Engine, pages: Pages
) -> None:
    worst = engine.audit(quarter=QUARTER, scopes=("group",), evidence=1).evidence[0]
    page = pages.page[f"internal {QUARTER}"]
    text = page.within("s-attack")
    assert f"case {worst.case_id} of group {worst.group_id}" in text
    assert f"{worst.candidates:,} candidates" in text
    known = {
        name: value["low"] if isinstance(value, dict) else value
        for name, value in worst.qid.items()
        if value is not None
    }
    played = engine.attack(QUARTER, known, new=worst.new, stopped=worst.stopped)
    table = page.tables["candidates"]
    assert sum(map(float, table.column("candidates"))) == len(played.candidates)
    assert sum(map(float, table.column("remain"))) == len(played.remaining)
    inferred = {(i.term, i.holders, i.confidence) for i in played.inferences}
    assert {tuple(row[:3]) for row in page.tables["inferences"].rows} <= inferred


def test_the_series_pages_count_new_old_and_all_cases_so_far(engine: Engine, pages: Pages) -> None:
    seen: set[int] = set()
    expected = defaultdict(list)
    for quarter in QUARTERS:
        demo = rows(engine.con, f"SELECT * FROM release_{quarter.lower()}.demo")
        cases = {row["caseid"] for row in demo}
        new = cases - seen
        seen |= cases
        expected[quarter] = [len(cases), len(new), len(cases) - len(new), len(demo), len(seen)]
    names = ("cases", "new", "old", "reports", "cases so far")
    for edition in ("internal series", "public series"):
        table = pages.page[edition].tables["quarters"].by("quarter")
        assert {q: [table[q,][n] for n in names] for q in QUARTERS} == expected
    table = pages.page["internal series"].tables["quarters"].by("quarter")
    for quarter in QUARTERS:
        nil = next(m.ratio for m in engine.metrics(quarter) if m.measure == "nil")
        assert table[quarter,]["NIL"] == nil


def test_the_series_page_has_the_audit_of_the_series(engine: Engine, pages: Pages) -> None:
    found = engine.audit(scopes=("group",), evidence=0)
    table = pages.page["internal series"].tables["risk"].by("quarter")
    for row in found.releases:
        shown = table[row.quarter,]
        assert [shown[n] for n in ("groups", "DIG", "DSG", "DIR", "DSR", "P")] == [
            row.groups, row.dig, row.dsg, row.dir, row.dsr, row.persistence,
        ]  # fmt: skip
        assert shown["safe"] == "yes"


@pytest.mark.parametrize("edition", ["internal", "public"])
def test_the_page_of_a_series_tells_what_its_latest_release_does_not_protect(
    engine: Engine, pages: Pages, edition: str
) -> None:
    shown = pages.page[f"{edition} series"]
    (alone,) = [
        row.ratio
        for row in engine.metrics(QUARTERS[-1])
        if (row.measure, row.scope) == ("one_candidate", "2 of the drugs or terms, worst")
    ]
    assert alone is not None
    assert abs(shown.facts["singled-out"] - 100 * alone) <= 0.5
    assert f"{shown.facts['singled-out']:.0f} %" in shown.within("singled-out")
    assert "drug.drugname" in shown.within("protected")
