"""What is released, in the forms that pvda, openEBGM and TreeScan open."""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from oracles.signals import measures
from support.quarters import next_version, side_effects, write_quarter

from srsql.engine.api.analyst import open_artifact
from srsql.engine.api.engine import Engine
from srsql.engine.console.field_signals import export_parts, export_table
from srsql.engine.errors import LinkableError, SignalError

DRUGS = ["Drug A", "Drug B", "Drug C"]
REACTIONS = ["Bleeding", "Rash", "Pain", 'Fever, "high"']
REPORTS = [*{r.caseid: r for r in side_effects(9, DRUGS, REACTIONS)}.values()]


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    folder = tmp_path_factory.mktemp("exports")
    with Engine(folder / "w.duckdb") as engine:
        engine.ingest([write_quarter(folder, "2011Q4", REPORTS)])
        engine.release("2011Q4", k=3, theta="1", seed=1)
        yield engine


def read(file: Path) -> list[list[str]]:
    with file.open(encoding="utf-8", newline="") as stream:
        return list(csv.reader(stream))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("form", "header"),
    [("pvda", ["report_id", "drug", "event"]), ("openebgm", ["id", "var1", "var2"])],
)
def test_rows_of_pairs_give_other_tools_the_counts_of_ours(
    house: Engine, tmp_path: Path, form: str, header: list[str]
) -> None:
    made = house.export(form, tmp_path / "out", roles=["all"])
    first, *rows = read(tmp_path / "out" / f"{form}.csv")
    assert first == header
    assert made.files[0].rows == len(rows) == len({tuple(row) for row in rows})
    everybody = {row[0] for row in rows}
    with_drug = {row[0] for row in rows if row[1] == "drug a"}
    with_reaction = {row[0] for row in rows if row[2] == "bleeding"}
    a = len(with_drug & with_reaction)
    b, c = len(with_drug) - a, len(with_reaction) - a
    cells = a, b, c, len(everybody) - a - b - c
    (signal,) = house.signals(drug="drug a", reaction="bleeding", roles=["all"]).signals
    own = signal.released
    assert (own.a, own.b, own.c, own.d) == cells
    assert own.prr == pytest.approx(measures(*cells)["prr"])
    assert everybody == {str(number + 1) for number in range(len(everybody))}  # and no id
    content = [
        [sorted({row[k] for row in rows if row[0] == number}) for k in (1, 2)]
        for number in sorted(everybody, key=int)
    ]
    assert content == sorted(content)  # what cases tell, not their ids, has them in order


@pytest.mark.thorough
def test_pairs_of_cases_ask_for_the_consent_that_publish_asks_for(tmp_path: Path) -> None:
    with Engine(tmp_path / "w.duckdb") as engine:
        engine.ingest([write_quarter(tmp_path, "2011Q4", REPORTS)])
        for series in ("main", "partners"):
            engine.release("2011Q4", k=3, theta="1", seed=1, series=series, allow_linkable=True)
        with pytest.raises(LinkableError, match="--allow-linkable if both") as published:
            engine.publish("2011Q4", tmp_path / "artifact")
        for form in ("pvda", "openebgm"):
            with pytest.raises(LinkableError) as exported:
                engine.export(form, tmp_path / form)
            assert str(exported.value) == str(published.value)
            assert not (tmp_path / form).exists()
        made = engine.export("pvda", tmp_path / "yes", allow_linkable=True)
        assert [row.scope for row in made.links] == ["series partners"]
        assert any("link one to one to series partners" in str(line) for line in export_parts(made))
        assert engine.export("pvda", tmp_path / "limit", max_linkable="1").links == made.links
        counts = engine.export("treescan", tmp_path / "counts", drug="drug a")
        assert counts.links == []  # no row of a case is in it


@pytest.mark.thorough
def test_an_artifact_has_the_pairs_of_the_warehouse(house: Engine, tmp_path: Path) -> None:
    house.publish("2011Q4", tmp_path / "artifact")
    house.export("pvda", tmp_path / "own", roles=["all"])
    with open_artifact(tmp_path / "artifact") as artifact:
        artifact.export("pvda", tmp_path / "again", roles=["all"])
    assert read(tmp_path / "again" / "pvda.csv") == read(tmp_path / "own" / "pvda.csv")


def test_counts_of_a_tree_are_the_cases_and_the_expected_ones(
    house: Engine, tmp_path: Path
) -> None:
    made = house.export("treescan", tmp_path / "out", drug="drug a", roles=["all"])
    counts = {name: (n, e) for name, n, e in read(tmp_path / "out" / "counts.cas")}
    assert counts.keys() == {reaction.lower() for reaction in REACTIONS}
    taken = [r for r in REPORTS if "Drug A" in r.drugs]
    both = Counter(term for r in taken for term in r.pt)
    told = Counter(term for r in REPORTS for term in r.pt)
    for reaction in REACTIONS:
        n, e = counts[reaction.lower()]
        assert int(n) == both[reaction]
        assert float(e) == pytest.approx(len(taken) * told[reaction] / len(REPORTS))
    (root,), *nodes = read(tmp_path / "out" / "tree.tre")
    assert dict(nodes) == dict.fromkeys(counts, root)
    assert [file.rows for file in made.files] == [4, 5]
    assert [row[1] for row in export_table(made)][1:] == [4, 5]
    assert any("tree.tre: 5 rows" in part for part in export_parts(made) if type(part) is str)


def test_a_tree_of_ones_own_has_the_reactions_where_it_says(house: Engine, tmp_path: Path) -> None:
    tree = tmp_path / "tree.csv"
    tree.write_text("node,parent\nAny,\nSkin,Any\nrash,Skin\nItching,Skin\n")
    house.export("treescan", tmp_path / "out", drug="Drug A", roles=["all"], tree=tree)
    nodes = read(tmp_path / "out" / "tree.tre")
    assert nodes[:4] == [["Any"], ["Skin", "Any"], ["rash", "Skin"], ["Itching", "Skin"]]
    assert sorted(nodes[4:]) == [[name, "Any"] for name in
                                 ("bleeding", 'fever, "high"', "pain")]  # fmt: skip
    named = {row[0] for row in read(tmp_path / "out" / "counts.cas")}
    assert named <= {row[0] for row in nodes}
    assert "rash" in named


def test_a_reaction_may_be_named_like_a_node_of_the_tree_but_no_two_nodes_like_one_reaction(
    house: Engine, tmp_path: Path
) -> None:
    tree = tmp_path / "tree.csv"
    tree.write_text("node,parent\nrash,\nPain,rash\n")
    house.export("treescan", tmp_path / "out", drug="Drug A", roles=["all"], tree=tree)
    nodes = read(tmp_path / "out" / "tree.tre")
    assert [node for node in nodes if node[0].lower() == "rash"] == [["rash"]]
    tree.write_text("node,parent\nAny,\nRash,Any\nRASH\u200b,Any\n")
    with pytest.raises(SignalError, match="are one reaction: keep one of them"):
        house.export("treescan", tmp_path / "two", drug="Drug A", tree=tree)
    assert not (tmp_path / "two").exists()


BANDS = ["18", "45", "65"]


@pytest.fixture(scope="module")
def parted(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    """Two quarters, of which regions lie in strata and across them, and values are missing."""
    folder, reports = tmp_path_factory.mktemp("parted"), side_effects(5, DRUGS, REACTIONS)
    with Engine(folder / "w.duckdb") as engine:
        for quarter in ("2011Q3", "2011Q4"):
            engine.ingest([write_quarter(folder, quarter, reports)])
            engine.release(quarter, k=3, theta="1", seed=1, model="ms")
            reports = [next_version(report) for report in reports[40:]]
        yield engine


def strata_of(engine: Engine, by: list[str]) -> dict[str, tuple[str, ...]]:
    """Each case of whose region is in one stratum in its latest quarter, with what it is called."""
    found = {}
    for case, quarter, low, high, sex in engine.sql(
        "SELECT d.caseid, d.quarter, d.age_low, d.age_high, d.sex FROM released.demo AS d "
        "SEMI JOIN released.case_latest AS l USING (caseid, quarter)"
    ):
        bands = [("under 18", 0, 17), ("18 to 44", 18, 44), ("45 to 64", 45, 64),
                 ("65 and over", 65, 120)]  # fmt: skip
        ages = [n for n, a, b in bands if low is not None and a <= low and high <= b]
        told = {
            "sex": None if sex == "Any" else sex,
            "age": ages[0] if ages else None,
            "period": quarter,
        }
        if all(told[name] for name in by):
            found[str(case)] = tuple(str(told[name]) for name in by)
    return found


@pytest.mark.slow
@pytest.mark.parametrize("by", [["sex"], ["sex", "age"], ["age", "period"], ["period"]])
def test_strata_are_columns_of_the_cases_whose_region_decides_them(
    parted: Engine, tmp_path: Path, by: list[str]
) -> None:
    asked = {"strata": by, "age_bands": BANDS if "age" in by else None, "roles": ["all"]}
    made = parted.export("openebgm", tmp_path / "out", **asked)
    first, *rows = read(tmp_path / "out" / "openebgm.csv")
    assert first == ["id", "var1", "var2", *(f"strat_{name}" for name in by)]
    assert made.strata == tuple(by)
    assert any(f"the stratum ({', '.join(by)}) (known)" in str(p) for p in export_parts(made))
    due: Counter[tuple[str, ...]] = Counter()
    inside = strata_of(parted, by)
    for case, quarter in parted.sql("FROM released.case_latest"):
        drugs, terms = (
            {
                name.strip().lower()
                for (name,) in parted.sql(
                    f"SELECT t.{column} FROM released.{table} AS t "
                    "WHERE t.caseid = ? AND t.quarter = ?",
                    [case, quarter],
                )
            }
            for table, column in (("drug", "drugname"), ("reac", "pt"))
        )
        if str(case) in inside:
            due.update((drug, term, *inside[str(case)]) for drug in drugs for term in terms)
    assert Counter(tuple(row[1:]) for row in rows) == due
    assert len({row[0] for row in rows}) == len(inside) > 0
    parted.export("pvda", tmp_path / "pvda", **asked)
    head, *grouped = read(tmp_path / "pvda" / "pvda.csv")
    assert head == ["report_id", "drug", "event", "group"]
    assert grouped == [[*row[:3], ", ".join(row[3:])] for row in rows]


@pytest.mark.slow
def test_expected_cases_over_exported_strata_are_those_that_signals_know(
    parted: Engine, tmp_path: Path
) -> None:
    """What openEBGM makes of the file (``processRaw(stratify = TRUE)``): E summed over strata."""
    asked = {"strata": ["sex", "age"], "age_bands": BANDS, "roles": ["all"]}
    parted.export("openebgm", tmp_path / "out", **asked)
    _, *rows = read(tmp_path / "out" / "openebgm.csv")
    expected = 0.0
    for stratum in {tuple(row[3:]) for row in rows}:
        own = [row for row in rows if tuple(row[3:]) == stratum]
        cases, drug, reaction = (
            len({row[0] for row in own if wanted is None or wanted in row[1:3]})
            for wanted in (None, "drug a", "bleeding")
        )
        expected += drug * reaction / cases
    (signal,) = parted.signals(
        drug="Drug A", reaction="Bleeding", released_only=True, **asked
    ).signals
    assert signal.released_stratified is not None
    assert expected == pytest.approx(signal.released_stratified.e_known)
    assert (
        signal.released_stratified.e_known < signal.released_stratified.e
    )  # some regions decide none


def test_treescan_has_no_strata(parted: Engine, tmp_path: Path) -> None:
    with pytest.raises(SignalError, match="counts without strata: leave --strata out"):
        parted.export("treescan", tmp_path / "out", drug="Drug A", strata=["sex"])
    assert not (tmp_path / "out").exists()


@pytest.mark.thorough
def test_an_export_of_cases_that_have_left_says_so(tmp_path: Path) -> None:
    with Engine(tmp_path / "w.duckdb") as engine:
        engine.ingest([write_quarter(tmp_path, "2011Q3", REPORTS)])
        engine.release("2011Q3", k=3, theta="1", seed=1)
        engine.publish("2011Q3", tmp_path / "artifact")
        assert not engine.export("pvda", tmp_path / "before").stale
        engine.ingest([write_quarter(tmp_path, "2011Q4", REPORTS[30:], deleted=[3])])
        made = engine.export("pvda", tmp_path / "out", quarter="2011Q3")
        (line,) = made.stale
        assert line.startswith("2011Q3 in series main is stale (1 deleted): run 'srsql correct")
        assert line in [*export_parts(made)]
        with open_artifact(tmp_path / "artifact") as artifact:
            assert not artifact.export("pvda", tmp_path / "again").stale


@pytest.mark.thorough
def test_what_must_not_be_published_is_not_exported(tmp_path: Path) -> None:
    with Engine(tmp_path / "w.duckdb") as engine:
        engine.ingest([write_quarter(tmp_path, "2011Q4", REPORTS)])
        engine.release("2011Q4", model="k-anonymity", k=3, seed=1)
        with pytest.raises(SignalError, match="2011Q4 must not leave the house"):
            engine.export("pvda", tmp_path / "out")
        assert not (tmp_path / "out").exists()
        assert engine.trend("Drug A", "Rash").points


def test_what_cannot_be_exported_is_refused_in_one_line(house: Engine, tmp_path: Path) -> None:
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "file").touch()
    with pytest.raises(SignalError, match="is not empty: give --to an empty folder"):
        house.export("pvda", tmp_path / "full")
    with pytest.raises(SignalError, match="--export treescan has counts of one drug: give --drug"):
        house.export("treescan", tmp_path / "out")
    with pytest.raises(SignalError, match="--export pvda has every pair: give --all"):
        house.export("pvda", tmp_path / "out", drug="Drug A")
    with pytest.raises(SignalError, match="--tree is of --export treescan"):
        house.export("pvda", tmp_path / "out", tree="tree.csv")
    with pytest.raises(SignalError, match=r"give --tree a hierarchy \(node, parent\)"):
        house.export("treescan", tmp_path / "out", drug="Drug A", tree="absent.csv")
    with pytest.raises(SignalError, match="--export 'excel': give one of pvda, openebgm, treescan"):
        house.export("excel", tmp_path / "out")
    assert not (tmp_path / "out").exists()
