"""Artifacts whose items counts tell: in each format they pass, forged as a whole they do not."""

from __future__ import annotations

import csv
import json
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import duckdb
import pytest
from support.artifacts import manifest_of, read_csv, rehash, tables_of, write_csv

from srsql import SrsqlError, open_artifact, verify
from srsql.engine.api.engine import Engine
from srsql.engine.extras.synth import quarter_range, synthesize

pytestmark = pytest.mark.slow

Q1, Q2 = "2011Q1", "2011Q2"
K = 3
OPTIONS: dict[str, Any] = {
    "model": "ppms++", "k": K, "theta": "0.4", "terms": "tables", "seed": 1,
    "table_items": "drugname,indi_pt,pt,outc_cod",
}  # fmt: skip
COUNTS = ("stratum", "case_count", "item_count", "pair_count")
FORMS = ("parquet", "csv", "duckdb")
Row = dict[str, Any]
Forge = Callable[[Path], None]


@pytest.fixture(scope="module")
def db(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two quarters of which many cases are in both, released with counts."""
    folder = tmp_path_factory.mktemp("counted")
    synthesize(folder / "raw", quarter_range(Q1, Q2), cases=700, seed=5)
    with Engine(folder / "w.duckdb") as engine:
        engine.ingest(sorted((folder / "raw").iterdir()))
        for quarter in (Q1, Q2):
            engine.release.make(quarter, **OPTIONS)
    return folder / "w.duckdb"


@pytest.fixture(scope="module")
def published(db: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Folders by quarter and format; not to be changed."""
    folder = tmp_path_factory.mktemp("published")
    with Engine(db, read_only=True) as engine:
        for quarter, form in (*((Q1, form) for form in FORMS), (Q2, "csv")):
            engine.artifact.publish(quarter, folder / f"{quarter}-{form}", format=form)
    return folder


@pytest.fixture
def forged(published: Path, tmp_path: Path) -> Path:
    shutil.copytree(published / f"{Q1}-csv", tmp_path / "forged")
    return tmp_path / "forged"


def failed(folder: Path) -> set[str]:
    return {check.name for check in verify(folder).checks if check.faults}


@pytest.mark.parametrize("form", FORMS)
def test_an_artifact_has_the_told_cells_of_the_release(
    db: Path, published: Path, form: str
) -> None:
    folder = published / f"{Q1}-{form}"
    assert verify(folder).passed
    found = tables_of(folder)
    assert set(found) == {"demo", *COUNTS}
    with Engine(db, read_only=True) as engine:
        for name in COUNTS:
            shown = [
                {k: None if v is None else str(v) for k, v in row.items()} for row in found[name]
            ]
            inside = "REPLACE (inside::BIGINT AS inside)" if name == "stratum" else ""
            due = engine.con.execute(f"SELECT * {inside} FROM release_2011q1.{name}")
            names = [entry[0] for entry in due.description or ()]
            assert len(shown) > 3
            assert sorted(map(str, shown)) == sorted(
                str({n: None if v is None else str(v) for n, v in zip(names, row, strict=True)})
                for row in due.fetchall()
            )


def test_several_quarters_are_published_together_and_counts_are_of_new_cases(
    db: Path, published: Path, tmp_path: Path
) -> None:
    with Engine(db, read_only=True) as engine:
        engine.artifact.publish(f"{Q1}:{Q2}", tmp_path / "both", format="duckdb")
    assert verify(tmp_path / "both").passed
    together = verify([published / f"{Q1}-csv", published / f"{Q2}-csv"])
    assert together.passed
    assert "new units" in {check.name for check in together.checks}
    alone = verify(published / f"{Q2}-csv")
    assert alone.passed
    assert any("fewer" not in text and "rules G1" in text for text in alone.cannot_show)


@pytest.mark.parametrize("form", FORMS)
def test_signals_of_an_artifact_are_those_of_the_warehouse(
    db: Path, published: Path, form: str
) -> None:
    with (
        Engine(db, read_only=True) as engine,
        open_artifact(published / f"{Q1}-{form}") as artifact,
    ):
        ours = engine.signals.find(every_pair=True, quarter=Q1, released_only=True)
        theirs = artifact.signals(every_pair=True, quarter=Q1)
        assert len(ours.signals) > 20
        assert theirs.signals == ours.signals


def test_the_statement_of_the_readme_gives_the_ratios_of_told_pairs(
    published: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = published / f"{Q1}-parquet"
    text = (folder / "README.md").read_text(encoding="utf-8")
    start = text.index("    WITH u AS (SELECT sum(cases)")
    statement = text[start : text.index("ORDER BY prr DESC", start)]
    monkeypatch.chdir(folder)
    with duckdb.connect() as con:
        found = {tuple(row[:4]): row[4:] for row in con.execute(statement).fetchall()}
    cells = tables_of(folder)
    units = sum(row["cases"] for row in cells["case_count"])
    items: dict[Any, int] = {}
    for row in cells["item_count"]:
        key = row["attribute"], row["term"]
        items[key] = items.get(key, 0) + row["cases"]
    pairs: dict[Any, int] = {}
    for row in cells["pair_count"]:
        key = row["attribute"], row["term"], row["other_attribute"], row["other_term"]
        pairs[key] = pairs.get(key, 0) + row["cases"]
    assert found.keys() == pairs.keys()
    for key, (a, prr) in found.items():
        one, other = items[key[:2]], items[key[2:]]
        assert a == pairs[key]
        rest = (other - a) / (units - one) if units > one else 0
        assert prr == (pytest.approx(a / one / rest) if rest else None)


# Forgeries: rows, thresholds and manifest are changed, and all that follows is made anew.


def cells(folder: Path, name: str, change: Callable[[list[Row]], list[Row] | None]) -> None:
    """Change the rows of a table, which then are in order."""
    rows: list[Row] = [dict(row) for row in read_csv(folder, name)]
    rows = change(rows) or rows
    if name != "stratum":
        rows.sort(key=lambda row: [(v is None, int(v) if n == "cases" else (v or "").encode())
                                   for n, v in row.items()])  # fmt: skip
    write_csv(folder, name, rows)


def told(folder: Path, change: Callable[[dict[str, Any]], object]) -> None:
    manifest = manifest_of(folder)
    change(manifest)
    (folder / "manifest.json").write_text(json.dumps(manifest))


def threshold(folder: Path, value: str, num: int = 2, den: int = 5) -> None:
    path = folder / "value-thresholds.csv"
    with path.open(encoding="utf-8", newline="") as file:
        rows = [row for row in csv.reader(file) if row[0] != value]
    rows[1:] = sorted([*rows[1:], [value, str(num), str(den)]])
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file, quoting=csv.QUOTE_ALL, lineterminator="\n").writerows(rows)


def units(folder: Path) -> dict[str, int]:
    return {str(row["stratum"]): int(str(row["cases"])) for row in read_csv(folder, "case_count")}


def size(folder: Path, stratum: str) -> int:
    """Cases of a stratum, by the names of its leaves."""
    return sum(n for name, n in units(folder).items() if name.startswith(stratum))


def item(stratum: str, attribute: str, term: str | None, cases: int) -> Row:
    return {"stratum": stratum, "attribute": attribute, "term": term, "cases": str(cases)}


def pair(stratum: str, one: tuple[str, str], other: tuple[str, str], cases: int) -> Row:
    return {
        "stratum": stratum, "attribute": one[0], "term": one[1],
        "other_attribute": other[0], "other_term": other[1], "cases": str(cases),
    }  # fmt: skip


def add(folder: Path, name: str, *rows: Row) -> None:
    cells(folder, name, lambda found: [*found, *rows])


D, E, R, OUT = ("drugname", "zzdrug"), ("drugname", "zzdrug2"), ("pt", "zzterm"), ("outc_cod", "ZZ")


def a_count_below_k(folder: Path) -> None:
    cells(folder, "pair_count", lambda rows: rows[0].update(cases="2"))


def a_count_of_nobody(folder: Path) -> None:
    cells(folder, "item_count", lambda rows: rows[-1].update(cases="0"))


def a_cell_told_twice(folder: Path) -> None:
    cells(folder, "pair_count", lambda rows: [*rows, dict(rows[0])])


def a_stratum_within_a_told_one(folder: Path) -> None:
    """The difference would be of two cases."""
    add(folder, "item_count", item("all", *D, 30), item("sex F", *D, 28))


def a_pair_told_both_ways_round(folder: Path) -> None:
    def turned(rows: list[Row]) -> list[Row]:
        row = rows[0]
        other = pair(row["stratum"], (row["other_attribute"], row["other_term"]),
                     (row["attribute"], row["term"]), int(row["cases"]))  # fmt: skip
        return [*rows, other]

    cells(folder, "pair_count", turned)


def a_complement_of_two_cases(folder: Path) -> None:
    add(folder, "item_count", item("all", *D, size(folder, "") - 2))


def a_pair_above_its_threshold(folder: Path) -> None:
    threshold(folder, R[1])
    add(folder, "item_count", item("all", *D, 20), item("all", *R, 30))
    add(folder, "pair_count", pair("all", D, R, 9))


def an_item_above_its_threshold(folder: Path) -> None:
    threshold(folder, R[1])
    add(folder, "item_count", item("all", *R, size(folder, "") // 2))


def a_term_without_a_threshold(folder: Path) -> None:
    add(folder, "item_count", item("all", *R, 30))


def a_threshold_of_no_count(folder: Path) -> None:
    threshold(folder, R[1])


def a_looser_threshold(folder: Path) -> None:
    term = next(str(r["term"]) for r in read_csv(folder, "item_count") if r["attribute"] == "pt")
    threshold(folder, term, 1, 1)


def more_with_both_than_with_one(folder: Path) -> None:
    threshold(folder, R[1])
    add(folder, "item_count", item("all", *D, 20), item("all", *OUT, 30))
    add(folder, "pair_count", pair("all", D, OUT, 21))


def fewer_with_both_than_must_have(folder: Path) -> None:
    whole = size(folder, "")
    add(folder, "item_count", item("all", *D, whole - 10), item("all", *OUT, whole - 10))
    add(folder, "pair_count", pair("all", D, OUT, whole // 2))


def an_item_of_a_stratum_that_is_not_told(folder: Path) -> None:
    above = {str(row["stratum"]): row["parent"] for row in read_csv(folder, "stratum")}
    known = set[Any]()
    for at in units(folder):
        name: Any = at
        while name is not None:
            known.add(name)
            name = above[name]
    add(folder, "item_count", item(next(name for name in above if name not in known), *D, 5))


def a_pair_of_an_item_that_is_not_told(folder: Path) -> None:
    add(folder, "pair_count", pair("all", D, OUT, 5))


def two_columns_that_are_not_counted_together(folder: Path) -> None:
    add(folder, "item_count", item("all", *D, 20), item("all", *E, 20))
    add(folder, "pair_count", pair("all", D, E, 5))


def a_column_that_is_not_counted(folder: Path) -> None:
    add(folder, "item_count", item("all", "manufacturer", "some", 30))


def no_such_stratum(folder: Path) -> None:
    add(folder, "item_count", item("all men", *D, 30))


def a_term_by_its_spelling(folder: Path) -> None:
    threshold(folder, "Zz Term.")
    add(folder, "item_count", item("all", "pt", "Zz Term.", 30))


def two_spellings_of_a_term(folder: Path) -> None:
    add(folder, "item_count", item("all", "drugname", "zz drug", 30),
        item("all", "drugname", "Zz  Drug", 30))  # fmt: skip


def rows_in_an_order_that_tells(folder: Path) -> None:
    rows = read_csv(folder, "item_count")
    write_csv(folder, "item_count", rows[::-1])


def an_attribute_of_one_value_told_in_part(folder: Path) -> None:
    add(folder, "item_count", item("all", "outc_cod", None, 5))


def items_that_force_a_term(folder: Path) -> None:
    """All but three cases have the drug: of those with the term, all but three have both (G1)."""
    whole = size(folder, "")
    threshold(folder, R[1])
    add(folder, "item_count", item("all", *D, whole - 3), item("all", *R, whole // 3))


def a_pair_of_one_part(folder: Path) -> None:
    """The term is of women alone, so that all twelve are of the ten who have the drug (G2)."""
    threshold(folder, R[1])
    add(folder, "item_count", item("sex F", *D, 20), item("sex not F", *D, 20),
        item("sex F", *R, 30))  # fmt: skip
    add(folder, "pair_count", pair("all", D, R, 12))


def a_pair_that_leaves_its_term_no_other_place(folder: Path) -> None:
    """The term is told of all 60; but of the 30 with both no more than 15 are men, and 2 or fewer
    would be so if men or women had 2 or fewer of the 60 (G2)."""
    threshold(folder, R[1])
    add(folder, "item_count", item("sex F", *D, 60), item("sex not F", *D, 15), item("all", *R, 60))
    add(folder, "pair_count", pair("all", D, R, 30))


def a_bridge_through_a_term(folder: Path) -> None:
    """Eight of ten have the drug and eight the outcome, so that six of six have all (G3)."""
    threshold(folder, R[1])
    add(folder, "item_count", item("all", *D, 100), item("all", *OUT, 100), item("all", *R, 10))
    add(folder, "pair_count", pair("all", D, R, 8), pair("all", OUT, R, 8), pair("all", D, OUT, 6))


def cases_that_no_row_shows(folder: Path) -> None:
    cells(folder, "case_count", lambda rows: rows[0].update(cases=str(int(rows[0]["cases"]) + 1)))


def a_row_less(folder: Path) -> None:
    rows = read_csv(folder, "demo")
    write_csv(folder, "demo", rows[:-1])


def tables_of_another_quarter(folder: Path) -> None:
    for name in COUNTS:
        shutil.copy(folder.parent / "other" / f"{name}.csv", folder / f"{name}.csv")
    for value in ("value-thresholds.csv",):
        shutil.copy(folder.parent / "other" / value, folder / value)


def strata_under_each_others_names(folder: Path) -> None:
    def swapped(rows: list[Row]) -> None:
        for row in rows:
            if row["column"] == "sex":
                row["value"] = {"F": "M", "M": "F"}[row["value"]]

    cells(folder, "stratum", swapped)


def another_cut_in_the_table(folder: Path) -> None:
    def moved(rows: list[Row]) -> None:
        for row in rows:
            if row["low"] is not None and float(row["low"]) == 65:
                row["low"] = "60.000000"

    cells(folder, "stratum", moved)


def another_cut_everywhere(folder: Path) -> None:
    """Whatever tells strata says 60 where cases were counted from 65 on."""
    for name in COUNTS:
        path = folder / f"{name}.csv"
        path.write_text(path.read_text(encoding="utf-8").replace("65", "60"), encoding="utf-8")

    def moved(manifest: dict[str, Any]) -> None:
        for cut in manifest["counted"]["cuts"]:
            for end in ("low", "below"):
                if cut[end] is not None and float(cut[end]) == 65:
                    cut[end] = "60"
        strata = manifest["parameters"]["table_strata"]
        manifest["parameters"]["table_strata"] = strata.replace("65", "60")

    told(folder, moved)


def a_stratum_left_out(folder: Path) -> None:
    cells(folder, "stratum", lambda rows: rows[:-1])


def a_stratum_more(folder: Path) -> None:
    cells(folder, "stratum", lambda rows: [*rows, rows[-1] | {"stratum": "sex other, age odd"}])


def a_lower_k(folder: Path) -> None:
    """One over theta is three."""
    told(folder, lambda m: (m["counted"].update(k=2), m["parameters"].update(table_k=2)))


def another_k_in_words(folder: Path) -> None:
    told(folder, lambda m: m["parameters"].update(table_k=4))


def a_second_version(folder: Path) -> None:
    told(folder, lambda m: m["parameters"].update(version=2))


def terms_without_thresholds(folder: Path) -> None:
    told(folder, lambda m: m["counted"].update(sensitive=["pt"]))
    terms = {str(r["term"]) for r in read_csv(folder, "item_count") if r["attribute"] == "pt"}
    path = folder / "value-thresholds.csv"
    with path.open(encoding="utf-8", newline="") as file:
        rows = [row for n, row in enumerate(csv.reader(file)) if n == 0 or row[0] in terms]
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file, quoting=csv.QUOTE_ALL, lineterminator="\n").writerows(rows)


def other_columns_counted_together(folder: Path) -> None:
    def more(manifest: dict[str, Any]) -> None:
        manifest["counted"]["pairs"].append(["pt", "indi_pt"])
        manifest["parameters"]["table_pairs"] += ", pt x indi_pt"

    told(folder, more)


def another_guarantee(folder: Path) -> None:
    told(folder, lambda m: m.update(guarantee=m["guarantee"].replace("Not claimed", "Claimed")))


def ids_of_a_quarter(folder: Path) -> None:
    told(folder, lambda m: m["parameters"].update(ids="per-quarter"))


def no_claim_of_counts(folder: Path) -> None:
    told(folder, lambda m: m.pop("counted"))


def a_row_with_an_item(folder: Path) -> None:
    def shown(manifest: dict[str, Any]) -> None:
        (table,) = (t for t in manifest["tables"] if t["name"] == "demo")
        table["columns"].append({"name": "pt", "type": "VARCHAR", "role": "sensitive"})

    told(folder, shown)
    rows = [row | {"pt": "zzterm"} for row in read_csv(folder, "demo")]
    write_csv(folder, "demo", rows)


FORGERIES: list[tuple[Forge, str]] = [
    (a_count_below_k, "told counts"),
    (a_count_of_nobody, "told counts"),
    (a_cell_told_twice, "told counts"),
    (a_stratum_within_a_told_one, "told counts"),
    (a_pair_told_both_ways_round, "told counts"),
    (two_columns_that_are_not_counted_together, "told counts"),
    (a_column_that_is_not_counted, "told counts"),
    (no_such_stratum, "told counts"),
    (a_term_by_its_spelling, "told counts"),
    (two_spellings_of_a_term, "told counts"),
    (rows_in_an_order_that_tells, "told counts"),
    (an_attribute_of_one_value_told_in_part, "told counts"),
    (a_complement_of_two_cases, "told shares"),
    (a_pair_above_its_threshold, "told shares"),
    (an_item_above_its_threshold, "told shares"),
    (a_term_without_a_threshold, "told shares"),
    (a_threshold_of_no_count, "told shares"),
    (a_looser_threshold, "told shares"),
    (more_with_both_than_with_one, "told shares"),
    (fewer_with_both_than_must_have, "told shares"),
    (an_item_of_a_stratum_that_is_not_told, "told shares"),
    (a_pair_of_an_item_that_is_not_told, "told shares"),
    (a_lower_k, "told shares"),
    (items_that_force_a_term, "ways out"),
    (a_pair_of_one_part, "ways out"),
    (a_pair_that_leaves_its_term_no_other_place, "ways out"),
    (a_bridge_through_a_term, "bridges"),
    (cases_that_no_row_shows, "told units"),
    (a_row_less, "told units"),
    (tables_of_another_quarter, "told units"),
    (another_cut_everywhere, "told units"),
    (strata_under_each_others_names, "strata"),
    (another_cut_in_the_table, "strata"),
    (a_stratum_left_out, "strata"),
    (a_stratum_more, "strata"),
    (another_k_in_words, "manifest"),
    (a_second_version, "manifest"),
    (terms_without_thresholds, "manifest"),
    (other_columns_counted_together, "manifest"),
    (another_guarantee, "manifest"),
    (ids_of_a_quarter, "manifest"),
    (no_claim_of_counts, "manifest"),
    (a_row_with_an_item, "manifest"),
]


@pytest.mark.parametrize(("forge", "check"), FORGERIES, ids=lambda v: getattr(v, "__name__", ""))
def test_a_forged_artifact_is_refused_by_the_check_that_sees_it(
    published: Path, forged: Path, forge: Forge, check: str
) -> None:
    (forged.parent / "other").symlink_to(published / f"{Q2}-csv")
    forge(forged)
    rehash(forged, counts=True, series=manifest_of(forged)["series"])
    faults = failed(forged) - {"report"}
    assert check in faults
    if check == "strata":  # without them nothing else can be looked at
        faults -= {"told units", "told counts", "told shares", "ways out", "bridges"}
    if check != "manifest":  # ways out are of the same cells, and a group is of the rows
        assert faults <= {check, "ways out", *(("k",) if forge is a_row_less else ())}


def test_a_pair_passes_whose_term_may_lie_in_another_stratum(forged: Path) -> None:
    """Women alone have the drug; the term is told of all, so that 2 of its holders may be women."""
    threshold(forged, R[1])
    add(forged, "item_count", item("sex F", *D, 60), item("all", *R, 60))
    add(forged, "pair_count", pair("all", D, R, 24))
    rehash(forged, counts=True, series=manifest_of(forged)["series"])
    assert not failed(forged) - {"report"}


def test_counts_of_cases_that_an_earlier_quarter_has_are_seen_beside_it(
    published: Path, tmp_path: Path
) -> None:
    """Alone, no row of the quarter says which of its cases are new."""
    shutil.copytree(published / f"{Q2}-csv", tmp_path / "again")
    folder = tmp_path / "again"
    cells(folder, "case_count", lambda rows: rows[0].update(cases=str(int(rows[0]["cases"]) + 3)))
    rehash(folder, counts=True, series="main")
    assert failed(folder) <= {"report"}
    together = verify([published / f"{Q1}-csv", folder])
    assert "new units" in {c.name for c in together.checks if c.faults}


def test_a_manifest_of_very_many_strata_is_refused_at_once(forged: Path) -> None:
    def many(manifest: dict[str, Any]) -> None:
        manifest["counted"]["cuts"] = [
            {"attribute": a, "value": None, "low": str(n), "below": str(n + 1)}
            for a in ("age", "wt")
            for n in range(100)
        ]

    told(forged, many)
    rehash(forged, counts=True, series="main")
    assert "strata" in failed(forged)


def test_an_artifact_with_rows_claims_no_counts(published: Path, forged: Path) -> None:
    """Whoever takes the counts away has nothing left that tells items."""

    def bare(manifest: dict[str, Any]) -> None:
        manifest["tables"] = [t for t in manifest["tables"] if t["name"] != "pair_count"]

    told(forged, bare)
    (forged / "pair_count.csv").unlink()
    rehash(forged, series="main")
    assert "manifest" in failed(forged)


def test_what_is_not_told_of_an_artifact_has_the_bounds_of_what_is(published: Path) -> None:
    with open_artifact(published / f"{Q1}-csv") as artifact:
        found = artifact.query("SELECT count(DISTINCT caseid) FROM demo WHERE sex = 'F'")
        assert found.rows
        with pytest.raises(SrsqlError, match="counts"):
            artifact.query("SELECT count(DISTINCT caseid) FROM demo JOIN reac USING (primaryid)")


def every_name() -> Iterator[str]:
    yield from (forge.__name__ for forge, _ in FORGERIES)


def test_forgeries_are_all_different() -> None:
    assert len(set(every_name())) == len(FORGERIES) >= 40
