-- Step: after persons were grouped ($release_id), gives every case the group of its person, or the
--   reason for which the person is withheld. A case carries the bounds if its person does; whether
--   it is new is its own. What the cases have is worked out by grouping/steps/cases.sql, which runs
--   after this.
-- Reads: own_report(case_no, report_id, case_id), case_report(case_no, report_id, case_id),
--   grouped(case_no, group_no, pattern), withheld(case_no, reason), role(case_no, is_new,
--   first_later, is_ss, is_md, carrier, kind), srsql.exposed_release, srsql.release, srsql.member
-- Writes: of_person(case_no, case_id, person_no), grouped, withheld, role, case_report
-- Source: docs/decisions.md, D382.

CREATE OR REPLACE TEMP TABLE srsql_of_person AS
SELECT DISTINCT o.case_no, o.case_id, c.case_no AS person_no
FROM temp.main.srsql_own_report AS o
INNER JOIN temp.main.srsql_case_report AS c ON o.report_id = c.report_id;

CREATE OR REPLACE TEMP TABLE srsql_grouped AS
SELECT p.case_no, g.group_no, g.pattern
FROM temp.main.srsql_grouped AS g
INNER JOIN temp.main.srsql_of_person AS p ON g.case_no = p.person_no;

CREATE OR REPLACE TEMP TABLE srsql_withheld AS
SELECT p.case_no, w.reason
FROM temp.main.srsql_withheld AS w
INNER JOIN temp.main.srsql_of_person AS p ON w.case_no = p.person_no;

CREATE OR REPLACE TEMP TABLE srsql_role AS
WITH old AS (
    SELECT DISTINCT m.case_id
    FROM srsql.release AS own
    INNER JOIN srsql.exposed_release AS e
        ON own.dataset = e.dataset AND own.series = e.series AND own.quarter > e.quarter
    INNER JOIN srsql.member AS m ON e.release_id = m.release_id
    WHERE own.release_id = $release_id
)

SELECT
    p.case_no,
    o.case_id IS NULL AS is_new,
    r.first_later,
    r.is_ss,
    r.is_md,
    r.carrier,
    r.kind
FROM temp.main.srsql_role AS r
INNER JOIN temp.main.srsql_of_person AS p ON r.case_no = p.person_no
LEFT JOIN old AS o ON p.case_id::VARCHAR = o.case_id;

CREATE OR REPLACE TEMP TABLE srsql_case_report AS
SELECT o.case_no, o.report_id, o.case_id FROM temp.main.srsql_own_report AS o;
