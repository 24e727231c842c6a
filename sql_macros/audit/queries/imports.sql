-- The statements of an import of somebody else's release, beside the steps import_*.sql.
-- Source: SPEC section 6 (import-release) and section 9.

-- name: first_fault
-- The first row of a table (line, fault) that has a fault, and how many faults there are.
SELECT
    p.line,
    p.fault,
    count(*) OVER () AS faults
FROM temp.main.srsql_row AS p
WHERE p.fault IS NOT NULL
ORDER BY p.line, p.fault
LIMIT 1;

-- name: first_contradiction
-- The first row that contradicts another one, and how many do: a case has one region and one group,
-- and a group has one region.
SELECT
    p.line,
    CASE
        WHEN p.ends <> f.ends
            THEN concat('case ', p.case_id, ' is in two regions (the other in line ', f.line, ')')
        WHEN p.key <> f.key
            THEN concat('case ', p.case_id, ' is in two groups (the other in line ', f.line, ')')
        ELSE
            concat('group ', p.group_label, ' has two regions (the other in line ', g.line, ')')
    END AS fault,
    count(*) OVER () AS faults
FROM temp.main.srsql_foreign_place AS p
INNER JOIN temp.main.srsql_foreign_place AS f ON p.case_line = f.line
INNER JOIN temp.main.srsql_foreign_place AS g ON p.group_line = g.line
WHERE p.ends <> f.ends OR p.key <> f.key OR p.ends <> g.ends
ORDER BY p.line, fault
LIMIT 1;

-- name: first_case_without_original
-- The first released case that has no raw record, and how many have none.
SELECT
    p.line,
    concat('case ', p.case_id, ' is not among the originals') AS fault,
    count(*) OVER () AS faults
FROM temp.main.srsql_foreign_place AS p
ANTI JOIN temp.main.srsql_original_row AS r ON p.case_id = r.case_id
WHERE p.line = p.case_line
ORDER BY p.line, fault
LIMIT 1;

-- name: numbers_of_column
-- Of the known texts in field $place of the records that are no wildcard: how many there are, how
-- many are no number and no interval, and the most digits behind a point.
SELECT
    count(*) AS known,
    count(*) FILTER (WHERE NOT regexp_full_match(t.text, $interval)) AS others,
    max(
        list_max(
            list_transform(
                regexp_extract_all(t.text, '[.]([0-9]+)', 1), LAMBDA digits: length(digits)
            )
        )
    ) AS decimals
FROM (
    SELECT trim(list_extract(r.field, $place), $space) AS text
    FROM temp.main.srsql_record AS r
    WHERE r.fault IS NULL
) AS t
WHERE t.text <> '' AND NOT list_contains($wildcards, upper(t.text));

-- name: values_of_column
-- The different texts of the same, at most $most of them.
SELECT DISTINCT t.text
FROM (
    SELECT trim(list_extract(r.field, $place), $space) AS text
    FROM temp.main.srsql_record AS r
    WHERE r.fault IS NULL
) AS t
WHERE t.text <> '' AND NOT list_contains($wildcards, upper(t.text))
ORDER BY t.text
LIMIT $most;

-- name: number_of_rows
-- How many rows of the period were read.
SELECT count(*) AS number_of_rows FROM temp.main.srsql_row;

-- name: standing_import
-- The release of the quarter that stands in the series, and its private manifest.
SELECT
    r.release_id,
    r.private_manifest
FROM srsql.release AS r
WHERE
    r.dataset = $dataset
    AND r.series = $series
    AND r.quarter = $quarter
    AND r.status = 'released';

-- name: supersede
-- Let the standing release of the quarter be superseded.
UPDATE srsql.release
SET status = 'superseded'
WHERE dataset = $dataset AND series = $series AND quarter = $quarter AND status = 'released';

-- name: next_release_id
-- The number of the next release of the warehouse.
SELECT nextval('srsql.release_ids') AS release_id;

-- name: register
-- Register an imported release, of which neither k nor a threshold is known; its manifest follows.
INSERT INTO srsql.release
VALUES ($release_id, $dataset, $series, $quarter, $model, 'released', 0, 0, 1, '', NULL, '{}');

-- name: value_count_moments
-- Number of cases, sum and sum of squares of their numbers of values of one sensitive attribute.
WITH counts AS (
    SELECT p.case_no, count(t.term) AS terms
    FROM temp.main.srsql_foreign_place AS p
    LEFT JOIN temp.main.srsql_foreign_term AS t
        ON p.case_no = t.case_no AND t.attribute = $attribute
    WHERE p.line = p.case_line
    GROUP BY p.case_no
)

SELECT
    count(*) AS cases,
    sum(c.terms)::HUGEINT AS total,
    sum(c.terms * c.terms)::HUGEINT AS total_of_squares
FROM counts AS c;

-- name: store_ss_rule
-- Keep from how many values of an attribute a case is an ss case (Huang 2021, Definition 6).
INSERT INTO srsql.ss_rule VALUES ($release_id, $attribute, $mean, $sd, $cutoff, false);

-- name: counts
-- Cases, new cases, groups and ss cases of a release.
SELECT
    count(*) AS cases,
    count(*) FILTER (WHERE m.is_new) AS new_cases,
    count(DISTINCT m.group_id) AS groups,
    count(*) FILTER (WHERE t.is_ss) AS ss_cases
FROM srsql.member AS m
LEFT JOIN srsql.case_flag AS t ON m.release_id = t.release_id AND m.case_no = t.case_no
WHERE m.release_id = $release_id;

-- name: store_manifest
-- Write the private manifest of a release.
UPDATE srsql.release SET private_manifest = $manifest WHERE release_id = $release_id;

-- name: keep_counts
-- Keep the cells of a foreign table of counts.
INSERT INTO srsql.foreign_count
SELECT
    $release_id AS release_id,
    unnest($items::VARCHAR[][]) AS items,
    unnest($strata::VARCHAR[][]) AS strata,
    unnest($cases::BIGINT[]) AS cases;

-- name: counts_told
-- The cells of an imported table of counts.
SELECT c.items, c.strata, c.cases
FROM srsql.foreign_count AS c
WHERE c.release_id = $release_id;

-- name: keep_manifest
-- The manifest of an imported table of counts.
UPDATE srsql.release SET private_manifest = $manifest WHERE release_id = $release_id;

-- name: manifest
-- The manifest of an imported table of counts.
SELECT r.private_manifest FROM srsql.release AS r WHERE r.release_id = $release_id;

-- name: count_tables
-- The tables of counts that are or were out, of all series, and $release_id though it is not yet:
-- release_id, quarter, series, k (NULL: not told), whether it is foreign, version of the key of
-- terms.
SELECT
    r.release_id,
    r.quarter,
    r.series,
    (r.private_manifest ->> '$.table_k')::BIGINT AS k,
    (r.private_manifest -> '$.counts') IS NOT NULL AS is_foreign,
    coalesce(
        (SELECT max(v.version) FROM srsql.release_key AS v WHERE v.release_id = r.release_id), 0
    ) AS version
FROM srsql.release AS r
WHERE
    r.dataset = $dataset
    AND ($quarter IS NULL OR r.quarter = $quarter)
    AND (r.status <> 'draft' OR r.release_id = $release_id)
    AND (
        (r.private_manifest ->> '$.table_k') IS NOT NULL
        OR (r.private_manifest -> '$.counts') IS NOT NULL
        OR r.release_id = $release_id
    )
ORDER BY r.quarter, r.release_id;

-- name: imported_counts
-- The imported tables of counts of a series, superseded ones too: release_id, quarter, status.
SELECT r.release_id, r.quarter, r.status
FROM srsql.release AS r
WHERE
    r.dataset = $dataset
    AND r.series = $series
    AND ($quarter IS NULL OR r.quarter = $quarter)
ORDER BY r.quarter, r.release_id;

-- name: root_labels
-- attribute, label of the root of its hierarchy.
SELECT n.attribute, n.node
FROM srsql.node AS n
WHERE n.dataset = $dataset AND n.parent IS NULL;
