-- Step of an import: what the catalog keeps of somebody else's release. Reads the temporary tables
-- of audit/steps/import_rows.sql, srsql_attribute and srsql_import(release_id).

INSERT INTO srsql.member
SELECT
    u.release_id,
    c.case_no,
    c.case_id::VARCHAR,
    g.group_id,
    c.reports,
    NOT EXISTS (
        SELECT 1
        FROM srsql.member AS m
        INNER JOIN srsql.release AS r ON m.release_id = r.release_id
        INNER JOIN srsql.release AS own ON own.release_id = u.release_id
        WHERE
            m.case_id = c.case_id::VARCHAR
            AND r.dataset = own.dataset
            AND r.series = own.series
            AND r.status <> 'draft'
            AND r.quarter < own.quarter
    )
FROM temp.main.srsql_foreign_case AS c
INNER JOIN temp.main.srsql_foreign_place AS p ON c.line = p.line
INNER JOIN temp.main.srsql_foreign_group AS g ON p.key = g.key
CROSS JOIN temp.main.srsql_import AS u
ORDER BY c.case_no;

-- Quarters may come in any order: what is in this one is not new in a later one.
UPDATE srsql.member AS m
SET is_new = false
FROM temp.main.srsql_import AS u
INNER JOIN srsql.release AS own ON u.release_id = own.release_id
INNER JOIN srsql.release AS later
    ON own.dataset = later.dataset AND own.series = later.series AND own.quarter < later.quarter
WHERE
    m.release_id = later.release_id
    AND m.is_new
    AND m.case_id IN (SELECT c.case_id::VARCHAR FROM temp.main.srsql_foreign_case AS c);

INSERT INTO srsql.region
SELECT u.release_id, g.group_id, b.position, b.low, b.high
FROM temp.main.srsql_foreign_group AS g
INNER JOIN temp.main.srsql_foreign_box AS b ON g.line = b.line
CROSS JOIN temp.main.srsql_import AS u
ORDER BY g.group_id, b.position;

-- The span of an "observed" domain: what the regions span.
INSERT INTO srsql.attribute
SELECT
    u.release_id,
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
    END
FROM temp.main.srsql_attribute AS a
CROSS JOIN temp.main.srsql_import AS u
ORDER BY a.position;

INSERT INTO srsql.threshold
SELECT
    u.release_id,
    row_number() OVER (ORDER BY t.term) - 1 AS term_no,
    t.term,
    0 AS theta_num,
    0 AS theta_den,
    count(DISTINCT t.case_no) AS cases,
    true AS released
FROM temp.main.srsql_foreign_term AS t
CROSS JOIN temp.main.srsql_import AS u
GROUP BY u.release_id, t.term
ORDER BY t.term;

INSERT INTO srsql.case_term
SELECT DISTINCT u.release_id, t.case_no, h.term_no, 1 AS weight, true AS direct
FROM temp.main.srsql_foreign_term AS t
CROSS JOIN temp.main.srsql_import AS u
INNER JOIN srsql.threshold AS h ON u.release_id = h.release_id AND t.term = h.term
ORDER BY t.case_no, h.term_no;

INSERT INTO srsql.defended_attack
SELECT u.release_id, []::VARCHAR[], NULL, NULL FROM temp.main.srsql_import AS u;

-- An ss case reaches the cutoff of some attribute (Huang 2021, Definition 6).
INSERT INTO srsql.case_flag
SELECT
    u.release_id,
    n.case_no,
    false AS carrier,
    coalesce(bool_or(n.n >= s.cutoff), false) AS is_ss,
    NULL AS is_md
FROM temp.main.srsql_foreign_count AS n
CROSS JOIN temp.main.srsql_import AS u
INNER JOIN srsql.ss_rule AS s ON u.release_id = s.release_id AND n.attribute = s.attribute
GROUP BY u.release_id, n.case_no
ORDER BY n.case_no;
