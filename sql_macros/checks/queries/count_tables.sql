-- What the checks of count tables read: released rows, published strata, originals and the catalog.

-- name: views
-- The views of a release.
SELECT v.view_name
FROM duckdb_views() AS v
WHERE v.schema_name = $schema AND v.database_name = current_database();

-- name: thresholds
-- The thresholds of the values of the sensitive attributes that are counted: attribute, term,
-- theta_num, theta_den. $told: attributes and terms that are told; of one without a threshold
-- nothing may be told.
WITH counted AS (
    SELECT unnest($sensitive::VARCHAR[]) AS attribute
),

told AS (
    SELECT unnest($told::STRUCT(attribute VARCHAR, term VARCHAR)[], recursive := true)
)

SELECT c.attribute, t.term, t.theta_num, t.theta_den
FROM srsql.threshold AS t
CROSS JOIN counted AS c
WHERE t.release_id = $release
UNION ALL
SELECT o.attribute, o.term, 0 AS theta_num, 1 AS theta_den
FROM told AS o
INNER JOIN counted AS c ON o.attribute = c.attribute
WHERE
    o.term IS NOT NULL
    AND o.term NOT IN (
        SELECT t.term FROM srsql.threshold AS t WHERE t.release_id = $release
    );

-- name: least_k
-- 1 / the least threshold above 0 and below 1, rounded up.
SELECT max((b.theta_den + b.theta_num - 1) // b.theta_num)
FROM temp.main.srsql_checked_threshold AS b
WHERE b.theta_num > 0 AND b.theta_num < b.theta_den;

-- name: kinds
-- The attributes whose pairs are counted, from texts "one x other".
SELECT
    split_part(p.pair, ' x ', 1) AS attribute,
    split_part(p.pair, ' x ', 2) AS other
FROM (SELECT unnest($pairs::VARCHAR[]) AS pair) AS p
WHERE p.pair <> '';

-- name: units
-- The released cases that no earlier release of the series has, in the leaves of the published
-- strata: unit, stratum. A cut holds of a region that lies within it, by the hierarchy or by both
-- its ends.
WITH RECURSIVE
shapes AS (
    SELECT DISTINCT v.qid, v.label, v.low, v.high FROM temp.main.srsql_checked_value AS v
),

cut_shape AS (
    SELECT
        v.qid,
        v.label,
        v.low,
        v.high,
        s.stratum,
        s.inside = coalesce(
            CASE
                WHEN s.value IS NOT NULL THEN h.node IS NOT NULL
                ELSE
                    (s.low IS NULL OR v.low >= s.low)
                    AND (s.below IS NULL OR v.high < s.below)
            END,
            false
        ) AS holds
    FROM shapes AS v
    INNER JOIN temp.main.srsql_checked_tree AS s ON v.qid = s.column
    LEFT JOIN srsql.hierarchy AS h
        ON
            h.dataset = $dataset
            AND h.attribute = s.column
            AND h.node = v.label
            AND h.ancestor = s.value
),

placed AS (
    SELECT r.region_no, s.stratum
    FROM (SELECT DISTINCT q.region_no FROM temp.main.srsql_checked_row AS q) AS r
    CROSS JOIN temp.main.srsql_checked_tree AS s
    WHERE s.parent IS NULL
    UNION ALL
    SELECT p.region_no, s.stratum
    FROM placed AS p
    INNER JOIN temp.main.srsql_checked_tree AS s ON p.stratum = s.parent
    INNER JOIN temp.main.srsql_checked_value AS v
        ON p.region_no = v.region_no AND s.column = v.qid
    INNER JOIN cut_shape AS c
        ON
            s.stratum = c.stratum
            AND v.qid = c.qid
            AND v.label IS NOT DISTINCT FROM c.label
            AND v.low IS NOT DISTINCT FROM c.low
            AND v.high IS NOT DISTINCT FROM c.high
    WHERE c.holds
),

earlier AS (
    SELECT DISTINCT m.case_id
    FROM srsql.member AS m
    INNER JOIN srsql.release AS r ON m.release_id = r.release_id
    INNER JOIN srsql.release AS o
        ON r.dataset = o.dataset AND r.series = o.series AND r.quarter < o.quarter
    WHERE o.release_id = $release AND r.status <> 'draft'
)

SELECT DISTINCT r.unit, p.stratum
FROM placed AS p
INNER JOIN temp.main.srsql_checked_row AS r ON p.region_no = r.region_no
WHERE
    p.stratum NOT IN (
        SELECT s.parent FROM temp.main.srsql_checked_tree AS s WHERE s.parent IS NOT NULL
    )
    AND r.unit::VARCHAR NOT IN (SELECT e.case_id FROM earlier AS e);

-- name: held
-- What these hold over all their reports: unit, attribute, term. original_row(report_id, attribute,
-- spelling) and original_term(attribute, spelling, term), of each spelling, are composed.
WITH
counted AS MATERIALIZED (
    SELECT i.report_id, i.case_id
    FROM temp.main.srsql_identity AS i
    WHERE i.case_id IN (SELECT u.unit FROM temp.main.srsql_checked_unit AS u)
),

named AS MATERIALIZED (
    SELECT row_number() OVER () AS item_no, t.attribute, t.term
    FROM (SELECT DISTINCT o.attribute, o.term FROM original_term AS o) AS t
),

numbered AS MATERIALIZED (
    SELECT o.attribute, o.spelling, n.item_no
    FROM original_term AS o
    INNER JOIN named AS n ON o.attribute = n.attribute AND o.term = n.term
),

held AS (
    SELECT DISTINCT c.case_id AS unit, n.item_no
    FROM original_row AS o
    INNER JOIN numbered AS n ON o.attribute = n.attribute AND o.spelling = n.spelling
    INNER JOIN counted AS c ON o.report_id = c.report_id
)

SELECT h.unit, n.attribute, n.term
FROM held AS h
INNER JOIN named AS n ON h.item_no = n.item_no;

-- name: single
-- The attributes of which no case has two terms.
SELECT t.attribute
FROM (
    SELECT h.unit, h.attribute, count(*) AS terms
    FROM temp.main.srsql_checked_held AS h
    GROUP BY h.unit, h.attribute
) AS t
GROUP BY t.attribute
HAVING max(t.terms) = 1;

-- name: known
-- What cases hold, where of an attribute with one term a case the terms that are not told are one.
-- item_count is composed.
WITH told AS (
    SELECT DISTINCT i.attribute, i.term FROM item_count AS i
)

SELECT h.unit, h.attribute, h.term
FROM temp.main.srsql_checked_held AS h
WHERE
    h.attribute NOT IN (SELECT s.attribute FROM temp.main.srsql_checked_single AS s)
    OR (h.attribute, h.term) IN (SELECT (t.attribute, t.term) FROM told AS t)
UNION ALL
SELECT u.unit, s.attribute, NULL AS term
FROM temp.main.srsql_checked_unit AS u
CROSS JOIN temp.main.srsql_checked_single AS s
WHERE NOT EXISTS (
    SELECT 1
    FROM temp.main.srsql_checked_held AS h
    INNER JOIN told AS t ON h.attribute = t.attribute AND h.term = t.term
    WHERE u.unit = h.unit AND s.attribute = h.attribute
);
