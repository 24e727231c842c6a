-- What an audit reads of the tables of its steps.

-- name: number_of_groups
-- How many groups the release has.
SELECT count(*) AS groups FROM temp.main.srsql_audit_group_size;

-- name: create_dangerous
-- The groups in danger at the scope that was evaluated last.
CREATE OR REPLACE TEMP TABLE srsql_audit_dangerous AS
SELECT d.*
FROM srsql.dangerous_groups(
    'temp.main.srsql_audit_sets', 'temp.main.srsql_audit_breach', $k::INTEGER
) AS d;

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
