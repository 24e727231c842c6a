-- What the cases of a perturbing release show of one quasi-identifier ($position); the value that a
-- case has is known and of the pattern of its group (Wu 2022, section IV).

-- name: add_noise
-- Laplace noise on a number at $epsilon_num / $epsilon_den, then the nearest value of the domain
-- ($domain_low to $domain_high, in granules), which is post-processing.
INSERT INTO temp.main.srsql_drawn
WITH
plan AS MATERIALIZED (
    SELECT
        $position::INTEGER AS position,
        $calibration AS calibration,
        $epsilon_num::BIGINT AS epsilon_num,
        $epsilon_den::BIGINT AS epsilon_den,
        $domain_low::BIGINT AS domain_low,
        $domain_high::BIGINT AS domain_high
),

noisy AS MATERIALIZED (
    SELECT g.case_no, g.group_no, b.position, b.low, b.high
    FROM temp.main.srsql_grouped AS g
    INNER JOIN temp.main.srsql_bounded AS b ON g.case_no = b.case_no
    WHERE b.position = $position AND (g.pattern >> b.position) & 1 = 1
),

draws AS MATERIALIZED (
    SELECT d.* FROM srsql.laplace_draws('noisy', 'plan', $position) AS d
),

noisy_draws AS MATERIALIZED (
    SELECT d.* FROM draws AS d WHERE d.numerator > 0
),

noise AS MATERIALIZED (
    SELECT z.case_no, z.noise FROM srsql.laplace_noise('noisy_draws', $seed) AS z
    UNION ALL
    SELECT d.case_no, 0 AS noise FROM draws AS d WHERE d.numerator = 0
)

SELECT
    d.case_no,
    p.position,
    least(greatest(d.value + z.noise, p.domain_low), p.domain_high) AS low,
    least(greatest(d.value + z.noise, p.domain_low), p.domain_high) AS high
FROM draws AS d
INNER JOIN noise AS z ON d.case_no = z.case_no
CROSS JOIN plan AS p;

-- name: choose_nodes
-- A node in the place of a category, by the exponential mechanism at $epsilon_num / $epsilon_den
-- over the tree of $parents.
INSERT INTO temp.main.srsql_drawn
WITH
plan AS MATERIALIZED (
    SELECT $position::INTEGER AS position, $calibration AS calibration
),

noisy AS MATERIALIZED (
    SELECT g.case_no, g.group_no, b.position, b.low, b.high
    FROM temp.main.srsql_grouped AS g
    INNER JOIN temp.main.srsql_bounded AS b ON g.case_no = b.case_no
    WHERE b.position = $position AND (g.pattern >> b.position) & 1 = 1
),

draws AS MATERIALIZED (
    SELECT d.* FROM srsql.choice_draws('noisy', 'plan', $position) AS d
),

nodes AS MATERIALIZED (
    SELECT z.case_no, z.node
    FROM srsql.exponential_choice(
        'draws', $parents, $epsilon_num, $epsilon_den, $calibration, $seed
    ) AS z
)

SELECT z.case_no, n.position, n.pre, n.last
FROM nodes AS z
INNER JOIN temp.main.srsql_node AS n ON n.position = $position AND z.node = n.pre;

-- name: published_values
-- What the rows of each case (here its own group) show: the draw, the group's region, or missing.
SELECT
    g.case_no AS group_no,
    r.position,
    coalesce(d.low, r.low) AS low,
    coalesce(d.high, r.high) AS high
FROM temp.main.srsql_grouped AS g
INNER JOIN temp.main.srsql_region AS r ON g.group_no = r.group_no
LEFT JOIN temp.main.srsql_drawn AS d ON g.case_no = d.case_no AND r.position = d.position;

-- name: charges
-- The ways in which cases of a series ($series NULL: of all) were charged, and how many cases share
-- each; only those that the release $release_id charges (NULL: all).
SELECT c.charges, c.cases FROM srsql.charges($dataset, $series, $release_id) AS c;

-- name: accounts
-- What is charged in: every dataset, with each of its series and, first, all of them together.
SELECT s.dataset, s.series
FROM srsql.budget_ledger AS s
GROUP BY GROUPING SETS ((s.dataset), (s.dataset, s.series))
ORDER BY s.dataset, s.series NULLS FIRST;

-- name: charge_quarter
-- A release ($release_id) of rows that are no case's charges every case that its quarter has, also
-- one that it withholds: which rows there are was computed from all of them.
INSERT INTO srsql.budget_ledger
SELECT
    r.release_id,
    r.dataset,
    r.series,
    r.quarter,
    c.case_id::VARCHAR,
    NULL,
    $mechanism,
    $calibration,
    $epsilon_num,
    $epsilon_den
FROM temp.main.srsql_case AS c
INNER JOIN srsql.release AS r ON r.release_id = $release_id
ORDER BY c.case_no;
