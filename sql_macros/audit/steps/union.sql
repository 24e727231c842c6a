-- Step: the values of the cases of one release ($release_id), united over all releases of the
--   series in which their ids appear, in the place of those that the release itself tells; the
--   steps of a scope then find what U, the union attack, does. A value that the release does not
--   have is bounded by the least of its thresholds elsewhere. $weight_scale: the weight of a whole
--   case of this release.
-- Reads: audit_member(case_no, group_id, l, md), audit_appearance(case_key, release_id, case_no),
--   srsql.release, srsql.case_term, srsql.threshold
-- Writes: audit_united(case_no, term_no, weight, theta_num, theta_den), audit_bound
--   (term_no, theta_num, theta_den), audit_held(case_no, term_no, weight),
--   audit_group_term_weight(group_id, term_no, weight, of_l, of_md, of_both)
-- Source: SPEC section 9 (U).

-- Only a case that is in several releases tells more than its own row does.
CREATE OR REPLACE TEMP TABLE srsql_audit_united AS
WITH
followed AS MATERIALIZED (
    SELECT a.case_key, m.case_no
    FROM temp.main.srsql_audit_appearance AS a
    INNER JOIN temp.main.srsql_audit_member AS m ON a.case_no = m.case_no
    WHERE a.release_id = $release_id::INTEGER
),

own_term AS (
    SELECT t.term, t.term_no FROM srsql.threshold AS t WHERE t.release_id = $release_id::INTEGER
),

shown AS MATERIALIZED (
    SELECT
        f.case_no,
        t.term,
        t.theta_num,
        t.theta_den,
        c.weight::HUGEINT * $weight_scale::BIGINT // r.weight_scale AS weight
    FROM followed AS f
    INNER JOIN temp.main.srsql_audit_appearance AS a ON f.case_key = a.case_key
    INNER JOIN srsql.release AS r ON a.release_id = r.release_id
    INNER JOIN srsql.case_term AS c ON a.release_id = c.release_id AND a.case_no = c.case_no
    INNER JOIN srsql.threshold AS t ON c.release_id = t.release_id AND c.term_no = t.term_no
),

numbered AS (
    SELECT
        n.term,
        n.theta,
        coalesce(
            o.term_no,
            (SELECT coalesce(max(t.term_no), -1) FROM own_term AS t)
            + row_number() OVER (PARTITION BY o.term_no IS NULL ORDER BY n.term)
        )::INTEGER AS term_no
    FROM (
        SELECT
            s.term,
            arg_min(
                struct_pack(num := s.theta_num, den := s.theta_den), s.theta_num / s.theta_den
            ) AS theta
        FROM shown AS s
        GROUP BY s.term
    ) AS n
    LEFT JOIN own_term AS o ON n.term = o.term
),

united AS (
    SELECT s.case_no, s.term, max(s.weight)::BIGINT AS weight
    FROM shown AS s
    GROUP BY s.case_no, s.term
)

SELECT
    u.case_no,
    n.term_no,
    u.weight,
    struct_extract(n.theta, 'num') AS theta_num,
    struct_extract(n.theta, 'den') AS theta_den
FROM united AS u
INNER JOIN numbered AS n ON u.term = n.term;

INSERT INTO temp.main.srsql_audit_bound
SELECT DISTINCT u.term_no, u.theta_num, u.theta_den
FROM temp.main.srsql_audit_united AS u
WHERE
    u.theta_num < u.theta_den
    AND u.term_no NOT IN (
        SELECT t.term_no FROM srsql.threshold AS t WHERE t.release_id = $release_id::INTEGER
    );

CREATE OR REPLACE TEMP TABLE srsql_audit_held AS
SELECT u.case_no, u.term_no, u.weight
FROM temp.main.srsql_audit_united AS u
SEMI JOIN temp.main.srsql_audit_bound AS b ON u.term_no = b.term_no
UNION ALL
SELECT c.case_no, c.term_no, c.weight
FROM srsql.case_term AS c
SEMI JOIN temp.main.srsql_audit_bound AS b ON c.term_no = b.term_no
SEMI JOIN temp.main.srsql_audit_member AS m ON c.case_no = m.case_no
ANTI JOIN temp.main.srsql_audit_appearance AS a
    ON c.release_id = a.release_id AND c.case_no = a.case_no
WHERE c.release_id = $release_id::INTEGER;

CREATE OR REPLACE TEMP TABLE srsql_audit_group_term_weight AS
SELECT w.*
FROM srsql.group_term_weights('temp.main.srsql_audit_held', 'temp.main.srsql_audit_member') AS w;
