"""Random sequences of releases, withdrawals and corrections, attacked by the definitions alone.

``SRSQL_SEQUENCES=2000 pytest -m "" tests/properties/test_corrected_series.py`` runs so many;
``SRSQL_SEQUENCES_FROM`` is the seed of the first. The audit that ends every release and correction
is left out, so that what is found safe is so by its making, not because else it was refused.
"""

from __future__ import annotations

import os
import random
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import Any

import duckdb
import pytest
from oracles.audit import Attacker, Box, Case, Group, Release, covers, erasure

from srsql.engine.api.engine import Engine
from srsql.engine.audit.audit import Audit, audit
from srsql.engine.audit.plan import AuditOptions
from srsql.engine.checks import series
from srsql.engine.errors import NothingToReleaseError
from srsql.engine.release import release
from srsql.engine.release.exposure import Exposure
from srsql.engine.steward import correct

pytestmark = pytest.mark.thorough

SEQUENCES = int(os.environ.get("SRSQL_SEQUENCES", "12"))
FIRST = int(os.environ.get("SRSQL_SEQUENCES_FROM", "0"))
PER_WAREHOUSE = 6
AUDITED = 9
"""One sequence of so many is audited by the engine as well, all models in turn."""
MODELS = ("ppms", "ppms-ear", "ppms++", "ppms-alpha")
QUARTERS = ("1", "2", "3", "4")
TOML = """
name = "tiny"
report_table = "reports"
report_id = "report"
case_id = "person"
[source]
reader = "csv"
[tables.reports]
files = []
[tables.reports.columns]
report = []
person = []
years = []
gender = []
adr = []
[[qid]]
name = "age"
kind = "numeric"
column = "years"
domain = [0, 120]
[[qid]]
name = "sex"
kind = "categorical"
column = "gender"
hierarchy = "hierarchies/sex.csv"
[[sensitive]]
table = "reports"
column = "adr"
"""


@dataclass
class World:
    """One warehouse whose raw quarters change under the series that are made of them."""

    engine: Engine
    dataset: Path
    rng: random.Random
    people: int = 0
    homes: dict[int, tuple[Any, ...]] = field(default_factory=dict)

    @property
    def con(self) -> duckdb.DuckDBPyConnection:
        return self.engine.con

    def person(self) -> int:
        rng = self.rng
        self.people += 1
        age = None if rng.random() < 0.1 else rng.choice([20, 21, 22, 40, 41, 60, 61, 62])
        self.homes[self.people] = (age, rng.choice(["M", "F", "F", None]))
        return self.people

    def row(self, quarter: str, who: int) -> tuple[Any, ...]:
        rng = self.rng
        age, sex = self.homes[who] if rng.random() < 0.8 else self.homes[self.person()]
        term = rng.choice([f"Own {who}", f"Own {who}", "Common", f"Rare {rng.randrange(9)}", None])
        return int(quarter) * 1_000_000 + who, who, age, sex, term

    def arrive(self, folder: Path) -> None:
        """Every quarter for the first time, from files."""
        for quarter in QUARTERS:
            back = [who for who in self.homes if self.rng.random() < 0.4]
            crowd = back + [self.person() for _ in range(self.rng.randint(12, 18))]
            lines = [",".join("" if v is None else str(v) for v in self.row(quarter, who))
                     for who in crowd]  # fmt: skip
            file = folder / f"{quarter}.csv"
            file.write_text("\n".join(["report,person,years,gender,adr", *lines]) + "\n")
            self.engine.ingest([file], dataset=self.dataset, period=quarter)

    def replace(self, quarter: str) -> None:
        """The quarter is ingested anew: some cases are absent, some changed, some added.

        Written into the tables that an ingestion fills, which is quicker.
        """
        rng, con = self.rng, self.con
        old = con.execute(
            "SELECT ingestion_id FROM srsql.ingestion WHERE quarter = ? AND NOT replaced", [quarter]
        ).fetchone()
        (new,) = con.execute("SELECT nextval('srsql.ingestion_ids')").fetchone() or (0,)
        con.execute("UPDATE srsql.ingestion SET replaced = true WHERE ingestion_id = ?", old)
        con.execute(
            "INSERT INTO srsql.ingestion VALUES (?, 'tiny', ?, 'again', 'x', 'x', false)",
            [new, quarter],
        )
        there = self.there(quarter)
        for who in rng.sample(there, min(len(there), rng.randint(1, 3))):
            change = rng.choice(["absent", "changed"])
            if change == "absent":
                con.execute(
                    "DELETE FROM raw_tiny.reports WHERE quarter = ? AND person = ?", [quarter, who]
                )
            else:
                con.execute(
                    "UPDATE raw_tiny.reports SET srsql_age = ? WHERE quarter = ? AND person = ?",
                    [rng.choice([20, 41, 90]), quarter, who],
                )
            con.execute(
                "INSERT INTO srsql.replaced_case VALUES ('tiny', ?, ?, ?, ?)",
                [quarter, who, change, new],
            )
        (like,) = rng.sample(there, 1)
        for _ in range(rng.randint(0, 3)):
            who = self.person()
            con.execute(
                "INSERT INTO raw_tiny.reports SELECT * REPLACE (? AS report, ? AS person) "
                "FROM raw_tiny.reports WHERE quarter = ? AND person = ? LIMIT 1",
                [int(quarter) * 1_000_000 + who, who, quarter, like],
            )

    def there(self, quarter: str) -> list[str]:
        return [str(who) for (who,) in self.con.execute(
            "SELECT DISTINCT person FROM raw_tiny.reports WHERE quarter = ? ORDER BY 1", [quarter]
        ).fetchall()]  # fmt: skip

    def delete(self, who: str) -> None:
        self.con.execute("INSERT INTO srsql.deleted_case VALUES ('tiny', ?, 1)", [who])

    def forget(self, who: str) -> None:
        """What stays of a forgotten case: a token, its releases and regions, weights per value."""
        token = f"forgotten:{self.rng.getrandbits(64):x}"
        con = self.con
        con.execute("DELETE FROM raw_tiny.reports WHERE person = ?", [who])
        con.execute(
            "DELETE FROM srsql.case_qid WHERE (release_id, case_no) IN "
            "(SELECT (release_id, case_no) FROM srsql.member WHERE case_id = ?)",
            [who],
        )
        for table in ("member", "withheld"):
            con.execute(f"UPDATE srsql.{table} SET case_id = ? WHERE case_id = ?", [token, who])
        con.execute(
            "INSERT INTO srsql.forgotten_case VALUES ('tiny', ?, 'asked', DATE '2011-01-01')",
            [token],
        )


class Sequence:
    """One series, from its first quarter to its last, with what happens in between."""

    def __init__(self, world: World, seed: int) -> None:
        self.world, self.rng = world, random.Random(seed)
        world.rng = self.rng
        self.model = MODELS[seed % len(MODELS)]
        self.name = f"s{seed}"
        self.met: Counter[str] = Counter()
        self.options: dict[str, Any] = {
            "model": self.model,
            "k": self.rng.randint(2, 3),
            "theta": self.rng.choice(["0.5", "1/3", "frequency"]),
            "on_infeasible": "withhold",
            "leftovers": self.rng.choice(["withhold", "merge"]),
            "series": self.name,
            "dataset": "tiny",
            "seed": seed,
            "allow_linkable": True,
        }
        if self.model == "ppms-alpha":
            self.options |= {"alpha": "1/2", "ss_rule": "adr>=1"}

    def live(self) -> None:
        world, rng = self.world, self.rng
        world.con.execute("DELETE FROM srsql.deleted_case")
        last = rng.randint(2, len(QUARTERS) - (self.model == "ppms-alpha"))
        for at, quarter in enumerate(QUARTERS[:last]):
            try:
                world.engine.release(quarter, **self.options)
            except NothingToReleaseError:
                self.met["nothing"] += 1
                continue
            for _ in range(rng.randint(0, 2)):
                self.withdraw(QUARTERS[rng.randint(0, at)])
                if rng.random() < 0.8:
                    self.correct(QUARTERS[rng.randint(0, at)])
        for quarter in rng.sample(QUARTERS, 2):
            self.correct(quarter)

    def withdraw(self, quarter: str) -> None:
        world, rng = self.world, self.rng
        there = world.there(quarter)
        what = rng.choice(["delete", "forget", "replace"])
        if what == "replace" and there:
            world.replace(quarter)
        elif what != "replace":
            for who in rng.sample(there, min(len(there), rng.randint(1, 2))):
                getattr(world, what)(who)

    def correct(self, quarter: str) -> None:
        out = "SELECT 1 FROM srsql.release WHERE series = ? AND quarter = ?"
        if self.world.con.execute(out, [self.name, quarter]).fetchall():
            made = self.world.engine.correct(quarter, series=self.name, dataset="tiny")
            self.met["corrections"] += made.release_id is not None

    def judge(self, *, by_engine: bool) -> None:
        """No attacker finds a dangerous group, whatever versions he holds."""
        found = seen(self.world.con, self.name)
        newest = {own.quarter: number for number, (own, _) in found.items()}
        some = {
            number
            for number, (own, _) in found.items()
            if number == newest[own.quarter] or self.rng.random() < 0.5
        }
        some -= {n for q, n in newest.items() if self.rng.random() < 0.3}
        for held in (set(found), set(newest.values()), some):
            self.attacked([found[number] for number in sorted(held, key=list(found).index)])
        schema = self.world.engine.dataset("tiny")
        self.met["judged by the engine, too"] += by_engine
        for one in (None, frozenset(newest.values())):
            if found and by_engine:
                judged = audit(
                    self.world.engine.warehouse, schema, self.name, AuditOptions(held=one)
                )
                assert judged.safe, judged
                assert not any(row.dig or row.dsg or row.ssg for row in judged.releases)
                erased = [row.erasure for row in judged.releases if row.erasure is not None]
                assert not any(erased)
                if one is None:
                    assert bool(erased) == (len(found) > len(newest))
        self.met["releases"] += len(found)

    def attacked(self, held: list[tuple[Release, tuple[str, ...]]]) -> None:
        releases = [own for own, _ in held]
        for i, (_, attacks) in enumerate(held):
            for scope in ("group", "match"):
                attackers = [Attacker(releases, i, attacks, scope)]
                if one := erasure(releases, i, attacks, scope):
                    attackers.append(one)
                for attacker in attackers:
                    for finding in attacker.findings():
                        danger = finding.dig or finding.dsg or finding.ssg
                        assert not danger, (self.name, self.model, releases[i].quarter, finding)
                        self.met["targets"] += 1
                        self.met["left"] += bool(attacker.not_in)
                        self.met.update(a for a in attacks if finding.excluded.get(a))


def seen(con: duckdb.DuckDBPyConnection, name: str) -> dict[int, tuple[Release, tuple[str, ...]]]:
    """The versions of a series from the catalog, in order, with what each withstands."""
    found = {}
    for number, quarter, k, scale, attacks, num, den in con.execute(
        "SELECT r.release_id, r.quarter, r.k, r.weight_scale, d.attacks, d.alpha_num, d.alpha_den "
        "FROM srsql.release AS r JOIN srsql.defended_attack AS d USING (release_id) "
        "WHERE r.series = ? AND r.status <> 'draft' ORDER BY r.quarter, r.release_id", [name]
    ).fetchall():  # fmt: skip
        regions = boxes(con, "region", "group_id", number)
        raw = boxes(con, "case_qid", "case_no", number)
        terms: dict[int, dict[str, int]] = defaultdict(dict)
        for case, term, weight in con.execute(
            "SELECT c.case_no, t.term, c.weight FROM srsql.case_term AS c "
            "JOIN srsql.threshold AS t USING (release_id, term_no) WHERE release_id = ?", [number]
        ).fetchall():  # fmt: skip
            terms[case][term] = weight
        groups: dict[int, list[Case]] = defaultdict(list)
        for case, who, group, ss in con.execute(
            "SELECT m.case_no, m.case_id, m.group_id, f.is_ss FROM srsql.member AS m "
            "JOIN srsql.case_flag AS f USING (release_id, case_no) WHERE release_id = ?", [number]
        ).fetchall():  # fmt: skip
            groups[group].append(Case(who, raw.get(case, regions[group]), terms[case], ss))
        for group, cases in groups.items():
            assert all(covers(regions[group], case.raw) for case in cases)
        thetas = {
            term: Fraction(a, b) for term, a, b in con.execute(
                "SELECT term, theta_num, theta_den FROM srsql.threshold WHERE release_id = ?",
                [number],
            ).fetchall()
        }  # fmt: skip
        found[number] = (
            Release(quarter, tuple(Group(regions[g], tuple(c)) for g, c in groups.items()), k,
                    thetas, Fraction(num, den) if den else Fraction(1), scale),
            tuple(attacks),
        )  # fmt: skip
    return found


def boxes(con: duckdb.DuckDBPyConnection, table: str, key: str, release: int) -> dict[int, Box]:
    """The root of a hierarchy is published like a missing value."""
    found: dict[int, list[Any]] = defaultdict(list)
    for number, low, high in con.execute(
        f"SELECT t.{key}, CASE WHEN n.pre IS NULL THEN t.low END, t.high FROM srsql.{table} AS t "
        "JOIN srsql.attribute AS a USING (release_id, position) LEFT JOIN srsql.node AS n "
        "ON a.attribute = n.attribute AND n.parent IS NULL AND n.pre = t.low AND n.last = t.high "
        "AND a.kind = 'categorical' AND n.dataset = 'tiny' "
        f"WHERE t.release_id = ? ORDER BY t.{key}, t.position",
        [release],
    ).fetchall():
        found[number].append(None if low is None else (low, high))
    return {number: tuple(box) for number, box in found.items()}


def sequences(folder: Path) -> Iterator[Counter[str]]:
    world: World | None = None
    for at, seed in enumerate(range(FIRST, FIRST + SEQUENCES)):
        if at % PER_WAREHOUSE == 0:
            if world:
                world.engine.close()
            home = folder / str(seed)
            home.mkdir()
            (home / "tiny.toml").write_text(TOML)
            engine = Engine(duckdb.connect(), threads=1)
            world = World(engine, home / "tiny.toml", random.Random(seed))
            world.arrive(home)
        assert world
        one = Sequence(world, seed)
        one.live()
        one.judge(by_engine=at % AUDITED == 0)
        yield one.met
    if world:
        world.engine.close()


def test_after_any_withdrawals_and_corrections_nobody_finds_a_group_in_danger(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By all versions, the newest alone or any; and the examples are no idle ones."""
    monkeypatch.setattr(series, "audit", lambda *_: Audit("tiny", "", True, [], [], []))
    for module in (release, correct):
        monkeypatch.setattr(module, "look_at", lambda *_: Exposure([], None, True, []))
    met: Counter[str] = Counter()
    for number, found in enumerate(sequences(tmp_path), start=1):
        met += found
        if number % 20 == 0:
            print(number, dict(met), flush=True)
    assert met["corrections"] >= SEQUENCES // 4
    assert met["left"] >= SEQUENCES
    for kind in ("b", "f", "l", "md") if SEQUENCES >= 200 else ("b", "l"):
        assert met[kind], kind
