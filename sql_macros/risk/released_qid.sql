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

-- What:    the nodes above every original or published node of a categorical QID, itself and the
--          root among them: phi(node).
-- Inputs:  of_release; nodes of cases that it withheld count as well.
-- Outputs: position, node, ancestor (preorder numbers), size = |phi(node)|.
-- Source:  Wu 2022, section IV.C (phi); SPEC section 10.
CREATE OR REPLACE MACRO srsql.node_path(of_release) AS TABLE
WITH
nodes AS (
    SELECT o.position, o.low AS node FROM srsql.case_qid AS o WHERE o.release_id = of_release
    UNION
    SELECT g.position, g.low AS node FROM srsql.region AS g WHERE g.release_id = of_release
    UNION
    SELECT p.position, p.low AS node FROM srsql.perturbed AS p WHERE p.release_id = of_release
),

tree AS (
    SELECT a.position, n.dataset, n.attribute, n.node AS label, n.pre, n.depth + 1 AS size
    FROM srsql.attribute AS a
    INNER JOIN srsql.release AS r ON a.release_id = r.release_id
    INNER JOIN srsql.node AS n ON r.dataset = n.dataset AND a.attribute = n.attribute
    WHERE a.release_id = of_release AND a.kind = 'categorical'
)

SELECT n.position, n.node, above.pre AS ancestor, own.size
FROM nodes AS n
INNER JOIN tree AS own ON n.position = own.position AND n.node = own.pre
INNER JOIN srsql.hierarchy AS h
    ON own.dataset = h.dataset AND own.attribute = h.attribute AND own.label = h.node
INNER JOIN tree AS above ON own.position = above.position AND h.ancestor = above.label;

-- What:    what original and published nodes of a categorical QID have in common: with phi(v) the
--          node v, its ancestors and the root, IL_c(u, v) = apart / united.
-- Inputs:  of_release; pairs(position, own, published): preorder numbers.
-- Outputs: position, own, published, apart = |union| - |intersection|, united = |union| of phi(own)
--          and phi(published).
-- Source:  Wu 2022, section IV.C (IL_c); SPEC section 10.
CREATE OR REPLACE MACRO srsql.node_distance_of(of_release, pairs) AS TABLE
WITH paths AS MATERIALIZED (
    SELECT p.position, p.node, p.ancestor, p.size FROM srsql.node_path(of_release) AS p
)

SELECT
    p.position,
    p.own,
    p.published,
    any_value(u.size) + any_value(v.size) - 2 * count(*) AS apart,
    any_value(u.size) + any_value(v.size) - count(*) AS united
FROM query_table(pairs) AS p
INNER JOIN paths AS u ON p.position = u.position AND p.own = u.node
INNER JOIN paths AS v
    ON p.position = v.position AND p.published = v.node AND u.ancestor = v.ancestor
GROUP BY p.position, p.own, p.published;

-- What:    that of every original node and every published node.
-- Inputs:  of_release; nodes of cases that it withheld count as well.
-- Outputs: as above.
-- Source:  Wu 2022, section IV.C (IL_c); SPEC section 10.
CREATE OR REPLACE MACRO srsql.node_distance(of_release) AS TABLE
WITH
published AS (
    SELECT g.position, g.low AS node FROM srsql.region AS g WHERE g.release_id = of_release
    UNION
    SELECT p.position, p.low AS node FROM srsql.perturbed AS p WHERE p.release_id = of_release
),

every_pair AS (
    SELECT DISTINCT o.position, o.low AS own, p.node AS published
    FROM (
        SELECT DISTINCT c.position, c.low
        FROM srsql.case_qid AS c
        WHERE c.release_id = of_release
    ) AS o
    INNER JOIN published AS p ON o.position = p.position
)

SELECT d.position, d.own, d.published, d.apart, d.united
FROM srsql.node_distance_of(of_release, 'every_pair') AS d;
