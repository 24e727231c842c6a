-- What an audit reads of the tables of its steps.

-- name: number_of_groups
-- How many groups the release has.
SELECT count(*) AS groups FROM temp.main.srsql_audit_group_size;

-- name: create_persistent
-- No window of persistence was evaluated yet.
CREATE OR REPLACE TEMP TABLE srsql_audit_persistent (
    scope VARCHAR, group_id INTEGER, dig BOOLEAN, dsg BOOLEAN, ssg BOOLEAN
);

-- name: create_dangerous
-- The groups in danger at the scope that was evaluated last; where $scope is given, those too that
-- some window of persistence puts in danger there.
CREATE OR REPLACE TEMP TABLE srsql_audit_dangerous AS
WITH
own AS (
    SELECT d.*
    FROM srsql.dangerous_groups(
        'temp.main.srsql_audit_sets', 'temp.main.srsql_audit_breach', $k::INTEGER
    ) AS d
),

windows AS (
    SELECT
        p.group_id,
        bool_or(p.dig) AS dig,
        bool_or(p.dsg) AS dsg,
        bool_or(p.ssg) AS ssg
    FROM temp.main.srsql_audit_persistent AS p
    WHERE p.scope = $scope::VARCHAR
    GROUP BY p.group_id
)

SELECT
    coalesce(d.group_id, w.group_id) AS group_id,
    coalesce(d.dig, false) OR coalesce(w.dig, false) AS dig,
    coalesce(d.dsg, false) OR coalesce(w.dsg, false) AS dsg,
    coalesce(d.ssg, false) OR coalesce(w.ssg, false) AS ssg,
    CASE
        WHEN $scope::VARCHAR IS NULL THEN coalesce(d.persistent, false)
        ELSE w.group_id IS NOT NULL
    END AS persistent
FROM own AS d
FULL OUTER JOIN windows AS w ON d.group_id = w.group_id;

-- name: create_dangerous_in_window
-- The groups in danger in the window of persistence that was evaluated last: somebody remains of
-- whom there are fewer than $k, or a value exceeds its threshold. Where nobody remains, there is
-- no target but one that its own values exclude.
CREATE OR REPLACE TEMP TABLE srsql_audit_dangerous AS
WITH somebody AS MATERIALIZED (
    SELECT s.* FROM temp.main.srsql_audit_sets AS s WHERE s.remaining > 0
)

SELECT d.*
FROM srsql.dangerous_groups('somebody', 'temp.main.srsql_audit_breach', $k::INTEGER) AS d
WHERE d.dig OR d.dsg OR d.ssg;

-- name: add_persistent
-- They are in danger under P at $scope.
INSERT INTO temp.main.srsql_audit_persistent
SELECT $scope, d.group_id, d.dig, d.dsg, d.ssg
FROM temp.main.srsql_audit_dangerous AS d;

-- name: self_excluded
-- How many cases their own other regions rule out, as targets of whom their own value is known.
SELECT count(*) AS cases
FROM temp.main.srsql_audit_member AS m
INNER JOIN temp.main.srsql_audit_raw AS r ON m.case_no = r.case_no
WHERE srsql.exclusion_b(m.earlier, r.box) OR srsql.exclusion_f(m.later, r.box);

-- name: shares
-- DIR, DSR and SSGR: name, dangerous groups, their share.
SELECT s.measure, s.violating, s.ratio
FROM srsql.dangerous_shares(
    'temp.main.srsql_audit_dangerous', $groups::INTEGER, $release_id::INTEGER, $scope
) AS s;

-- name: groups_in_danger
-- How many groups are in danger.
SELECT count(*) FILTER (WHERE d.dig OR d.dsg OR d.ssg) AS groups
FROM temp.main.srsql_audit_dangerous AS d;

-- name: persistent_groups
-- How many groups are in danger under P.
SELECT count(*) FILTER (WHERE d.persistent) AS groups
FROM temp.main.srsql_audit_dangerous AS d;

-- name: groups_with_breaches
-- How many groups have a value above its threshold at the scope that was evaluated last.
SELECT count(DISTINCT b.group_id) AS groups
FROM temp.main.srsql_audit_breach AS b
WHERE b.term_no >= 0;

-- name: cases_outside
-- How many cases have raw values that their region does not cover.
SELECT coalesce(sum(t.cases), 0) AS cases
FROM temp.main.srsql_audit_target AS t
WHERE NOT t.inside;

-- name: qid_bounding
-- How many old cases have a region that does not cover all earlier ones, and the earliest one.
SELECT
    count(*) FILTER (WHERE NOT m.bounds_all) AS cases,
    count(*) FILTER (WHERE NOT m.bounds_earliest) AS cases_of_earliest
FROM temp.main.srsql_audit_member AS m;

-- name: perturbed
-- The quasi-identifiers that the release shows drawn at random.
SELECT a.attribute
FROM srsql.perturbation AS p
INNER JOIN srsql.attribute AS a ON p.release_id = a.release_id AND p.position = a.position
WHERE p.release_id = $release_id
ORDER BY p.position;

-- name: internal_breaches
-- How many groups break k or theta before any attack.
SELECT count(*) AS groups
FROM srsql.internal_groups($release_id) AS i
WHERE i.carriers < $k OR i.breached;

-- name: leaving
-- What is left of the groups of each release of a series ($release_ids, of $quarters, $replaced by
-- a later version) to one who knows that the target left for good; $all_k: k of each. release_id,
-- and of the groups with such a case: those with fewer than k left, the cases in these, the fewest.
WITH
series_release AS MATERIALIZED (
    SELECT
        unnest($release_ids::INTEGER[]) AS release_id,
        unnest($quarters::VARCHAR[]) AS quarter,
        unnest($replaced::BOOLEAN[]) AS replaced,
        unnest($all_k::INTEGER[]) AS k
)

SELECT
    r.release_id,
    count(*) FILTER (WHERE g.remaining < r.k) AS in_danger,
    coalesce(sum(g.remaining) FILTER (WHERE g.remaining < r.k), 0)::BIGINT AS cases,
    min(g.remaining) AS fewest
FROM srsql.leaving_groups('series_release') AS g
INNER JOIN series_release AS r ON g.release_id = r.release_id
WHERE g.remaining > 0
GROUP BY r.release_id;
