-- What a part of the groups of several sets of quasi-identifiers holds: its cases are those of
-- temp.main.srsql_bounded, its groups are in temp.main.srsql_grouped, who has none is withheld.

-- name: unplaced
-- Who has no group, with the quasi-identifiers they could be grouped by, and whether they carry the
-- bounds.
SELECT w.case_no, k.known, r.carrier
FROM temp.main.srsql_withheld AS w
INNER JOIN srsql.known_qids('temp.main.srsql_bounded') AS k ON w.case_no = k.case_no
INNER JOIN temp.main.srsql_role AS r ON w.case_no = r.case_no
ORDER BY w.case_no;

-- name: groups
-- Every group with its pattern, the number of its cases, and how many of them carry the bounds.
SELECT
    g.group_no,
    min(g.pattern) AS pattern,
    count(*) AS cases,
    count(*) FILTER (WHERE r.carrier) AS carriers
FROM temp.main.srsql_grouped AS g
INNER JOIN temp.main.srsql_role AS r ON g.case_no = r.case_no
GROUP BY g.group_no
ORDER BY g.group_no;

-- name: held
-- What weighs each bounded value in each group, and in each case without one (group -1 - case_no).
WITH places AS (
    SELECT g.case_no, g.group_no FROM temp.main.srsql_grouped AS g
    UNION ALL
    SELECT w.case_no, -1 - w.case_no AS group_no FROM temp.main.srsql_withheld AS w
)

SELECT
    p.group_no,
    t.term_no,
    sum(t.weight)::BIGINT AS weight,
    any_value(q.theta_num) AS theta_num,
    any_value(q.theta_den) AS theta_den
FROM temp.main.srsql_case_term AS t
INNER JOIN places AS p ON t.case_no = p.case_no
INNER JOIN temp.main.srsql_theta AS q ON t.term_no = q.term_no
WHERE q.theta_num < q.theta_den
GROUP BY p.group_no, t.term_no
ORDER BY p.group_no, t.term_no;

-- name: place
-- Puts a case into a group.
INSERT INTO temp.main.srsql_grouped VALUES ($case_no, $group_no, $pattern);

-- name: leave
-- Groups that become one: their cases are in $group_no.
UPDATE temp.main.srsql_grouped
SET group_no = $group_no
WHERE list_contains($group_nos::INTEGER[], group_no);

-- name: show
-- What a group can be grouped by.
UPDATE temp.main.srsql_grouped SET pattern = $pattern WHERE group_no = $group_no;

-- name: placed
-- Who has a group is not withheld.
DELETE FROM temp.main.srsql_withheld AS w
WHERE w.case_no IN (SELECT g.case_no FROM temp.main.srsql_grouped AS g);

-- name: fit_none
-- Who fits no block as it is has no group, whatever the size of the pattern.
UPDATE temp.main.srsql_withheld SET reason = 'no_group_fits' WHERE reason = 'pattern_too_small';

-- name: carriers
-- How many cases of a pattern carry the bounds.
SELECT count(*) FROM temp.main.srsql_profile AS p WHERE p.pattern = $pattern AND p.carrier;

-- name: blocks
-- The blocks, in the order of their numbers.
SELECT DISTINCT g.group_no
FROM temp.main.srsql_set_grouped AS g
WHERE g.set_no = 0
ORDER BY g.group_no;

-- name: one_block
-- All cases in one block under no quasi-identifier, if $k of them carry the bounds.
INSERT INTO temp.main.srsql_grouped
SELECT p.case_no, 0, 0
FROM temp.main.srsql_profile AS p
WHERE (SELECT count(*) FROM temp.main.srsql_profile AS c WHERE c.carrier) >= $k;
