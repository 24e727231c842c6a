-- Step of an audit: the targets of one release, from the raw quasi-identifiers. Cases of a group
-- that an attacker's questions cannot tell apart are one target, case_no the least of them; each
-- stands for its own group (srsql_audit_home). No released value tells targets apart by what was
-- perturbed. Reads the tables of audit/steps/release.sql.

CREATE OR REPLACE TEMP TABLE srsql_audit_target AS
WITH
raw AS (
    SELECT
        m.case_no,
        flatten(
            list(srsql.box_part(q.low, q.high, a.root_low, a.root_high) ORDER BY a.position)
        ) AS box
    FROM temp.main.srsql_audit_member AS m
    INNER JOIN temp.main.srsql_audit_axis AS a ON a.release_id = $release_id::INTEGER
    LEFT JOIN srsql.case_qid AS q
        ON
            $release_id::INTEGER = q.release_id
            AND m.case_no = q.case_no
            AND a.position = q.position
            AND NOT a.perturbed
    GROUP BY m.case_no
),

classes AS (
    SELECT
        m.group_id,
        r.box,
        $l::BOOLEAN AND NOT m.old AS is_new,
        $md::BOOLEAN AND NOT m.goes_on AS stopped,
        m.goes_on,
        m.came,
        min(m.case_no) AS case_no,
        count(*) AS cases
    FROM temp.main.srsql_audit_member AS m
    INNER JOIN raw AS r ON m.case_no = r.case_no
    GROUP BY m.group_id, r.box, is_new, stopped, m.goes_on, m.came
)

SELECT
    row_number() OVER (ORDER BY c.case_no)::INTEGER AS target_no,
    c.*,
    srsql.covers(g.box, c.box) AS inside
FROM classes AS c
INNER JOIN temp.main.srsql_audit_crowd AS g ON c.group_id = g.group_id;

CREATE OR REPLACE TEMP TABLE srsql_audit_home AS
SELECT DISTINCT t.group_id AS home, t.group_id, t.is_new, t.stopped
FROM temp.main.srsql_audit_target AS t;
