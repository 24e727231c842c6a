"""Questions as analysts write them, asked of tables that the originals may have been.

A world is one value of each quasi-identifier for every case of a quarter, within what a release
leaves possible. Its tables are ordinary ones, and DuckDB itself answers the text of a question over
them; only a mean of cases or reports, which SQL has no word for, is written out here.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import duckdb
from oracles.query import Record

from srsql.udfs.term_key import term_key

AGE_BANDS = (
    "age // 2 * 2", "floor(age / 2) * 2", "age - age % 3", "CAST(age / 2 AS INT)",
    "(age - 3) // 2", "(age - 3) % 2", "age / 4", "CAST(age // 2 AS VARCHAR) || ' to'",
    "greatest(age, 3)", "round(age / 4, 1)", "age >= 3", "-age // 2", "abs(age - 3)",
    "CAST(age / 4 AS INTEGER) * 4", "trunc((age - 4) / 3)", "ceil(age / 5)",
)  # fmt: skip
WEIGHT_BANDS = ("wt // 4 * 4", "round(wt, -1)", "CAST(wt / 4 AS INT)", "wt > 4", "wt % 3")
VALUES = (
    "AVG({})", "MEDIAN({})", "MIN({})", "MAX({})", "QUANTILE_CONT({}, 0.3)",
    "QUANTILE_DISC({}, 0.7)", "QUANTILE_DISC({}, 0.1)", "QUANTILE_CONT({}, 0.95)",
)  # fmt: skip
COUNTS = ("COUNT(*)", "COUNT(DISTINCT demo.caseid)", "COUNT(DISTINCT demo.primaryid)")


@dataclass(frozen=True)
class Asked:
    """One question, in parts."""

    source: str
    where: str
    groups: tuple[str, ...]
    nullable: tuple[str, ...]
    """Groups whose rows without a value are in no row."""
    measures: tuple[str, ...]
    tail: str = ""
    """HAVING, ORDER BY, LIMIT and OFFSET."""

    def sql(self, measures: Sequence[str] | None = None, *, of_originals: bool = False) -> str:
        listed = [f"{group} AS g{n}" for n, group in enumerate(self.groups)]
        listed += [f"{m} AS m{n}" for n, m in enumerate(measures or self.measures)]
        facts = [self.where]
        facts += [f"({g}) IS NOT NULL" for g in self.nullable] if of_originals else []
        text = f"SELECT {', '.join(listed)} FROM {self.source} WHERE {' AND '.join(facts)}"
        if self.groups:
            text += f" GROUP BY {', '.join(str(n + 1) for n in range(len(self.groups)))}"
        return f"{text} {self.tail}".rstrip()

    def with_rows(self) -> str:
        """The same of the report table alone, its rows named by WITH."""
        rows = f"SELECT caseid, primaryid, quarter, age, wt, sex FROM demo WHERE {self.where}"
        return (
            f"WITH rows AS ({rows}) "
            + replace(
                self,
                source="rows",
                where="1 = 1",
                measures=tuple(m.replace("demo.", "rows.") for m in self.measures),
                tail=self.tail.replace("demo.", "rows."),
            ).sql()
        )

    def unit(self) -> str | None:
        """The id of what the question counts first; None: rows."""
        for measure in self.measures:
            for name in ("caseid", "primaryid"):
                if f"DISTINCT demo.{name}" in measure or f"THEN demo.{name}" in measure:
                    return name
            if "COUNT" in measure:
                return None
        return None

    def truth(self, con: duckdb.DuckDBPyConnection) -> list[tuple[Any, ...]]:
        """The rows of the originals."""
        unit = self.unit()
        if unit is None or not any(m.startswith(v[:6]) for m in self.measures for v in VALUES):
            return con.execute(self.sql(of_originals=True)).fetchall()
        size = len(self.groups)
        rows = con.execute(self.sql(of_originals=True)).fetchall()
        for n, measure in enumerate(self.measures):
            if not any(measure.startswith(v[:6]) for v in VALUES):
                continue
            name = "age" if "(age" in measure else "wt"
            plain = Asked(self.source, self.where, self.groups, self.nullable,
                          ("demo.quarter", f"demo.{name}", f"demo.{unit}"))  # fmt: skip
            inner = plain.sql(of_originals=True)
            if self.groups:
                inner = inner[: inner.rindex(" GROUP BY")]
            keys = "".join(f"g{g}, " for g in range(size))
            newest = (
                f"SELECT {keys} m2, arg_max(m1, m0) AS v FROM ({inner}) WHERE m1 IS NOT NULL "
                "GROUP BY ALL"
            )
            outer = f"SELECT {keys} {measure.replace(f'({name}', '(v')} FROM ({newest})"
            outer += " GROUP BY ALL" if size else ""
            found = {row[:size]: row[size] for row in con.execute(outer).fetchall()}
            rows = [(*row[: size + n], found.get(row[:size]), *row[size + n + 1 :]) for row in rows]
        return rows


def tables_of(
    rng: random.Random, records: Sequence[Record], *, widest: bool
) -> duckdb.DuckDBPyConnection:
    """One world: tables of the originals, with values drawn from hulls, or from whole regions."""
    con = duckdb.connect()
    con.execute(
        "CREATE TABLE demo (caseid BIGINT, primaryid BIGINT, quarter VARCHAR, age BIGINT, "
        "wt BIGINT, sex VARCHAR)"
    )
    for name, column in (("reac", "pt"), ("drug", "drugname")):
        con.execute(f"CREATE TABLE {name} (caseid BIGINT, primaryid BIGINT, quarter VARCHAR, "
                    f"{column} VARCHAR)")  # fmt: skip
    ends = rng.choice([0, -1, None])
    for record in records:
        point = {}
        for name in ("age", "wt", "sex"):
            values = [v for v, _ in record.region[name]] if widest else list(record.hull[name])
            point[name] = rng.choice(values)
            known = [v for v in values if v is not None]
            if ends is not None and known and name != "sex" and rng.random() < 0.8:
                point[name] = sorted(known)[ends]
        for report, children in record.reports.items():
            key = [record.case, report, record.quarter]
            con.execute(
                "INSERT INTO demo VALUES (?, ?, ?, ?, ?, ?)",
                [*key, point["age"], point["wt"], point["sex"]],
            )
            for name, column in (("reac", "pt"), ("drug", "drugname")):
                for child in children[name]:
                    text = None if child[column] is None else term_key(child[column])
                    con.execute(f"INSERT INTO {name} VALUES (?, ?, ?, ?)", [*key, text])
    return con


def random_question(rng: random.Random, *, weights: bool) -> Asked:
    """``weights``: the values of weights have limits, so that there are bands of them."""
    bands = (*AGE_BANDS, *(WEIGHT_BANDS if weights else ()))
    joined = rng.random() < 0.35
    source = "demo"
    if joined:
        source = f"demo JOIN {rng.choice(['reac', 'drug'])} USING (primaryid, quarter)"
    term = "pt" if "reac" in source else "drugname"

    def condition() -> str:
        kinds = [
            f"age {rng.choice(['<', '>=', '<>', '='])} {rng.randint(0, 6)}",
            f"wt {rng.choice(['<', '>='])} {rng.randint(0, 10)}",
            f"sex = '{rng.choice('ABC')}'",
            f"{rng.choice(AGE_BANDS[:3])} {rng.choice(['=', '<', '>='])} {rng.randint(0, 6)}",
            f"{rng.choice(AGE_BANDS[:7])} IN ({rng.randint(0, 2)}, {rng.randint(2, 6)})",
        ]
        kinds += [f"{term} = '{rng.choice(['pain', 'rash'])}'"] if term == "pt" and joined else []
        text = rng.choice(kinds)
        return f"NOT ({text})" if rng.random() < 0.2 else text

    where = f" {rng.choice(['AND', 'OR'])} ".join(condition() for _ in range(rng.randint(1, 2)))
    where = f"({where})" if rng.random() < 0.8 else "1 = 1"
    case = f"CASE WHEN {condition()} THEN 'x' ELSE 'y' END"
    choices = [(), (rng.choice(bands),), (rng.choice(bands),), ("sex",), (case,),
               (rng.choice(bands), "sex")]  # fmt: skip
    choices += [(term,)] * 2 if joined else []
    groups: tuple[str, ...] = rng.choice(choices)
    nullable = tuple(g for g in groups if g != case and g != term)
    count = rng.choice(COUNTS)
    of = count[6:-1].removeprefix("DISTINCT ")
    marked = f"{count} FILTER (WHERE {condition()})"
    cased = (
        f"COUNT(CASE WHEN {condition()} THEN 1 END)"
        if of == "*"
        else f"COUNT(DISTINCT CASE WHEN {condition()} THEN {of} END)"
    )
    hit = rng.choice([marked, cased])
    value = rng.choice(VALUES).format(rng.choice(["age", "age", "wt"]))
    kinds: list[tuple[str, ...]] = [
        (count,), (hit,), (count, hit), (f"100.0 * {hit} / {count}",),
        (f"{hit}::DOUBLE / NULLIF({count}, 0)", count), (value,), (value, count), (count, value),
        (f"AVG(CASE WHEN {condition()} THEN 1.0 ELSE 0 END)",),
    ]  # fmt: skip
    if groups:
        kinds.append((f"{count} / SUM({count}) OVER ()",))
    measures = rng.choice(kinds)
    if "OVER" in measures[0] or not groups:
        return Asked(source, where, groups, nullable, measures)
    keys = ", ".join(f"{n + 1} NULLS LAST" for n in range(len(groups)))
    tail = ""
    if rng.random() < 0.4:
        low, high = sorted(rng.sample(range(12), 2))
        own = rng.choice(COUNTS)
        tail = rng.choice([
            f"HAVING {own} > {low}", f"HAVING {own} BETWEEN {low} AND {high}",
            f"HAVING NOT {own} <= {low} AND {own} < {high}",
            f"HAVING {own} = {low} OR {high} <= {own}",
            f"HAVING {own} <> {low}",
        ])  # fmt: skip
    if rng.random() < 0.5:
        own = rng.choice([count, count, f"{len(groups) + 1}"])
        way = rng.choice(["DESC", "ASC"])
        tail += f" ORDER BY {own} {way} NULLS LAST, {keys} LIMIT {rng.randint(1, 3)}"
        tail += " OFFSET 1" if rng.random() < 0.15 else ""
    elif rng.random() < 0.2:
        tail += f" ORDER BY {keys} LIMIT {rng.randint(1, 3)}"
    return Asked(source, where, groups, nullable, measures, tail.strip())
