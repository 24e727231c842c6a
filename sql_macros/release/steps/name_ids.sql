-- Step: gives the ids that have no pseudonym yet the one of this $attempt, where no other id of the
--   series has it; of several new ids with one pseudonym the first in the order of their text gets
--   it. The others stay, for the next attempt. So the outcome depends on the key and the ids alone.
-- Parameters: dataset, series, quarter, attempt, bits, inner_pad, outer_pad.
-- Reads: unnamed_id(kind, id, case_id), srsql.id_pseudonym
-- Writes: id_attempt(kind, id, case_id, pseudonym), unnamed_id, named_id, srsql.id_pseudonym
-- Source: SPEC section 5.

CREATE OR REPLACE TEMP TABLE srsql_id_attempt AS
SELECT
    u.kind,
    u.id,
    u.case_id,
    srsql.pseudonym_attempt(
        $inner_pad::BLOB,
        $outer_pad::BLOB,
        u.kind,
        u.id,
        coalesce($quarter::VARCHAR, ''),
        $attempt::INTEGER,
        $bits::INTEGER
    ) AS pseudonym
FROM temp.main.srsql_unnamed_id AS u;

-- next to none: nearly all ids are moved without a look-up
CREATE OR REPLACE TEMP TABLE srsql_unnamed_id AS
WITH
taken AS (
    SELECT a.kind, a.id, a.case_id, a.pseudonym
    FROM temp.main.srsql_id_attempt AS a
    WHERE a.pseudonym IN (
        SELECT p.pseudonym FROM srsql.id_pseudonym AS p
        WHERE p.dataset = $dataset AND p.series = $series
    )
),

shared AS MATERIALIZED (
    SELECT a.pseudonym FROM temp.main.srsql_id_attempt AS a
    GROUP BY a.pseudonym
    HAVING count(*) > 1
),

not_first AS (
    SELECT a.kind, a.id, a.case_id, a.pseudonym
    FROM temp.main.srsql_id_attempt AS a
    INNER JOIN shared AS s ON a.pseudonym = s.pseudonym
    QUALIFY row_number() OVER (PARTITION BY a.pseudonym ORDER BY a.kind, a.id) > 1
)

SELECT t.kind, t.id, t.case_id FROM taken AS t
UNION ALL
SELECT n.kind, n.id, n.case_id
FROM not_first AS n
WHERE NOT EXISTS (SELECT 1 FROM taken AS t WHERE t.pseudonym = n.pseudonym);

DELETE FROM temp.main.srsql_id_attempt AS a
USING temp.main.srsql_unnamed_id AS u
WHERE a.kind = u.kind AND a.id = u.id;

INSERT INTO srsql.id_pseudonym
SELECT $dataset, $series, $quarter, a.kind, a.id, a.case_id, a.pseudonym
FROM temp.main.srsql_id_attempt AS a;

INSERT INTO temp.main.srsql_named_id
SELECT a.kind, a.id, a.pseudonym FROM temp.main.srsql_id_attempt AS a;
