-- What each case of a release had and what was published of it, as intervals per case and QID.

-- What:    the published QID of every case: its own where the release perturbed it, else the region
--          of its group.
-- Inputs:  of_release: a release id.
-- Outputs: case_no, position, low, high; NULL where it is released as missing.
-- Source:  Wu 2022, section IV (r'); SPEC section 10.
CREATE OR REPLACE MACRO srsql.released_qid(of_release) AS TABLE
SELECT
    m.case_no,
    g.position,
    CASE WHEN p.case_no IS NULL THEN g.low ELSE p.low END AS low,
    CASE WHEN p.case_no IS NULL THEN g.high ELSE p.high END AS high
FROM srsql.member AS m
INNER JOIN srsql.region AS g ON g.release_id = of_release AND m.group_id = g.group_id
LEFT JOIN srsql.perturbed AS p
    ON p.release_id = of_release AND m.case_no = p.case_no AND g.position = p.position
WHERE m.release_id = of_release;

-- What:    the original QID of every released case.
-- Inputs:  of_release.
-- Outputs: case_no, position, low, high: the hull of what its reports say; NULL where missing. No
--          rows for an imported release whose originals nobody told.
-- Source:  Wu 2022, section IV (r); SPEC section 2.
CREATE OR REPLACE MACRO srsql.original_qid(of_release) AS TABLE
SELECT c.case_no, c.position, c.low, c.high
FROM srsql.case_qid AS c
INNER JOIN srsql.member AS m ON m.release_id = of_release AND c.case_no = m.case_no
WHERE c.release_id = of_release;

-- What:    the hierarchies of the categorical QIDs of a release.
-- Inputs:  of_release.
-- Outputs: position, node, pre, last, low, high (range of a leaf of a numeric attribute).
CREATE OR REPLACE MACRO srsql.release_node(of_release) AS TABLE
SELECT a.position, n.node, n.pre, n.last, n.low, n.high
FROM srsql.attribute AS a
INNER JOIN srsql.release AS r ON a.release_id = r.release_id
INNER JOIN srsql.node AS n ON r.dataset = n.dataset AND a.attribute = n.attribute
WHERE a.release_id = of_release AND a.kind = 'categorical';

-- What:    what every original node and every published node of a categorical QID have in common:
--          with phi(v) the node v, its ancestors and the root, IL_c(u, v) = apart / united.
-- Inputs:  of_release; nodes of cases that it withheld count as well.
-- Outputs: position, own, published (preorder numbers), apart = |union| - |intersection|, united =
--          |union| of phi(own) and phi(published).
-- Source:  Wu 2022, section IV.C (IL_c); SPEC section 10.
CREATE OR REPLACE MACRO srsql.node_distance(of_release) AS TABLE
WITH
own AS (
    SELECT DISTINCT o.position, o.low AS node
    FROM srsql.case_qid AS o
    WHERE o.release_id = of_release
),

published AS (
    SELECT g.position, g.low AS node FROM srsql.region AS g WHERE g.release_id = of_release
    UNION
    SELECT p.position, p.low AS node FROM srsql.perturbed AS p WHERE p.release_id = of_release
),

paths AS (
    SELECT n.position, n.pre AS node, a.pre AS ancestor
    FROM srsql.release_node(of_release) AS n
    INNER JOIN srsql.release_node(of_release) AS a
        ON n.position = a.position AND a.pre <= n.pre AND n.last <= a.last
),

sizes AS (
    SELECT p.position, p.node, count(*) AS size FROM paths AS p GROUP BY p.position, p.node
),

shared AS (
    SELECT o.position, o.node AS own, p.node AS published, count(*) AS size
    FROM own AS o
    INNER JOIN paths AS u ON o.position = u.position AND o.node = u.node
    INNER JOIN paths AS v ON u.position = v.position AND u.ancestor = v.ancestor
    INNER JOIN published AS p ON v.position = p.position AND v.node = p.node
    GROUP BY o.position, o.node, p.node
)

SELECT
    s.position,
    s.own,
    s.published,
    u.size + v.size - 2 * s.size AS apart,
    u.size + v.size - s.size AS united
FROM shared AS s
INNER JOIN sizes AS u ON s.position = u.position AND s.own = u.node
INNER JOIN sizes AS v ON s.position = v.position AND s.published = v.node;
