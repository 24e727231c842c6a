-- Step: registers somebody else's release ($release_id) in the catalog as the releases of our own
--   models are, so that every audit reads both alike.
-- Reads: foreign_place(line, case_no, case_id, reports, case_line, group_line, group_id),
--   foreign_box(line, position, low, high), foreign_term(case_no, attribute, term),
--   attribute(position, name, kind, span), srsql.member, srsql.release, srsql.exposed_release,
--   srsql.ss_rule
-- Writes: srsql.member, srsql.region, srsql.attribute, srsql.threshold, srsql.case_term,
--   srsql.defended_attack, srsql.case_flag
-- Source: SPEC section 2 (new case), section 9; Huang 2021, Definition 6 (ss case).

INSERT INTO srsql.member
SELECT
    $release_id AS release_id,
    p.case_no,
    p.case_id::VARCHAR AS case_id,
    p.group_id,
    p.reports,
    NOT EXISTS (
        SELECT 1
        FROM srsql.member AS m
        INNER JOIN srsql.exposed_release AS r ON m.release_id = r.release_id
        INNER JOIN srsql.release AS own ON own.release_id = $release_id
        WHERE
            m.case_id = p.case_id::VARCHAR
            AND r.dataset = own.dataset
            AND r.series = own.series
            AND r.quarter < own.quarter
    ) AS is_new
FROM temp.main.srsql_foreign_place AS p
WHERE p.line = p.case_line
ORDER BY p.case_no;

-- Quarters may come in any order: what is in this one is not new in a later one.
UPDATE srsql.member AS m
SET is_new = false
FROM srsql.release AS own
INNER JOIN srsql.release AS later
    ON own.dataset = later.dataset AND own.series = later.series AND own.quarter < later.quarter
WHERE
    own.release_id = $release_id
    AND m.release_id = later.release_id
    AND m.is_new
    AND m.case_id IN (SELECT p.case_id::VARCHAR FROM temp.main.srsql_foreign_place AS p);

INSERT INTO srsql.region
SELECT
    $release_id AS release_id,
    p.group_id,
    b.position,
    b.low,
    b.high
FROM temp.main.srsql_foreign_place AS p
INNER JOIN temp.main.srsql_foreign_box AS b ON p.line = b.line
WHERE p.line = p.group_line
ORDER BY p.group_id, b.position;

-- The span of an "observed" domain: what the regions span.
INSERT INTO srsql.attribute
SELECT
    $release_id AS release_id,
    a.position,
    a.name,
    a.kind,
    CASE
        WHEN a.kind = 'numeric' AND a.span = 0 THEN greatest(1, (
            SELECT coalesce(max(b.high) - min(b.low), 1)
            FROM temp.main.srsql_foreign_box AS b
            WHERE b.position = a.position
        ))
        ELSE a.span
    END AS span
FROM temp.main.srsql_attribute AS a
ORDER BY a.position;

INSERT INTO srsql.threshold
SELECT
    $release_id AS release_id,
    row_number() OVER (ORDER BY t.term) - 1 AS term_no,
    t.term,
    0 AS theta_num,
    0 AS theta_den,
    count(DISTINCT t.case_no) AS cases,
    true AS released
FROM temp.main.srsql_foreign_term AS t
GROUP BY t.term
ORDER BY t.term;

INSERT INTO srsql.case_term
SELECT DISTINCT
    $release_id AS release_id,
    t.case_no,
    h.term_no,
    1 AS weight,
    true AS direct
FROM temp.main.srsql_foreign_term AS t
INNER JOIN srsql.threshold AS h ON t.term = h.term
WHERE h.release_id = $release_id
ORDER BY t.case_no, h.term_no;

INSERT INTO srsql.defended_attack VALUES ($release_id, [], NULL, NULL);

-- An ss case reaches the cutoff of some attribute.
INSERT INTO srsql.case_flag
WITH counts AS (
    SELECT p.case_no, s.cutoff, count(t.term) AS terms
    FROM temp.main.srsql_foreign_place AS p
    INNER JOIN srsql.ss_rule AS s ON s.release_id = $release_id
    LEFT JOIN temp.main.srsql_foreign_term AS t
        ON p.case_no = t.case_no AND s.attribute = t.attribute
    WHERE p.line = p.case_line
    GROUP BY p.case_no, s.attribute, s.cutoff
)

SELECT
    $release_id AS release_id,
    c.case_no,
    false AS carrier,
    coalesce(bool_or(c.terms >= c.cutoff), false) AS is_ss,
    NULL AS is_md
FROM counts AS c
GROUP BY c.case_no
ORDER BY c.case_no;
