-- The check of a comparator's release after the fact, of what it keeps and nothing else; as
-- checks/released_rows.sql, from what was released alone. Inputs are tables read off the released
-- views:
--   rows(region, report_id): one row per released report; region is the text of its published QIDs.
--   values(report_id, attribute, term): the sensitive terms of the released child rows, normalized
--   anew, distinct.
-- Every check returns the uniform row, release = the id given. For k distinct cases: srsql.check_k.

-- What:    every region that is published holds at least k reports, of however few cases.
-- Source:  Sweeney 2002; Lin 2016, "Privacy models for microdata publishing".
CREATE OR REPLACE MACRO srsql.check_reports(rows_of, at_least, release_id) AS TABLE
WITH crowd AS (
    SELECT r.region, count(*) AS reports FROM query_table(rows_of) AS r GROUP BY r.region
)

SELECT
    release_id AS release,
    'check_reports' AS measure,
    'published region' AS scope,
    count(*) FILTER (WHERE c.reports < at_least)::DOUBLE AS violating,
    count(*)::DOUBLE AS total,
    count(*) FILTER (WHERE c.reports < at_least) / nullif(count(*), 0) AS ratio,
    at_least::DOUBLE AS threshold,
    count(*) FILTER (WHERE c.reports < at_least) = 0 AS passed
FROM crowd AS c;

-- What:    no term of any published region is held by a larger share of its reports than alpha.
-- Inputs:  share_num, share_den: alpha, exactly.
-- Source:  Wong et al. 2006, Definition of (alpha, k)-anonymity, for every value.
CREATE OR REPLACE MACRO srsql.check_alpha(
    rows_of, values_of, share_num, share_den, release_id
) AS TABLE
WITH
crowd AS (
    SELECT r.region, count(*) AS reports FROM query_table(rows_of) AS r GROUP BY r.region
),

shown AS (
    SELECT DISTINCT h.report_id, h.term FROM query_table(values_of) AS h
),

holders AS (
    SELECT r.region, v.term, count(*) AS reports
    FROM query_table(rows_of) AS r
    INNER JOIN shown AS v ON r.report_id = v.report_id
    GROUP BY r.region, v.term
),

breaches AS (
    SELECT DISTINCT h.region
    FROM holders AS h
    INNER JOIN crowd AS c ON h.region = c.region
    WHERE h.reports::HUGEINT * share_den > share_num::HUGEINT * c.reports
)

SELECT
    release_id AS release,
    'check_alpha' AS measure,
    'published region' AS scope,
    (SELECT count(*) FROM breaches)::DOUBLE AS violating,
    count(*)::DOUBLE AS total,
    (SELECT count(*) FROM breaches) / nullif(count(*), 0) AS ratio,
    (share_num / share_den)::DOUBLE AS threshold,
    (SELECT count(*) FROM breaches) = 0 AS passed
FROM crowd;

-- What:    every published region has enough distinct values of each sensitive attribute that is
--          published, held by enough reports.
-- Inputs:  attributes: list of the names of those attributes; at_least: l.
-- Source:  Gal et al. 2008, as Lin 2016 compares with it.
CREATE OR REPLACE MACRO srsql.check_values(
    rows_of, values_of, attributes, at_least, release_id
) AS TABLE
WITH
crowd AS (
    SELECT r.region, count(*) AS reports FROM query_table(rows_of) AS r GROUP BY r.region
),

named AS (
    SELECT unnest(attributes::VARCHAR[]) AS attribute
),

due AS (
    SELECT c.region, n.attribute FROM crowd AS c CROSS JOIN named AS n
),

variety AS (
    SELECT
        r.region,
        v.attribute,
        count(DISTINCT v.term) AS terms,
        count(DISTINCT v.report_id) AS reports
    FROM query_table(rows_of) AS r
    INNER JOIN query_table(values_of) AS v ON r.report_id = v.report_id
    GROUP BY r.region, v.attribute
),

poor AS (
    SELECT d.region
    FROM due AS d
    LEFT JOIN variety AS v ON d.region = v.region AND d.attribute = v.attribute
    WHERE coalesce(v.terms, 0) < at_least OR coalesce(v.reports, 0) < at_least
    UNION
    SELECT c.region FROM crowd AS c WHERE c.reports < at_least
)

SELECT
    release_id AS release,
    'check_values' AS measure,
    'published region' AS scope,
    (SELECT count(*) FROM poor)::DOUBLE AS violating,
    count(*)::DOUBLE AS total,
    (SELECT count(*) FROM poor) / nullif(count(*), 0) AS ratio,
    at_least::DOUBLE AS threshold,
    (SELECT count(*) FROM poor) = 0 AS passed
FROM crowd;
