-- Step of an audit: scope = match, back to targets: those in danger. Reads the tables of
-- audit/steps/scope_match.sql, srsql_audit_target and srsql_audit_home.

CREATE OR REPLACE TEMP TABLE srsql_audit_match_sets AS
WITH answers AS (
    SELECT t.target_no, h.group_id, a.*
    FROM temp.main.srsql_audit_answer AS a
    INNER JOIN temp.main.srsql_audit_target AS t
        ON a.box = t.box AND a.is_new = t.is_new AND a.stopped = t.stopped
    INNER JOIN temp.main.srsql_audit_home AS h
        ON t.group_id = h.home AND t.is_new = h.is_new AND t.stopped = h.stopped
    WHERE
        a.remaining < $k::INTEGER
        OR a.question_no IN (SELECT s.question_no FROM temp.main.srsql_audit_match_share AS s)
)

SELECT
    a.target_no,
    a.group_id,
    a.question_no,
    a.cases AS candidates,
    a.b,
    a.f,
    a.l,
    a.md,
    a.remaining,
    NULL::BIGINT AS staying,
    NULL::BIGINT AS staying_back
FROM answers AS a;

CREATE OR REPLACE TEMP TABLE srsql_audit_match_breach AS
SELECT m.target_no, m.group_id, s.term_no, s.theta_num, s.theta_den, s.whole, s.weight
FROM temp.main.srsql_audit_match_sets AS m
INNER JOIN temp.main.srsql_audit_match_share AS s ON m.question_no = s.question_no;
