-- Step: the catalog of layout 3 becomes that of layout 4: a series remembers what it was made with,
--   as far as the private manifest of its latest release tells it. What a file said is not in it:
--   a name alone stays (external knowledge, thresholds by level), or that there was one (NULL).
-- Reads: srsql.release
-- Writes: srsql.series_parameter
-- Source: SPEC section 5; schemas/catalog.sql; engine/release/manifest.py of 0.1 and 0.2.

CREATE TABLE IF NOT EXISTS srsql.series_parameter (
    dataset VARCHAR NOT NULL,
    series VARCHAR NOT NULL,
    keyword VARCHAR NOT NULL,
    value VARCHAR,
    sha256 VARCHAR,
    PRIMARY KEY (dataset, series, keyword)
);

INSERT INTO srsql.series_parameter
WITH latest AS (
    SELECT r.dataset, r.series, r.model, r.private_manifest AS manifest
    FROM srsql.release AS r
    WHERE r.status <> 'draft' AND r.model <> 'imported'
    QUALIFY row_number() OVER (
        PARTITION BY r.dataset, r.series ORDER BY r.quarter DESC, r.release_id DESC
    ) = 1
),

told AS (
    SELECT l.dataset, l.series, l.model, e.key AS keyword, e.value ->> '$' AS value
    FROM latest AS l, json_each(l.manifest) AS e
    WHERE json_type(e.value) NOT IN ('NULL', 'OBJECT', 'ARRAY')
)

SELECT
    t.dataset,
    t.series,
    CASE t.keyword
        WHEN 'external_knowledge' THEN 'knowledge'
        WHEN 'terms' THEN 'term_attributes'
        WHEN 'terms_kept_apart' THEN 'sensitive_terms'
        WHEN 'utility_policy' THEN 'policy'
        ELSE t.keyword
    END AS keyword,
    CASE
        WHEN t.keyword = 'terms_kept_apart' THEN NULL
        WHEN t.keyword = 'utility_policy' AND NOT starts_with(t.value, 'sup:') THEN NULL
        WHEN t.keyword = 'repeated_terms' THEN if(t.value = 'yes', 'True', 'False')
        ELSE t.value
    END AS value,
    NULL AS sha256
FROM told AS t
WHERE
    t.keyword IN (
        'model', 'k', 'leftovers', 'theta', 'missing', 'on_infeasible', 'external_knowledge',
        'ss_rule', 'alpha', 'assume_md', 'epsilon', 'calibration', 'noise', 'epsilon_limit',
        'epsilon_scope', 'l', 'm', 'suppress_below', 'informative', 'dimensions', 'terms',
        'terms_kept_apart', 'utility_policy', 'repeated_terms'
    )
    AND NOT (t.keyword IN ('noise', 'utility_policy') AND t.value = 'none')
    AND NOT (t.keyword = 'terms_kept_apart' AND t.value = '0')
    AND NOT (t.keyword = 'external_knowledge' AND t.value IN ('no', 'yes'))
UNION ALL
SELECT t.dataset, t.series, 'terms' AS keyword, 'disassociate' AS value, NULL AS sha256
FROM told AS t
WHERE t.keyword = 'terms' AND t.model NOT IN ('disassociation', 'cba')
ORDER BY ALL;
