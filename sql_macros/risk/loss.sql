-- Information loss of a release; every metric returns the uniform row
-- release, measure, scope, violating, total, ratio, threshold, passed.

-- What:    the loss of every group and QID, in [0, 1]: width of the region over the span of the
--          domain (numeric), height of its node over the height of the hierarchy (categorical).
-- Inputs:  of_release: a release id.
-- Outputs: group_id, position, cases, loss; NULL where the region is missing.
-- Source:  Lin 2016, eq. (1): the summands of IL(g) / |g|.
CREATE OR REPLACE MACRO srsql.group_loss(of_release) AS TABLE
WITH
sizes AS (
    SELECT m.group_id, count(*) AS cases
    FROM srsql.member AS m WHERE m.release_id = of_release GROUP BY m.group_id
),

roots AS (
    SELECT n.dataset, n.attribute, max(n.height) AS height
    FROM srsql.node AS n GROUP BY n.dataset, n.attribute
)

SELECT
    g.group_id,
    g.position,
    s.cases,
    CASE
        WHEN g.low IS NULL THEN NULL
        WHEN a.kind = 'numeric' THEN (g.high - g.low) / a.span
        WHEN t.height = 0 THEN 0
        ELSE n.height / t.height
    END::DOUBLE AS loss
FROM srsql.region AS g
INNER JOIN srsql.release AS r ON g.release_id = r.release_id
INNER JOIN srsql.attribute AS a ON g.release_id = a.release_id AND g.position = a.position
INNER JOIN sizes AS s ON g.group_id = s.group_id
LEFT JOIN roots AS t ON r.dataset = t.dataset AND a.attribute = t.attribute
LEFT JOIN srsql.node AS n
    ON
        r.dataset = n.dataset
        AND a.attribute = n.attribute
        AND g.low = n.pre
        AND g.high = n.last
WHERE g.release_id = of_release;

-- What:    information loss of a release: the sum of IL(g), where known but released as NULL costs
--          1 and missing costs 0; as NIL per case and QID (in [0, 1]) and, as the paper prints it,
--          per group and QID (not bounded by 1).
-- Inputs:  of_release: a release id.
-- Outputs: two uniform rows, 'nil' and 'il_per_group'; violating = sum of IL(g), total = cases x
--          QIDs or groups x QIDs.
-- Source:  Lin 2016, eq. (9); SPEC section 7.
CREATE OR REPLACE MACRO srsql.information_loss(of_release) AS TABLE
WITH
own AS (SELECT of_release AS release_id),

widened AS (
    SELECT
        coalesce(fsum(l.cases * l.loss), 0) AS loss,
        coalesce(sum(l.cases), 0) AS per_case,
        count(*) AS per_group
    FROM srsql.group_loss(of_release) AS l
),

given_up AS (
    SELECT count(*) AS loss FROM srsql.case_qid AS c WHERE c.release_id = of_release AND c.given_up
),

figures AS (
    SELECT 'nil' AS measure, w.loss + g.loss AS loss, w.per_case AS total
    FROM widened AS w CROSS JOIN given_up AS g
    UNION ALL
    SELECT 'il_per_group' AS measure, w.loss + g.loss AS loss, w.per_group AS total
    FROM widened AS w CROSS JOIN given_up AS g
)

SELECT unnest(srsql.metric_row(own.release_id, f.measure, 'release', f.loss, f.total))
FROM figures AS f
CROSS JOIN own;
