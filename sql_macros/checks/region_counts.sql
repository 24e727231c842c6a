-- The check of counts of regions after the fact, where no row of a case is released. Nothing here
-- is used to make them.

-- What:    the published region of each case of a release, by the catalog's group of the case.
-- Inputs:  ends_of(group_id, position, low, high): the published regions, each under a number of
--          its own, coded as the catalog codes them; a missing category is shown as the root.
-- Outputs: region_no (NULL: no published region is that of its group), case_id.
CREATE OR REPLACE MACRO srsql.counted_regions(ends_of, of_release) AS TABLE
WITH
roots AS (
    SELECT a.position, n.pre, n.last
    FROM srsql.release AS r
    INNER JOIN srsql.attribute AS a ON r.release_id = a.release_id AND a.kind = 'categorical'
    INNER JOIN srsql.node AS n
        ON r.dataset = n.dataset AND a.attribute = n.attribute AND n.parent IS NULL
    WHERE r.release_id = of_release
),

kept AS (
    SELECT
        g.group_id,
        list(
            struct_pack(
                position := g.position::BIGINT,
                low := coalesce(g.low, t.pre)::BIGINT,
                high := coalesce(g.high, t.last)::BIGINT
            ) ORDER BY g.position
        ) AS ends
    FROM srsql.region AS g
    LEFT JOIN roots AS t ON g.position = t.position
    WHERE g.release_id = of_release
    GROUP BY g.group_id
),

shown AS (
    SELECT
        e.group_id AS region_no,
        list(
            struct_pack(
                position := e.position::BIGINT, low := e.low::BIGINT, high := e.high::BIGINT
            ) ORDER BY e.position
        ) AS ends
    FROM query_table(ends_of) AS e
    GROUP BY e.group_id
)

SELECT s.region_no, m.case_id
FROM srsql.member AS m
LEFT JOIN kept AS k ON m.group_id = k.group_id
LEFT JOIN shown AS s ON k.ends = s.ends
WHERE m.release_id = of_release;

-- What:    every published region counts $k cases or more: those that the catalog has of it, each
--          once, and none that an earlier release of the series has.
-- Inputs:  regions_of(region_no, cases): what is published; placed(region_no, case_id):
--          srsql.counted_regions.
-- Outputs: two uniform rows.
-- Source:  SPEC section 19, rules R1 and R6.
CREATE OR REPLACE MACRO srsql.check_region_counts(regions_of, placed, k, of_release) AS TABLE
WITH
due AS (
    SELECT p.region_no, count(DISTINCT p.case_id) AS cases
    FROM query_table(placed) AS p
    GROUP BY p.region_no
),

region AS (
    SELECT
        count(*) AS total,
        count(*) FILTER (
            WHERE r.cases IS NULL OR r.cases < k OR r.cases IS DISTINCT FROM d.cases
        ) AS n
    FROM query_table(regions_of) AS r
    LEFT JOIN due AS d ON r.region_no = d.region_no
),

earlier AS (
    SELECT DISTINCT m.case_id
    FROM srsql.member AS m
    INNER JOIN srsql.release AS r ON m.release_id = r.release_id
    INNER JOIN srsql.release AS o
        ON r.dataset = o.dataset AND r.series = o.series AND r.quarter < o.quarter
    WHERE o.release_id = of_release AND r.status <> 'draft'
),

counted AS (
    SELECT p.case_id, count(p.region_no) AS regions, e.case_id IS NOT NULL AS known
    FROM query_table(placed) AS p
    LEFT JOIN earlier AS e ON p.case_id = e.case_id
    GROUP BY p.case_id, e.case_id
),

cases AS (
    SELECT count(*) AS total, count(*) FILTER (WHERE c.known OR c.regions <> 1) AS n
    FROM counted AS c
),

figures AS (
    SELECT 'region' AS scope, r.n, r.total FROM region AS r
    UNION ALL
    SELECT 'case' AS scope, c.n, c.total FROM cases AS c
)

SELECT unnest(srsql.check_row(of_release, 'check_region_counts', f.scope, f.n, f.total, 0))
FROM figures AS f;
