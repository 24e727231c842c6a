"""What noise leaves of signals: ``python -m benchmarks noisy_tables --cases 10000,100000``.

Synthetic quarters are ingested, their cases counted as ``--terms noisy-tables`` counts them (drugs
suspected, and reactions; no strata), and noise is added by the secure sampler. MHRA signals (three
cases, PRR of 2, chi-squared of 4) of published counts are compared with those of all values of all
cases: *kept* is the share of true signals found, *false* the share of found ones that are not true,
each with the range over runs. *Exact* tells pairs of five cases and more without noise, before the
rules of ``--terms tables`` take some away. *Year*: sums of what four quarters tell, each case
counted once.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from fractions import Fraction
from pathlib import Path
from tempfile import TemporaryDirectory

from srsql import Engine
from srsql.engine.extras.synth import quarter_range, synthesize
from srsql.engine.terms.noisy_tables import CASES, ITEMS, PAIRS, NoisyParameters

FIRST, LAST = "2011Q1", "2011Q4"
EPSILONS = ("1/2", "1", "3", "10")
MEMORY = "6GB"
HELD = """
CREATE OR REPLACE TEMP TABLE unit AS
SELECT row_number() OVER () AS unit, caseid::VARCHAR AS name, min(quarter) AS quarter
FROM raw_faers.demo GROUP BY caseid;
CREATE OR REPLACE TEMP TABLE held AS
SELECT DISTINCT u.unit, u.name, 'drugname' AS attribute, t.srsql_drugname AS term, u.quarter
FROM raw_faers.drug t JOIN raw_faers.demo d ON t.primaryid = d.primaryid AND t.quarter = d.quarter
JOIN unit u ON d.caseid::VARCHAR = u.name AND d.quarter = u.quarter
WHERE upper(trim(t.role_cod)) IN ('PS', 'SS') AND t.srsql_drugname IS NOT NULL
UNION
SELECT DISTINCT u.unit, u.name, 'pt', t.srsql_pt, u.quarter
FROM raw_faers.reac t JOIN raw_faers.demo d ON t.primaryid = d.primaryid AND t.quarter = d.quarter
JOIN unit u ON d.caseid::VARCHAR = u.name AND d.quarter = u.quarter
WHERE t.srsql_pt IS NOT NULL;
CREATE OR REPLACE TEMP TABLE kind AS SELECT 'drugname' AS attribute, 'pt' AS other;
"""
SIGNALS = """
SELECT p.drug, p.pt FROM pair p JOIN drug x ON p.drug = x.term JOIN pt s ON p.pt = s.term
CROSS JOIN (SELECT sum(cases) AS n FROM total) t,
LATERAL (SELECT p.cases::DOUBLE AS a, x.cases - a AS b, s.cases - a AS c, t.n - x.cases - c AS d),
LATERAL (SELECT a * (c + d) / nullif(c * (a + b), 0) AS prr, a * d - b * c AS det)
WHERE p.cases >= {least} AND a >= 3 AND (prr >= 2 OR c <= 0) AND det > 0
AND t.n * greatest(det - t.n / 2, 0) ** 2
    >= 4 * (a + b) * greatest(c + d, 1) * (a + c) * greatest(b + d, 1)
"""

EXACT = """
CREATE OR REPLACE TEMP TABLE pair AS
SELECT drug, pt, sum(cases) AS cases
FROM (
    SELECT x.term AS drug, s.term AS pt, x.quarter, count(*) AS cases
    FROM held x JOIN held s ON x.unit = s.unit AND x.attribute = 'drugname' AND s.attribute = 'pt'
    WHERE x.quarter IN ({quarters})
    GROUP BY ALL HAVING count(*) >= 5
)
GROUP BY ALL
"""


def command(arguments: Sequence[str]) -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks noisy_tables", description=__doc__)
    parser.add_argument("--cases", default="10000,100000", help="of a quarter")
    parser.add_argument("--epsilon", default=",".join(EPSILONS))
    parser.add_argument("--case-items", type=int, default=None)
    parser.add_argument("--case-pairs", type=int, default=None)
    parser.add_argument("--runs", type=int, default=3)
    options = parser.parse_args(arguments)
    print(f"{'cases':>8} {'time':8} {'epsilon':>8} {'true':>7} {'kept %':>16} {'false %':>16}")
    for cases in map(int, options.cases.split(",")):
        with TemporaryDirectory() as folder:
            files = synthesize(
                Path(folder) / "raw", quarter_range(FIRST, LAST), cases=cases, seed=1
            )
            with Engine(Path(folder) / "w.duckdb", memory_limit=MEMORY) as engine:
                engine.ingest(files)
                for line in _lines(engine, options):
                    print(f"{cases:>8} {line}", flush=True)


def _lines(engine: Engine, options: argparse.Namespace) -> Iterator[str]:
    for statement in filter(str.strip, HELD.split(";")):
        engine.con.execute(statement)
    quarters = [q for (q,) in engine.sql("SELECT DISTINCT quarter FROM unit ORDER BY quarter")]
    for name, chosen in (("quarter", quarters[:1]), ("year", quarters)):
        listed = ", ".join(f"'{q}'" for q in chosen)
        _true(engine, listed)
        true = _signals(engine, 3)
        engine.con.execute(EXACT.format(quarters=listed))
        yield _line(name, "(exact)", true, [_signals(engine, 5)])
        for epsilon in options.epsilon.split(","):
            given = {n: v for n in ("case_items", "case_pairs") if (v := getattr(options, n))}
            asked = NoisyParameters(
                epsilon=Fraction(epsilon), attributes=("drugname", "pt"), **given
            )
            found = []
            for _ in range(options.runs):
                _noisy(engine, asked, chosen)
                found.append(_signals(engine, 0))
            yield _line(name, epsilon, true, found)


Pairs = set[tuple[str, str]]


def _line(name: str, epsilon: str, true: Pairs, found: list[Pairs]) -> str:
    kept = [100 * len(each & true) / len(true) for each in found]
    false = [100 * len(each - true) / len(each) if each else 0.0 for each in found]
    shown = [
        f"{sum(part) / len(part):.2f} ({min(part):.2f}-{max(part):.2f})" for part in (kept, false)
    ]
    counts = sorted(len(each) for each in found)
    return f"{name:8} {epsilon:>8} {len(true):>7} {shown[0]:>20} {shown[1]:>20} found {counts}"


def _signals(engine: Engine, least: int) -> Pairs:
    return set(engine.con.execute(SIGNALS.format(least=least)).fetchall())


def _true(engine: Engine, quarters: str) -> None:
    run = engine.con.execute
    of = f"WHERE quarter IN ({quarters})"
    run(f"CREATE OR REPLACE TEMP TABLE total AS SELECT count(*) AS cases FROM unit {of}")
    for name, attribute in (("drug", "drugname"), ("pt", "pt")):
        run(
            f"CREATE OR REPLACE TEMP TABLE {name} AS SELECT term, count(*) AS cases FROM held {of} "
            f"AND attribute = '{attribute}' GROUP BY term"
        )
    run(
        "CREATE OR REPLACE TEMP TABLE pair AS SELECT x.term AS drug, s.term AS pt, count(*) AS "
        f"cases FROM (FROM held {of}) x JOIN held s ON x.unit = s.unit AND x.attribute = "
        "'drugname' AND s.attribute = 'pt' GROUP BY ALL"
    )


def _noisy(engine: Engine, asked: NoisyParameters, quarters: Sequence[str]) -> None:
    run = engine.con.execute
    for name in ("total", "drug", "pt", "pair"):
        run(f"CREATE OR REPLACE TEMP TABLE {name} AS SELECT * FROM {name} WHERE false")
    noise = {each.table: each for each in asked.plan()}
    for quarter in quarters:
        run(
            "CREATE OR REPLACE TEMP TABLE own AS SELECT unit, name, attribute, term FROM held "
            f"WHERE quarter = '{quarter}'"
        )
        run(
            "CREATE OR REPLACE TEMP TABLE kept AS "
            f"FROM srsql.bounded_items('temp.main.own', {asked.case_items})"
        )
        counted = {
            CASES: f"SELECT 1 AS cell, count(*) AS units FROM unit WHERE quarter = '{quarter}'",
            ITEMS: "SELECT row_number() OVER () AS cell, attribute, term, count(*) AS units "
            "FROM kept GROUP BY ALL",
            PAIRS: "SELECT row_number() OVER () AS cell, term, other_term, count(*) AS units FROM "
            f"srsql.bounded_pairs('temp.main.kept', 'temp.main.kind', {asked.case_pairs}) "
            "GROUP BY ALL",
        }
        for table, text in counted.items():
            run(f"CREATE OR REPLACE TEMP TABLE cell AS {text}")
            scale, least = noise[table].scale, noise[table].threshold
            run(
                "CREATE OR REPLACE TEMP TABLE told AS FROM srsql.noisy_counts('temp.main.cell', "
                f"{scale.numerator}, {scale.denominator}, {least or 'NULL::BIGINT'}, NULL)"
            )
            joined = "FROM told t JOIN cell c ON t.cell = c.cell"
            if table == CASES:
                run(f"INSERT INTO total SELECT t.cases {joined}")
            elif table == PAIRS:
                run(f"INSERT INTO pair SELECT c.term, c.other_term, t.cases {joined}")
            else:
                for name, attribute in (("drug", "drugname"), ("pt", "pt")):
                    run(
                        f"INSERT INTO {name} SELECT c.term, t.cases {joined} "
                        f"WHERE c.attribute = '{attribute}'"
                    )
    for name, keys in (("drug", "term"), ("pt", "term"), ("pair", "drug, pt")):
        run(
            f"CREATE OR REPLACE TEMP TABLE {name} AS "
            f"SELECT {keys}, sum(cases) AS cases FROM {name} GROUP BY ALL"
        )
