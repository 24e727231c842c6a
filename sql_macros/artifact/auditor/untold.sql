-- What published artifacts do not tell an auditor.

-- What:    What an audit of these artifacts does not tell, period by period, and why.
-- Outputs: dataset, series, period, what (an attack or a figure), why.
-- Source:  SPEC section 20.
CREATE MACRO srsql.not_evaluated() AS TABLE
WITH
named AS (
    SELECT DISTINCT
        p.dataset,
        p.series,
        unnest((p.part -> '$.earlier_releases')::VARCHAR[]) AS quarter
    FROM srsql_internal.published AS p
),

absent AS (
    SELECT n.* FROM named AS n
    ANTI JOIN srsql_internal.published AS p
        ON n.dataset = p.dataset AND n.series = p.series AND n.quarter = p.quarter
),

newest AS (
    SELECT p.dataset, p.series, max(p.quarter) AS quarter
    FROM srsql_internal.published AS p
    GROUP BY p.dataset, p.series
),

untold AS (
    SELECT
        unnest(['outside', 'u', 'nil', 'dr with E', 'withheld', 'rr, ar, singling out']) AS what,
        unnest([
            'the originals are not here: whether regions cover them is not seen, and every value '
            || 'that a region allows is attacked',
            'the union attack on all cases needs srsql: srsql verify and srsql audit play it; '
            || 'srsql.attack plays it for one',
            'a value that is shown as any counts as lost: no row tells whether it was missing',
            'what the attacker infers from other columns is weighed where the release is made',
            'cases that are not published are counted in the manifest alone',
            'kernels measure them: srsql metrics'
        ]) AS why
),

verbatim AS (
    SELECT
        c.release_id,
        string_agg(c.table_name || '.' || c.name, ', ' ORDER BY c.table_name, c.name) AS columns
    FROM srsql_internal.published_column AS c
    WHERE c.role IN ('published as it is', 'derived', 'quasi-sensitive', 'serial number')
    GROUP BY c.release_id
)

SELECT p.dataset, p.series, p.quarter AS period, u.what, u.why
FROM srsql_internal.published AS p
CROSS JOIN untold AS u
UNION ALL
SELECT
    p.dataset,
    p.series,
    p.quarter,
    'other columns',
    'an attacker who knows them is not played: ' || v.columns
FROM srsql_internal.published AS p
INNER JOIN verbatim AS v ON p.release_id = v.release_id
UNION ALL
SELECT p.dataset, p.series, p.quarter, 'md', 'the period after it is not here'
FROM srsql_internal.published AS p
SEMI JOIN newest AS n
    ON p.dataset = n.dataset AND p.series = n.series AND p.quarter = n.quarter
UNION ALL
SELECT
    p.dataset,
    p.series,
    p.quarter,
    CASE WHEN a.quarter < p.quarter THEN 'b, l, p' ELSE 'f, md, p' END,
    'the artifact of ' || a.quarter || ' is not here: what it adds is not counted'
FROM srsql_internal.published AS p
INNER JOIN absent AS a ON p.dataset = a.dataset AND p.series = a.series
UNION ALL
SELECT p.dataset, p.series, p.quarter, 'e', 'an earlier version of the period is not here'
FROM srsql_internal.published AS p
WHERE list_contains((p.part -> '$.earlier_releases')::VARCHAR[], p.quarter)
UNION ALL
SELECT
    p.dataset,
    p.series,
    p.quarter,
    'internal',
    'values are drawn at random: k and thresholds hold for groups that are not published'
FROM srsql_internal.published AS p
WHERE (p.part ->> '$.perturbed')::BOOLEAN
UNION ALL
SELECT
    min(p.dataset),
    min(p.series),
    max(p.quarter),
    'b, f, l, md, p',
    'the artifacts were published under several keys: their cases cannot be joined'
FROM srsql_internal.published AS p
GROUP BY p.dataset, p.series
HAVING count(DISTINCT coalesce(p.part ->> '$.key_id', '')) > 1
ORDER BY period, what;
