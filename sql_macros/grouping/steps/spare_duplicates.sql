-- Step: thresholds hold of persons; here they are made to hold of cases, too, as whoever knows of
--   no duplicates counts them, and whoever verifies the artifact. Of a group in which some value is
--   held by more cases than its threshold allows ($weight_scale: what a certain value weighs), only
--   the first case of every person stays: these hold no more than the persons do, and are as many.
--   A value that a case lacks is that of its person, as a report's is that of its case: whoever
--   looks for the person knows it, and the region shows it.
-- Reads: of_person(case_no, person_no), person_box(person_no, position, low, high),
--   grouped(case_no, group_no), role(case_no, carrier), case_term(case_no, term_no, weight),
--   theta(term_no, theta_num, theta_den)
-- Writes: box(case_no, position, low, high), withheld(case_no, reason), grouped
-- Source: Lin 2016, Definition 3 (2); docs/decisions.md, D382.

UPDATE temp.main.srsql_box AS b
SET low = q.low, high = q.high
FROM temp.main.srsql_of_person AS p
INNER JOIN temp.main.srsql_person_box AS q ON p.person_no = q.person_no
WHERE b.case_no = p.case_no AND b.position = q.position AND b.low IS NULL;

INSERT INTO temp.main.srsql_withheld
WITH
sizes AS (
    SELECT g.group_no, count(*) FILTER (WHERE r.carrier) AS carriers
    FROM temp.main.srsql_grouped AS g
    INNER JOIN temp.main.srsql_role AS r ON g.case_no = r.case_no
    GROUP BY g.group_no
),

held AS (
    SELECT g.group_no, t.term_no, sum(t.weight) AS weight
    FROM temp.main.srsql_grouped AS g
    INNER JOIN temp.main.srsql_case_term AS t ON g.case_no = t.case_no
    GROUP BY g.group_no, t.term_no
),

broken AS (
    SELECT DISTINCT h.group_no
    FROM held AS h
    INNER JOIN sizes AS s ON h.group_no = s.group_no
    INNER JOIN temp.main.srsql_theta AS q ON h.term_no = q.term_no
    WHERE
        q.theta_num < q.theta_den
        AND h.weight::HUGEINT * q.theta_den > q.theta_num::HUGEINT * s.carriers * $weight_scale
),

placed AS (
    SELECT
        g.case_no,
        g.group_no,
        g.case_no > min(g.case_no) OVER (PARTITION BY p.person_no) AS again
    FROM temp.main.srsql_grouped AS g
    INNER JOIN temp.main.srsql_of_person AS p ON g.case_no = p.case_no
)

SELECT p.case_no, 'suspected_duplicate' AS reason
FROM placed AS p
SEMI JOIN broken AS b ON p.group_no = b.group_no
WHERE p.again;

DELETE FROM temp.main.srsql_grouped AS g
WHERE g.case_no IN (SELECT w.case_no FROM temp.main.srsql_withheld AS w);
