-- Step: bounds every value that a case holds itself by one share ($share_num / $share_den); where
--   not $bounded, no value is bounded at all.
-- Reads: case_term(case_no, term_no, weight, direct), term(term_no)
-- Writes: bound_term(case_no, term_no, weight), bound_theta(term_no, theta_num, theta_den)
-- Source: Wong et al. 2006 ((alpha, k)-anonymity), as Lin 2016 compares with it; SPEC section 13.

CREATE OR REPLACE TEMP TABLE srsql_bound_term AS
SELECT t.case_no, t.term_no, t.weight
FROM temp.main.srsql_case_term AS t
WHERE $bounded AND t.direct;

CREATE OR REPLACE TEMP TABLE srsql_bound_theta AS
SELECT t.term_no, $share_num::BIGINT AS theta_num, $share_den::BIGINT AS theta_den
FROM temp.main.srsql_term AS t;
