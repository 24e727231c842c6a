-- Information loss of a release; every metric returns the uniform row
-- release, measure, scope, violating, total, ratio, threshold, passed.

-- What:    the loss of each case and QID, in [0, 1]: width of the region over the span of the
--          domain (numeric), height of its node over the height of the hierarchy (categorical);
--          known but released as NULL costs 1, missing costs 0.
-- Inputs:  of_release: a release id.
-- Outputs: case_id, group_id, attribute, loss.
-- Source:  Lin 2016, eq. (1); SPEC section 2.
CREATE OR REPLACE MACRO srsql.case_loss(of_release) AS TABLE
WITH
roots AS (
    SELECT
        n.dataset,
        n.attribute,
        max(n.height) AS height
    FROM srsql.node AS n
    GROUP BY n.dataset, n.attribute
)

SELECT
    m.case_id,
    m.group_id,
    a.attribute,
    CASE
        WHEN c.given_up THEN 1
        WHEN g.low IS NULL THEN 0
        WHEN a.kind = 'numeric' THEN (g.high - g.low) / a.span
        WHEN t.height = 0 THEN 0
        ELSE n.height / t.height
    END::DOUBLE AS loss
FROM srsql.member AS m
INNER JOIN srsql.release AS r ON m.release_id = r.release_id
INNER JOIN srsql.attribute AS a ON m.release_id = a.release_id
INNER JOIN srsql.region AS g
    ON m.release_id = g.release_id AND m.group_id = g.group_id AND a.attribute = g.attribute
INNER JOIN srsql.case_qid AS c
    ON m.release_id = c.release_id AND m.case_id = c.case_id AND a.attribute = c.attribute
LEFT JOIN roots AS t ON r.dataset = t.dataset AND a.attribute = t.attribute
LEFT JOIN srsql.node AS n
    ON
        r.dataset = n.dataset
        AND a.attribute = n.attribute
        AND g.low = n.pre
        AND g.high = n.last
WHERE m.release_id = of_release;

-- What:    normalized information loss: sum of IL(g) over cases x QIDs, in [0, 1].
-- Inputs:  of_release: a release id.
-- Outputs: uniform row; violating = sum of IL(g), total = cases x QIDs, ratio = NIL.
-- Source:  Lin 2016, eq. (9), divided by cases instead of groups (SPEC section 7).
CREATE OR REPLACE MACRO srsql.nil(of_release) AS TABLE
SELECT
    of_release AS release,
    'nil' AS measure,
    'release' AS scope,
    fsum(l.loss) AS violating,
    count(*)::DOUBLE AS total,
    fsum(l.loss) / nullif(count(*), 0) AS ratio,
    NULL::DOUBLE AS threshold,
    NULL::BOOLEAN AS passed
FROM srsql.case_loss(of_release) AS l;

-- What:    the paper's own figure: sum of IL(g) over groups x QIDs (not bounded by 1).
-- Inputs:  of_release: a release id.
-- Outputs: uniform row; violating = sum of IL(g), total = groups x QIDs, ratio = il_per_group.
-- Source:  Lin 2016, eq. (9) as printed.
CREATE OR REPLACE MACRO srsql.il_per_group(of_release) AS TABLE
SELECT
    of_release AS release,
    'il_per_group' AS measure,
    'release' AS scope,
    fsum(l.loss) AS violating,
    count(DISTINCT row(l.group_id, l.attribute))::DOUBLE AS total,
    fsum(l.loss) / nullif(count(DISTINCT row(l.group_id, l.attribute)), 0) AS ratio,
    NULL::DOUBLE AS threshold,
    NULL::BOOLEAN AS passed
FROM srsql.case_loss(of_release) AS l;
