-- Step of a release of a perturbing model: what is drawn goes into the rows and the catalog. Reads
-- srsql_grouped, srsql_region, srsql_plan, srsql_drawn(case_no, position, low, high), srsql_noisy,
-- srsql_report, srsql_case, srsql_run.

-- What the rows of each case show: the draw, the group's region, or missing.
CREATE OR REPLACE TEMP TABLE srsql_shown AS
SELECT
    g.case_no AS group_no,
    r.position,
    coalesce(d.low, r.low) AS low,
    coalesce(d.high, r.high) AS high
FROM temp.main.srsql_grouped AS g
INNER JOIN temp.main.srsql_region AS r ON g.group_no = r.group_no
LEFT JOIN temp.main.srsql_drawn AS d ON g.case_no = d.case_no AND r.position = d.position;

-- Released reports in the order of their ids; all reports of a case show the same.
CREATE OR REPLACE TEMP TABLE srsql_released AS
SELECT
    r.report_id,
    r.case_id,
    g.case_no,
    g.case_no AS group_no
FROM temp.main.srsql_report AS r
INNER JOIN temp.main.srsql_case AS c ON r.case_id = c.case_id
INNER JOIN temp.main.srsql_grouped AS g ON c.case_no = g.case_no;

INSERT INTO srsql.perturbation
SELECT
    u.release_id,
    p.position,
    p.mechanism,
    p.calibration,
    p.noise,
    p.epsilon_num,
    p.epsilon_den
FROM temp.main.srsql_plan AS p
CROSS JOIN temp.main.srsql_run AS u
ORDER BY p.position;

INSERT INTO srsql.perturbed
SELECT u.release_id, g.case_no, p.position, d.low, d.high
FROM temp.main.srsql_grouped AS g
CROSS JOIN temp.main.srsql_plan AS p
CROSS JOIN temp.main.srsql_run AS u
LEFT JOIN temp.main.srsql_drawn AS d ON g.case_no = d.case_no AND p.position = d.position
ORDER BY g.case_no, p.position;

INSERT INTO srsql.budget_ledger
SELECT
    u.release_id,
    d.case_no,
    d.position,
    p.mechanism,
    p.calibration,
    p.epsilon_num,
    p.epsilon_den
FROM temp.main.srsql_drawn AS d
INNER JOIN temp.main.srsql_plan AS p ON d.position = p.position
CROSS JOIN temp.main.srsql_run AS u
ORDER BY d.case_no, d.position;
