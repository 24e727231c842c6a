-- Step: the values of the cases of one release ($release_id), united over all releases of the
--   series in which their ids appear, in the place of those that the release itself tells; the
--   steps of a scope then find what U, the union attack, does. A value that the release does not
--   have is bounded by the least of its thresholds elsewhere. $weight_scale: the weight of a whole
--   case of this release.
-- Reads: audit_member(case_no, case_id, group_id, l, md), audit_region(release_id, ...),
--   srsql.release, srsql.member, srsql.case_term, srsql.threshold
-- Writes: audit_united(case_no, term_no, weight, theta_num, theta_den), audit_bound
--   (term_no, theta_num, theta_den), audit_held(case_no, term_no, weight),
--   audit_group_term_weight(group_id, term_no, weight, of_l, of_md, of_both)
-- Source: SPEC section 9 (U).

CREATE OR REPLACE TEMP TABLE srsql_audit_united AS
WITH
series_release AS (
    SELECT r.release_id, r.weight_scale
    FROM srsql.release AS r
    SEMI JOIN temp.main.srsql_audit_region AS g ON r.release_id = g.release_id
),

own_term AS (
    SELECT t.term, t.term_no FROM srsql.threshold AS t WHERE t.release_id = $release_id::INTEGER
),

shown AS (
    SELECT
        m.case_no,
        t.term,
        t.theta_num,
        t.theta_den,
        c.weight::HUGEINT * $weight_scale::BIGINT // r.weight_scale AS weight
    FROM temp.main.srsql_audit_member AS m
    INNER JOIN srsql.member AS o ON m.case_id = o.case_id
    INNER JOIN series_release AS r ON o.release_id = r.release_id
    INNER JOIN srsql.case_term AS c ON o.release_id = c.release_id AND o.case_no = c.case_no
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
SEMI JOIN temp.main.srsql_audit_bound AS b ON u.term_no = b.term_no;

CREATE OR REPLACE TEMP TABLE srsql_audit_group_term_weight AS
SELECT w.*
FROM srsql.group_term_weights('temp.main.srsql_audit_held', 'temp.main.srsql_audit_member') AS w;
