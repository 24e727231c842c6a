"""What is kept of signals, strata and a question of one stratum, beside the originals."""

from __future__ import annotations

from typing import Any

from benchmarks.told_counts.tables import Tree, leaves_below, nodes_of

PUBLISHED = (
    "'temp.main.case_count', 'temp.main.item_count', 'temp.main.pair_count', 'temp.main.tree'"
)
EQUAL = " AND ".join(f"m.{name} IS NOT DISTINCT FROM t.{name}"
                     for name in ("a", "b", "c", "d", "prr", "ror", "ic", "chi2"))  # fmt: skip


def signals(con: Any, k: int) -> dict[str, object]:
    """How many signals are told, equal to the originals', and why others are not."""
    drug, reaction = con.execute("SELECT drug, reaction FROM temp.main.leaders").fetchone()
    for statement in (
        "CREATE OR REPLACE TEMP TABLE lone AS SELECT item_no, count(*) AS n "
        "FROM temp.main.unit_item GROUP BY item_no",
        "CREATE OR REPLACE TEMP TABLE own AS WITH u AS (SELECT count(*) AS n FROM "
        "temp.main.unit_leaf), p AS (SELECT a.item_no, b.item_no AS other_no, count(*) AS n FROM "
        "temp.main.unit_item AS a INNER JOIN temp.main.unit_item AS b ON a.unit = b.unit "
        f"WHERE a.item_no IN (SELECT item_no FROM temp.main.told_item WHERE attribute = '{drug}') "
        f"AND b.item_no IN (SELECT item_no FROM temp.main.told_item WHERE attribute = '{reaction}')"
        " GROUP BY ALL) SELECT p.item_no, p.other_no, i.term AS drug, o.term AS reaction, "
        "p.n::BIGINT AS a, d.n - p.n AS b, r.n - p.n AS c, u.n - d.n - r.n + p.n AS d FROM p "
        "INNER JOIN lone AS d ON p.item_no = d.item_no INNER JOIN lone AS r ON p.other_no = "
        "r.item_no INNER JOIN temp.main.told_item AS i ON p.item_no = i.item_no INNER JOIN "
        "temp.main.told_item AS o ON p.other_no = o.item_no CROSS JOIN u",
        "CREATE OR REPLACE TEMP TABLE measured AS SELECT * FROM "
        "srsql.signal_measures('temp.main.own')",
        "CREATE OR REPLACE TEMP TABLE pair AS SELECT * FROM "
        f"srsql.count_table_pairs({PUBLISHED}, '{drug}', '{reaction}', 'all')",
        "CREATE OR REPLACE TEMP TABLE told AS SELECT * FROM "
        "srsql.signal_measures('temp.main.pair')",
        "CREATE OR REPLACE TEMP TABLE item_told AS SELECT DISTINCT item_no FROM temp.main.cell "
        "WHERE other_no IS NULL AND item_no IS NOT NULL",
    ):
        con.execute(statement)
    found = dict(con.execute(
        "WITH u AS (SELECT count(*) AS n FROM temp.main.unit_leaf), s AS (SELECT m.*, "
        "t.drug IS NOT NULL AS told, h.theta_num, h.theta_den, u.n FROM temp.main.measured AS m "
        "LEFT JOIN temp.main.told AS t ON m.drug = t.drug AND m.reaction = t.reaction "
        "INNER JOIN temp.main.counted_item AS h ON m.other_no = h.item_no CROSS JOIN u "
        "WHERE m.signal_mhra) SELECT CASE WHEN a < $k THEN 'fewer than k' WHEN told THEN 'told' "
        "WHEN a * theta_den > (a + b) * theta_num OR (a + c) * theta_den > n * theta_num "
        "THEN 'theta' "
        "WHEN c + d BETWEEN 1 AND $k - 1 OR b + d BETWEEN 1 AND $k - 1 THEN 'complement' "
        "WHEN item_no NOT IN (FROM temp.main.item_told) OR other_no NOT IN "
        "(FROM temp.main.item_told) THEN 'G1' ELSE 'G2 or G3' END AS why, count(*) FROM s "
        "GROUP BY why ORDER BY why", {"k": k}
    ).fetchall())  # fmt: skip
    (equal, told) = con.execute(
        f"SELECT count(*) FILTER (WHERE {EQUAL}), count(*) FROM temp.main.told AS t LEFT JOIN "
        "temp.main.measured AS m ON m.drug = t.drug AND m.reaction = t.reaction"
    ).fetchone()
    allowed = sum(n for why, n in found.items() if why not in ("fewer than k", "theta"))
    return {
        "MHRA": sum(found.values()), "allowed": allowed, **found,
        "told pairs": told, "equal": equal, **shrunk(con),
    }  # fmt: skip


def shrunk(con: Any) -> dict[str, object]:
    """EBGM of told pairs by the prior of all pairs, and by one of told pairs alone."""
    for name, source in (("own_prior", "measured"), ("told_prior", "told")):
        con.execute(
            f"CREATE OR REPLACE TEMP TABLE observed AS SELECT drug, reaction, a::DOUBLE AS n, "
            f"(a + b)::DOUBLE * (a + c) / (a + b + c + d) AS e FROM temp.main.{source}"
        )
        con.execute(
            f"CREATE OR REPLACE TEMP TABLE {name} AS "
            "SELECT * FROM srsql.gps_prior('temp.main.observed')"
        )
    for name, source, prior in (
        ("eb_own", "measured", "own_prior"), ("eb_same", "told", "own_prior"),
        ("eb_told", "told", "told_prior"),
    ):  # fmt: skip
        con.execute(
            f"CREATE OR REPLACE TEMP TABLE {name} AS SELECT drug, reaction, ebgm, eb05, signal_eb05"
            f" FROM srsql.shrunk_measures('temp.main.{source}', 'temp.main.{prior}')"
        )
    same, middle, most, signal, kept, false = con.execute(
        "SELECT max(greatest(abs(s.ebgm / o.ebgm - 1), abs(s.eb05 / o.eb05 - 1))), "
        "median(abs(t.ebgm / o.ebgm - 1)), max(abs(t.ebgm / o.ebgm - 1)), "
        "count(*) FILTER (WHERE o.signal_eb05), "
        "count(*) FILTER (WHERE o.signal_eb05 AND t.signal_eb05), "
        "count(*) FILTER (WHERE t.signal_eb05 AND NOT o.signal_eb05) "
        "FROM temp.main.eb_told AS t INNER JOIN temp.main.eb_same AS s USING (drug, reaction) "
        "INNER JOIN temp.main.eb_own AS o USING (drug, reaction)"
    ).fetchone()
    return {
        "EBGM and EB05 by the prior of all pairs, apart at most": same,
        "EBGM by the prior of told pairs": (middle, most),
        "EB05 signals, kept, false": (signal, kept, false),
    }


def strata_told(con: Any, tree: Tree) -> dict[str, float]:
    """Of the told incidences of a drug and a reaction: the share with sex, age band, both."""

    def known(node: str, place: int) -> bool:
        return len({leaf.split(" ", 1)[place] for leaf in leaves_below(tree, node)}) == 1

    cells = con.execute(
        "SELECT p.stratum, sum(p.cases) FROM temp.main.pair_count AS p, temp.main.leaders AS l "
        "WHERE (p.attribute, p.other_attribute) IN ((l.drug, l.reaction), (l.reaction, l.drug)) "
        "GROUP BY p.stratum"
    ).fetchall()
    everything = sum(int(n) for _, n in cells) or 1
    sex = {node for node in nodes_of(tree) if known(node, 0)}
    age = {node for node in nodes_of(tree) if known(node, 1)}
    return {
        name: round(sum(int(n) for node, n in cells if node in of) / everything, 4)
        for name, of in (("sex", sex), ("age", age), ("both", sex & age))
    }


def women(con: Any, tree: Tree) -> dict[str, object]:
    """Of pairs that women of 65 and more have: the share told, the excess of other upper bounds."""
    node = next((n for n in nodes_of(tree) if set(leaves_below(tree, n)) == {"F 65+"}), "all")
    con.execute(
        "CREATE OR REPLACE TEMP TABLE truth AS SELECT row_number() OVER () AS ask, m.drug, "
        "m.reaction, count(*) AS n FROM temp.main.measured AS m "
        "INNER JOIN temp.main.unit_item AS a ON m.item_no = a.item_no "
        "INNER JOIN temp.main.unit_item AS b ON m.other_no = b.item_no AND a.unit = b.unit "
        "INNER JOIN temp.main.unit_stratum AS u ON a.unit = u.unit AND u.leaf = 'F 65+' "
        "GROUP BY m.drug, m.reaction"
    )
    con.execute(
        "CREATE OR REPLACE TEMP TABLE asked AS SELECT t.ask, $node AS stratum, l.drug AS attribute,"
        " t.drug AS term, l.reaction AS other_attribute, t.reaction AS other_term "
        "FROM temp.main.truth AS t CROSS JOIN temp.main.leaders AS l",
        {"node": node},
    )
    pairs, told, wrong, cases, told_cases, ratio, likewise = con.execute(
        "SELECT count(*), count(*) FILTER (WHERE b.exact), "
        "count(*) FILTER (WHERE b.exact AND b.lower <> t.n OR t.n > b.upper), sum(t.n), "
        "sum(t.n) FILTER (WHERE b.exact), median(b.upper / t.n) FILTER (WHERE NOT b.exact), "
        "median(b.upper / t.n) FROM temp.main.truth AS t INNER JOIN "
        f"srsql.count_table_bounds({PUBLISHED}, 'temp.main.asked') AS b ON t.ask = b.ask"
    ).fetchone()
    return {
        "pairs": pairs, "told": told, "wrong": wrong, "share told": round(told / max(1, pairs), 4),
        "share of cases told": round(int(told_cases or 0) / max(1, int(cases or 0)), 4),
        "median upper bound to truth, else": ratio, "of all": likewise,
    }  # fmt: skip
