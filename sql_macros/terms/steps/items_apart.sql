-- Step: takes the values of cases apart from them, where counts tell them and no row does: groups
--   have no value to bound. Their thresholds are kept for the counts.
-- Reads: term(term_no, term), theta(term_no, theta_num, theta_den)
-- Writes: role, case_term, item_theta(term, theta_num, theta_den)
-- Source: SPEC section 19.

CREATE OR REPLACE TEMP TABLE srsql_item_theta AS
SELECT t.term, h.theta_num::BIGINT AS theta_num, h.theta_den::BIGINT AS theta_den
FROM temp.main.srsql_term AS t
INNER JOIN temp.main.srsql_theta AS h ON t.term_no = h.term_no;

DELETE FROM temp.main.srsql_case_term;

-- No row shows how many symptoms a case has either.
UPDATE temp.main.srsql_role SET is_ss = false;
