-- Who counts as one person: cases that are suspected duplicates of each other.

-- What:    the clusters of suspected duplicates at a threshold: cases that pairs of at least this
--          probability join, directly or through others.
-- Inputs:  pairs_of(case_id, other_case_id, probability); at_least: the threshold.
-- Outputs: case_id, person: the least case id of its cluster, as text. A case of no such pair has
--          no row.
-- Source:  Fellegi & Sunter 1969 (links above an upper threshold); connected components, as splink
--          has them.
CREATE OR REPLACE MACRO srsql.person_clusters(pairs_of, at_least) AS TABLE
WITH RECURSIVE -- noqa: PRS
linked AS MATERIALIZED (
    SELECT p.case_id, p.other_case_id
    FROM query_table(pairs_of) AS p WHERE p.probability >= at_least
    UNION
    SELECT p.other_case_id, p.case_id
    FROM query_table(pairs_of) AS p WHERE p.probability >= at_least
),

-- a case takes the least person of its neighbours until nothing changes
spread(case_id, person) USING KEY (case_id) AS (
    SELECT DISTINCT l.case_id, l.case_id AS person FROM linked AS l
    UNION
    SELECT l.case_id, min(s.person) AS person
    FROM spread AS s
    INNER JOIN linked AS l ON s.case_id = l.other_case_id
    INNER JOIN recurring.spread AS r ON l.case_id = r.case_id
    WHERE s.person < r.person
    GROUP BY l.case_id
)

SELECT s.case_id, s.person FROM spread AS s;
