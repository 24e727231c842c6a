-- Leaving several quarters: who is known to be in none of the releases that are out any more, or in
-- none of later quarters, is none of the candidates that appear there.

-- What:    how many cases of a group appear in none of the releases that one who left is not in.
-- Inputs:  releases(release_id, quarter, replaced): those of a series that are or were out, in one
--          relation; replaced: a later version of the quarter is out.
-- Outputs: release_id, group_id, cases; remaining: those that no release that is out shows, of
--          later quarters, and of any where the own one was replaced.
-- Source:  docs/models.md (leaving several quarters).
CREATE OR REPLACE MACRO srsql.leaving_groups(releases) AS TABLE
WITH
series_release AS MATERIALIZED (
    SELECT r.release_id, r.quarter, r.replaced FROM query_table(releases) AS r
),

last_seen AS (
    SELECT m.case_id, max(r.quarter) AS quarter
    FROM series_release AS r
    INNER JOIN srsql.member AS m ON r.release_id = m.release_id
    WHERE NOT r.replaced
    GROUP BY m.case_id
)

SELECT
    m.release_id,
    m.group_id,
    count(*) AS cases,
    count(*) FILTER (
        WHERE l.quarter IS NULL OR (NOT r.replaced AND l.quarter <= r.quarter)
    ) AS remaining
FROM series_release AS r
INNER JOIN srsql.member AS m ON r.release_id = m.release_id
LEFT JOIN last_seen AS l ON m.case_id = l.case_id
GROUP BY m.release_id, m.group_id;

-- What:    of forgotten cases that releases of several quarters still show, how few candidates
--          they will leave to one who has these releases and the next versions, once each was
--          corrected.
-- Inputs:  of_dataset: whose cases.
-- Outputs: series; cases: so many; below_k: those of them with fewer than k; fewest: candidates of
--          the case that has the fewest; k. A candidate is in the group of the case in one of the
--          releases, and in no release in a group that stays.
-- Source:  docs/models.md (leaving several quarters).
CREATE OR REPLACE MACRO srsql.leaving_together(of_dataset) AS TABLE
WITH
shown AS MATERIALIZED (
    SELECT
        r.series,
        r.release_id,
        r.k,
        m.case_id,
        m.group_id,
        f.token IS NOT NULL AS leaves
    FROM srsql.release AS r
    INNER JOIN srsql.member AS m ON r.release_id = m.release_id
    LEFT JOIN srsql.forgotten_case AS f ON f.dataset = of_dataset AND m.case_id = f.token
    WHERE r.dataset = of_dataset AND r.status = 'released'
),

gone AS MATERIALIZED (
    SELECT DISTINCT s.release_id, s.group_id FROM shown AS s WHERE s.leaves
),

stays AS (
    SELECT DISTINCT s.series, s.case_id
    FROM shown AS s
    ANTI JOIN gone AS g ON s.release_id = g.release_id AND s.group_id = g.group_id
),

left_over AS (
    SELECT s.release_id, s.group_id, count(*) FILTER (WHERE t.case_id IS NULL) AS candidates
    FROM shown AS s
    INNER JOIN gone AS g ON s.release_id = g.release_id AND s.group_id = g.group_id
    LEFT JOIN stays AS t ON s.series = t.series AND s.case_id = t.case_id
    GROUP BY s.release_id, s.group_id
),

targets AS (
    SELECT
        s.series,
        s.case_id,
        min(l.candidates) AS candidates,
        bool_or(l.candidates < s.k) AS below_k,
        max(s.k) AS k
    FROM shown AS s
    INNER JOIN left_over AS l ON s.release_id = l.release_id AND s.group_id = l.group_id
    WHERE s.leaves
    GROUP BY s.series, s.case_id
    HAVING count(*) > 1
)

SELECT
    t.series,
    count(*) AS cases,
    count(*) FILTER (WHERE t.below_k) AS below_k,
    min(t.candidates) AS fewest,
    max(t.k) AS k
FROM targets AS t
GROUP BY t.series
ORDER BY t.series;
