-- Step of a release with alpha: the share of cases with substantially many symptoms as one more
-- value, so that it is made feasible together with the others. In what may remain of a group the
-- carriers stay and of the rest those with symptoms: S_1 + S_rest <= alpha (|carriers| + S_rest),
-- which is a value that carriers hold with weight 1 and the rest with 1 - alpha. Reads
-- srsql_case_term, srsql_theta, srsql_role, srsql_run(unit, alpha_num, alpha_den).

CREATE OR REPLACE TEMP TABLE srsql_burden AS
SELECT t.case_no, t.term_no, t.weight * u.alpha_den AS weight
FROM temp.main.srsql_case_term AS t
CROSS JOIN temp.main.srsql_run AS u
UNION ALL
SELECT
    r.case_no,
    (SELECT count(*) FROM temp.main.srsql_theta)::INTEGER AS term_no,
    u.unit * CASE WHEN r.carrier THEN u.alpha_den ELSE u.alpha_den - u.alpha_num END AS weight
FROM temp.main.srsql_role AS r
CROSS JOIN temp.main.srsql_run AS u
WHERE r.is_ss AND (r.carrier OR u.alpha_num < u.alpha_den);

CREATE OR REPLACE TEMP TABLE srsql_limit AS
SELECT q.term_no, q.theta_num, q.theta_den
FROM temp.main.srsql_theta AS q
UNION ALL
SELECT
    (SELECT count(*) FROM temp.main.srsql_theta)::INTEGER AS term_no,
    u.alpha_num AS theta_num,
    u.alpha_den AS theta_den
FROM temp.main.srsql_run AS u;
