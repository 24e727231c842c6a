-- From how many values of a sensitive attribute a case has substantially many (Huang 2021,
-- Definition 6), and who is in the next quarter.

-- name: moments
-- Of each of $attributes, the sum of the cases' numbers of values, and that of their squares; the
-- same of the numbers of spellings.
SELECT
    a.attribute,
    coalesce(sum(s.symptoms), 0)::BIGINT AS total,
    coalesce(sum(s.symptoms * s.symptoms), 0)::BIGINT AS total_of_squares,
    coalesce(sum(s.spellings), 0)::BIGINT AS spellings,
    coalesce(sum(s.spellings * s.spellings), 0)::BIGINT AS spellings_of_squares
FROM (SELECT unnest($attributes::VARCHAR[]) AS attribute) AS a
LEFT JOIN temp.main.srsql_symptoms AS s ON a.attribute = s.attribute
GROUP BY a.attribute;

-- name: store_rule
-- Keeps the rule of the release: mean, standard deviation and cutoff of each attribute.
INSERT INTO srsql.ss_rule
SELECT $release_id, r.attribute, r.mean, r.deviation, r.cutoff, r.by_spelling
FROM (
    SELECT
        unnest($attributes::VARCHAR[]) AS attribute,
        unnest($means::DOUBLE[]) AS mean,
        unnest($deviations::DOUBLE[]) AS deviation,
        unnest($cutoffs::BIGINT[]) AS cutoff,
        unnest($by_spelling::BOOLEAN[]) AS by_spelling
) AS r
ORDER BY r.attribute, r.by_spelling;

-- name: released_next_cases
-- Adds the cases that the series released of the next quarter $quarter and that its data lack.
INSERT INTO temp.main.srsql_next_case
SELECT DISTINCT m.case_id
FROM srsql.member AS m
INNER JOIN srsql.exposed_release AS r ON m.release_id = r.release_id
INNER JOIN srsql.release AS own ON own.release_id = $release_id
WHERE
    r.dataset = own.dataset
    AND r.series = own.series
    AND r.quarter = $quarter
    AND m.case_id NOT IN (SELECT n.case_id FROM temp.main.srsql_next_case AS n);

-- name: no_next_cases
-- Nobody is, where the next quarter is not asked for.
CREATE OR REPLACE TEMP TABLE srsql_next_case (case_id VARCHAR);
