-- The attacks B, F and L on one release at scope = match, word for word: every case against every
-- case and each of its other releases. Parameter: $id. Returns the groups with fewer than k left.
WITH
own AS (
    SELECT r.* FROM srsql.release AS r WHERE r.release_id = $id
),

targets AS (
    SELECT m.case_no, m.case_id, m.group_id, m.is_new FROM srsql.member AS m
    WHERE m.release_id = $id
),

candidates AS (
    SELECT t.case_no, t.is_new, c.case_id
    FROM targets AS t
    CROSS JOIN targets AS c
    WHERE NOT EXISTS (
        SELECT 1
        FROM srsql.region AS g
        INNER JOIN srsql.case_qid AS q ON g.position = q.position
        WHERE
            g.release_id = $id AND g.group_id = c.group_id
            AND q.release_id = $id AND q.case_no = t.case_no
            AND g.low IS NOT NULL
            AND NOT (g.position = 2 AND g.low = 0)
            AND (q.low IS NULL OR q.low < g.low OR g.high < q.high)
    )
),

excluded AS (
    SELECT c.case_no, c.case_id
    FROM candidates AS c
    INNER JOIN srsql.member AS m ON c.case_id = m.case_id AND m.release_id <> $id
    WHERE
        (c.is_new AND m.release_id < $id)
        OR EXISTS (
            SELECT 1
            FROM srsql.region AS g
            INNER JOIN srsql.case_qid AS q ON g.position = q.position
            WHERE
                g.release_id = m.release_id AND g.group_id = m.group_id
                AND q.release_id = $id AND q.case_no = c.case_no
                AND g.low IS NOT NULL
                AND NOT (g.position = 2 AND g.low = 0)
                AND (q.low IS NULL OR q.low < g.low OR g.high < q.high)
        )
),

remaining AS (
    SELECT c.case_no, count(*) AS cases
    FROM candidates AS c ANTI JOIN excluded AS e ON c.case_no = e.case_no AND c.case_id = e.case_id
    GROUP BY c.case_no
)

SELECT DISTINCT t.group_id
FROM targets AS t
LEFT JOIN remaining AS r ON t.case_no = r.case_no
CROSS JOIN own
WHERE coalesce(r.cases, 0) < own.k
ORDER BY t.group_id;
