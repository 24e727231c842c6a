-- What one who knows a case's QID makes of its nearest published records: which is the case's, and
-- what it had. Parameters name tables; `query_table` reads them. A cell is a set of published
-- records of equal QID that every attacker keeps or drops together.

-- What:    RR: the mean chance of picking a case's own record among its candidates; 0 where it is
--          not among them.
-- Inputs:  of_release, measure: the first columns of the row; cases(case_no, own_no, cell_no):
--          every released case; candidates(own_no, cell_no); cells(cell_no, cases).
-- Outputs: a uniform row; violating = expected number of cases picked, total = cases.
-- Source:  Wu 2022, section V.A (Pr and RR).
CREATE OR REPLACE MACRO srsql.record_risk(of_release, measure, cases, candidates, cells) AS TABLE
WITH
sizes AS (
    SELECT c.own_no, sum(k.cases) AS size
    FROM query_table(candidates) AS c
    INNER JOIN query_table(cells) AS k ON c.cell_no = k.cell_no
    GROUP BY c.own_no
),

hits AS (
    SELECT s.size, count(*) AS cases
    FROM query_table(cases) AS r
    INNER JOIN query_table(candidates) AS c ON r.own_no = c.own_no AND r.cell_no = c.cell_no
    INNER JOIN sizes AS s ON r.own_no = s.own_no
    GROUP BY s.size
),

figures AS (
    SELECT
        (
            SELECT coalesce(sum((h.cases / h.size)::DECIMAL(38, 15)), 0)::DOUBLE FROM hits AS h
        ) AS expected,
        (SELECT count(*)::DOUBLE FROM query_table(cases)) AS total
)

SELECT
    of_release AS release,
    measure AS measure,
    'release' AS scope,
    f.expected AS violating,
    f.total,
    f.expected / nullif(f.total, 0) AS ratio,
    NULL::DOUBLE AS threshold,
    NULL::BOOLEAN AS passed
FROM figures AS f;

-- What:    AR_rev: the mean chance of inferring a sensitive value of a case: over the values S_G of
--          its candidates the mean of their share of cases, Pr_G(s); 0 where its own record is not
--          among them or they show no value. The share is never below 1/|G|, with which the paper
--          takes the larger, since every value of S_G is that of some case of G. Originals with the
--          same candidates are computed once.
-- Inputs:  as record_risk; terms(cell_no, term_no, cases).
-- Outputs: a uniform row; violating = sum of Ar, total = cases.
-- Source:  Wu 2022, section V.A (Ar and AR_rev).
CREATE OR REPLACE MACRO srsql.attribute_risk(
    of_release, measure, cases, candidates, cells, terms
) AS TABLE
WITH
hits AS (
    SELECT r.own_no, count(*) AS cases
    FROM query_table(cases) AS r
    INNER JOIN query_table(candidates) AS c ON r.own_no = c.own_no AND r.cell_no = c.cell_no
    GROUP BY r.own_no
),

sets AS (
    SELECT c.own_no, list(c.cell_no ORDER BY c.cell_no) AS cell_nos
    FROM query_table(candidates) AS c
    INNER JOIN hits AS h ON c.own_no = h.own_no
    GROUP BY c.own_no
),

distinct_sets AS (
    SELECT min(s.own_no) AS set_no, s.cell_nos, sum(h.cases) AS hits
    FROM sets AS s
    INNER JOIN hits AS h ON s.own_no = h.own_no
    GROUP BY s.cell_nos
),

parts AS (
    SELECT s.set_no, unnest(s.cell_nos) AS cell_no FROM distinct_sets AS s
),

sizes AS (
    SELECT p.set_no, sum(k.cases) AS size
    FROM parts AS p
    INNER JOIN query_table(cells) AS k ON p.cell_no = k.cell_no
    GROUP BY p.set_no
),

shown AS (
    SELECT p.set_no, sum(t.cases) AS held, count(DISTINCT t.term_no) AS different
    FROM parts AS p
    INNER JOIN query_table(terms) AS t ON p.cell_no = t.cell_no
    GROUP BY p.set_no
),

figures AS (
    SELECT
        (
            SELECT
                coalesce(
                    sum((s.hits * w.held / (z.size * w.different))::DECIMAL(38, 15)), 0
                )::DOUBLE
            FROM distinct_sets AS s
            INNER JOIN sizes AS z ON s.set_no = z.set_no
            INNER JOIN shown AS w ON s.set_no = w.set_no
        ) AS inferred,
        (SELECT count(*)::DOUBLE FROM query_table(cases)) AS total
)

SELECT
    of_release AS release,
    measure AS measure,
    'release' AS scope,
    f.inferred AS violating,
    f.total,
    f.inferred / nullif(f.total, 0) AS ratio,
    NULL::DOUBLE AS threshold,
    NULL::BOOLEAN AS passed
FROM figures AS f;
