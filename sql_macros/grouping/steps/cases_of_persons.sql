-- Step: after persons were grouped ($release_id), gives every case the group of its person, or the
--   reason for which the person is withheld. A case carries the bounds if its person does; whether
--   it is new is its own, and so is whether it is first published in a later quarter, where it
--   counted as new ($carriers = 'new'): such a case of a person who is old is withheld here, and
--   carries nothing. What the cases have is worked out by grouping/steps/cases.sql, which runs
--   after this.
-- Reads: own_report(case_no, report_id, case_id), case_report(case_no, report_id, case_id),
--   box(case_no, position, low, high), grouped(case_no, group_no, pattern), withheld(case_no,
--   reason), role(case_no, is_new, first_later, is_ss, is_md, carrier, kind),
--   srsql.exposed_release, srsql.release, srsql.member
-- Writes: of_person(case_no, case_id, person_no), person_box(person_no, position, low, high),
--   grouped, withheld, role, case_report
-- Source: docs/decisions.md, D382.

CREATE OR REPLACE TEMP TABLE srsql_of_person AS
SELECT DISTINCT o.case_no, o.case_id, c.case_no AS person_no
FROM temp.main.srsql_own_report AS o
INNER JOIN temp.main.srsql_case_report AS c ON o.report_id = c.report_id;

CREATE OR REPLACE TEMP TABLE srsql_person_box AS
SELECT b.case_no AS person_no, b.position, b.low, b.high
FROM temp.main.srsql_box AS b
WHERE b.low IS NOT NULL;

CREATE OR REPLACE TEMP TABLE srsql_grouped AS
SELECT p.case_no, g.group_no, g.pattern
FROM temp.main.srsql_grouped AS g
INNER JOIN temp.main.srsql_of_person AS p ON g.case_no = p.person_no;

CREATE OR REPLACE TEMP TABLE srsql_withheld AS
SELECT p.case_no, w.reason
FROM temp.main.srsql_withheld AS w
INNER JOIN temp.main.srsql_of_person AS p ON w.case_no = p.person_no;

CREATE OR REPLACE TEMP TABLE srsql_role AS
WITH elsewhere AS (
    SELECT
        m.case_id,
        bool_or(e.quarter < own.quarter) AS is_old,
        bool_or(e.quarter > own.quarter) AS is_later
    FROM srsql.release AS own
    INNER JOIN srsql.exposed_release AS e ON own.dataset = e.dataset AND own.series = e.series
    INNER JOIN srsql.member AS m ON e.release_id = m.release_id
    WHERE own.release_id = $release_id
    GROUP BY m.case_id
)

SELECT
    p.case_no,
    NOT coalesce(e.is_old, false) AS is_new,
    coalesce(e.is_later AND NOT e.is_old, false) AS first_later,
    r.is_ss,
    r.is_md,
    r.carrier,
    r.kind
FROM temp.main.srsql_role AS r
INNER JOIN temp.main.srsql_of_person AS p ON r.case_no = p.person_no
LEFT JOIN elsewhere AS e ON p.case_id::VARCHAR = e.case_id;

INSERT INTO temp.main.srsql_withheld
SELECT g.case_no, 'released_later'
FROM temp.main.srsql_grouped AS g
INNER JOIN temp.main.srsql_role AS r ON g.case_no = r.case_no
WHERE $carriers = 'new' AND r.first_later;

DELETE FROM temp.main.srsql_grouped AS g
WHERE g.case_no IN (SELECT w.case_no FROM temp.main.srsql_withheld AS w);

CREATE OR REPLACE TEMP TABLE srsql_case_report AS
SELECT o.case_no, o.report_id, o.case_id FROM temp.main.srsql_own_report AS o;
