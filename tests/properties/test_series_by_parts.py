"""Series that are grouped part by part keep every bound, whatever the parts; nobody is lost."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from support.quarters import Report, arrivals, write_quarter
from support.released import rows

from srsql.engine.api.engine import Engine
from srsql.engine.errors import NothingToReleaseError
from srsql.engine.grouping import parts as parts_module
from srsql.engine.grouping.parts import Parts
from srsql.engine.models import base
from srsql.engine.store.statements import query
from srsql.engine.workers import carriers
from srsql.engine.workers.carriers import InProcess, Work

pytestmark = pytest.mark.slow

QUARTERS = ("2011Q1", "2011Q2", "2011Q3")


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[int, list[Path]]:
    """Three quarters of each of two seeds."""
    found = {}
    for seed in range(2):
        rng, folder = random.Random(seed), tmp_path_factory.mktemp(f"series{seed}")
        found[seed] = [
            write_quarter(folder, name, arrivals(rng, i, 70)) for i, name in enumerate(QUARTERS)
        ]
    return found


@pytest.fixture(autouse=True)
def small_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Parts of a handful of cases."""
    monkeypatch.setattr(parts_module, "LEAST", 12)


def cut_at_random(rng: random.Random) -> Callable[[Parts, dict[str, Any]], bool]:
    """Each case of a pattern in any of a few parts."""

    def cut(self: Parts, pattern: dict[str, Any]) -> bool:
        warehouse = self.warehouse
        warehouse.run(query("grouping/parts", "forget"), pattern)
        cases = warehouse.rows(
            "SELECT p.case_no FROM temp.main.srsql_profile AS p WHERE p.pattern = $pattern", pattern
        )
        most = min(self.most or 5, 5)
        start = warehouse.value("SELECT coalesce(max(part), 0) + 1 FROM temp.main.srsql_part")
        drawn = [(case, start + rng.randrange(most)) for (case,) in sorted(cases)]
        parts = len({part for _, part in drawn})
        if parts > 1:
            warehouse.con.executemany("INSERT INTO temp.main.srsql_part VALUES (?, ?)", drawn)
        self.largest = max(self.largest, parts)
        return parts > 1

    return cut


def released(engine: Engine, schema: str) -> list[dict[str, Any]]:
    return rows(engine.con, f"SELECT * FROM {schema}.demo ORDER BY ALL")


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("model", "refine"),
    [
        ("ppms++", "fast"),
        ("ppms", "off"),
        ("ppms-ear", "fast"),
        ("ppms++", "off"),
        ("ppms-alpha", "off"),
        ("ppms-alpha", "fast"),
    ],
)
def test_a_series_of_random_parts_stands_every_attack_that_its_model_withstands(
    model: str, refine: str, files: dict[int, list[Path]], monkeypatch: pytest.MonkeyPatch
) -> None:
    seed = len(model + refine) % 2
    monkeypatch.setattr(base, "group_in_parts", lambda _, parts, attempt: attempt(None))
    monkeypatch.setattr(Parts, "_cut", cut_at_random(random.Random(seed)))
    options: dict[str, Any] = {"assume_md": "all"} if model == "ppms-alpha" else {}
    with Engine(":memory:") as engine:
        for quarter, file in zip(QUARTERS, files[seed], strict=True):
            engine.ingest(file, allow_incomplete=True)
            engine.release(
                quarter, model=model, k=3, theta="0.4", on_infeasible="withhold", parts="auto",
                refine=refine, seed=seed, **options,
            )  # fmt: skip
        audit = engine.audit()
        assert audit.safe
        assert {row.quarter for row in audit.releases} == set(QUARTERS)
        sizes = Counter(
            (r["quarter"], r["age_low"], r["age_high"], r["wt_low"], r["wt_high"], r["sex"])
            for quarter in QUARTERS
            for r in released(engine, f"release_{quarter.lower()}")
        )
        assert min(sizes.values()) >= 3


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("theta", "refine", "at_random"),
    [
        ("0.4", "off", False),
        ("0.4", "off", True),
        ("0.4", "fast", True),
        ("frequency", "off", True),
    ],
)
def test_never_more_cases_are_withheld_than_without_parts(
    theta: str,
    refine: str,
    at_random: bool,
    files: dict[int, list[Path]],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    counts: dict[str, list[int]] = {"1": [], "auto": []}
    attempts = []
    if at_random:
        monkeypatch.setattr(Parts, "_cut", cut_at_random(random.Random(1)))
    monkeypatch.setattr(
        Parts, "__post_init__", lambda self: (attempts.append(self.most), original(self))
    )
    for parts, found in counts.items():
        for seed in files:
            with Engine(":memory:") as engine:
                engine.ingest(files[seed][0], allow_incomplete=True)
                engine.release(
                    QUARTERS[0], model="ms", k=5, theta=theta, on_infeasible="withhold", seed=1,
                    parts=parts, refine=refine,
                )  # fmt: skip
                found.append(len(released(engine, "release_2011q1")))
    assert all(cut >= whole for whole, cut in zip(counts["1"], counts["auto"], strict=True))
    assert None in attempts


original = Parts.__post_init__


class Backwards(InProcess):
    """A carrier that takes its time: the last part first."""

    def carry(self, work: Work, parts: Iterable[pa.Table]) -> Iterator[pa.Table]:
        yield from super().carry(work, list(parts)[::-1])


@pytest.mark.thorough
@pytest.mark.parametrize(("model", "quarters"), [("ms", 1), ("ppms++", 2)])
def test_a_release_does_not_depend_on_who_carries_its_parts(
    model: str, quarters: int, files: dict[int, list[Path]], monkeypatch: pytest.MonkeyPatch
) -> None:
    found = []
    shown = [f"release_{quarter.lower()}" for quarter in QUARTERS[:quarters]]
    for workers, own in ((1, InProcess), (2, InProcess), (1, Backwards)):
        monkeypatch.setattr(carriers, "InProcess", own)
        with Engine(":memory:") as engine:
            for quarter, file in zip(QUARTERS[:quarters], files[1], strict=False):
                engine.ingest(file, allow_incomplete=True)
                engine.release(
                    quarter, model=model, k=3, theta="0.4", on_infeasible="withhold", seed=4,
                    parts="auto", workers=workers, ids="original",
                )  # fmt: skip
            manifests = rows(engine.con, f"SELECT * FROM {shown[-1]}.manifest")
            assert manifests[0]["parts"] == "auto"
            assert "quantile ranges" in manifests[0]["parts_rule"]
            manifests[0].pop("release_date")
            found.append([manifests, *(released(engine, schema) for schema in shown)])
    assert found[0] == found[1] == found[2]


@pytest.mark.thorough
@pytest.mark.parametrize("model", ["msdp-num", "ppms-dp-num"])
def test_models_with_noise_merge_equal_categories_across_parts(
    model: str, files: dict[int, list[Path]]
) -> None:
    with Engine(":memory:") as engine:
        engine.ingest(files[0][0], allow_incomplete=True)
        engine.release(
            QUARTERS[0], model=model, k=3, theta="0.4", on_infeasible="withhold", seed=1,
            parts="auto", noise="seeded",
        )  # fmt: skip
        regions = rows(
            engine.con,
            "SELECT list((g.position, g.low, g.high) ORDER BY g.position)::VARCHAR AS region "
            "FROM srsql.region AS g INNER JOIN srsql.attribute AS a USING (release_id, position) "
            "WHERE a.kind = 'categorical' GROUP BY g.group_id",
        )
        merged = Counter(each["region"] for each in regions)
        assert len(merged) > 5
        assert max(merged.values()) == 2, "one that knows the weight, and one that does not"


@pytest.mark.thorough
def test_without_parts_nothing_is_cut_and_nothing_is_told(
    files: dict[int, list[Path]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Parts, "_cut", lambda *_: pytest.fail("it was cut"))
    with Engine(":memory:") as engine:
        engine.ingest(files[0][0], allow_incomplete=True)
        for series, options in (("a", {}), ("b", {"parts": 1, "workers": 3})):
            engine.release(
                QUARTERS[0], series=series, model="ms", theta="0.4", on_infeasible="withhold",
                seed=1, ids="original", allow_linkable=True, **options,
            )  # fmt: skip
        first, second = (released(engine, f"release_{name}_2011q1") for name in "ab")
        assert first == second
        names = engine.con.execute("DESCRIBE release_b_2011q1.manifest").fetchall()
        assert not [name for name, *_ in names if "part" in name]


def test_a_quarter_of_which_parts_leave_nothing_is_refused_as_ever(tmp_path: Path) -> None:
    few = [Report(case, case, age="40", sex="M", wt="70", pt=("A",)) for case in range(1, 5)]
    with Engine(":memory:") as engine:
        engine.ingest(write_quarter(tmp_path, "2011Q1", few), allow_incomplete=True)
        with pytest.raises(NothingToReleaseError):
            engine.release("2011Q1", model="ms", k=9, theta="1", parts="auto")
