"""Counts with noise tell the items of all cases of a period, and no row does."""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Callable, Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from oracles.noisy_tables import counts
from support.released import rows

from srsql.engine.api.engine import Engine
from srsql.engine.errors import CheckFailedError, SrsqlError
from srsql.engine.extras.synth import quarter_range, synthesize
from srsql.engine.store.warehouse import Warehouse
from srsql.engine.terms import noisy_tables
from srsql.engine.terms.noisy_tables import NoisyParameters, TableNoise

pytestmark = pytest.mark.slow

Q1, Q2 = "2011Q1", "2011Q2"
OPTIONS: dict[str, Any] = {"model": "ppms++", "k": 3, "terms": "noisy-tables", "seed": 1}
LITTLE: dict[str, Any] = {"epsilon": "50", "delta": "1/1000", "case_items": 2, "case_pairs": 2}
"""So little noise that nearly all counts of four cases and more are published as they are."""
SEXES = '[[cut]]\nqid = "sex"\nvalue = "F"\n[[cut]]\nqid = "sex"\nvalue = "M"\n'


@pytest.fixture(scope="module")
def loaded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two quarters of which many cases are in both."""
    folder = tmp_path_factory.mktemp("noise")
    synthesize(folder / "raw", quarter_range(Q1, Q2), cases=700, seed=5)
    with Engine(folder / "w.duckdb") as engine:
        engine.ingest(sorted((folder / "raw").iterdir()))
    return folder / "w.duckdb"


@pytest.fixture
def engine(loaded: Path, tmp_path: Path) -> Iterator[Engine]:
    (tmp_path / "w.duckdb").write_bytes(loaded.read_bytes())
    with Engine(tmp_path / "w.duckdb") as opened:
        yield opened


def raw_cases(engine: Engine, quarter: str) -> set[str]:
    text = f"SELECT DISTINCT caseid::VARCHAR FROM raw_faers.demo WHERE quarter = '{quarter}'"
    return {case for (case,) in engine.sql(text)}


def test_rows_show_a_region_and_counts_of_every_new_case_have_noise(engine: Engine) -> None:
    found = engine.release.make(Q1, **OPTIONS, epsilon="3")
    shown = rows(engine.con, "SELECT * FROM release_2011q1.demo LIMIT 1")[0]
    assert {"drugname", "pt"}.isdisjoint(shown)
    assert set(found.rows) == {
        "demo", "count_noise", "noisy_case_count", "noisy_item_count", "noisy_pair_count",
    }  # fmt: skip
    plan = engine.sql(
        "SELECT counts, epsilon, delta, counts_of_a_case, scale FROM release_2011q1.count_noise"
    )
    assert plan == [
        ("noisy_case_count", "3/10", "0", 1, "10/3"),
        ("noisy_item_count", "27/20", "1/2000000", 6, "40/9"),
        ("noisy_pair_count", "27/20", "1/2000000", 4, "80/27"),
    ]
    told = found.manifest
    assert (told["noisy_epsilon"], told["noisy_delta"]) == ("3", "1/1000000")
    assert "differential privacy for adding or removing a case" in told["guarantee"]
    assert "Not claimed: rows and their regions" in told["guarantee"]
    assert told["publishable"]


def test_a_case_is_counted_and_charged_in_its_first_period_alone_released_or_not(
    engine: Engine,
) -> None:
    tight = {**OPTIONS, "missing": "drop"}
    for quarter in (Q1, Q2):
        engine.release.make(quarter, **tight)
    first, second = raw_cases(engine, Q1), raw_cases(engine, Q2)
    withheld = engine.sql("SELECT count(*) FROM srsql.withheld")[0][0]
    assert withheld, "some case has no row"
    assert first & second, "and some case is in both"
    charged = {
        quarter: {case for (case,) in engine.sql(
            f"SELECT DISTINCT case_id FROM srsql.budget_ledger WHERE quarter = '{quarter}'"
        )}
        for quarter in (Q1, Q2)
    }  # fmt: skip
    assert charged == {Q1: first, Q2: second - first}
    spent = engine.sql(
        "SELECT DISTINCT round(sum(epsilon_num / epsilon_den), 9) FROM srsql.budget_ledger "
        "GROUP BY case_id"
    )
    assert spent == [(1.0,)], "periods do not add up"


def test_with_little_noise_counts_are_those_of_the_definition(
    engine: Engine, tmp_path: Path
) -> None:
    """Strata, cases and values are worked out from raw rows alone."""
    (tmp_path / "cuts.toml").write_text(SEXES)
    engine.release.make(Q1, **OPTIONS, **LITTLE, strata=str(tmp_path / "cuts.toml"))
    sexes: dict[str, set[str]] = {}
    for case, sex in engine.sql(
        f"SELECT caseid::VARCHAR, srsql_sex FROM raw_faers.demo WHERE quarter = '{Q1}'"
    ):
        sexes.setdefault(case, set()).add(sex if sex in ("F", "M") else "other")
    stratum = {
        case: f"sex {next(iter(found))}" if len(found) == 1 else "sex other"
        for case, found in sexes.items()
    }
    cases = dict(engine.sql("SELECT stratum, cases FROM release_2011q1.noisy_case_count"))
    for sex, due in Counter(stratum.values()).items():
        assert abs(cases[sex] - due) <= 6, "which noise of a scale of 1/5 never exceeds"
    held: dict[str, set[tuple[str, str]]] = {case: set() for case in stratum}
    for source, attribute, more in (
        ("drug", "drugname", "AND upper(trim(role_cod)) IN ('PS', 'SS')"), ("reac", "pt", ""),
    ):  # fmt: skip
        for case, term in engine.sql(
            f"SELECT d.caseid::VARCHAR, t.srsql_{attribute} FROM raw_faers.{source} AS t "
            "INNER JOIN raw_faers.demo AS d ON t.primaryid = d.primaryid AND t.quarter = d.quarter "
            f"WHERE t.quarter = '{Q1}' AND t.srsql_{attribute} IS NOT NULL {more}"
        ):
            held[case].add((attribute, term))
    published = exact = 0
    for sex in ("sex F", "sex M", "sex other"):
        own = {case: values for case, values in held.items() if stratum[case] == sex}
        items, pairs = counts(own, [("drugname", "pt")], 2, 2)
        for name, columns, due in (
            ("noisy_item_count", "attribute, term", items),
            ("noisy_pair_count", "attribute, term, other_attribute, other_term", pairs),
        ):
            found = {
                tuple(key): n
                for *key, n in engine.sql(
                    f"SELECT {columns}, cases FROM release_2011q1.{name} WHERE stratum = '{sex}'"
                )
            }
            assert found.keys() <= due.keys()
            published += len(found)
            assert {key for key, n in due.items() if n >= 9} <= found.keys()
            assert all(abs(n - due[key]) <= 6 for key, n in found.items())
            exact += sum(n == due[key] for key, n in found.items())
    assert published > 50
    assert exact > 0.9 * published


def test_a_case_stands_in_exact_tables_or_in_tables_with_noise(engine: Engine) -> None:
    exact = {**OPTIONS, "terms": "tables", "theta": "0.4"}
    engine.release.make(Q1, **OPTIONS)
    with pytest.raises(SrsqlError, match="items counted with noise"):
        engine.release.make(Q2, **exact)
    text = r"are counted in the tables \(with noise\) of 2011Q1 in series 'main': a case stands in"
    for other in (exact, OPTIONS):
        for quarter in (Q1, Q2):
            with pytest.raises(SrsqlError, match=text):
                engine.release.make(quarter, **other, series="other")
    engine.release.make(Q1, **exact, series="other", allow_linkable=True, max_linkable=1)


@pytest.mark.parametrize("terms", ["tables", "noisy-tables"])
def test_no_second_count_of_the_same_cases_is_advised(engine: Engine, terms: str) -> None:
    engine.release.make(Q1, **{**OPTIONS, "terms": terms, "theta": "0.4"})
    with pytest.raises(SrsqlError, match="count its cases in no other series") as refused:
        engine.release.correct(Q1)
    assert "new --series" not in str(refused.value)


def test_noise_beside_exact_tables_of_the_same_cases_is_refused(engine: Engine) -> None:
    engine.release.make(Q1, **{**OPTIONS, "terms": "tables", "theta": "0.4"})
    text = r"are counted in the tables \(exact\) of 2011Q1 in series 'main'"
    with pytest.raises(SrsqlError, match=text):
        engine.release.make(Q1, **OPTIONS, series="other")
    with pytest.raises(SrsqlError, match=", items counted"):
        engine.release.make(Q2, **OPTIONS)


@pytest.mark.parametrize(
    ("more", "text"),
    [
        ({"model": "ppms-dp-all"}, "--terms noisy-tables does not go with the model ppms-dp-all"),
        ({"draft": True}, "--terms noisy-tables does not go with --draft"),
        ({"count": "persons"}, "--terms noisy-tables does not go with --count persons"),
        ({"max_delay": 2}, "--terms noisy-tables does not go with --max-delay"),
        ({"columns": ("drug.route",)}, "releases no rows that could show other columns"),
        ({"ids": "original"}, "have pseudonyms that are the same in all quarters"),
        ({"ids": "per-quarter"}, "have pseudonyms that are the same in all quarters"),
        ({"table_k": 5}, "--table-k goes with --terms tables"),
        ({"delta": "1/2"}, "--delta 1/2: give a number above 0, at most 1/1000"),
        ({"epsilon": 0}, "--epsilon 0: give a number above 0"),
        ({"table_items": "sex"}, "--table-items: 'sex' is no published column"),
    ],
)
def test_what_the_proof_does_not_cover_is_refused(
    engine: Engine, more: dict[str, Any], text: str
) -> None:
    with pytest.raises(SrsqlError, match=text):
        engine.release.make(Q1, **{**OPTIONS, **more})
    assert engine.sql("SELECT count(*) FROM srsql.budget_ledger") == [(0,)]


def test_options_of_noise_need_tables_with_noise(engine: Engine) -> None:
    for name in ("delta", "case_items", "case_pairs"):
        with pytest.raises(SrsqlError, match="goes with --terms noisy-tables"):
            engine.release.make(Q1, model="ms", **{name: 1})


def test_seeded_noise_repeats_and_is_not_published(engine: Engine, tmp_path: Path) -> None:
    told = []
    for series in ("one", "two"):
        made = engine.release.make(
            Q1, **OPTIONS, epsilon="20", noise="seeded", series=series, allow_linkable=True,
            max_linkable=1,
        )  # fmt: skip
        told.append(engine.sql(f"SELECT * FROM {made.schema}.noisy_item_count"))
    assert told[0] == told[1] != []
    with pytest.raises(SrsqlError, match="not for publication"):
        engine.artifact.publish(Q1, tmp_path / "a", series="one")


Fault = Callable[[pytest.MonkeyPatch], None]


def _smaller_scale(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(TableNoise, "scale", property(lambda it: it.counts / it.epsilon * 9 / 10))


def _hidden_smaller_scale(patch: pytest.MonkeyPatch) -> None:
    """Less noise than is published: seen in the draws alone."""
    true = noisy_tables._columns

    def columns(plan: tuple[TableNoise, ...]) -> dict[str, list[Any]]:
        return true(tuple(dataclasses.replace(each, epsilon=each.epsilon / 20) for each in plan))

    patch.setattr(noisy_tables, "_columns", columns)


def _lower_threshold(patch: pytest.MonkeyPatch) -> None:
    true = TableNoise.threshold.fget  # type: ignore[attr-defined]
    patch.setattr(TableNoise, "threshold", property(lambda it: (n := true(it)) and n - 1))


def _more_items(patch: pytest.MonkeyPatch) -> None:
    true = NoisyParameters.plan

    def plan(it: NoisyParameters) -> tuple[TableNoise, ...]:
        return true(dataclasses.replace(it, case_items=max(it.case_items - 1, 1)))

    patch.setattr(NoisyParameters, "plan", plan)


def _whole_epsilon_for_each(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(noisy_tables, "SHARES", dict.fromkeys(noisy_tables.SHARES, Fraction(1)))


def _no_charge(patch: pytest.MonkeyPatch) -> None:
    true = noisy_tables.query

    def query(topic: str, name: str, **tables: str) -> str:
        text = true(topic, name, **tables)
        return (
            text.replace("ORDER BY", "WHERE u.unit % 50 > 0 ORDER BY") if name == "charge" else text
        )

    patch.setattr(noisy_tables, "query", query)


def _released_cases_alone(patch: pytest.MonkeyPatch) -> None:
    true = noisy_tables.query

    def query(topic: str, name: str, **tables: str) -> str:
        text = true(topic, name, **tables)
        released = "SEMI JOIN temp.main.srsql_grouped AS z ON c.case_no = z.case_no ANTI JOIN"
        return text.replace("ANTI JOIN", released) if name == "unit" else text

    patch.setattr(noisy_tables, "query", query)


def _another_error(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(TableNoise, "margin", property(lambda _: 1))


@pytest.mark.parametrize(
    ("fault", "check"),
    [
        (_smaller_scale, "check_noisy_plan"),
        (_hidden_smaller_scale, "check_noisy_plan"),
        (_lower_threshold, "check_noisy_plan"),
        (_more_items, "check_noisy_plan"),
        (_whole_epsilon_for_each, "check_noisy_plan"),
        (_no_charge, "check_noisy_budget"),
        (_released_cases_alone, "check_noisy_budget"),
        (_another_error, "check_noisy_plan"),
    ],
)
def test_a_maker_that_is_wrong_is_caught(
    engine: Engine, monkeypatch: pytest.MonkeyPatch, fault: Fault, check: str
) -> None:
    fault(monkeypatch)
    options = {**OPTIONS, "missing": "drop", "epsilon": "3"}
    with pytest.raises(CheckFailedError, match=check):
        engine.release.make(Q1, **options)


def test_counts_that_do_not_follow_the_stated_law_are_caught(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    step = Warehouse.run_step

    def run_step(it: Warehouse, name: str, parameters: Any = None, **tables: str) -> Any:
        found = step(it, name, parameters, **tables)
        if name == "terms/noisy_tables":
            table = "temp.main.srsql_pub_noisy_item_count"
            it.run(f"UPDATE {table} SET cases = cases + 20")
            it.run(f"DELETE FROM {table} WHERE cases < {parameters['item_least']}")
        return found

    monkeypatch.setattr(Warehouse, "run_step", run_step)
    with pytest.raises(CheckFailedError, match="check_noisy_law"):
        engine.release.make(Q1, **OPTIONS, epsilon="8", delta="1/1000")
