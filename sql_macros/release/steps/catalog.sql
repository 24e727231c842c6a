-- Step of a release: what the catalog keeps of it. Reads the temporary tables of the release and
-- srsql_role, srsql_ss_rule and srsql_run(unit, release_id).

INSERT INTO srsql.member
SELECT
    u.release_id,
    c.case_no,
    c.case_id::VARCHAR,
    g.group_no,
    c.reports,
    r.is_new
FROM temp.main.srsql_grouped AS g
INNER JOIN temp.main.srsql_case AS c ON g.case_no = c.case_no
INNER JOIN temp.main.srsql_role AS r ON g.case_no = r.case_no
CROSS JOIN temp.main.srsql_run AS u
ORDER BY c.case_no;

INSERT INTO srsql.case_flag
SELECT u.release_id, r.case_no, r.carrier, r.is_ss, r.is_md
FROM temp.main.srsql_grouped AS g
INNER JOIN temp.main.srsql_role AS r ON g.case_no = r.case_no
CROSS JOIN temp.main.srsql_run AS u
ORDER BY r.case_no;

INSERT INTO srsql.ss_rule
SELECT u.release_id, s.attribute, s.mean, s.sd, s.cutoff
FROM temp.main.srsql_ss_rule AS s
CROSS JOIN temp.main.srsql_run AS u
ORDER BY s.attribute;

INSERT INTO srsql.region
SELECT u.release_id, r.group_no, r.position, r.low, r.high
FROM temp.main.srsql_region AS r
CROSS JOIN temp.main.srsql_run AS u
ORDER BY r.group_no, r.position;

INSERT INTO srsql.attribute
SELECT u.release_id, a.position, a.name, a.kind, a.span
FROM temp.main.srsql_attribute AS a
CROSS JOIN temp.main.srsql_run AS u;

INSERT INTO srsql.case_qid
SELECT
    u.release_id,
    b.case_no,
    b.position,
    b.low,
    b.high,
    coalesce(b.low IS NOT NULL AND (g.pattern >> b.position) & 1 = 0, false)
FROM temp.main.srsql_box AS b
LEFT JOIN temp.main.srsql_grouped AS g ON b.case_no = g.case_no
CROSS JOIN temp.main.srsql_run AS u
ORDER BY b.case_no, b.position;

INSERT INTO srsql.case_term
SELECT u.release_id, b.case_no, b.term_no, b.weight, b.direct
FROM temp.main.srsql_case_term AS b
CROSS JOIN temp.main.srsql_run AS u
ORDER BY b.case_no, b.term_no;

INSERT INTO srsql.threshold
WITH held AS (
    SELECT DISTINCT b.term_no
    FROM temp.main.srsql_case_term AS b
    INNER JOIN temp.main.srsql_grouped AS g ON b.case_no = g.case_no
    WHERE b.shown
)

SELECT
    u.release_id, t.term_no, t.term, q.theta_num, q.theta_den, t.cases, h.term_no IS NOT NULL
FROM temp.main.srsql_term AS t
INNER JOIN temp.main.srsql_theta AS q ON t.term_no = q.term_no
LEFT JOIN held AS h ON t.term_no = h.term_no
CROSS JOIN temp.main.srsql_run AS u
ORDER BY t.term_no;

INSERT INTO srsql.withheld
SELECT u.release_id, c.case_no, c.case_id::VARCHAR, c.reports, w.reason
FROM temp.main.srsql_withheld AS w
INNER JOIN temp.main.srsql_case AS c ON w.case_no = c.case_no
CROSS JOIN temp.main.srsql_run AS u
ORDER BY c.case_no;

INSERT INTO srsql.withheld
SELECT any_value(u.release_id), NULL, d.case_id, count(*), 'deleted'
FROM temp.main.srsql_deleted AS d
CROSS JOIN temp.main.srsql_run AS u
GROUP BY d.case_id
ORDER BY d.case_id;

INSERT INTO srsql.external_knowledge
SELECT u.release_id, k.drug, k.disease
FROM temp.main.srsql_knowledge AS k
CROSS JOIN temp.main.srsql_run AS u
ORDER BY k.drug, k.disease;
