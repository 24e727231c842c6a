-- Who is counted by a release, as its checks take it, and whether that is who was suspected.

-- What:    cases in whose place another unit is counted.
-- Inputs:  unit: 'case': every case counts for itself, and there are no rows; 'person': the cases
--          that the release counts with others; of_release.
-- Outputs: case_id, by the ids of the source; unit, distinct from every case id.
-- Source:  docs/decisions.md, D382.
CREATE OR REPLACE MACRO srsql.counted_units(unit, of_release) AS TABLE
SELECT p.case_id, 'person ' || p.person::VARCHAR AS unit
FROM srsql.counted_person AS p
WHERE p.release_id = of_release AND unit = 'person';

-- What:    who is counted by a release, by k, theta and new or old: 'case' or 'person'.
CREATE OR REPLACE MACRO srsql.unit_of(of_release) AS (
    SELECT CASE WHEN count(*) > 0 THEN 'person' ELSE 'case' END
    FROM srsql.person_count AS p WHERE p.release_id = of_release
);

-- What:    the pairs of at least the match probability of a release. Those that a later search
--          found are none of a version that corrects an earlier one, which keeps who was one
--          person then.
-- Inputs:  of_release.
-- Outputs: case_id, other_case_id.
-- Source:  Fellegi & Sunter 1969.
CREATE OR REPLACE MACRO srsql.suspected_pairs(of_release) AS TABLE
SELECT p.case_id, p.other_case_id
FROM srsql.suspected_duplicate AS p
INNER JOIN srsql.release AS r ON p.dataset = r.dataset
INNER JOIN srsql.person_count AS c ON r.release_id = c.release_id AND p.probability >= c.at_least
WHERE
    r.release_id = of_release
    AND NOT EXISTS (SELECT 1 FROM srsql.correction AS e WHERE e.release_id = r.release_id);

-- What:    no two cases that are suspected duplicates of each other were taken for two persons: of
--          every pair of which a case is released or counted with others, both are one person.
-- Inputs:  pairs_of(case_id, other_case_id): of at least the match probability of the release;
--          counted_of(case_id, unit): who was counted as one person; released_of(case_id). All by
--          the ids of the source.
-- Source:  Fellegi & Sunter 1969 (links above an upper threshold), and what they join.
CREATE OR REPLACE MACRO srsql.check_persons(pairs_of, counted_of, released_of, release_id) AS TABLE
WITH here AS (
    SELECT c.case_id FROM query_table(counted_of) AS c
    UNION
    SELECT r.case_id FROM query_table(released_of) AS r
)

SELECT
    unnest(srsql.check_row(release_id, 'check_persons', 'suspected pair', f.violating, f.total, 0))
FROM (
    SELECT
        count(*) FILTER (WHERE a.unit IS NULL OR a.unit IS DISTINCT FROM b.unit) AS violating,
        count(*) AS total
    FROM query_table(pairs_of) AS p
    LEFT JOIN query_table(counted_of) AS a ON p.case_id = a.case_id
    LEFT JOIN query_table(counted_of) AS b ON p.other_case_id = b.case_id
    WHERE
        p.case_id IN (SELECT h.case_id FROM here AS h)
        OR p.other_case_id IN (SELECT h.case_id FROM here AS h)
) AS f;
