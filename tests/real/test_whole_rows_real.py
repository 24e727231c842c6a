"""Whole rows of a real quarter that are taken apart: brute force finds nobody below k."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from pathlib import Path

import pytest
from oracles.whole_rows import Clusters, Row, fewest_candidates
from support.real_data import needs
from support.released import rows

from srsql.engine.api.engine import Engine
from srsql.engine.artifact.verify.verify import verify
from srsql.engine.warehouse.layout import COLUMNS

pytestmark = needs("faers/faers_ascii_2022Q4.zip")
TERMS = {
    "drugname": ("drug", "srsql_drugname"), "pt": ("reac", "srsql_pt"),
    "indi_pt": ("indi", "srsql_indi_pt"), "outc_cod": ("outc", "upper(trim(outc_cod))"),
}  # fmt: skip


@pytest.mark.parametrize("k", [3, 5, 10])
def test_brute_force_over_every_target_and_two_of_its_items_leaves_k_candidates(
    k: int, tmp_path: Path, real: Callable[[str, Path], Path]
) -> None:
    with Engine(real("2022Q4", tmp_path / "w.duckdb")) as engine:
        made = engine.release(
            "2022Q4", model="ms", k=k, m=2, terms="disassociate", term_attributes="all", seed=1,
            on_infeasible="withhold",
        )  # fmt: skip
        case_of = dict(
            engine.con.execute(
                "SELECT p.pseudonym, p.case_id FROM srsql.id_pseudonym AS p WHERE p.kind = 'case'"
            ).fetchall()
        )
        held: dict[str, set[str]] = defaultdict(set)
        for attribute, (table, term) in TERMS.items():
            for case, value in engine.con.execute(
                f"SELECT DISTINCT d.caseid::VARCHAR, {term} FROM raw_faers.{table} AS t "
                f"JOIN raw_faers.demo AS d USING (primaryid) WHERE {term} <> ''"
            ).fetchall():
                held[case].add(f"{attribute}:{value}")
        known = {
            row["caseid"]: tuple(row[n] for n in ("age", "wt", "sex"))
            for row in rows(
                engine.con,
                "SELECT d.caseid::VARCHAR AS caseid, max(srsql_age) AS age, max(srsql_wt) AS wt, "
                "max(srsql_sex) AS sex FROM raw_faers.demo AS d GROUP BY d.caseid",
            )
        }
        shown = [
            Row(
                r["caseid"],
                r["cluster"],
                (
                    (r["age_low"], r["age_high"]),
                    (r["wt_low"], r["wt_high"]),
                    frozenset({None} if r["sex"] == "Any" else {r["sex"]}),
                ),
            )
            for r in rows(engine.con, f"FROM {made.schema}.demo")
        ]
        clusters = Clusters.read(
            {name: rows(engine.con, f"FROM {made.schema}.{name}") for name in COLUMNS}
        )
        targets = {
            row.case: (known[case_of[row.case]], frozenset(held[case_of[row.case]]))
            for row in shown
        }
        assert len(targets) > 1000
        fewest, lost = fewest_candidates(shown, clusters, targets, 2)
        assert fewest >= k
        assert lost == []
        engine.publish("2022Q4", to=tmp_path / "out")
    assert verify(tmp_path / "out").passed
