"""The cases of a quarter as ``srsql.count_tables`` takes them, and what it tells of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from srsql import Engine
from srsql.engine.catalog.datasets import raw_term
from srsql.engine.catalog.layout import raw_table

Tree = Mapping[str, tuple[str, ...]]
OLD, YOUNG, OTHERS = "65+", "0-17", "18-64 or unknown"
SEXES, AGES = ("F", "M", "U"), (OLD, YOUNG, OTHERS)


def _ages_of(sex: str) -> dict[str, tuple[str, ...]]:
    return {
        sex: (f"{sex} {OLD}", f"{sex} rest"),
        f"{sex} rest": (f"{sex} {YOUNG}", f"{sex} {OTHERS}"),
    }


def _sexes_of(age: str) -> dict[str, tuple[str, ...]]:
    return {age: (f"F {age}", f"not F {age}"), f"not F {age}": (f"M {age}", f"U {age}")}


TREES: dict[str, Tree] = {
    "sex first": {"all": ("F", "not F"), "not F": ("M", "U")} | _ages_of("F") | _ages_of("M")
    | _ages_of("U"),
    "age first": {"all": (OLD, "rest"), "rest": (YOUNG, OTHERS)} | _sexes_of(OLD)
    | _sexes_of(YOUNG) | _sexes_of(OTHERS),
    "flat": {"all": tuple(f"{sex} {age}" for sex in SEXES for age in AGES)},
}  # fmt: skip
"""The default of SPEC section 19, the same by age first, and all strata at once."""
STATEMENTS = """
CREATE OR REPLACE TEMP TABLE told_item AS
WITH terms AS (SELECT attribute, term, any_value(sensitive) AS sensitive, count(*) AS cases
    FROM temp.main.held_item GROUP BY attribute, term),
single AS (SELECT attribute FROM (SELECT unit, attribute, count(*) AS n FROM temp.main.held_item
    GROUP BY unit, attribute) AS u GROUP BY attribute HAVING max(n) = 1),
listed AS (SELECT attribute, term, sensitive, cases FROM terms
    UNION ALL SELECT attribute, NULL, false, 0 FROM single)
SELECT (row_number() OVER (ORDER BY attribute, term NULLS LAST) - 1)::INTEGER AS item_no,
    attribute, term, sensitive, cases, attribute IN (FROM single) AS single FROM listed;
CREATE OR REPLACE TEMP TABLE term_cases AS
SELECT item_no AS term_no, term, cases FROM temp.main.told_item WHERE sensitive;
CREATE OR REPLACE TEMP TABLE counted_item AS
SELECT i.item_no, if(i.single, min(i.item_no) OVER (PARTITION BY i.attribute), i.item_no)
    AS group_no, i.attribute, i.term IS NULL AS rest, coalesce(h.theta_num, 1) AS theta_num,
    coalesce(h.theta_den, 1) AS theta_den
FROM temp.main.told_item AS i
LEFT JOIN srsql.theta_frequency('temp.main.term_cases') AS h ON i.item_no = h.term_no;
CREATE OR REPLACE TEMP TABLE unit_item AS
SELECT h.unit, i.item_no FROM temp.main.held_item AS h
INNER JOIN temp.main.told_item AS i ON h.attribute = i.attribute AND h.term = i.term
"""


def read(engine: Engine, name: str, quarter: str) -> int:
    """Who is counted, and what they hold; the number of cases."""
    dataset = engine.dataset(name)
    of = dataset.signals
    assert of is not None
    report = f't."{dataset.report_id}"'
    parts = [(of.drug_table, of.drug), *((a.table, a.column) for a in dataset.sensitive)]
    parts += [("outc", "outc_cod")] if name == "faers" else []
    suspects = ", ".join(f"'{each}'" for each in of.suspect)
    selects = []
    for table, column in parts:
        sensitive = (table, column) in {(a.table, a.column) for a in dataset.sensitive}
        listed = sensitive or column == of.drug
        term = raw_term(dataset, table, column, "t").sql("duckdb") if listed else f't."{column}"'
        role = f'AND t."{of.role}" IN ({suspects})' if of.role and column == of.drug else ""
        selects.append(
            f"SELECT DISTINCT {report} AS report, '{column}' AS attribute, {term} AS term, "
            f"{sensitive} AS sensitive FROM {raw_table(dataset, table, alias='t').sql('duckdb')} "
            f"WHERE t.quarter = '{quarter}' AND {term} IS NOT NULL {role}"
        )
    demo = raw_table(dataset, dataset.report_table, alias="t").sql("duckdb")
    kinds = [(of.drug, column) for _, column in parts[1:]]
    kinds += [("outc_cod", of.reaction)] if name == "faers" else []
    sql = f"""
CREATE OR REPLACE TEMP TABLE report_item AS {" UNION ALL ".join(selects)};
CREATE OR REPLACE TEMP TABLE case_unit AS
SELECT {report} AS report, dense_rank() OVER (ORDER BY t."{dataset.case_id}")::INTEGER AS unit,
    if(t.srsql_sex IN ('F', 'M'), t.srsql_sex, 'U') AS sex,
    CASE WHEN t.srsql_age >= 65 THEN '{OLD}' WHEN t.srsql_age < 18 THEN '{YOUNG}'
        ELSE '{OTHERS}' END AS age
FROM {demo} WHERE t.quarter = '{quarter}' AND {report} IN (
    SELECT i.report FROM temp.main.report_item AS i WHERE i.attribute = '{of.drug}');
CREATE OR REPLACE TEMP TABLE unit_stratum AS
SELECT unit, arg_max(coalesce(sex, 'U') || ' ' || age, report) AS leaf
FROM temp.main.case_unit GROUP BY unit;
CREATE OR REPLACE TEMP TABLE held_item AS
SELECT DISTINCT u.unit, i.attribute, i.term, i.sensitive
FROM temp.main.report_item AS i INNER JOIN temp.main.case_unit AS u ON i.report = u.report;
CREATE OR REPLACE TEMP TABLE counted_kind AS SELECT * FROM (VALUES {
        ", ".join(f"('{one}', '{other}')" for one, other in kinds)
    }) AS k(attribute, other);
CREATE OR REPLACE TEMP TABLE leaders AS SELECT '{of.drug}' AS drug, '{of.reaction}' AS reaction;
{STATEMENTS};
"""
    for statement in sql.split(";\n"):
        if statement.strip():
            engine.con.execute(statement)
    (cases,) = engine.con.execute("SELECT count(*) FROM temp.main.unit_stratum").fetchone() or (0,)
    return int(cases)


def nodes_of(tree: Tree) -> list[str]:
    """The strata, the root first."""
    found = ["all"]
    for node in found:
        found += tree.get(node, ())
    return found


def leaves_below(tree: Tree, node: str) -> list[str]:
    """The finest strata of one."""
    below = tree.get(node)
    return [leaf for child in below for leaf in leaves_below(tree, child)] if below else [node]


def count(con: Any, tree: Tree, k: int) -> None:
    """Make ``cell(item_no, other_no, stratum, cases)`` and the tables as they are published."""
    nodes, parents = nodes_of(tree), {c: p for p, found in tree.items() for c in found}
    con.execute("CREATE OR REPLACE TEMP TABLE tree (node INTEGER, stratum VARCHAR, parent VARCHAR)")
    con.executemany(
        "INSERT INTO temp.main.tree VALUES (?, ?, ?)",
        [(number, node, parents.get(node)) for number, node in enumerate(nodes)],
    )
    for statement in (
        "CREATE OR REPLACE TEMP TABLE strata AS SELECT t.node, p.node AS parent "
        "FROM temp.main.tree AS t LEFT JOIN temp.main.tree AS p ON t.parent = p.stratum",
        "CREATE OR REPLACE TEMP TABLE unit_leaf AS SELECT u.unit, t.node AS leaf "
        "FROM temp.main.unit_stratum AS u INNER JOIN temp.main.tree AS t ON u.leaf = t.stratum",
        "CREATE OR REPLACE TEMP TABLE cell AS SELECT c.item_no, c.other_no, t.stratum, "
        "c.units AS cases FROM srsql.count_tables('temp.main.strata', 'temp.main.unit_leaf', "
        f"'temp.main.unit_item', 'temp.main.counted_item', 'temp.main.counted_kind', {k:d}) AS c "
        "INNER JOIN temp.main.tree AS t ON c.node = t.node WHERE c.units > 0",
        "CREATE OR REPLACE TEMP TABLE case_count AS SELECT stratum, cases FROM temp.main.cell "
        "WHERE item_no IS NULL",
        "CREATE OR REPLACE TEMP TABLE item_count AS SELECT c.stratum, i.attribute, i.term, c.cases "
        "FROM temp.main.cell AS c INNER JOIN temp.main.told_item AS i ON c.item_no = i.item_no "
        "WHERE c.other_no IS NULL",
        "CREATE OR REPLACE TEMP TABLE pair_count AS SELECT c.stratum, i.attribute, i.term, "
        "o.attribute AS other_attribute, o.term AS other_term, c.cases FROM temp.main.cell AS c "
        "INNER JOIN temp.main.told_item AS i ON c.item_no = i.item_no "
        "INNER JOIN temp.main.told_item AS o ON c.other_no = o.item_no",
    ):
        con.execute(statement)
