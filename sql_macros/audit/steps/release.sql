-- Step of an audit: the cases and groups of one release. Reads the tables of
-- audit/steps/series.sql, srsql_audit_run(release_id, newest, b, f, l, md, ss, alpha_num,
-- alpha_den, k, weight_scale): one row, the attacks as they are evaluated; srsql_audit_theta(term_no,
-- theta_num, theta_den); srsql_audit_next(case_id): the quarter after the newest one, as far as it
-- is known.

-- l: ruled out for a new target; md: for one that stopped.
CREATE OR REPLACE TEMP TABLE srsql_audit_member AS
SELECT
    m.case_no,
    m.case_id,
    m.group_id,
    coalesce(h.old, false) AS old,
    coalesce(h.goes_on, false) OR x.case_id IS NOT NULL AS goes_on,
    coalesce(h.came, false) AS came,
    $l::BOOLEAN AND coalesce(h.old, false) AS l,
    $md::BOOLEAN AND (coalesce(h.goes_on, false) OR x.case_id IS NOT NULL) AS md,
    CASE WHEN $b::BOOLEAN THEN h.earlier END AS earlier,
    CASE WHEN $f::BOOLEAN THEN h.later END AS later,
    coalesce(h.bounds_all, true) AS bounds_all,
    coalesce(h.bounds_earliest, true) AS bounds_earliest,
    coalesce(t.is_ss, false) AS is_ss
FROM srsql.member AS m
LEFT JOIN temp.main.srsql_audit_history AS h
    ON m.release_id = h.release_id AND m.case_no = h.case_no
LEFT JOIN temp.main.srsql_audit_next AS x ON $newest::BOOLEAN AND m.case_id = x.case_id
LEFT JOIN srsql.case_flag AS t ON m.release_id = t.release_id AND m.case_no = t.case_no
WHERE m.release_id = $release_id::INTEGER;

CREATE OR REPLACE TEMP TABLE srsql_audit_crowd AS
SELECT
    m.group_id,
    any_value(g.box) AS box,
    count(*) AS cases,
    count(*) FILTER (WHERE m.l) AS of_l,
    count(*) FILTER (WHERE m.md) AS of_md,
    count(*) FILTER (WHERE m.l AND m.md) AS of_both,
    count(*) FILTER (WHERE m.goes_on) AS next_cases,
    count(*) FILTER (WHERE m.goes_on AND m.l) AS next_l,
    count(*) FILTER (WHERE m.came) AS came_cases,
    count(*) FILTER (WHERE m.came AND m.md) AS came_md
FROM temp.main.srsql_audit_member AS m
INNER JOIN temp.main.srsql_audit_region AS g
    ON m.group_id = g.group_id AND $release_id::INTEGER = g.release_id
GROUP BY m.group_id;

-- Values that can exceed their threshold; ss cases count as holders of the value -1.
CREATE OR REPLACE TEMP TABLE srsql_audit_bound AS
SELECT t.term_no, t.theta_num, t.theta_den
FROM temp.main.srsql_audit_theta AS t
WHERE t.theta_num < t.theta_den
UNION ALL
SELECT -1 AS term_no, $alpha_num::BIGINT AS alpha_num, $alpha_den::BIGINT AS alpha_den
WHERE $ss::BOOLEAN AND $alpha_num::BIGINT < $alpha_den::BIGINT;

CREATE OR REPLACE TEMP TABLE srsql_audit_held AS
SELECT c.case_no, c.term_no, c.weight
FROM srsql.case_term AS c
SEMI JOIN temp.main.srsql_audit_bound AS b ON c.term_no = b.term_no
WHERE c.release_id = $release_id::INTEGER
UNION ALL
SELECT m.case_no, -1 AS term_no, $weight_scale::BIGINT AS weight_scale
FROM temp.main.srsql_audit_member AS m
WHERE m.is_ss AND $ss::BOOLEAN;

CREATE OR REPLACE TEMP TABLE srsql_audit_load AS
SELECT
    m.group_id,
    h.term_no,
    sum(h.weight)::HUGEINT AS weight,
    coalesce(sum(h.weight) FILTER (WHERE m.l), 0)::HUGEINT AS of_l,
    coalesce(sum(h.weight) FILTER (WHERE m.md), 0)::HUGEINT AS of_md,
    coalesce(sum(h.weight) FILTER (WHERE m.l AND m.md), 0)::HUGEINT AS of_both
FROM temp.main.srsql_audit_held AS h
INNER JOIN temp.main.srsql_audit_member AS m ON h.case_no = m.case_no
GROUP BY m.group_id, h.term_no;
