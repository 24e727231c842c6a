-- Step: makes one record of all cases of the quarter that count as one person in a release
--   ($release_id): pairs of at least the match probability $at_least, and what they join. Until
--   groups are made, a case number is a person's, and its case id the least one of the person.
-- Reads: case_report(case_no, report_id, case_id), srsql.suspected_duplicate, srsql.release
-- Writes: own_report(case_no, report_id, case_id), unit(case_id, unit),
--   case_report(case_no, report_id, case_id), srsql.person_count, srsql.counted_person
-- Source: Fellegi & Sunter 1969; Lin 2016, "combined record", of a person's cases.

CREATE OR REPLACE TEMP TABLE srsql_own_report AS
SELECT c.case_no, c.report_id, c.case_id FROM temp.main.srsql_case_report AS c;

CREATE OR REPLACE TEMP TABLE srsql_unit AS
WITH suspected AS (
    SELECT p.case_id, p.other_case_id, p.probability
    FROM srsql.suspected_duplicate AS p
    INNER JOIN srsql.release AS r ON p.dataset = r.dataset
    WHERE r.release_id = $release_id
)

SELECT c.case_id, c.person AS unit FROM srsql.person_clusters('suspected', $at_least) AS c;

INSERT INTO srsql.person_count VALUES ($release_id, $at_least);

-- Numbered, so that no id stands for a person.
INSERT INTO srsql.counted_person
WITH here AS (
    SELECT DISTINCT p.unit
    FROM temp.main.srsql_unit AS p
    INNER JOIN temp.main.srsql_own_report AS o ON p.case_id = o.case_id::VARCHAR
)

SELECT $release_id, p.case_id, dense_rank() OVER (ORDER BY p.unit)
FROM temp.main.srsql_unit AS p
SEMI JOIN here AS h ON p.unit = h.unit
ORDER BY p.case_id;

CREATE OR REPLACE TEMP TABLE srsql_case_report AS
WITH
named AS (
    SELECT
        o.report_id,
        coalesce(p.unit, o.case_id::VARCHAR) AS unit,
        min(o.case_no) OVER (PARTITION BY coalesce(p.unit, o.case_id::VARCHAR)) AS first_no
    FROM temp.main.srsql_own_report AS o
    LEFT JOIN temp.main.srsql_unit AS p ON o.case_id::VARCHAR = p.case_id
)

SELECT
    (dense_rank() OVER (ORDER BY n.first_no) - 1)::INTEGER AS case_no,
    n.report_id,
    n.unit AS case_id
FROM named AS n;
