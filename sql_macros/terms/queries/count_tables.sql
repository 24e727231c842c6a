-- What count tables are made of: strata, units, and what these hold.

-- name: tree
-- The tree of strata as it is published, with a number for each stratum.
CREATE OR REPLACE TEMP TABLE temp.main.srsql_pub_stratum AS
SELECT
    t.stratum,
    t.parent,
    t.column_name AS "column",
    t.value,
    t.low::DECIMAL(18, 6) AS low,
    t.below::DECIMAL(18, 6) AS below,
    t.inside,
    t.node::INTEGER AS node
FROM (
    SELECT
        unnest($strata::VARCHAR[]) AS stratum,
        unnest($parents::VARCHAR[]) AS parent,
        unnest($columns::VARCHAR[]) AS column_name,
        unnest($values::VARCHAR[]) AS value,
        unnest($lows::VARCHAR[]) AS low,
        unnest($belows::VARCHAR[]) AS below,
        unnest($insides::BOOLEAN[]) AS inside,
        unnest(range(len($strata::VARCHAR[]))) AS node
) AS t
ORDER BY t.node;

-- name: kinds
-- The attributes whose pairs are counted.
CREATE OR REPLACE TEMP TABLE temp.main.srsql_counted_kind AS
SELECT unnest($ones::VARCHAR[]) AS attribute, unnest($others::VARCHAR[]) AS other;

-- name: counted_unit
-- The released cases that no earlier release of the series has, in their leaves: unit, leaf.
-- region_stratum(group_no, stratum) is composed.
SELECT DISTINCT c.case_no AS unit, s.node AS leaf
FROM temp.main.srsql_identity AS i
INNER JOIN temp.main.srsql_case_report AS c ON i.report_id = c.report_id
INNER JOIN temp.main.srsql_role AS r ON c.case_no = r.case_no
INNER JOIN region_stratum AS g ON i.group_no = g.group_no
INNER JOIN temp.main.srsql_pub_stratum AS s ON g.stratum = s.stratum
WHERE r.is_new;

-- name: held_item
-- What they hold, over all their reports: unit, attribute, term, sensitive.
-- report_item(report_id, attribute, term, sensitive) is composed.
SELECT DISTINCT u.unit, i.attribute, i.term, i.sensitive
FROM report_item AS i
INNER JOIN temp.main.srsql_case_report AS c ON i.report_id = c.report_id
INNER JOIN temp.main.srsql_counted_unit AS u ON c.case_no = u.unit;

-- name: counted_before
-- Cases that an earlier release of the series has, where no row tells which cases are new.
INSERT INTO temp.main.srsql_withheld
SELECT r.case_no, 'counted_before' AS reason
FROM temp.main.srsql_role AS r
ANTI JOIN temp.main.srsql_withheld AS w ON r.case_no = w.case_no
WHERE NOT r.is_new;

-- name: counted_elsewhere
-- Releases that are or were out and whose tables count some of the cases that $release_id counts,
-- other than this: quarter, series, cases. Those of another dataset count that has some file of
-- this one.
WITH
files AS (
    SELECT i.dataset, f.sha256
    FROM srsql.ingestion AS i
    INNER JOIN srsql.ingested_file AS f ON i.ingestion_id = f.ingestion_id
    WHERE f.records > 0
),

alike AS (
    SELECT o.dataset FROM srsql.release AS o WHERE o.release_id = $release_id
    UNION
    SELECT t.dataset
    FROM srsql.release AS o
    INNER JOIN files AS f ON o.dataset = f.dataset
    INNER JOIN files AS t ON f.sha256 = t.sha256
    WHERE o.release_id = $release_id
),

tabled AS (
    SELECT r.release_id, r.quarter, r.series
    FROM srsql.release AS r
    SEMI JOIN alike AS a ON r.dataset = a.dataset
    WHERE
        r.release_id <> $release_id
        AND r.status <> 'draft'
        AND (r.private_manifest ->> '$.table_k') IS NOT NULL
)

SELECT t.quarter, t.series, count(*) AS cases
FROM tabled AS t
INNER JOIN srsql.member AS m ON t.release_id = m.release_id AND m.is_new
INNER JOIN srsql.member AS own ON m.case_id = own.case_id AND own.is_new
WHERE own.release_id = $release_id
GROUP BY t.quarter, t.series
ORDER BY t.quarter, t.series;

-- name: told_thresholds
-- The thresholds of the sensitive values that counts tell.
UPDATE srsql.threshold SET released = true
WHERE
    release_id = $release_id
    AND term IN (
        SELECT i.term
        FROM temp.main.srsql_pub_item_count AS i
        INNER JOIN temp.main.srsql_held_item AS h
            ON i.attribute = h.attribute AND i.term = h.term
        WHERE h.sensitive
    );

-- name: release_counts
-- Whether a release tells items as counts, and has rows of cases beside them.
SELECT
    count(*) > 0 AS counts,
    bool_and((r.private_manifest ->> '$.rows_of_cases') IS NULL) AS with_rows
FROM srsql.release AS r
WHERE r.release_id = $release_id AND (r.private_manifest ->> '$.table_k') IS NOT NULL;

-- name: series_counts
-- Whether some release of a series tells items as counts, and these have rows of cases beside them.
SELECT
    count(*) > 0 AS counts,
    bool_and((r.private_manifest ->> '$.rows_of_cases') IS NULL) AS with_rows
FROM srsql.release AS r
WHERE
    r.dataset = $dataset
    AND r.series = $series
    AND (r.private_manifest ->> '$.table_k') IS NOT NULL;
