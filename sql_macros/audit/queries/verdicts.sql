-- The verdicts that releases keep: what a new one changes of them, and what they are.

-- name: create_no_part
-- Every release is audited whole.
CREATE OR REPLACE TEMP TABLE srsql_audit_part (
    release_id INTEGER, group_id INTEGER, group_no INTEGER
);

-- name: create_part
-- The groups of $release_ids whose verdicts a new release can change: those that hold a case of it
-- whose region there does not cover theirs, and, of the period just before it ($adjacent), all that
-- hold one of its cases.
CREATE OR REPLACE TEMP TABLE srsql_audit_part AS
WITH asked AS (
    SELECT
        unnest($release_ids::INTEGER[]) AS release_id,
        unnest($adjacent::BOOLEAN[]) AS adjacent
)

SELECT
    s.release_id,
    s.group_id,
    row_number() OVER (ORDER BY s.release_id, s.group_id)::INTEGER AS group_no
FROM temp.main.srsql_audit_shared AS s
INNER JOIN asked AS r ON s.release_id = r.release_id
WHERE r.adjacent OR NOT s.covered;

-- name: part_releases
-- The releases of which groups are in the part.
SELECT DISTINCT p.release_id FROM temp.main.srsql_audit_part AS p ORDER BY p.release_id;

-- name: sharing_releases
-- The releases that share a case with the new one.
SELECT DISTINCT s.release_id FROM temp.main.srsql_audit_shared AS s ORDER BY s.release_id;

-- name: create_uncertain
-- The groups that do not keep k and every threshold by themselves.
CREATE OR REPLACE TEMP TABLE srsql_audit_uncertain AS
SELECT u.group_id
FROM srsql.uncertain_groups(
    'temp.main.srsql_audit_member',
    'temp.main.srsql_audit_group_size',
    'temp.main.srsql_audit_group_term_weight',
    'temp.main.srsql_audit_bound',
    $l::BOOLEAN,
    $md::BOOLEAN,
    $k::INTEGER,
    $weight_scale::BIGINT
) AS u;

-- name: doubtful_releases
-- The releases of the part with a group that is in danger, P aside, or uncertain.
SELECT DISTINCT p.release_id
FROM temp.main.srsql_audit_part AS p
WHERE
    p.group_no IN (
        SELECT d.group_id FROM temp.main.srsql_audit_dangerous AS d WHERE d.dig OR d.dsg OR d.ssg
        UNION ALL
        SELECT u.group_id FROM temp.main.srsql_audit_uncertain AS u
    )
ORDER BY p.release_id;

-- name: drop_part
-- What was kept of the groups of the part that are of $release_ids.
DELETE FROM srsql.verdict_group AS v
WHERE
    v.scope = 'group'
    AND v.release_id IN (SELECT unnest($release_ids::INTEGER[]))
    AND EXISTS (
        SELECT 1
        FROM temp.main.srsql_audit_part AS p
        WHERE p.release_id = v.release_id AND p.group_id = v.group_id
    );

-- name: keep_part
-- What is true of them now.
INSERT INTO srsql.verdict_group
SELECT p.release_id, 'group', p.group_id, d.dig, d.dsg, d.ssg, d.persistent, false
FROM temp.main.srsql_audit_part AS p
INNER JOIN temp.main.srsql_audit_dangerous AS d ON p.group_no = d.group_id
WHERE p.release_id IN (SELECT unnest($release_ids::INTEGER[]))
ORDER BY p.release_id, p.group_id;

-- name: keep_series
-- The other releases of $release_ids are as they were for an attacker who had $had; now he has
-- $has.
UPDATE srsql.verdict AS v
SET attacker = $has::INTEGER[]
WHERE v.attacker = $had::INTEGER[] AND v.release_id IN (SELECT unnest($release_ids::INTEGER[]));

-- name: drop_groups
-- The groups that are kept of a release at a scope go.
DELETE FROM srsql.verdict_group AS v WHERE v.release_id = $release_id AND v.scope = $scope;

-- name: keep_dangerous
-- The groups of a release that are in danger at a scope.
INSERT INTO srsql.verdict_group
SELECT $release_id, $scope, d.group_id, d.dig, d.dsg, d.ssg, d.persistent, false
FROM temp.main.srsql_audit_dangerous AS d
ORDER BY d.group_id;

-- name: keep_uncertain
-- The groups of a release that are uncertain; one of them that is in danger has a row of its own.
INSERT INTO srsql.verdict_group
SELECT $release_id, $scope, u.group_id, false, false, false, false, true
FROM temp.main.srsql_audit_uncertain AS u
ORDER BY u.group_id;

-- name: drop_verdict
-- What is kept of a release goes.
DELETE FROM srsql.verdict AS v WHERE v.release_id = $release_id;

-- name: keep_verdict
-- The figures of a release at a scope.
INSERT INTO srsql.verdict
VALUES (
    $release_id, $scope, $attacker, $attacks, $groups, $outside, $qid_bounding,
    $qid_bounding_earliest, $internal, $erasure, $erasure_series
);

-- name: drop_verdicts
-- What is kept of the releases $release_ids goes.
DELETE FROM srsql.verdict AS v
WHERE v.release_id IN (SELECT unnest($release_ids::INTEGER[]));

-- name: drop_all_groups
-- What is kept of their groups goes as well.
DELETE FROM srsql.verdict_group AS v
WHERE v.release_id IN (SELECT unnest($release_ids::INTEGER[]));

-- name: kept
-- The verdicts of the releases $release_ids, with the numbers of their groups in danger.
WITH counted AS (
    SELECT
        g.release_id,
        g.scope,
        count(*) FILTER (WHERE g.dig) AS dig,
        count(*) FILTER (WHERE g.dsg) AS dsg,
        count(*) FILTER (WHERE g.ssg) AS ssg,
        count(*) FILTER (WHERE g.persistent) AS persistent,
        count(*) FILTER (WHERE g.uncertain) AS uncertain
    FROM srsql.verdict_group AS g
    WHERE g.release_id IN (SELECT unnest($release_ids::INTEGER[]))
    GROUP BY g.release_id, g.scope
)

SELECT
    v.release_id,
    v.scope,
    v.attacker,
    v.attacks,
    v.groups,
    coalesce(c.dig, 0) AS dig,
    coalesce(c.dsg, 0) AS dsg,
    coalesce(c.ssg, 0) AS ssg,
    coalesce(c.persistent, 0) AS persistent,
    coalesce(c.uncertain, 0) AS uncertain,
    v.outside,
    v.qid_bounding,
    v.qid_bounding_earliest,
    v.internal,
    v.erasure,
    v.erasure_series
FROM srsql.verdict AS v
LEFT JOIN counted AS c ON v.release_id = c.release_id AND v.scope = c.scope
WHERE v.release_id IN (SELECT unnest($release_ids::INTEGER[]))
ORDER BY v.release_id, v.scope;
