-- Step: writes into the catalog what it keeps of a release ($release_id).
-- Reads: grouped(case_no, group_no, pattern), case(case_no, case_id, reports), role(case_no,
--   is_new, carrier, is_ss, is_md), region(group_no, position, low, high), attribute(position,
--   name, kind, span), box(case_no, position, low, high), case_term(case_no, term_no, weight,
--   direct, shown), term(term_no, term, cases), theta(term_no, theta_num, theta_den),
--   withheld(case_no, reason), deleted(case_id), suppressed(case_no, term_no)
-- Writes: srsql.member, srsql.case_flag, srsql.region, srsql.attribute, srsql.case_qid,
--   srsql.case_term, srsql.suppressed, srsql.threshold, srsql.withheld
-- Source: SPEC section 5.

INSERT INTO srsql.member
SELECT
    $release_id,
    c.case_no,
    c.case_id::VARCHAR,
    g.group_no,
    c.reports,
    r.is_new
FROM temp.main.srsql_grouped AS g
INNER JOIN temp.main.srsql_case AS c ON g.case_no = c.case_no
INNER JOIN temp.main.srsql_role AS r ON g.case_no = r.case_no
ORDER BY c.case_no;

INSERT INTO srsql.case_flag
SELECT $release_id, r.case_no, r.carrier, r.is_ss, r.is_md
FROM temp.main.srsql_grouped AS g
INNER JOIN temp.main.srsql_role AS r ON g.case_no = r.case_no
ORDER BY r.case_no;

INSERT INTO srsql.region
SELECT $release_id, r.group_no, r.position, r.low, r.high
FROM temp.main.srsql_region AS r
ORDER BY r.group_no, r.position;

INSERT INTO srsql.attribute
SELECT $release_id, a.position, a.name, a.kind, a.span
FROM temp.main.srsql_attribute AS a;

INSERT INTO srsql.case_qid
SELECT
    $release_id,
    b.case_no,
    b.position,
    b.low,
    b.high,
    coalesce(b.low IS NOT NULL AND (g.pattern >> b.position) & 1 = 0, false)
FROM temp.main.srsql_box AS b
LEFT JOIN temp.main.srsql_grouped AS g ON b.case_no = g.case_no;

INSERT INTO srsql.case_term
SELECT $release_id, b.case_no, b.term_no, b.weight, b.direct
FROM temp.main.srsql_case_term AS b
ORDER BY b.case_no, b.term_no;

INSERT INTO srsql.suppressed
SELECT $release_id, s.case_no, s.term_no
FROM temp.main.srsql_suppressed AS s
SEMI JOIN temp.main.srsql_grouped AS g ON s.case_no = g.case_no
ORDER BY s.case_no, s.term_no;

INSERT INTO srsql.threshold
WITH held AS (
    SELECT DISTINCT b.term_no
    FROM temp.main.srsql_case_term AS b
    INNER JOIN temp.main.srsql_grouped AS g ON b.case_no = g.case_no
    WHERE b.shown
)

SELECT
    $release_id, t.term_no, t.term, q.theta_num, q.theta_den, t.cases, h.term_no IS NOT NULL
FROM temp.main.srsql_term AS t
INNER JOIN temp.main.srsql_theta AS q ON t.term_no = q.term_no
LEFT JOIN held AS h ON t.term_no = h.term_no
ORDER BY t.term_no;

INSERT INTO srsql.withheld
SELECT $release_id, c.case_no, c.case_id::VARCHAR, c.reports, w.reason
FROM temp.main.srsql_withheld AS w
INNER JOIN temp.main.srsql_case AS c ON w.case_no = c.case_no
ORDER BY c.case_no;

INSERT INTO srsql.withheld
SELECT $release_id, NULL, d.case_id, count(*), 'deleted'
FROM temp.main.srsql_deleted AS d
GROUP BY d.case_id
ORDER BY d.case_id;
