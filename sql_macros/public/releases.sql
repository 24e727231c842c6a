-- What a warehouse has, which macros there are, and what a release risks and loses.

-- What:    The releases that are or were out, of every series.
-- Outputs: dataset, series, period, release_id, model, status, k, ids (how cases are called),
--          cases, groups, views: the schema of its views; NULL where it was replaced.
-- Source:  SPEC section 20.
CREATE OR REPLACE MACRO srsql.series() AS TABLE
WITH sizes AS (
    SELECT
        m.release_id,
        count(DISTINCT m.case_id) AS cases,
        count(DISTINCT m.group_id) AS groups
    FROM srsql.member AS m
    GROUP BY m.release_id
)

SELECT
    r.dataset,
    r.series,
    r.quarter AS period,
    r.release_id,
    r.model,
    r.status,
    r.k,
    s.ids,
    coalesce(n.cases, 0) AS cases,
    coalesce(n.groups, 0) AS groups,
    CASE WHEN r.status = 'released' THEN r.schema_name END AS views
FROM srsql.exposed_release AS r
INNER JOIN srsql.series AS s ON r.dataset = s.dataset AND r.series = s.series
LEFT JOIN sizes AS n ON r.release_id = n.release_id
ORDER BY r.dataset, r.series, r.quarter, r.release_id;

-- What:    The macros that people call, of the warehouse that is in use: what each returns and
--          takes.
-- Outputs: call, what.
-- Source:  SPEC section 20.
CREATE OR REPLACE MACRO srsql.help() AS TABLE
SELECT
    f.schema_name || '.' || f.function_name || '(' || array_to_string(f.parameters, ', ') || ')'
        AS call,
    f.comment AS what
FROM duckdb_functions() AS f
WHERE
    f.database_name = current_database()
    AND f.schema_name = 'srsql'
    AND f.function_type IN ('macro', 'table_macro')
    AND NOT starts_with(f.comment, 'Helper. ')
ORDER BY f.function_name;

-- What:    The groups in danger of a release or a series, by every attack that can be evaluated:
--          DIR, DSR and SSGR at both scopes, with the attacks that gave them.
-- Inputs:  as of srsql.audit; attacks: default all of b, f, l, md, ss, p that can be evaluated.
-- Outputs: period, release_id, measure ('dir', 'dsr', 'ssgr', and 'dr_p', 'dr_e', 'dr_g': fewer
--          than k remain under P, E, G), scope, violating (groups), total, ratio, attacks.
-- Source:  Huang 2021, section 4; SPEC section 20.
CREATE OR REPLACE MACRO srsql.danger(
    period := NULL,
    series := 'main',
    dataset := NULL,
    attacks := NULL,
    k := NULL,
    theta := NULL,
    alpha := NULL,
    reports := 'srsql_reader.report'
) AS TABLE
WITH
judged AS (
    SELECT a.*
    FROM srsql.audit(
        period, series, dataset, coalesce(attacks, ['all']), k, theta, alpha, reports
    ) AS a
),

figures AS (
    SELECT
        j.*,
        unnest([
            struct_pack(measure := 'dir', n := j.dig),
            struct_pack(measure := 'dsr', n := j.dsg),
            struct_pack(measure := 'ssgr', n := j.ssg),
            struct_pack(measure := 'dr_p', n := j.persistence),
            struct_pack(measure := 'dr_e', n := j.erasure),
            struct_pack(measure := 'dr_g', n := j.leaving)
        ]) AS figure
    FROM judged AS j
)

SELECT
    f.period,
    f.release_id,
    f.figure.measure,
    f.scope,
    f.figure.n AS violating,
    f.groups AS total,
    coalesce(f.figure.n / nullif(f.groups, 0), 0) AS ratio,
    f.attacks
FROM figures AS f
WHERE f.figure.n IS NOT NULL AND (f.figure.measure <> 'ssgr' OR list_contains(f.attacks, 'ss'));

-- What:    the releases that are out of a series, or of one period of it; an error where there is
--          none.
-- Inputs:  of_period: NULL: every one; of_series, of_dataset: as of named_series.
-- Outputs: release_id, period.
CREATE OR REPLACE MACRO srsql_internal.released(of_period, of_series, of_dataset) AS TABLE
WITH found AS MATERIALIZED (
    SELECT r.release_id, r.quarter AS period
    FROM srsql_internal.named_series(of_series, of_dataset) AS n
    INNER JOIN srsql.release AS r ON n.dataset = r.dataset AND n.series = r.series
    WHERE r.status = 'released' AND (of_period IS NULL OR r.quarter = of_period::VARCHAR)
)

SELECT f.release_id, f.period FROM found AS f
UNION ALL
SELECT
    error(
        'no release of ' || of_period::VARCHAR || ' is out: FROM srsql.series() lists what there is'
    ),
    NULL
WHERE of_period IS NOT NULL AND NOT EXISTS (SELECT 1 FROM found);

-- What:    Loss and risk of the releases of a series, computed now from the catalog, beside what
--          each release keeps of them. Measures that only a kernel computes (RR, AR, singling out)
--          have what is kept alone.
-- Inputs:  period: default every one that is out; series, dataset: as of srsql.audit.
-- Outputs: period, measure, scope, violating, total, ratio, kept_ratio, agrees (NULL: one of both
--          is unknown). Of a foreign release, which keeps nothing, what its rows tell: nil,
--          il_per_group, group_size, and dr where every threshold is known.
-- Source:  Lin 2016, eq. (4), (10); Wu 2022, section V; SPEC section 20.
CREATE OR REPLACE MACRO srsql.metrics(
    period := NULL, series := 'main', dataset := NULL
) AS TABLE
WITH RECURSIVE
measured AS MATERIALIZED (
    SELECT
        a.release_id,
        a.period,
        row_number() OVER (ORDER BY a.period, a.release_id) AS place
    FROM srsql_internal.released(period, series, dataset) AS a
),

-- one release a round: of several at once, DuckDB 2.0 mixes up what a macro counts
rounds AS (
    SELECT
        0::BIGINT AS place,
        NULL::INTEGER AS release,
        NULL::VARCHAR AS measure,
        NULL::VARCHAR AS scope,
        NULL::DOUBLE AS violating,
        NULL::DOUBLE AS total,
        NULL::DOUBLE AS ratio
    UNION ALL
    (
        WITH
        job AS MATERIALIZED (
            SELECT o.release_id, o.place
            FROM measured AS o
            WHERE o.place = (SELECT max(r.place) FROM rounds AS r) + 1
        ),

        own AS MATERIALIZED (
            SELECT m.* FROM srsql.information_loss((SELECT j.release_id FROM job AS j)) AS m
            UNION ALL
            SELECT m.* FROM srsql.star_information_loss((SELECT j.release_id FROM job AS j)) AS m
            UNION ALL
            SELECT m.* FROM srsql.danger_ratio((SELECT j.release_id FROM job AS j)) AS m
            UNION ALL
            SELECT m.* FROM srsql.withheld_rate((SELECT j.release_id FROM job AS j)) AS m
            UNION ALL
            SELECT m.* FROM srsql.suppression_rate((SELECT j.release_id FROM job AS j)) AS m
            UNION ALL
            SELECT m.* FROM srsql.suppressed_value_rate((SELECT j.release_id FROM job AS j)) AS m
            UNION ALL
            SELECT m.* FROM srsql.group_sizes((SELECT j.release_id FROM job AS j)) AS m
        )

        SELECT j.place, o.release, o.measure, o.scope, o.violating, o.total, o.ratio
        FROM job AS j
        CROSS JOIN own AS o
        UNION ALL
        SELECT j.place, NULL, NULL, NULL, NULL, NULL, NULL
        FROM job AS j
    )
),

computed AS (SELECT r.* FROM rounds AS r WHERE r.measure IS NOT NULL),

-- what applies to a model is what its release keeps; a foreign release keeps nothing
kept AS (
    SELECT k.release_id, k.measure, k.scope, k.ratio
    FROM srsql.measure AS k
    SEMI JOIN measured AS r ON k.release_id = r.release_id
    WHERE k.stage = 'metric'
),

keeping AS (SELECT DISTINCT k.release_id FROM kept AS k),

bounded AS (
    SELECT t.release_id
    FROM srsql.threshold AS t
    SEMI JOIN measured AS r ON t.release_id = r.release_id
    GROUP BY t.release_id
    HAVING bool_and(t.theta_den > 0)
),

beside AS (
    SELECT
        coalesce(c.release, k.release_id) AS release_id,
        coalesce(c.measure, k.measure) AS measure,
        coalesce(c.scope, k.scope) AS scope,
        c.violating,
        c.total,
        c.ratio,
        k.ratio AS kept_ratio,
        c.measure IS NOT NULL AS is_computed,
        k.measure IS NOT NULL AS is_kept
    FROM computed AS c
    FULL OUTER JOIN kept AS k
        ON c.release = k.release_id AND c.measure = k.measure AND c.scope = k.scope
)

SELECT
    r.period,
    b.measure,
    b.scope,
    b.violating,
    b.total,
    b.ratio,
    b.kept_ratio,
    CASE
        WHEN b.is_computed AND b.is_kept
            THEN coalesce(
                abs(b.ratio - b.kept_ratio) <= 1e-09 * greatest(1, abs(b.kept_ratio)),
                b.ratio IS NULL AND b.kept_ratio IS NULL
            )
    END AS agrees
FROM beside AS b
INNER JOIN measured AS r ON b.release_id = r.release_id
WHERE
    b.is_kept
    OR (
        b.release_id NOT IN (SELECT k.release_id FROM keeping AS k)
        AND (
            b.measure IN ('nil', 'il_per_group', 'group_size')
            OR (
                b.measure = 'dr'
                AND b.scope = 'without E'
                AND b.release_id IN (SELECT u.release_id FROM bounded AS u)
            )
        )
    )
ORDER BY r.period, NOT b.is_computed, b.measure, b.scope;
