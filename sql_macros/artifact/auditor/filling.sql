-- The catalog of published artifacts, from what artifact/auditor/reading.sql has read of them: as
-- audit/import_catalog makes it of somebody else's release, with k, attacks and thresholds besides.
-- Source: SPEC section 20.

-- A node has the leaves below it: in preorder they follow each other, whatever the order of the
-- file.
INSERT INTO srsql.node
WITH RECURSIVE
nodes AS MATERIALIZED (
    SELECT DISTINCT n.dataset, n.attribute, n.node, n.parent
    FROM query(getvariable('srsql_query')) AS n
),

twice AS (
    SELECT
        CASE
            WHEN count(*) > 0
                THEN error('the artifacts have different hierarchies of ' || min(d.attribute))
        END AS fault
    FROM (
        SELECT n.attribute
        FROM nodes AS n
        GROUP BY n.dataset, n.attribute, n.node
        HAVING count(*) > 1
    ) AS d
),

paths AS (
    SELECT n.dataset, n.attribute, n.node, n.parent, [n.node] AS path
    FROM nodes AS n
    CROSS JOIN twice AS d
    WHERE n.parent IS NULL AND d.fault IS NULL
    UNION ALL
    SELECT n.dataset, n.attribute, n.node, n.parent, list_append(p.path, n.node)
    FROM paths AS p
    INNER JOIN nodes AS n
        ON p.dataset = n.dataset AND p.attribute = n.attribute AND p.node = n.parent
),

below AS (
    SELECT u.dataset, u.attribute, u.above AS node, count(*) AS nodes
    FROM (SELECT p.dataset, p.attribute, unnest(p.path) AS above FROM paths AS p) AS u
    GROUP BY u.dataset, u.attribute, u.above
),

numbered AS (
    SELECT
        p.*,
        row_number() OVER (PARTITION BY p.dataset, p.attribute ORDER BY p.path) - 1 AS pre
    FROM paths AS p
),

spans AS (
    SELECT n.*, n.pre + b.nodes - 1 AS last
    FROM numbered AS n
    INNER JOIN below AS b
        ON n.dataset = b.dataset AND n.attribute = b.attribute AND n.node = b.node
)

SELECT
    s.dataset,
    s.attribute,
    s.node,
    s.parent,
    s.pre,
    s.last,
    len(s.path) - 1 AS depth,
    max(len(d.path)) - len(s.path) AS height,
    count(*) FILTER (WHERE d.pre = d.last) AS leaf_count,
    NULL AS low,
    NULL AS high
FROM spans AS s
INNER JOIN spans AS d
    ON s.dataset = d.dataset AND s.attribute = d.attribute AND d.pre BETWEEN s.pre AND s.last
GROUP BY s.dataset, s.attribute, s.node, s.parent, s.pre, s.last, s.path;

-- An attacker's numbers become granules; how those between two are rounded, no artifact tells.
INSERT INTO srsql.dataset
SELECT
    r.dataset,
    0 AS version,
    '' AS fingerprint,
    'artifact' AS origin,
    string_agg(
        '[[qid]]' || chr(10) || 'name = "' || a.name || '"' || chr(10) || 'granularity = "'
        || a.granularity || '"' || chr(10) || 'rounding = "untold"', chr(10) ORDER BY a.position
    ) AS toml
FROM (
    SELECT p.dataset, min(p.release_id) AS release_id
    FROM srsql_internal.published AS p
    GROUP BY p.dataset
) AS r
INNER JOIN srsql_internal.published_attribute AS a ON r.release_id = a.release_id
GROUP BY r.dataset;

INSERT INTO srsql.series
SELECT DISTINCT
    p.dataset,
    p.series,
    'published' AS family,
    '' AS cumulative_schema,
    NULL AS pseudonym_key,
    coalesce(p.part ->> '$.parameters.ids', 'original') AS ids
FROM srsql_internal.published AS p;

INSERT INTO srsql.release
SELECT
    p.release_id,
    p.dataset,
    p.series,
    p.quarter,
    p.part ->> '$.model' AS model,
    'released' AS status,
    (p.part ->> '$.k')::INTEGER AS k,
    (p.part ->> '$.k')::INTEGER AS k_effective,
    1 AS weight_scale,
    p.folder AS schema_name,
    NULL AS ingestion_id,
    p.part AS private_manifest
FROM srsql_internal.published AS p;

INSERT INTO srsql.defended_attack
SELECT
    p.release_id,
    (p.part -> '$.attacks')::VARCHAR[] AS attacks,
    srsql_internal.fraction(p.part ->> '$.parameters.alpha').num AS alpha_num,
    srsql_internal.fraction(p.part ->> '$.parameters.alpha').den AS alpha_den
FROM srsql_internal.published AS p;

-- A number counts in steps of its granularity, a node by what lies below it.
CREATE TABLE srsql_internal.published_case AS
WITH
coded AS (
    SELECT
        e.release_id,
        e.line,
        e.case_id,
        e.position,
        CASE
            WHEN a.kind = 'categorical' AND e.low IS NOT NULL AND n.node IS NULL
                THEN error(a.name || ': no node of its hierarchy is called ' || e.low)
            WHEN a.kind = 'categorical' THEN n.pre
            WHEN (e.low IS NULL) <> (e.high IS NULL)
                THEN error(a.name || ': one end of the interval of a row is missing')
            ELSE round(e.low::DOUBLE / a.granularity)::BIGINT
        END AS low,
        CASE
            WHEN a.kind = 'categorical' THEN n.last
            WHEN e.low::DOUBLE > e.high::DOUBLE
                THEN error(a.name || ': low above high (' || e.low || ' > ' || e.high || ')')
            ELSE round(e.high::DOUBLE / a.granularity)::BIGINT
        END AS high
    FROM srsql_internal.published_end AS e
    INNER JOIN srsql.release AS r ON e.release_id = r.release_id
    INNER JOIN srsql_internal.published_attribute AS a
        ON e.release_id = a.release_id AND e.position = a.position
    LEFT JOIN srsql.node AS n
        ON
            r.dataset = n.dataset
            AND a.name = n.attribute
            AND a.kind = 'categorical'
            AND e.low = n.node
),

rows AS (
    SELECT
        c.release_id,
        coalesce(c.case_id, error('a row of a report has no case id')) AS case_id,
        list(
            { 'position': c.position, 'low': c.low, 'high': c.high } ORDER BY c.position
        ) AS region
    FROM coded AS c
    GROUP BY c.release_id, c.line, c.case_id
),

cases AS (
    SELECT
        w.release_id,
        w.case_id,
        CASE
            WHEN count(DISTINCT w.region) = 1 THEN any_value(w.region)
            ELSE error('case ' || w.case_id || ' is in two regions')
        END AS region,
        count(*)::INTEGER AS reports
    FROM rows AS w
    GROUP BY w.release_id, w.case_id
)

SELECT
    c.*,
    (row_number() OVER (
        PARTITION BY c.release_id ORDER BY try_cast(c.case_id AS HUGEINT) NULLS LAST, c.case_id
    ) - 1)::INTEGER AS case_no,
    dense_rank() OVER (PARTITION BY c.release_id ORDER BY c.region)::INTEGER AS group_id
FROM cases AS c;

SET VARIABLE srsql_fault = (
    WITH faults AS (
        SELECT r.schema_name || ' has no report of ' || r.quarter AS fault
        FROM srsql.release AS r
        ANTI JOIN srsql_internal.published_case AS c ON r.release_id = c.release_id
        UNION ALL
        SELECT r.schema_name || ' has terms of a case without a report: ' || t.case_id
        FROM srsql_internal.published_term AS t
        INNER JOIN srsql.release AS r ON t.release_id = r.release_id
        ANTI JOIN srsql_internal.published_case AS c
            ON t.release_id = c.release_id AND t.case_id = c.case_id
    )

    SELECT CASE WHEN count(*) > 0 THEN error(min(f.fault)) END FROM faults AS f
);

INSERT INTO srsql.member
SELECT
    c.release_id,
    c.case_no,
    c.case_id,
    c.group_id,
    c.reports,
    r.quarter = min(r.quarter) OVER (PARTITION BY r.dataset, r.series, c.case_id) AS is_new
FROM srsql_internal.published_case AS c
INNER JOIN srsql.release AS r ON c.release_id = r.release_id
ORDER BY c.release_id, c.case_no;

INSERT INTO srsql.region
SELECT g.release_id, g.group_id, g.place.position, g.place.low, g.place.high
FROM (
    SELECT c.release_id, c.group_id, unnest(any_value(c.region)) AS place
    FROM srsql_internal.published_case AS c
    GROUP BY c.release_id, c.group_id
) AS g;

-- What a region loses is a share of the declared domain; of one that is not declared, of what all
-- regions span.
INSERT INTO srsql.attribute
SELECT
    a.release_id,
    a.position,
    a.name,
    a.kind,
    CASE
        WHEN a.kind = 'categorical' THEN 0
        ELSE coalesce(
            (
                floor(round(a.high / a.granularity, 6)) - floor(round(a.low / a.granularity, 6))
            )::BIGINT,
            (
                SELECT greatest(1, max(g.high) - min(g.low))
                FROM srsql.region AS g
                WHERE g.release_id = a.release_id AND g.position = a.position
            ),
            1
        )
    END AS span
FROM srsql_internal.published_attribute AS a;

-- A value that the artifact gives no threshold has none, and nothing is judged without one.
INSERT INTO srsql.threshold
SELECT
    t.release_id,
    row_number() OVER (PARTITION BY t.release_id ORDER BY t.term) - 1 AS term_no,
    t.term,
    coalesce(h.theta.num, 0) AS theta_num,
    coalesce(h.theta.den, 0) AS theta_den,
    t.cases,
    true AS released
FROM (
    SELECT p.release_id, p.term, count(DISTINCT p.case_id) AS cases
    FROM srsql_internal.published_term AS p
    GROUP BY p.release_id, p.term
) AS t
LEFT JOIN srsql_internal.published_threshold AS h
    ON t.release_id = h.release_id AND t.term = h.term;

INSERT INTO srsql.case_term
SELECT DISTINCT t.release_id, c.case_no, h.term_no, 1 AS weight, true AS direct
FROM srsql_internal.published_term AS t
INNER JOIN srsql_internal.published_case AS c
    ON t.release_id = c.release_id AND t.case_id = c.case_id
INNER JOIN srsql.threshold AS h ON t.release_id = h.release_id AND t.term = h.term;

-- An ss case has as many values of some attribute as the mean and one standard deviation make
-- (Huang 2021, Definition 6), by whole numbers alone.
INSERT INTO srsql.case_flag
WITH
attributes AS (
    SELECT DISTINCT c.release_id, c.name AS attribute
    FROM srsql_internal.published_column AS c
    WHERE c.role = 'sensitive'
),

counts AS MATERIALIZED (
    SELECT c.release_id, c.case_no, a.attribute, count(t.term)::HUGEINT AS terms
    FROM srsql_internal.published_case AS c
    INNER JOIN attributes AS a ON c.release_id = a.release_id
    LEFT JOIN srsql_internal.published_term AS t
        ON
            c.release_id = t.release_id
            AND c.case_id = t.case_id
            AND a.attribute = t.attribute
    GROUP BY c.release_id, c.case_no, a.attribute
),

moments AS (
    SELECT
        n.release_id,
        n.attribute,
        count(*)::HUGEINT AS cases,
        sum(n.terms)::HUGEINT AS total,
        count(*)::HUGEINT * sum(n.terms * n.terms)::HUGEINT
        - sum(n.terms)::HUGEINT * sum(n.terms)::HUGEINT AS spread
    FROM counts AS n
    GROUP BY n.release_id, n.attribute
),

roots AS (SELECT m.*, sqrt(m.spread)::HUGEINT AS near FROM moments AS m),

-- the least whole number whose square is not below the spread
least AS (
    SELECT
        r.*,
        CASE
            WHEN (r.near - 1) * (r.near - 1) >= r.spread THEN r.near - 1
            WHEN r.near * r.near >= r.spread THEN r.near
            ELSE r.near + 1
        END AS deviation
    FROM roots AS r
),

cutoffs AS (
    SELECT
        l.release_id,
        l.attribute,
        CASE WHEN l.spread > 0 THEN (l.total + l.deviation + l.cases - 1) // l.cases END AS cutoff
    FROM least AS l
)

SELECT
    n.release_id,
    n.case_no,
    false AS carrier,
    coalesce(bool_or(n.terms >= f.cutoff), false) AS is_ss,
    NULL AS is_md
FROM counts AS n
INNER JOIN cutoffs AS f ON n.release_id = f.release_id AND n.attribute = f.attribute
GROUP BY n.release_id, n.case_no;
