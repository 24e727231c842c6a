-- Step of an audit: the targets of a release without originals, scope = group. Every cell that the
-- other regions of a group's cases cut out of its region, combined with every kind of case in it.
-- A group that is safe whatever the target is one cell: its region. Reads the tables of
-- audit/steps/release.sql.

CREATE OR REPLACE TEMP TABLE srsql_audit_leaf AS
SELECT a.position + 1 AS position, n.pre AS leaf
FROM srsql.release AS own
INNER JOIN srsql.attribute AS a ON own.release_id = a.release_id AND a.kind = 'categorical'
INNER JOIN srsql.node AS n
    ON own.dataset = n.dataset AND a.attribute = n.attribute AND n.pre = n.last
WHERE own.release_id = $release_id::INTEGER;

CREATE OR REPLACE TEMP TABLE srsql_audit_sort AS
SELECT DISTINCT
    m.group_id,
    $l::BOOLEAN AND NOT m.old AS is_new,
    $md::BOOLEAN AND NOT m.goes_on AS stopped,
    m.goes_on,
    m.came
FROM temp.main.srsql_audit_member AS m;

CREATE OR REPLACE TEMP TABLE srsql_audit_certain AS
WITH
loose AS (
    SELECT m.group_id, count(*) AS cases
    FROM temp.main.srsql_audit_member AS m
    INNER JOIN temp.main.srsql_audit_crowd AS g ON m.group_id = g.group_id
    WHERE
        NOT (m.l OR m.md)
        AND NOT (srsql.covers(m.earlier, g.box) AND srsql.covers(m.later, g.box))
    GROUP BY m.group_id
),

cores AS (
    SELECT
        g.group_id,
        srsql.kept(g.cases, g.of_l, g.of_md, g.of_both, true, true)
        - coalesce(o.cases, 0) AS core
    FROM temp.main.srsql_audit_crowd AS g
    LEFT JOIN loose AS o ON g.group_id = o.group_id
),

doubts AS (
    SELECT DISTINCT w.group_id
    FROM temp.main.srsql_audit_load AS w
    INNER JOIN temp.main.srsql_audit_bound AS b ON w.term_no = b.term_no
    INNER JOIN cores AS c ON w.group_id = c.group_id
    WHERE srsql.exceeds(w.weight, b.theta_num, b.theta_den, c.core, $weight_scale::BIGINT)
)

SELECT c.group_id
FROM cores AS c
ANTI JOIN doubts AS d ON c.group_id = d.group_id
WHERE c.core >= $k::INTEGER;

CREATE OR REPLACE TEMP TABLE srsql_audit_cut_box AS
SELECT m.group_id AS cut_key, unnest([m.earlier, m.later]) AS box
FROM temp.main.srsql_audit_member AS m
ANTI JOIN temp.main.srsql_audit_certain AS c ON m.group_id = c.group_id
WHERE m.earlier IS NOT NULL OR m.later IS NOT NULL;

CREATE OR REPLACE TEMP TABLE srsql_audit_cut AS
SELECT c.* FROM srsql.box_cuts('temp.main.srsql_audit_cut_box') AS c;

CREATE OR REPLACE TEMP TABLE srsql_audit_whole AS
SELECT g.group_id AS region_key, g.group_id AS cut_key, g.box
FROM temp.main.srsql_audit_crowd AS g
ANTI JOIN temp.main.srsql_audit_certain AS c ON g.group_id = c.group_id;

CREATE OR REPLACE TEMP TABLE srsql_audit_target AS
WITH cells AS (
    SELECT c.region_key AS group_id, c.box
    FROM srsql.elementary_cells(
        'temp.main.srsql_audit_whole', 'temp.main.srsql_audit_cut', 'temp.main.srsql_audit_leaf'
    ) AS c
    UNION ALL
    SELECT g.group_id, g.box
    FROM temp.main.srsql_audit_crowd AS g
    SEMI JOIN temp.main.srsql_audit_certain AS c ON g.group_id = c.group_id
)

SELECT
    row_number() OVER (
        ORDER BY c.group_id, c.box, s.is_new, s.stopped, s.goes_on, s.came
    )::INTEGER AS target_no,
    c.group_id,
    c.box,
    s.is_new,
    s.stopped,
    s.goes_on,
    s.came,
    NULL::INTEGER AS case_no,
    1 AS cases,
    true AS inside
FROM cells AS c
INNER JOIN temp.main.srsql_audit_sort AS s ON c.group_id = s.group_id;
