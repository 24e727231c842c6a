-- Step: the targets of a release ($release_id) of which nobody tells the raw quasi-identifiers, at
--   scope = group: every cell that the other regions of a group's cases cut out of its region,
--   combined with every kind of case in it. A group that is safe whatever the target is one cell,
--   its region. $k, $weight_scale: bounds as in audit/steps/release.sql; $l, $md: as in
--   audit/steps/targets.sql.
-- Reads: audit_member(group_id, old, earlier, later, l, md, steady, ...),
--   audit_group_size(group_id, box, ...), audit_group_term_weight(group_id, term_no, weight, ...),
--   audit_bound(term_no, theta_num, theta_den), srsql.release, srsql.attribute, srsql.node
-- Writes: audit_target(target_no, group_id, box, is_new, stopped, in_next_quarter,
--   in_previous_quarter, case_no, cases, inside)
-- Source: SPEC section 9 (an audit without original QIDs).

CREATE OR REPLACE TEMP TABLE srsql_audit_target AS
WITH
leaf_node AS MATERIALIZED (
    SELECT a.position + 1 AS position, n.pre AS leaf
    FROM srsql.release AS own
    INNER JOIN srsql.attribute AS a ON own.release_id = a.release_id AND a.kind = 'categorical'
    INNER JOIN srsql.node AS n
        ON own.dataset = n.dataset AND a.attribute = n.attribute AND n.pre = n.last
    WHERE own.release_id = $release_id::INTEGER
),

kinds AS (
    SELECT DISTINCT
        m.group_id,
        $l::BOOLEAN AND NOT m.old AS is_new,
        $md::BOOLEAN AND NOT m.in_next_quarter AS stopped,
        m.in_next_quarter,
        m.in_previous_quarter
    FROM temp.main.srsql_audit_member AS m
),

loose AS (
    SELECT m.group_id, count(*) AS cases
    FROM temp.main.srsql_audit_member AS m
    WHERE NOT (m.l OR m.md OR m.steady)
    GROUP BY m.group_id
),

cores AS MATERIALIZED (
    SELECT
        g.group_id,
        g.box,
        srsql.remaining_after_l_md(g.cases, g.of_l, g.of_md, g.of_both, true, true)
        - coalesce(o.cases, 0) AS core
    FROM temp.main.srsql_audit_group_size AS g
    LEFT JOIN loose AS o ON g.group_id = o.group_id
),

doubts AS (
    SELECT DISTINCT w.group_id
    FROM temp.main.srsql_audit_group_term_weight AS w
    INNER JOIN temp.main.srsql_audit_bound AS b ON w.term_no = b.term_no
    INNER JOIN cores AS c ON w.group_id = c.group_id
    WHERE srsql.exceeds(w.weight, b.theta_num, b.theta_den, c.core, $weight_scale::BIGINT)
),

judged AS MATERIALIZED (
    SELECT
        c.group_id,
        c.box,
        c.core >= $k::INTEGER AND d.group_id IS NULL AS certain
    FROM cores AS c
    LEFT JOIN doubts AS d ON c.group_id = d.group_id
),

open_region AS MATERIALIZED (
    SELECT j.group_id AS region_key, j.group_id AS cut_key, j.box
    FROM judged AS j
    WHERE NOT j.certain
),

other_region AS MATERIALIZED (
    SELECT m.group_id AS cut_key, unnest([m.earlier, m.later]) AS box
    FROM temp.main.srsql_audit_member AS m
    SEMI JOIN open_region AS r ON m.group_id = r.cut_key
    WHERE m.earlier IS NOT NULL OR m.later IS NOT NULL
),

region_cut AS MATERIALIZED (
    SELECT c.* FROM srsql.box_cuts('other_region') AS c
),

cells AS (
    SELECT c.region_key AS group_id, c.box
    FROM srsql.elementary_cells('open_region', 'region_cut', 'leaf_node') AS c
    UNION ALL
    SELECT j.group_id, j.box
    FROM judged AS j
    WHERE j.certain
)

SELECT
    row_number() OVER (
        ORDER BY c.group_id, c.box, s.is_new, s.stopped, s.in_next_quarter, s.in_previous_quarter
    )::INTEGER AS target_no,
    c.group_id,
    c.box,
    s.is_new,
    s.stopped,
    s.in_next_quarter,
    s.in_previous_quarter,
    NULL::INTEGER AS case_no,
    1 AS cases,
    true AS inside
FROM cells AS c
INNER JOIN kinds AS s ON c.group_id = s.group_id;
