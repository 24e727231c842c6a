-- Told counts by stratum, for measures over strata; see count_tables.sql for what is told.

-- What:    the 2 x 2 table of each wanted pair in each stratum: exact where all four counts are
--          told of strata that lie within it, and else with the bounds of rule R5.
-- Inputs:  cells(drug, reaction, stratum, cases): told counts; a drug or reaction of NULL is any;
--          weights(stratum, node, surely, maybe): whether all cases of a stratum of the tree (node)
--          are in a stratum, and whether some may be; pairs(drug, reaction), distinct.
-- Outputs: drug, reaction, stratum, and the cells as srsql.contingency_by_stratum has them.
-- Source:  SPEC section 19, rule R5.
CREATE OR REPLACE MACRO srsql.count_contingency_by_stratum(cells, weights, pairs) AS TABLE
WITH
told AS MATERIALIZED (
    SELECT
        w.stratum,
        c.drug,
        c.reaction,
        coalesce(sum(c.cases) FILTER (WHERE w.surely), 0)::BIGINT AS low,
        coalesce(sum(c.cases) FILTER (WHERE w.maybe), 0)::BIGINT AS high
    FROM query_table(cells) AS c
    INNER JOIN query_table(weights) AS w ON c.stratum = w.node
    GROUP BY w.stratum, c.drug, c.reaction
),

-- A told key has all its cases in its cells: in a stratum that none of them meets it has none.
named AS (
    SELECT DISTINCT c.drug, c.reaction FROM query_table(cells) AS c
),

listed AS (
    SELECT DISTINCT w.stratum FROM query_table(weights) AS w
),

known AS MATERIALIZED (
    SELECT
        s.stratum,
        n.drug,
        n.reaction,
        coalesce(t.low, 0) AS low,
        coalesce(t.high, 0) AS high
    FROM named AS n
    CROSS JOIN listed AS s
    LEFT JOIN told AS t
        ON
            s.stratum = t.stratum
            AND n.drug IS NOT DISTINCT FROM t.drug
            AND n.reaction IS NOT DISTINCT FROM t.reaction
),

margins AS (
    SELECT
        p.drug,
        p.reaction,
        u.stratum,
        u.low AS n_low,
        u.high AS n_high,
        coalesce(d.low, 0) AS d_low,
        least(coalesce(d.high, u.high), u.high) AS d_high,
        coalesce(r.low, 0) AS r_low,
        least(coalesce(r.high, u.high), u.high) AS r_high,
        coalesce(b.low, 0) AS a_low,
        least(
            u.high, coalesce(b.high, u.high), coalesce(d.high, u.high), coalesce(r.high, u.high)
        ) AS a_high
    FROM query_table(pairs) AS p
    INNER JOIN known AS u ON u.drug IS NULL AND u.reaction IS NULL
    LEFT JOIN known AS d ON p.drug = d.drug AND d.reaction IS NULL AND u.stratum = d.stratum
    LEFT JOIN known AS r ON p.reaction = r.reaction AND r.drug IS NULL AND u.stratum = r.stratum
    LEFT JOIN known AS b
        ON p.drug = b.drug AND p.reaction = b.reaction AND u.stratum = b.stratum
)

FROM srsql_internal.cells_of_margins('margins');
