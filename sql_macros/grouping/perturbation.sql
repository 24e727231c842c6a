-- The perturbing models (Wu 2022, section IV): merging groups, noise, and the budget ledger.
-- Parameters that name tables take their names; of_release is a release id.

-- What:    groups with the same generalized categories as one group.
-- Inputs:  grouped(case_no, group_no, pattern); nodes_of(group_no, position, low, high): the
--          generalized value of each group and categorical QID of its pattern.
-- Outputs: group_no, merged_no: numbered from 0 in the order of the first group. Those of other
--          patterns stay apart.
-- Source:  Wu 2022, QID^C-Gen&Merging and VirtualGen&Merging (Example 1).
CREATE OR REPLACE MACRO srsql.merged_groups(grouped, nodes_of) AS TABLE
WITH
groups AS (
    SELECT DISTINCT g.group_no, g.pattern FROM query_table(grouped) AS g
),

keyed AS (
    SELECT
        g.group_no,
        g.pattern,
        list((n.position, n.low, n.high) ORDER BY n.position) FILTER (
            WHERE n.position IS NOT NULL
        ) AS categories
    FROM groups AS g
    LEFT JOIN query_table(nodes_of) AS n ON g.group_no = n.group_no
    GROUP BY g.group_no, g.pattern
),

firsts AS (
    SELECT
        k.group_no,
        min(k.group_no) OVER (PARTITION BY k.pattern, k.categories) AS first_no
    FROM keyed AS k
)

SELECT f.group_no, (dense_rank() OVER (ORDER BY f.first_no) - 1)::INTEGER AS merged_no
FROM firsts AS f;

-- What:    discrete Laplace noise in granules: P(z) proportional to exp(-|z| / scale), independent
--          for each row; one call of the kernel for all rows.
-- Inputs:  draws(case_no, numerator, denominator): the scale of each; seed: NULL for the secure
--          generator, else that of an experiment. Pass a value, not a call of a random function.
-- Outputs: case_no, noise. Every reading of this macro draws anew: keep the result in a table.
-- Source:  Wu 2022, section IV.B; SPEC section 10.
CREATE OR REPLACE MACRO srsql.laplace_noise(draws, seed) AS TABLE
WITH lists AS (
    SELECT
        coalesce(list(d.case_no ORDER BY d.case_no), []::INTEGER[]) AS case_nos,
        coalesce(list(d.numerator::BIGINT ORDER BY d.case_no), []::BIGINT[]) AS numerators,
        coalesce(list(d.denominator::BIGINT ORDER BY d.case_no), []::BIGINT[]) AS denominators
    FROM query_table(draws) AS d
)

SELECT
    unnest(l.case_nos) AS case_no,
    unnest(srsql_laplace_noise(l.numerators, l.denominators, seed::BIGINT)) AS noise
FROM lists AS l;

-- What:    nodes drawn by the exponential mechanism, independently for each row; one call of the
--          kernel for all rows.
-- Inputs:  draws(case_no, dom): the values the choice is made for, as preorder numbers in ascending
--          order (the group's, or the record's own one); parents: each node's parent in preorder;
--          numerator, denominator of epsilon; calibration: 'paper', 'sound' or 'printed'; seed: as
--          above.
-- Outputs: case_no, node (preorder number). Every reading draws anew.
-- Source:  Wu 2022, section IV.C; SPEC section 10.
CREATE OR REPLACE MACRO srsql.exponential_choice(
    draws, parents, numerator, denominator, calibration, seed
) AS TABLE
WITH
doms AS (
    SELECT s.dom, (row_number() OVER (ORDER BY s.dom) - 1)::INTEGER AS dom_no
    FROM (SELECT DISTINCT d.dom FROM query_table(draws) AS d) AS s
),

listed AS (
    SELECT coalesce(list(m.dom ORDER BY m.dom_no), []::BIGINT[][]) AS doms FROM doms AS m
),

lists AS (
    SELECT
        coalesce(list(d.case_no ORDER BY d.case_no), []::INTEGER[]) AS case_nos,
        coalesce(list(m.dom_no ORDER BY d.case_no), []::INTEGER[]) AS which
    FROM query_table(draws) AS d
    INNER JOIN doms AS m ON d.dom = m.dom
)

SELECT
    unnest(l.case_nos) AS case_no,
    unnest(srsql_exponential_choice(
        l.which, s.doms, parents::BIGINT[], numerator::BIGINT, denominator::BIGINT, calibration,
        seed::BIGINT
    )) AS node
FROM lists AS l
CROSS JOIN listed AS s;

-- What:    the number of each case that noise is added to, and the scale of that noise in granules.
--          Reports of a case that differ are perturbed around their midpoint, rounded down.
-- Inputs:  noisy(case_no, group_no, position, low, high); plan(position, calibration, epsilon_num,
--          epsilon_den, domain_low, domain_high); place: a position.
-- Outputs: case_no, value, numerator, denominator. Scale: domain / epsilon (sound), or range of the
--          group / epsilon with a range of at least 5 granules (paper), or of 0 where the group
--          agrees: then it is 0 (printed).
-- Source:  Wu 2022, section IV.B; SPEC section 10.
CREATE OR REPLACE MACRO srsql.laplace_draws(noisy, plan, place) AS TABLE
WITH ranges AS (
    SELECT n.group_no, max(n.high) - min(n.low) AS width
    FROM query_table(noisy) AS n WHERE n.position = place GROUP BY n.group_no
)

SELECT
    n.case_no,
    n.low + (n.high - n.low) // 2 AS value,
    CASE p.calibration
        WHEN 'sound' THEN greatest(p.domain_high - p.domain_low, 1)
        WHEN 'paper' THEN greatest(r.width, 5)
        ELSE r.width
    END * p.epsilon_den AS numerator,
    p.epsilon_num AS denominator
FROM query_table(noisy) AS n
INNER JOIN ranges AS r ON n.group_no = r.group_no
INNER JOIN query_table(plan) AS p ON n.position = p.position
WHERE n.position = place;

-- What:    what the exponential mechanism chooses for: the distinct values of the case's group
--          (paper), or its own value, the lowest node that covers its reports (sound).
-- Inputs:  noisy, plan, place: as above.
-- Outputs: case_no, dom: preorder numbers in ascending order.
-- Source:  Wu 2022, section IV.C; SPEC section 10.
CREATE OR REPLACE MACRO srsql.choice_draws(noisy, plan, place) AS TABLE
WITH held AS (
    SELECT n.group_no, list_sort(list(DISTINCT n.low)) AS dom
    FROM query_table(noisy) AS n WHERE n.position = place GROUP BY n.group_no
)

SELECT
    n.case_no,
    CASE p.calibration WHEN 'sound' THEN [n.low] ELSE h.dom END AS dom
FROM query_table(noisy) AS n
INNER JOIN held AS h ON n.group_no = h.group_no
INNER JOIN query_table(plan) AS p ON n.position = p.position
WHERE n.position = place;

-- What:    the budget ledger: what each release, and each draft that was ever committed, charged to
--          a case. A draft counts, though nobody but the steward saw it; so does a removed one.
-- Inputs:  of_dataset; of_series: one series, or NULL for all of the warehouse.
-- Outputs: release_id, series, quarter, status ('removed' of a draft that is gone), case_id,
--          attribute (NULL: all that is drawn from the case), mechanism, calibration, epsilon_num,
--          epsilon_den.
-- Source:  SPEC section 10: sequential composition over quarters and series.
CREATE OR REPLACE MACRO srsql.ledger(of_dataset, of_series) AS TABLE
SELECT
    s.release_id,
    s.series,
    s.quarter,
    coalesce(r.status, 'removed') AS status,
    s.case_id,
    s.attribute,
    s.mechanism,
    s.calibration,
    s.epsilon_num,
    s.epsilon_den
FROM srsql.budget_ledger AS s
LEFT JOIN srsql.release AS r ON s.release_id = r.release_id
WHERE
    s.dataset = of_dataset
    AND (of_series::VARCHAR IS NULL OR s.series = of_series::VARCHAR);

-- What:    the ways in which cases were charged, and how many cases share each.
-- Inputs:  of_dataset, of_series: as srsql.ledger; of_release: only the cases that this release
--          charges (NULL: all), each with all that it was ever charged.
-- Outputs: charges: list of (mechanism, calibration, epsilon_num, epsilon_den, times); cases;
--          case_id: the first of them. Their sums are exact fractions, for the caller to take.
-- Source:  SPEC section 10.
CREATE OR REPLACE MACRO srsql.charges(of_dataset, of_series, of_release) AS TABLE
WITH
own AS (
    SELECT DISTINCT o.case_id
    FROM srsql.budget_ledger AS o
    WHERE
        o.dataset = of_dataset
        AND (of_release::INTEGER IS NULL OR o.release_id = of_release::INTEGER)
),

counted AS (
    SELECT
        l.case_id,
        l.mechanism,
        l.calibration,
        l.epsilon_num,
        l.epsilon_den,
        count(*) AS times
    FROM srsql.ledger(of_dataset, of_series) AS l
    SEMI JOIN own AS o ON l.case_id = o.case_id
    GROUP BY l.case_id, l.mechanism, l.calibration, l.epsilon_num, l.epsilon_den
),

accounts AS (
    SELECT
        c.case_id,
        list(
            (c.mechanism, c.calibration, c.epsilon_num, c.epsilon_den, c.times)
            ORDER BY c.mechanism, c.calibration, c.epsilon_num, c.epsilon_den, c.times
        ) AS charges
    FROM counted AS c
    GROUP BY c.case_id
)

SELECT a.charges, count(*) AS cases, min(a.case_id) AS case_id
FROM accounts AS a GROUP BY a.charges;
