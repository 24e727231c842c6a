-- Step: adds the share of cases with substantially many symptoms (alpha, $alpha_num / $alpha_den)
--   to the bounded values as one more, so that it is made feasible together with the others.
-- Reads: case_term(case_no, term_no, weight), theta(term_no, theta_num, theta_den), role(case_no,
--   is_ss, carrier)
-- Writes: bound_term(case_no, term_no, weight), bound_theta(term_no, theta_num, theta_den)
-- Source: Huang 2021, Definition 7 (PPMS(k, theta, alpha)-bounding); SPEC section 8.

-- In what may remain of a group the carriers stay and of the rest those with symptoms:
-- S_1 + S_rest <= alpha (|carriers| + S_rest), which is a value that carriers hold with weight 1
-- and the rest with 1 - alpha. Weights are counted in parts of 1 / ($weight_scale * $alpha_den).
CREATE OR REPLACE TEMP TABLE srsql_bound_term AS
SELECT t.case_no, t.term_no, t.weight * $alpha_den::BIGINT AS weight
FROM temp.main.srsql_case_term AS t
UNION ALL
SELECT
    r.case_no,
    (SELECT count(*) FROM temp.main.srsql_theta)::INTEGER AS term_no,
    $weight_scale::BIGINT
    * CASE WHEN r.carrier THEN $alpha_den::BIGINT ELSE $alpha_den::BIGINT - $alpha_num::BIGINT END
        AS weight
FROM temp.main.srsql_role AS r
WHERE r.is_ss AND (r.carrier OR $alpha_num < $alpha_den);

CREATE OR REPLACE TEMP TABLE srsql_bound_theta AS
SELECT q.term_no, q.theta_num, q.theta_den
FROM temp.main.srsql_theta AS q
UNION ALL
SELECT
    (SELECT count(*) FROM temp.main.srsql_theta)::INTEGER AS term_no,
    $alpha_num::BIGINT AS theta_num,
    $alpha_den::BIGINT AS theta_den;
