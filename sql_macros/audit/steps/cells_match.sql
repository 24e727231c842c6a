-- Step of an audit: the targets of a release without originals, scope = match. As soon as some
-- place is unsafe, every place is cut by all regions of the release and all other regions of the
-- cases in it. Reads the tables of audit/steps/cells.sql and audit/steps/places.sql.

CREATE OR REPLACE TEMP TABLE srsql_audit_cut_box AS
SELECT 0 AS cut_key, p.box FROM temp.main.srsql_audit_place AS p
UNION
SELECT 0 AS cut_key, k.earlier FROM temp.main.srsql_audit_kind AS k
UNION
SELECT 0 AS cut_key, k.later FROM temp.main.srsql_audit_kind AS k;

CREATE OR REPLACE TEMP TABLE srsql_audit_cut AS
SELECT c.* FROM srsql.box_cuts('temp.main.srsql_audit_cut_box') AS c;

CREATE OR REPLACE TEMP TABLE srsql_audit_cut_region AS
SELECT p.place_no AS region_key, 0 AS cut_key, p.box
FROM temp.main.srsql_audit_place AS p
WHERE EXISTS (SELECT 1 FROM temp.main.srsql_audit_unsafe);

-- Targets of a place stand for the groups there that have a case of their kind.
CREATE OR REPLACE TEMP TABLE srsql_audit_home AS
SELECT DISTINCT p.place_no AS home, s.group_id, s.is_new, s.stopped
FROM temp.main.srsql_audit_group_kind AS s
INNER JOIN temp.main.srsql_audit_group_size AS g ON s.group_id = g.group_id
INNER JOIN temp.main.srsql_audit_place AS p ON g.box = p.box;

CREATE OR REPLACE TEMP TABLE srsql_audit_target AS
WITH
audit_cell AS MATERIALIZED (
    SELECT c.region_key AS place_no, c.box
    FROM srsql.elementary_cells(
        'temp.main.srsql_audit_cut_region',
        'temp.main.srsql_audit_cut',
        'temp.main.srsql_audit_leaf'
    ) AS c
),

sorts AS (
    SELECT DISTINCT h.home, h.is_new, h.stopped FROM temp.main.srsql_audit_home AS h
)

SELECT
    row_number() OVER (ORDER BY s.home, c.box, s.is_new, s.stopped)::INTEGER AS target_no,
    s.home AS group_id,
    c.box,
    s.is_new,
    s.stopped,
    false AS in_next_quarter,
    false AS in_previous_quarter,
    NULL::INTEGER AS case_no,
    1 AS cases,
    true AS inside
FROM audit_cell AS c
INNER JOIN sorts AS s ON c.place_no = s.home;
