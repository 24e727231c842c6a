-- Step: gives the ids that have no pseudonym yet the one of this $attempt, where no other id of the
--   series has it; of several new ids with one pseudonym the first in the order of their text gets
--   it. The others stay, for the next attempt. So the outcome depends on the key and the ids alone.
-- Parameters: dataset, series, quarter, attempt, bits, inner_pad, outer_pad.
-- Reads: unnamed_id(kind, id, case_id), srsql.id_pseudonym
-- Writes: id_attempt(kind, id, case_id, pseudonym), unnamed_id, srsql.id_pseudonym
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

DELETE FROM temp.main.srsql_id_attempt AS a
WHERE a.pseudonym IN (
    SELECT p.pseudonym FROM srsql.id_pseudonym AS p
    WHERE p.dataset = $dataset AND p.series = $series
);

INSERT INTO srsql.id_pseudonym
WITH shared AS MATERIALIZED (  -- next to none, so that nearly all rows need no order
    SELECT a.pseudonym FROM temp.main.srsql_id_attempt AS a
    GROUP BY a.pseudonym
    HAVING count(*) > 1
),

first_of_shared AS (
    SELECT a.kind, a.id, a.case_id, a.pseudonym
    FROM temp.main.srsql_id_attempt AS a
    INNER JOIN shared AS s ON a.pseudonym = s.pseudonym
    QUALIFY row_number() OVER (PARTITION BY a.pseudonym ORDER BY a.kind, a.id) = 1
)

SELECT $dataset, $series, $quarter, a.kind, a.id, a.case_id, a.pseudonym
FROM temp.main.srsql_id_attempt AS a
WHERE NOT EXISTS (SELECT 1 FROM shared AS s WHERE s.pseudonym = a.pseudonym)
UNION ALL
SELECT $dataset, $series, $quarter, f.kind, f.id, f.case_id, f.pseudonym
FROM first_of_shared AS f;

DELETE FROM temp.main.srsql_unnamed_id AS u
WHERE EXISTS (
    SELECT 1 FROM srsql.id_pseudonym AS p
    WHERE
        p.dataset = $dataset
        AND p.series = $series
        AND p.quarter IS NOT DISTINCT FROM $quarter::VARCHAR
        AND p.kind = u.kind
        AND p.id = u.id
);
