-- What the checks of counts with noise work out anew, from raw rows.

-- name: views
-- The views of a release.
SELECT v.view_name FROM duckdb_views() AS v
WHERE v.schema_name = $schema AND v.database_name = current_database();

-- name: told
-- What the private manifest of a release says of its noise.
SELECT
    r.private_manifest ->> '$.noisy_epsilon',
    r.private_manifest ->> '$.noisy_delta',
    r.private_manifest ->> '$.noisy_case_items',
    r.private_manifest ->> '$.noisy_case_pairs',
    r.private_manifest ->> '$.noisy_items',
    r.private_manifest ->> '$.noisy_pairs'
FROM srsql.release AS r
WHERE r.release_id = $release_id;

-- name: units
-- The cases of the period that no earlier release of the series was charged for, by what their
-- reports say: unit, stratum. report_place(report_id, case_id, stratum) is composed.
WITH
charged AS (
    SELECT DISTINCT b.case_id
    FROM srsql.budget_ledger AS b
    INNER JOIN srsql.release AS o ON b.dataset = o.dataset AND b.series = o.series
    WHERE
        o.release_id = $release_id
        AND b.release_id <> $release_id
        AND starts_with(b.attribute, 'noisy_')
)

SELECT
    p.case_id AS unit,
    CASE WHEN min(p.stratum) = max(p.stratum) THEN min(p.stratum) ELSE $rest END AS stratum
FROM report_place AS p
ANTI JOIN charged AS c ON p.case_id = c.case_id
ANTI JOIN temp.main.srsql_deleted AS d ON p.case_id = d.case_id::VARCHAR
GROUP BY p.case_id;

-- name: held
-- What these hold: unit, attribute, term. original_row(report_id, attribute, spelling),
-- original_term(attribute, spelling, term) and report_place are composed.
SELECT DISTINCT p.case_id AS unit, n.attribute, n.term
FROM original_row AS o
INNER JOIN original_term AS n ON o.attribute = n.attribute AND o.spelling = n.spelling
INNER JOIN report_place AS p ON o.report_id = p.report_id
SEMI JOIN temp.main.srsql_checked_noisy_unit AS u ON p.case_id = u.unit;

-- name: few
-- The values of a case that count: of each attribute the $most with the lowest digests.
WITH lists AS (
    SELECT
        h.unit,
        h.attribute,
        list_sort(list({
            'digest': md5(h.unit || chr(31) || h.attribute || chr(31) || h.term), 'term': h.term
        })) AS listed
    FROM temp.main.srsql_checked_noisy_held AS h
    GROUP BY h.unit, h.attribute
),

least AS (
    SELECT l.unit, l.attribute, unnest(list_slice(l.listed, 1, $most)) AS item FROM lists AS l
)

SELECT e.unit, e.attribute, e.item.term AS term FROM least AS e;

-- name: both
-- The pairs of these that count: the $most with the lowest digests.
WITH
digested AS (
    SELECT
        i.unit,
        {
            'digest': md5(concat(
                i.unit, chr(31), i.attribute, chr(31), i.term, chr(31), o.attribute, chr(31), o.term
            )),
            'attribute': i.attribute,
            'term': i.term,
            'other_attribute': o.attribute,
            'other_term': o.term
        } AS pair
    FROM temp.main.srsql_checked_noisy_few AS i
    INNER JOIN temp.main.srsql_checked_noisy_few AS o ON i.unit = o.unit
    WHERE list_contains($kinds::VARCHAR[], i.attribute || ' x ' || o.attribute)
),

least AS (
    SELECT d.unit, unnest(list_slice(list_sort(list(d.pair)), 1, $most)) AS pair
    FROM digested AS d
    GROUP BY d.unit
)

SELECT
    e.unit,
    e.pair.attribute AS attribute,
    e.pair.term AS term,
    e.pair.other_attribute AS other_attribute,
    e.pair.other_term AS other_term
FROM least AS e;

-- name: noisy_case_count
-- True counts of strata.
SELECT u.stratum, count(*) AS units FROM temp.main.srsql_checked_noisy_unit AS u GROUP BY u.stratum;

-- name: noisy_item_count
-- True counts of items.
SELECT u.stratum, f.attribute, f.term, count(*) AS units
FROM temp.main.srsql_checked_noisy_few AS f
INNER JOIN temp.main.srsql_checked_noisy_unit AS u ON f.unit = u.unit
GROUP BY u.stratum, f.attribute, f.term;

-- name: noisy_pair_count
-- True counts of pairs.
SELECT u.stratum, b.attribute, b.term, b.other_attribute, b.other_term, count(*) AS units
FROM temp.main.srsql_checked_noisy_both AS b
INNER JOIN temp.main.srsql_checked_noisy_unit AS u ON b.unit = u.unit
GROUP BY u.stratum, b.attribute, b.term, b.other_attribute, b.other_term;

-- name: charged
-- What cases of the period are charged, and how many so: NULL: nothing, or no such case, or a case
-- that another release of the series charges, too.
WITH
charges AS (
    SELECT
        b.case_id,
        list(b.epsilon_num || '/' || b.epsilon_den ORDER BY b.attribute) AS charged
    FROM srsql.budget_ledger AS b
    WHERE b.release_id = $release_id
    GROUP BY b.case_id
),

twice AS (
    SELECT DISTINCT b.case_id
    FROM srsql.budget_ledger AS b
    INNER JOIN srsql.release AS o ON b.dataset = o.dataset AND b.series = o.series
    WHERE
        o.release_id = $release_id
        AND b.release_id <> $release_id
        AND starts_with(b.attribute, 'noisy_')
)

SELECT
    CASE WHEN u.unit IS NOT NULL AND t.case_id IS NULL THEN c.charged END AS charged,
    count(*) AS cases
FROM temp.main.srsql_checked_noisy_unit AS u
FULL OUTER JOIN charges AS c ON u.unit = c.case_id
LEFT JOIN twice AS t ON c.case_id = t.case_id
GROUP BY ALL;

-- name: beside_noisy_case_count
-- Published counts beside true ones.
SELECT d.units, p.cases
FROM published AS p
LEFT JOIN due AS d ON p.stratum = d.stratum;

-- name: beside_noisy_item_count
-- Published counts beside true ones.
SELECT d.units, p.cases
FROM published AS p
FULL OUTER JOIN due AS d
    ON p.stratum = d.stratum AND p.attribute = d.attribute AND p.term = d.term;

-- name: beside_noisy_pair_count
-- Published counts beside true ones.
SELECT d.units, p.cases
FROM published AS p
FULL OUTER JOIN due AS d
    ON
        p.stratum = d.stratum
        AND p.attribute = d.attribute
        AND p.term = d.term
        AND p.other_attribute = d.other_attribute
        AND p.other_term = d.other_term;
