-- The checks of a release that counts persons: k and theta of persons, from the released rows and
-- from who is one person. Inputs are tables: rows(region, case_id) and values(case_id, term), off
-- the released views; persons(case_id, person, carries): case_id as published; carries: no case of
-- the person was in an earlier period of the series, where the model counts new cases alone.

-- What:    no two cases that are suspected duplicates of each other were taken for two persons: of
--          every pair of which a case is released or counted with others, both are one person.
-- Inputs:  pairs_of(case_id, other_case_id): of at least the match probability of the release;
--          counted_of(case_id, person): who was counted as one person; released_of(case_id). All by
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
        count(*) FILTER (WHERE a.person IS NULL OR a.person IS DISTINCT FROM b.person) AS violating,
        count(*) AS total
    FROM query_table(pairs_of) AS p
    LEFT JOIN query_table(counted_of) AS a ON p.case_id = a.case_id
    LEFT JOIN query_table(counted_of) AS b ON p.other_case_id = b.case_id
    WHERE
        p.case_id IN (SELECT h.case_id FROM here AS h)
        OR p.other_case_id IN (SELECT h.case_id FROM here AS h)
) AS f;

-- What:    every region that is published holds at least k distinct persons who carry its bounds.
-- Source:  Lin 2016, Definition 3 (1), and Huang 2021, Definition 4 (NC-bounding), of persons.
CREATE OR REPLACE MACRO srsql.check_k_persons(rows_of, persons_of, at_least, release_id) AS TABLE
WITH crowd AS (
    SELECT r.region, count(DISTINCT p.person) FILTER (WHERE p.carries) AS persons
    FROM query_table(rows_of) AS r
    LEFT JOIN query_table(persons_of) AS p ON r.case_id = p.case_id
    GROUP BY r.region
)

SELECT
    unnest(srsql.check_row(
        release_id, 'check_k_persons', 'published region', f.violating, f.total, at_least
    ))
FROM (
    SELECT count(*) FILTER (WHERE c.persons < at_least) AS violating, count(*) AS total
    FROM crowd AS c
) AS f;

-- What:    no value of any published region is held by more of its persons than its threshold
--          allows of those who carry the bounds; a person holds what any of their released cases
--          shows. A threshold of 1 is kept by whatever is shown.
-- Source:  Lin 2016, Definition 3 (2), of persons.
CREATE OR REPLACE MACRO srsql.check_theta_persons(
    rows_of, values_of, persons_of, thresholds_of, release_id
) AS TABLE
WITH
placed AS (
    SELECT DISTINCT r.region, r.case_id, p.person, p.carries
    FROM query_table(rows_of) AS r
    LEFT JOIN query_table(persons_of) AS p ON r.case_id = p.case_id
),

crowd AS (
    SELECT p.region, count(DISTINCT p.person) FILTER (WHERE p.carries) AS persons
    FROM placed AS p GROUP BY p.region
),

holders AS (
    SELECT p.region, v.term, count(DISTINCT p.person) AS persons
    FROM placed AS p
    INNER JOIN query_table(values_of) AS v ON p.case_id = v.case_id
    GROUP BY p.region, v.term
),

breaches AS (
    SELECT DISTINCT h.region
    FROM holders AS h
    INNER JOIN crowd AS c ON h.region = c.region
    LEFT JOIN query_table(thresholds_of) AS t ON h.term = t.term
    WHERE
        t.term IS NULL
        OR t.theta_num < t.theta_den
        AND h.persons::HUGEINT * t.theta_den > t.theta_num::HUGEINT * c.persons
)

SELECT
    unnest(srsql.check_row(
        release_id, 'check_theta_persons', 'published region', f.violating, f.total, 0
    ))
FROM (
    SELECT (SELECT count(*) FROM breaches) AS violating, count(*) AS total
    FROM crowd
) AS f;
