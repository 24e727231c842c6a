-- Step: the targets of a release whose cases' raw quasi-identifiers are known. Cases of a group
--   that an attacker's questions cannot tell apart are one target, case_no the least of them. A
--   forgotten case, of which there is no box, is a candidate but no target. $l, $md: whether the
--   attacker knows that a target is new, that it stopped.
--   A target that its own other regions rule out is self_excluded; where only a window of
--   persistence is asked ($side), it is none (docs/decisions.md, D286).
-- Reads: audit_member(case_no, group_id, old, in_next_quarter, in_previous_quarter, earlier,
--   later), audit_raw(case_no, box), audit_group_size(group_id, box)
-- Writes: audit_target(target_no, group_id, box, is_new, stopped, in_next_quarter,
--   in_previous_quarter, case_no, cases, inside, groups)
-- Source: Huang 2021, Definitions 1 to 5; SPEC section 9.

CREATE OR REPLACE TEMP TABLE srsql_audit_target AS
WITH classes AS (
    SELECT
        m.group_id,
        r.box,
        $l::BOOLEAN AND NOT m.old AS is_new,
        $md::BOOLEAN AND NOT m.in_next_quarter AS stopped,
        m.in_next_quarter,
        m.in_previous_quarter,
        min(m.case_no) AS case_no,
        count(*) AS cases
    FROM temp.main.srsql_audit_member AS m
    INNER JOIN temp.main.srsql_audit_raw AS r ON m.case_no = r.case_no
    WHERE
        $side::VARCHAR IS NULL
        OR NOT (srsql.exclusion_b(m.earlier, r.box) OR srsql.exclusion_f(m.later, r.box))
    GROUP BY m.group_id, r.box, is_new, stopped, m.in_next_quarter, m.in_previous_quarter
)

-- groups: those that the target stands for.
SELECT
    row_number() OVER (ORDER BY c.case_no)::INTEGER AS target_no,
    c.*,
    srsql.covers(g.box, c.box) AS inside,
    [c.group_id] AS groups
FROM classes AS c
INNER JOIN temp.main.srsql_audit_group_size AS g ON c.group_id = g.group_id;
