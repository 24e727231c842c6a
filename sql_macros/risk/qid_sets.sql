-- The risk of a release that protects several sets of quasi-identifiers, each by itself. Whoever
-- knows one set sees its positions alone, and groups that show the same of them are one to them: a
-- class. positions: those of the set, a list.

-- What:    the classes of the groups of a release. A category that is missing is shown as the root
--          of its hierarchy.
-- Inputs:  of_release; positions.
-- Outputs: group_id, class_no.
-- Source:  docs/models.md (several sets of quasi-identifiers).
CREATE OR REPLACE MACRO srsql.set_classes(of_release, positions) AS TABLE
WITH
roots AS (
    SELECT a.position, n.pre, n.last
    FROM srsql.release AS r
    INNER JOIN srsql.attribute AS a ON r.release_id = a.release_id AND a.kind = 'categorical'
    INNER JOIN srsql.node AS n
        ON r.dataset = n.dataset AND a.attribute = n.attribute AND n.parent IS NULL
    WHERE r.release_id = of_release
),

shown AS (
    SELECT
        g.group_id,
        list(
            struct_pack(
                position := g.position,
                low := coalesce(g.low, t.pre),
                high := coalesce(g.high, t.last)
            ) ORDER BY g.position
        ) AS region
    FROM srsql.region AS g
    LEFT JOIN roots AS t ON g.position = t.position
    WHERE g.release_id = of_release AND list_contains(positions, g.position)
    GROUP BY g.group_id
)

SELECT s.group_id, dense_rank() OVER (ORDER BY s.region) AS class_no
FROM shown AS s;

-- What:    how many cases the classes of a set have.
-- Inputs:  of_release; positions; of_scope: the name of the set.
-- Outputs: a uniform row; violating = classes of fewer than k cases, total = classes, ratio = cases
--          of the smallest one.
-- Source:  Lin 2016, Definition 3 (1), for one set.
CREATE OR REPLACE MACRO srsql.set_sizes(of_release, positions, of_scope) AS TABLE
WITH
sizes AS (
    SELECT c.class_no, count(DISTINCT m.case_id) AS cases
    FROM srsql.member AS m
    INNER JOIN srsql.set_classes(of_release, positions) AS c ON m.group_id = c.group_id
    WHERE m.release_id = of_release
    GROUP BY c.class_no
),

figures AS (
    SELECT
        r.k,
        count(*) AS total,
        count(*) FILTER (WHERE s.cases < r.k) AS violating,
        min(s.cases) AS least
    FROM sizes AS s
    INNER JOIN srsql.release AS r ON r.release_id = of_release
    GROUP BY r.k
)

SELECT unnest(srsql.uniform_row(
    of_release, 'group_size', of_scope, f.violating, f.total, f.least, f.k, f.violating = 0
))
FROM figures AS f;

-- What:    danger ratio of a set: the share of its classes in which some value can be inferred with
--          confidence above its theta, with what external knowledge adds.
-- Inputs:  of_release; positions; of_scope: the name of the set.
-- Outputs: a uniform row; violating = dangerous classes, total = classes.
-- Source:  Lin 2016, eq. (10), for one set.
CREATE OR REPLACE MACRO srsql.set_danger(of_release, positions, of_scope) AS TABLE
WITH
placed AS (
    SELECT c.class_no, m.case_no
    FROM srsql.member AS m
    INNER JOIN srsql.set_classes(of_release, positions) AS c ON m.group_id = c.group_id
    WHERE m.release_id = of_release
),

sizes AS (
    SELECT p.class_no, count(*) AS cases FROM placed AS p GROUP BY p.class_no
),

held AS (
    SELECT p.class_no, t.term_no, sum(t.weight) AS weight
    FROM srsql.case_term AS t
    INNER JOIN placed AS p ON t.case_no = p.case_no
    WHERE t.release_id = of_release
    GROUP BY p.class_no, t.term_no
),

dangerous AS (
    SELECT DISTINCT h.class_no
    FROM held AS h
    INNER JOIN sizes AS s ON h.class_no = s.class_no
    INNER JOIN srsql.threshold AS q ON q.release_id = of_release AND h.term_no = q.term_no
    INNER JOIN srsql.release AS r ON r.release_id = of_release
    WHERE h.weight * q.theta_den > q.theta_num::HUGEINT * s.cases * r.weight_scale
)

SELECT unnest(srsql.check_row(of_release, 'dr', of_scope, f.violating, f.total, 0))
FROM (
    SELECT (SELECT count(*) FROM dangerous) AS violating, count(*) AS total FROM sizes
) AS f;

-- What:    who is left to an attacker who knows the quasi-identifiers of all sets together.
-- Inputs:  of_release; positions: of all quasi-identifiers.
-- Outputs: two uniform rows, total = cases: 'union_below_k', violating = cases whose whole region
--          fewer than k cases share; 'union_one_candidate', violating = cases that have it alone.
-- Source:  docs/models.md (several sets of quasi-identifiers).
CREATE OR REPLACE MACRO srsql.union_singling_out(of_release, positions) AS TABLE
WITH
sizes AS (
    SELECT c.class_no, count(*) AS cases
    FROM srsql.member AS m
    INNER JOIN srsql.set_classes(of_release, positions) AS c ON m.group_id = c.group_id
    WHERE m.release_id = of_release
    GROUP BY c.class_no
),

figures AS (
    SELECT
        coalesce(sum(s.cases), 0) AS total,
        coalesce(sum(s.cases) FILTER (WHERE s.cases < r.k), 0) AS below,
        count(*) FILTER (WHERE s.cases = 1) AS alone
    FROM sizes AS s
    INNER JOIN srsql.release AS r ON r.release_id = of_release
)

SELECT unnest(srsql.metric_row(
    of_release, 'union_below_k', 'region of all sets', f.below, f.total
))
FROM figures AS f
UNION ALL
SELECT unnest(srsql.metric_row(
    of_release, 'union_one_candidate', 'region of all sets', f.alone, f.total
))
FROM figures AS f;
