-- The check of a release after the fact, from what was released alone. Nothing here is used to make
-- a release. Inputs are tables read off the released views:
--   rows(region, case_id): one row per released report; region is the text of its published QIDs.
--   values(case_id, term): the sensitive terms of the released child rows, normalized anew.
--   thresholds(term, theta_num, theta_den).
-- Every check returns the uniform row, release = the id given.

-- What:    every region that is published holds at least k distinct cases.
-- Source:  Lin 2016, Definition 3 (1).
CREATE OR REPLACE MACRO srsql.check_k(rows_of, at_least, release_id) AS TABLE
WITH crowd AS (
    SELECT r.region, count(DISTINCT r.case_id) AS cases
    FROM query_table(rows_of) AS r GROUP BY r.region
)

SELECT
    release_id AS release,
    'check_k' AS measure,
    'published region' AS scope,
    count(*) FILTER (WHERE c.cases < at_least)::DOUBLE AS violating,
    count(*)::DOUBLE AS total,
    count(*) FILTER (WHERE c.cases < at_least) / nullif(count(*), 0) AS ratio,
    at_least::DOUBLE AS threshold,
    count(*) FILTER (WHERE c.cases < at_least) = 0 AS passed
FROM crowd AS c;

-- What:    no value of any published region is held by a larger share of its cases than theta; a
--          released value without a threshold is a breach.
-- Source:  Lin 2016, Definition 3 (2).
CREATE OR REPLACE MACRO srsql.check_theta(rows_of, values_of, thresholds_of, release_id) AS TABLE
WITH
placed AS (
    SELECT DISTINCT r.region, r.case_id FROM query_table(rows_of) AS r
),

crowd AS (
    SELECT p.region, count(*) AS cases, row_number() OVER () AS region_no
    FROM placed AS p GROUP BY p.region
),

bounds AS (
    SELECT t.term, t.theta_num, t.theta_den, row_number() OVER () AS term_no
    FROM query_table(thresholds_of) AS t
),

shown AS (
    SELECT DISTINCT v.case_id, v.term FROM query_table(values_of) AS v
),

holders AS (
    SELECT c.region_no, coalesce(b.term_no, 0) AS term_no, count(*) AS cases
    FROM placed AS p
    INNER JOIN crowd AS c ON p.region = c.region
    INNER JOIN shown AS s ON p.case_id = s.case_id
    LEFT JOIN bounds AS b ON s.term = b.term
    GROUP BY c.region_no, coalesce(b.term_no, 0)
),

breaches AS (
    SELECT DISTINCT h.region_no
    FROM holders AS h
    INNER JOIN crowd AS c ON h.region_no = c.region_no
    LEFT JOIN bounds AS b ON h.term_no = b.term_no
    WHERE
        b.term_no IS NULL
        OR h.cases::HUGEINT * b.theta_den > b.theta_num::HUGEINT * c.cases
)

SELECT
    release_id AS release,
    'check_theta' AS measure,
    'published region' AS scope,
    (SELECT count(*) FROM breaches)::DOUBLE AS violating,
    count(*)::DOUBLE AS total,
    (SELECT count(*) FROM breaches) / nullif(count(*), 0) AS ratio,
    0::DOUBLE AS threshold,
    (SELECT count(*) FROM breaches) = 0 AS passed
FROM crowd;

-- What:    the same with external knowledge: a case that does not show a value may still have it,
--          with probability 1 - prod(1 - 1/|E(d)|) over its released drugs d with it in E(d).
-- Inputs:  drugs_of(case_id, drug): released, normalized anew; knowledge_of(drug, disease).
-- Source:  Lin 2016, Definitions 1 and 2. Probabilities are floats here; the tolerance covers their
--          rounding only.
CREATE OR REPLACE MACRO srsql.check_theta_knowledge(
    rows_of, values_of, drugs_of, knowledge_of, thresholds_of, release_id
) AS TABLE
WITH
placed AS (
    SELECT DISTINCT r.region, r.case_id FROM query_table(rows_of) AS r
),

crowd AS (
    SELECT p.region, count(*) AS cases FROM placed AS p GROUP BY p.region
),

listed AS (
    SELECT e.drug, e.disease, count(*) OVER (PARTITION BY e.drug) AS diseases
    FROM (SELECT DISTINCT k.drug, k.disease FROM query_table(knowledge_of) AS k) AS e
),

likely AS (
    SELECT d.case_id, e.disease AS term, 1 - product(1 - 1 / e.diseases) AS p
    FROM (SELECT DISTINCT q.case_id, q.drug FROM query_table(drugs_of) AS q) AS d
    INNER JOIN listed AS e ON d.drug = e.drug
    GROUP BY d.case_id, e.disease
),

belief AS (
    SELECT u.case_id, u.term, max(u.p) AS p
    FROM (
        SELECT DISTINCT v.case_id, v.term, 1.0::DOUBLE AS p FROM query_table(values_of) AS v
        UNION ALL
        SELECT l.case_id, l.term, l.p FROM likely AS l
    ) AS u
    GROUP BY u.case_id, u.term
),

verdicts AS (
    SELECT
        p.region,
        coalesce(
            fsum(b.p) > any_value(t.theta_num / t.theta_den) * any_value(c.cases) + 1e-9, true
        ) AS breached
    FROM placed AS p
    INNER JOIN belief AS b ON p.case_id = b.case_id
    INNER JOIN crowd AS c ON p.region = c.region
    LEFT JOIN query_table(thresholds_of) AS t ON b.term = t.term
    GROUP BY p.region, b.term
),

regions AS (
    SELECT c.region, coalesce(bool_or(v.breached), false) AS breached
    FROM crowd AS c LEFT JOIN verdicts AS v ON c.region = v.region GROUP BY c.region
)

SELECT
    release_id AS release,
    'check_theta_knowledge' AS measure,
    'published region' AS scope,
    count(*) FILTER (WHERE g.breached)::DOUBLE AS violating,
    count(*)::DOUBLE AS total,
    count(*) FILTER (WHERE g.breached) / nullif(count(*), 0) AS ratio,
    0::DOUBLE AS threshold,
    count(*) FILTER (WHERE g.breached) = 0 AS passed
FROM regions AS g;

-- What:    every case that is released or withheld is in the quarter, and the other way round;
--          a case is either released or withheld.
-- Inputs:  quarter_of(report_id, case_id): the ingested reports; released_of(report_id, case_id):
--          off the released view; withheld_of(case_id).
CREATE OR REPLACE MACRO srsql.check_complete(
    quarter_of, released_of, withheld_of, release_id
) AS TABLE
WITH
accounted AS (
    SELECT r.report_id, r.case_id, 1 AS times FROM query_table(released_of) AS r
    UNION ALL
    SELECT q.report_id, q.case_id, 1
    FROM query_table(quarter_of) AS q
    INNER JOIN query_table(withheld_of) AS w ON q.case_id = w.case_id
    UNION ALL
    SELECT NULL, w.case_id, 1
    FROM query_table(withheld_of) AS w
    ANTI JOIN query_table(quarter_of) AS q ON w.case_id = q.case_id
),

balance AS (
    SELECT b.report_id, b.case_id, sum(b.times) AS times
    FROM (
        SELECT a.report_id, a.case_id, a.times FROM accounted AS a
        UNION ALL
        SELECT q.report_id, q.case_id, -1 FROM query_table(quarter_of) AS q
    ) AS b
    GROUP BY b.report_id, b.case_id
)

SELECT
    release_id AS release,
    'check_complete' AS measure,
    'report' AS scope,
    count(*) FILTER (WHERE b.times <> 0)::DOUBLE AS violating,
    count(*)::DOUBLE AS total,
    count(*) FILTER (WHERE b.times <> 0) / nullif(count(*), 0) AS ratio,
    0::DOUBLE AS threshold,
    count(*) FILTER (WHERE b.times <> 0) = 0 AS passed
FROM balance AS b;

-- What:    the public manifest gives a threshold for released values only.
-- Inputs:  told: its list of STRUCT(value, theta); values_of(case_id, term): as above.
CREATE OR REPLACE MACRO srsql.check_manifest(told, values_of, release_id) AS TABLE
WITH
listed AS (
    SELECT DISTINCT struct_extract(u.entry, 'value') AS term
    FROM (SELECT unnest(told) AS entry) AS u
),

unseen AS (
    SELECT l.term FROM listed AS l ANTI JOIN query_table(values_of) AS v ON l.term = v.term
)

SELECT
    release_id AS release,
    'check_manifest' AS measure,
    'threshold' AS scope,
    (SELECT count(*) FROM unseen)::DOUBLE AS violating,
    count(*)::DOUBLE AS total,
    (SELECT count(*) FROM unseen) / nullif(count(*), 0) AS ratio,
    0::DOUBLE AS threshold,
    (SELECT count(*) FROM unseen) = 0 AS passed
FROM listed;
