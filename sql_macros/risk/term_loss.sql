-- What a disassociated release loses, measured by the steward against the originals. Inputs:
--   baskets(record, term): distinct; the originals, or a reconstructed dataset;
--   sets(set_no, term): the workload, or the utility constraints.

-- What:    how many records hold every term of each set.
-- Outputs: set_no, records.
CREATE OR REPLACE MACRO srsql.basket_counts(baskets, sets) AS TABLE
WITH
asked AS (
    SELECT DISTINCT s.set_no, s.term FROM query_table(sets) AS s
),

size AS (
    SELECT a.set_no, count(*) AS terms FROM asked AS a GROUP BY a.set_no
),

held AS (
    SELECT b.record, b.term FROM query_table(baskets) AS b SEMI JOIN asked AS a ON b.term = a.term
),

support AS (
    SELECT w.term, count(h.term) AS records
    FROM (SELECT DISTINCT a.term FROM asked AS a) AS w
    LEFT JOIN held AS h ON w.term = h.term
    GROUP BY w.term
),

-- only the records that hold the rarest term of a set can hold the set
rarest AS (
    SELECT
        a.set_no, any_value(z.terms) AS terms, min((s.records, s.term))[2] AS term,
        min(s.records) AS records
    FROM asked AS a
    INNER JOIN support AS s ON a.term = s.term
    INNER JOIN size AS z ON a.set_no = z.set_no
    GROUP BY a.set_no
),

found AS (
    SELECT f.set_no, count(*) AS records
    FROM (
        SELECT p.set_no
        FROM rarest AS p
        INNER JOIN held AS r ON p.term = r.term
        INNER JOIN asked AS a ON p.set_no = a.set_no AND a.term <> p.term
        INNER JOIN held AS h ON r.record = h.record AND a.term = h.term
        WHERE p.terms > 1
        GROUP BY p.set_no, r.record
        HAVING count(*) = any_value(p.terms) - 1
    ) AS f
    GROUP BY f.set_no
)

SELECT
    p.set_no,
    CASE WHEN p.terms = 1 THEN p.records ELSE coalesce(f.records, 0) END AS records
FROM rarest AS p
LEFT JOIN found AS f ON p.set_no = f.set_no;

-- What:    how many records match each constraint: hold one of its terms or more.
-- Outputs: set_no, records.
-- Source:  Loukides 2014, section 1.1: four records of Fig. 1 match {401.0, 404.00}, none of which
--          holds both.
CREATE OR REPLACE MACRO srsql.basket_matches(baskets, sets) AS TABLE
SELECT s.set_no, count(DISTINCT b.record) AS records
FROM query_table(sets) AS s
LEFT JOIN query_table(baskets) AS b ON s.term = b.term
GROUP BY s.set_no;

-- What:    the average relative error of a workload, by the number of terms asked for and in all.
-- Inputs:  answers(set_no, terms, truth, answer).
-- Outputs: terms (NULL: all), queries (with a truth above 0), untold (with a truth of 0, for which
--          the error is undefined), are (NULL where there is no query), deviation (of the errors of
--          the queries, as of a sample: over queries - 1; NULL where there are fewer than 2).
-- Source:  Loukides 2014, Definition 2; section 6.3 (Welch's t-test needs the deviation).
CREATE OR REPLACE MACRO srsql.average_relative_error(answers) AS TABLE
WITH
queries AS (
    SELECT a.terms, a.truth, abs(a.answer - a.truth) / nullif(a.truth, 0) AS error
    FROM query_table(answers) AS a
),

means AS (
    SELECT
        q.terms,
        grouping(q.terms) AS of_all,
        count(*) FILTER (WHERE q.truth > 0) AS queries,
        count(*) FILTER (WHERE q.truth = 0) AS untold,
        fsum(q.error) / nullif(count(*) FILTER (WHERE q.truth > 0), 0) AS are
    FROM queries AS q
    GROUP BY GROUPING SETS ((q.terms), ())
),

spreads AS (
    SELECT m.terms, m.of_all, fsum((q.error - m.are) * (q.error - m.are)) AS squares
    FROM means AS m
    INNER JOIN queries AS q ON m.of_all = 1 OR m.terms = q.terms
    GROUP BY m.terms, m.of_all
)

SELECT
    m.terms,
    m.queries,
    m.untold,
    m.are,
    CASE WHEN m.queries > 1 THEN sqrt(s.squares / (m.queries - 1)) END AS deviation
FROM means AS m
LEFT JOIN spreads AS s
    ON m.of_all = s.of_all AND m.terms IS NOT DISTINCT FROM s.terms
ORDER BY m.terms NULLS LAST;

-- What:    which terms beside those of a set some record holds together with the whole set.
-- Outputs: set_no, terms VARCHAR[], sorted; no row for a set that no record holds with others.
CREATE OR REPLACE MACRO srsql.companion_terms(baskets, sets) AS TABLE
WITH
asked AS (
    SELECT DISTINCT s.set_no, s.term FROM query_table(sets) AS s
),

size AS (
    SELECT a.set_no, count(*) AS terms FROM asked AS a GROUP BY a.set_no
),

holder AS (
    SELECT z.set_no, b.record
    FROM asked AS a
    INNER JOIN size AS z ON a.set_no = z.set_no
    INNER JOIN query_table(baskets) AS b ON a.term = b.term
    GROUP BY z.set_no, z.terms, b.record
    HAVING count(*) = z.terms
),

companion AS (
    SELECT DISTINCT h.set_no, b.term
    FROM holder AS h
    INNER JOIN query_table(baskets) AS b ON h.record = b.record
    ANTI JOIN asked AS a ON h.set_no = a.set_no AND b.term = a.term
)

SELECT c.set_no, list(c.term ORDER BY c.term) AS terms
FROM companion AS c
GROUP BY c.set_no
ORDER BY c.set_no;

-- What:    how the matching relative errors of a policy's constraints are distributed.
-- Inputs:  matches(set_no, truth, answer); constraints with a truth of 0 are left out.
-- Outputs: position, interval (in percent; open ends), low, high (NULL: open), constraints, share.
-- Source:  Loukides 2014, Definition 3 and Figs. 19-25.
CREATE OR REPLACE MACRO srsql.matching_error_intervals(matches) AS TABLE
WITH
errors AS (
    SELECT 100 * (m.truth - m.answer) / m.truth AS error
    FROM query_table(matches) AS m
    WHERE m.truth > 0
),

ends AS (
    SELECT e.*
    FROM (VALUES
        (1, '< -10', NULL::DOUBLE, -10.0::DOUBLE),
        (2, '[-10, -5)', -10.0, -5.0),
        (3, '[-5, -2.5)', -5.0, -2.5),
        (4, '[-2.5, 0)', -2.5, 0.0),
        (5, '0', 0.0, 0.0),
        (6, '(0, 2.5)', 0.0, 2.5),
        (7, '[2.5, 5)', 2.5, 5.0),
        (8, '[5, 10)', 5.0, 10.0),
        (9, '>= 10', 10.0, NULL)
    ) AS e (position, interval_text, low, high)
),

placed AS (
    SELECT
        CASE
            WHEN e.error < -10 THEN 1
            WHEN e.error < -5 THEN 2
            WHEN e.error < -2.5 THEN 3
            WHEN e.error < 0 THEN 4
            WHEN e.error = 0 THEN 5
            WHEN e.error < 2.5 THEN 6
            WHEN e.error < 5 THEN 7
            WHEN e.error < 10 THEN 8
            ELSE 9
        END AS position
    FROM errors AS e
),

counted AS (
    SELECT p.position, count(*) AS n FROM placed AS p GROUP BY p.position
)

SELECT
    e.position,
    e.interval_text,
    e.low,
    e.high,
    coalesce(c.n, 0) AS constraints,
    coalesce(c.n, 0) / nullif((SELECT count(*) FROM errors), 0) AS share
FROM ends AS e
LEFT JOIN counted AS c ON e.position = c.position
ORDER BY e.position;
