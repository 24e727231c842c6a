-- Step: what is grouped at once where there are several sets of quasi-identifiers: the cases of one
--   block ($block; NULL: all cases), by some positions alone ($mask, a bit mask). The other
--   positions count as missing, and so do they where one was given up.
-- Reads: set_profile(case_no, pattern, known, carrier, kind), set_bounded(case_no, position, low,
--   high), set_grouped(set_no, case_no, group_no)
-- Writes: profile(case_no, pattern, known, carrier, kind), bounded(case_no, position, low, high),
--   role(case_no, known), grouped(case_no, group_no, pattern), withheld(case_no, reason)
-- Source: docs/models.md (several sets of quasi-identifiers).

CREATE OR REPLACE TEMP TABLE srsql_profile AS
WITH chosen AS (
    SELECT g.case_no
    FROM temp.main.srsql_set_grouped AS g
    WHERE g.set_no = 0 AND g.group_no = $block::INTEGER
)

SELECT
    p.case_no,
    (p.pattern & $mask::INTEGER)::INTEGER AS pattern,
    (p.known & $mask::INTEGER)::INTEGER AS known,
    p.carrier,
    p.kind
FROM temp.main.srsql_set_profile AS p
LEFT JOIN chosen AS c ON p.case_no = c.case_no
WHERE $block::INTEGER IS NULL OR c.case_no IS NOT NULL;

CREATE OR REPLACE TEMP TABLE srsql_bounded AS
SELECT
    b.case_no,
    b.position,
    CASE WHEN ($mask::INTEGER >> b.position) & 1 = 1 THEN b.low END AS low,
    CASE WHEN ($mask::INTEGER >> b.position) & 1 = 1 THEN b.high END AS high
FROM temp.main.srsql_set_bounded AS b
SEMI JOIN temp.main.srsql_profile AS p ON b.case_no = p.case_no;

UPDATE temp.main.srsql_role AS r
SET known = k.known
FROM srsql.known_qids('temp.main.srsql_bounded') AS k
WHERE r.case_no = k.case_no;

CREATE OR REPLACE TEMP TABLE srsql_grouped (
    case_no INTEGER NOT NULL, group_no INTEGER NOT NULL, pattern INTEGER NOT NULL
);

CREATE OR REPLACE TEMP TABLE srsql_withheld (case_no INTEGER NOT NULL, reason VARCHAR NOT NULL);
