-- Step: the targets of a release ($release_id) of which nobody tells the raw quasi-identifiers, at
--   scope = match. As soon as some place is unsafe, every place is cut by all regions of the
--   release and all other regions of the cases in it. $l, $md: as in audit/steps/targets.sql.
-- Reads: audit_place(place_no, box, unsafe, ...), audit_kind(earlier, later, ...),
--   audit_member(group_id, old, in_next_quarter), audit_group_size(group_id, place_no),
--   srsql.release, srsql.attribute, srsql.node
-- Writes: audit_target(target_no, group_id, box, is_new, stopped, in_next_quarter,
--   in_previous_quarter, case_no, cases, inside, groups)
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

known_region AS MATERIALIZED (
    SELECT 0 AS cut_key, p.box FROM temp.main.srsql_audit_place AS p
    UNION
    SELECT 0 AS cut_key, k.earlier FROM temp.main.srsql_audit_kind AS k
    UNION
    SELECT 0 AS cut_key, k.later FROM temp.main.srsql_audit_kind AS k
),

region_cut AS MATERIALIZED (
    SELECT c.* FROM srsql.box_cuts('known_region') AS c
),

open_region AS MATERIALIZED (
    SELECT p.place_no AS region_key, 0 AS cut_key, p.box
    FROM temp.main.srsql_audit_place AS p
    WHERE EXISTS (SELECT 1 FROM temp.main.srsql_audit_place AS u WHERE u.unsafe)
),

cells AS (
    SELECT c.region_key AS place_no, c.box
    FROM srsql.elementary_cells('open_region', 'region_cut', 'leaf_node') AS c
),

group_kinds AS (
    SELECT DISTINCT
        g.place_no,
        m.group_id,
        $l::BOOLEAN AND NOT m.old AS is_new,
        $md::BOOLEAN AND NOT m.in_next_quarter AS stopped
    FROM temp.main.srsql_audit_member AS m
    INNER JOIN temp.main.srsql_audit_group_size AS g ON m.group_id = g.group_id
),

place_kinds AS (
    SELECT s.place_no, s.is_new, s.stopped, list(s.group_id) AS groups
    FROM group_kinds AS s
    GROUP BY s.place_no, s.is_new, s.stopped
)

-- Targets of a place stand for the groups there that have a case of their kind.
SELECT
    row_number() OVER (ORDER BY s.place_no, c.box, s.is_new, s.stopped)::INTEGER AS target_no,
    s.place_no AS group_id,
    c.box,
    s.is_new,
    s.stopped,
    false AS in_next_quarter,
    false AS in_previous_quarter,
    NULL::INTEGER AS case_no,
    1 AS cases,
    true AS inside,
    s.groups
FROM cells AS c
INNER JOIN place_kinds AS s ON c.place_no = s.place_no;
