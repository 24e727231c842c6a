-- What an audit reads of the catalog before it begins, and the tables that it begins with.

-- name: releases_of_series
-- The releases that an attacker has, in order, with $draft and without $without, of $held alone
-- (NULL: any); what each of them is judged by, and whether it is a correction by whole groups.
SELECT
    r.release_id,
    r.quarter,
    r.model,
    r.status,
    r.k,
    r.weight_scale,
    p.attacks,
    p.alpha_num,
    p.alpha_den,
    r.release_id IN (SELECT c.release_id FROM srsql.correction AS c WHERE NOT c.keep_remainder)
        AS takes_whole_groups
FROM srsql.release AS r
LEFT JOIN srsql.defended_attack AS p ON r.release_id = p.release_id
WHERE
    r.dataset = $dataset
    AND r.series = $series
    AND r.release_id IN (
        SELECT e.release_id FROM srsql.exposed_release AS e
        UNION ALL
        SELECT $draft
    )
    AND r.release_id IS DISTINCT FROM $without
    AND ($held::INTEGER[] IS NULL OR list_contains($held::INTEGER[], r.release_id))
ORDER BY r.quarter, r.release_id;

-- name: known_facts
-- Of a release: whether raw quasi-identifiers of its cases are known, and whether ss cases are; how
-- many of its terms have no known threshold, as in somebody else's release; and how many rows of it
-- somebody declared suppressed. Asked release by release, so that no more than its first rows are
-- read.
SELECT
    EXISTS (SELECT 1 FROM srsql.case_qid AS q WHERE q.release_id = $release_id)
    OR NOT EXISTS (SELECT 1 FROM srsql.member AS m WHERE m.release_id = $release_id)
        AS knows_originals,
    EXISTS (SELECT 1 FROM srsql.case_flag AS t WHERE t.release_id = $release_id)
    OR NOT EXISTS (SELECT 1 FROM srsql.member AS m WHERE m.release_id = $release_id)
        AS knows_ss_cases,
    (
        SELECT count(*)
        FROM srsql.threshold AS t
        WHERE t.release_id = $release_id AND t.theta_den = 0
    ) AS unknown_thresholds,
    (
        SELECT coalesce(json_value(r.private_manifest, '$.reports.suppressed')::BIGINT, 0)
        FROM srsql.release AS r
        WHERE r.release_id = $release_id
    ) AS suppressed;

-- name: terms_without_threshold
-- How many terms that cases of a release have are not among its thresholds.
WITH without_threshold AS (
    SELECT DISTINCT c.term_no FROM srsql.case_term AS c WHERE c.release_id = $release_id
    EXCEPT
    SELECT t.term_no FROM srsql.threshold AS t WHERE t.release_id = $release_id
)

SELECT count(*) AS terms FROM without_threshold;

-- name: create_terms
-- The terms of a release, for a policy that gives them thresholds.
CREATE OR REPLACE TEMP TABLE srsql_term AS
SELECT t.term_no, t.term, t.cases
FROM srsql.threshold AS t
WHERE t.release_id = $release_id;

-- name: create_bounds
-- What is bounded: values that can exceed their thresholds; the share of ss cases is that of the
-- value -1.
CREATE OR REPLACE TEMP TABLE srsql_audit_bound AS
SELECT
    -1 AS term_no,
    $alpha_num::BIGINT AS theta_num,
    $alpha_den::BIGINT AS theta_den
WHERE $ss::BOOLEAN AND $alpha_num::BIGINT < $alpha_den::BIGINT;

-- name: add_bounds_of_release
-- Values by the thresholds of the release.
INSERT INTO temp.main.srsql_audit_bound
SELECT t.term_no, t.theta_num, t.theta_den
FROM srsql.threshold AS t
WHERE t.release_id = $release_id AND t.theta_num < t.theta_den;

-- name: add_bounds_of_policy
-- Values by the thresholds that a policy gives.
INSERT INTO temp.main.srsql_audit_bound
SELECT t.term_no, t.theta_num, t.theta_den
FROM temp.main.srsql_theta AS t
WHERE t.theta_num < t.theta_den;

-- name: temporary_tables
-- The temporary tables of an audit.
SELECT t.table_name
FROM duckdb_tables() AS t
WHERE t.temporary AND starts_with(t.table_name, 'srsql_audit_');

-- name: box_positions
-- The positions of the boxes of a release, in their order.
WITH own_release AS (
    SELECT $release_id::INTEGER AS release_id
)

SELECT a.position, a.root_low, a.root_high, a.perturbed
FROM srsql.box_positions('own_release') AS a
ORDER BY a.position;
