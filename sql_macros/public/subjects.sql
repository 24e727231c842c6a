-- What the public macros of an audit take from the catalog: the series that is meant, and how each
-- of its releases is judged. Words are those of its readers: period labels, names of series.

-- What:    an exact fraction of a number or a text such as '1/3' or 0.4; NULL of NULL.
-- Outputs: struct of num and den.
CREATE OR REPLACE MACRO srsql_internal.fraction(share) AS
CASE
    WHEN share IS NULL THEN NULL
    WHEN contains(share::VARCHAR, '/')
        THEN struct_pack(
            num := split_part(share::VARCHAR, '/', 1)::BIGINT,
            den := split_part(share::VARCHAR, '/', 2)::BIGINT
        )
    ELSE struct_pack(
        num := round(share::DECIMAL(18, 9) * 1000000000)::BIGINT, den := 1000000000::BIGINT
    )
END;

-- What:    the series that is meant, as one row; an error where there is none, or where several
--          datasets have a series of that name.
-- Inputs:  series; dataset: NULL where the name of the series is enough.
-- Outputs: dataset, series, ids.
CREATE OR REPLACE MACRO srsql_internal.named_series(of_series, of_dataset) AS TABLE
WITH found AS MATERIALIZED (
    SELECT s.dataset, s.series, s.ids
    FROM srsql.series AS s
    WHERE s.series = of_series AND (of_dataset IS NULL OR s.dataset = of_dataset)
)

SELECT f.dataset, f.series, f.ids
FROM found AS f
WHERE (SELECT count(*) FROM found) = 1
UNION ALL
SELECT
    error(
        CASE
            WHEN n.number = 0
                THEN 'no series ' || of_series::VARCHAR || ': FROM srsql.series() lists them'
            ELSE 'several datasets have a series ' || of_series::VARCHAR
                || ': give dataset := ''NAME'''
        END
    ),
    NULL,
    NULL
FROM (SELECT count(*) AS number FROM found) AS n
WHERE n.number <> 1;

-- What:    the raw reports of a dataset.
-- Inputs:  of_dataset; reports(case_id, quarter): the name of a table or view, which may have
--          others as well (dataset).
-- Outputs: case_id, quarter.
CREATE OR REPLACE MACRO srsql_internal.own_reports(of_dataset, reports) AS TABLE
SELECT o.case_id::VARCHAR AS case_id, o.quarter
FROM (
    SELECT t.* FROM query_table(reports) AS t
    UNION ALL BY NAME
    SELECT NULL::VARCHAR AS dataset WHERE false
) AS o
WHERE o.dataset IS NULL OR o.dataset = of_dataset;

-- What:    the period just after the newest release of a series, of which MD can be told before it
--          is released there; NULL where it is not ingested, or not told, or where the newest
--          release is foreign.
-- Inputs:  of_series, of_dataset: as of named_series; reports: as of own_reports.
-- Outputs: dataset, quarter, why (MD of the newest release cannot be evaluated; NULL: it can); one
--          row.
CREATE OR REPLACE MACRO srsql_internal.next_period(of_series, of_dataset, reports) AS TABLE
WITH
newest AS (
    SELECT r.dataset, r.quarter, r.model
    FROM srsql_internal.named_series(of_series, of_dataset) AS n
    INNER JOIN srsql.exposed_release AS r ON n.dataset = r.dataset AND n.series = r.series
    ORDER BY r.quarter DESC, r.release_id DESC
    LIMIT 1
),

later AS (
    SELECT
        any_value(n.dataset) AS dataset,
        any_value(n.quarter) AS newest,
        any_value(n.model) AS model,
        min(i.quarter) AS quarter
    FROM newest AS n
    LEFT JOIN srsql.ingestion AS i
        ON n.dataset = i.dataset AND n.quarter < i.quarter AND NOT i.replaced
),

told AS (
    SELECT
        l.*,
        l.quarter IS NOT NULL AND srsql.follows_on(l.newest, l.quarter) AS follows,
        l.quarter IN (
            SELECT t.quarter
            FROM srsql_internal.own_reports((SELECT n.dataset FROM newest AS n), reports) AS t
        ) AS has_reports
    FROM later AS l
)

SELECT
    t.dataset,
    CASE WHEN t.model <> 'imported' AND t.follows AND t.has_reports THEN t.quarter END AS quarter,
    CASE
        WHEN t.model = 'imported'
            THEN 'md: ' || t.newest || ' is a foreign release, whose ids need not be those of the '
                || 'reports: import the release of the next period'
        WHEN NOT t.follows
            THEN 'md: the period after ' || t.newest || ' is not here: ingest it, and ask again'
        WHEN NOT t.has_reports
            THEN 'md: the reports of ' || t.quarter || ' are not told: give reports := ''NAME'' of '
                || 'a view with case_id and quarter'
    END AS why
FROM told AS t;

-- What:    the cases of that period, deleted ones aside.
-- Outputs: case_id, each once.
CREATE OR REPLACE MACRO srsql_internal.next_cases(of_series, of_dataset, reports) AS TABLE
WITH awaited AS MATERIALIZED (
    SELECT p.* FROM srsql_internal.next_period(of_series, of_dataset, reports) AS p
)

SELECT DISTINCT t.case_id
FROM awaited AS p
INNER JOIN
    srsql_internal.own_reports((SELECT a.dataset FROM awaited AS a), reports) AS t
    ON p.quarter = t.quarter
WHERE
    t.case_id NOT IN (
        SELECT d.case_id FROM srsql.deleted_case AS d WHERE d.dataset = p.dataset
    );

-- What:    the releases that an attacker has of a series, in order, and how each is judged.
-- Inputs:  of_series, of_dataset: as of named_series; of_period: the only one to report; NULL: all;
--          asked: list of attacks; NULL: what each release promises, else b, f, l; ['all']: every
--          one that can be evaluated; asked_k, asked_theta, asked_alpha: bounds in the place of
--          those of the releases; NULL: theirs; reports: as of next_period.
-- Outputs: seq (from 1), explicit (attacks were asked for), release_id, dataset, series, quarter,
--          quarter_no, model, status, k, alpha_num, alpha_den, theta_num, theta_den (NULL: those of
--          the values), weight_scale, attacks (evaluated), not_evaluated, why, undefended, newest,
--          originals, reported, newer, since, claims_erasure, joined (ids follow cases), perturbed,
--          lacks (why it cannot be judged).
-- Source:  SPEC section 9.
CREATE OR REPLACE MACRO srsql_internal.audit_subjects(
    of_series, of_dataset, of_period, asked, asked_k, asked_theta, asked_alpha, reports
) AS TABLE
WITH
named AS MATERIALIZED (
    SELECT n.* FROM srsql_internal.named_series(of_series, of_dataset) AS n
),

releases AS MATERIALIZED (
    SELECT
        row_number() OVER (ORDER BY r.quarter, r.release_id)::INTEGER AS seq,
        r.release_id,
        r.dataset,
        r.series,
        r.quarter,
        r.model,
        r.status,
        r.k,
        r.weight_scale,
        n.ids,
        r.private_manifest ->> '$.qid_sets' AS qid_sets,
        r.private_manifest ->> '$.not_audited' AS not_audited,
        p.attacks AS promised,
        p.alpha_num,
        p.alpha_den,
        r.quarter = max(r.quarter) OVER () AS newest,
        r.release_id IN (SELECT c.release_id FROM srsql.correction AS c WHERE NOT c.keep_remainder)
            AS takes_whole_groups
    FROM named AS n
    INNER JOIN srsql.exposed_release AS r ON n.dataset = r.dataset AND n.series = r.series
    LEFT JOIN srsql.defended_attack AS p ON r.release_id = p.release_id
),

labels AS (SELECT DISTINCT r.quarter AS label FROM releases AS r),

steps AS (
    SELECT
        l.label,
        2 - srsql.follows_on(lag(l.label) OVER (ORDER BY l.label), l.label)::INTEGER AS step
    FROM labels AS l
),

numbers AS (
    SELECT s.label, (sum(s.step) OVER (ORDER BY s.label))::INTEGER AS number FROM steps AS s
),

versions AS (
    SELECT
        r.release_id,
        list(o.release_id ORDER BY o.seq) AS newer,
        arg_min(o.release_id, o.seq) AS next_version,
        bool_and(o.takes_whole_groups) AS claims_erasure
    FROM releases AS r
    INNER JOIN releases AS o ON r.quarter = o.quarter AND r.seq < o.seq
    GROUP BY r.release_id
),

since AS (
    SELECT v.release_id, list(o.release_id ORDER BY o.seq) AS since
    FROM versions AS v
    INNER JOIN releases AS o ON v.next_version <= o.release_id
    GROUP BY v.release_id
),

with_cases AS MATERIALIZED (SELECT DISTINCT m.release_id FROM srsql.member AS m),

with_originals AS MATERIALIZED (SELECT DISTINCT q.release_id FROM srsql.case_qid AS q),

with_flags AS MATERIALIZED (SELECT DISTINCT t.release_id FROM srsql.case_flag AS t),

without_theta AS MATERIALIZED (
    SELECT DISTINCT t.release_id FROM srsql.threshold AS t WHERE t.theta_den = 0
),

without_rows AS MATERIALIZED (
    SELECT d.release_id FROM srsql.disassociated AS d WHERE NOT d.with_rows
    UNION
    SELECT l.release_id FROM srsql.lattice AS l
),

drawn AS MATERIALIZED (SELECT DISTINCT p.release_id FROM srsql.perturbation AS p),

awaited AS MATERIALIZED (
    SELECT p.quarter IS NOT NULL AS known, p.why
    FROM srsql_internal.next_period(of_series, of_dataset, reports) AS p
),

known AS (
    SELECT
        r.*,
        n.number AS quarter_no,
        o.release_id IS NOT NULL OR c.release_id IS NULL AS originals,
        f.release_id IS NOT NULL OR c.release_id IS NULL AS knows_ss,
        w.release_id IS NULL OR asked_theta IS NOT NULL AS knows_theta,
        d.release_id IS NOT NULL AS perturbed,
        srsql_internal.fraction(asked_alpha) AS own_alpha,
        srsql_internal.fraction(asked_theta) AS own_theta,
        NOT r.newest OR (SELECT a.known FROM awaited AS a) AS knows_next
    FROM releases AS r
    INNER JOIN numbers AS n ON r.quarter = n.label
    LEFT JOIN with_cases AS c ON r.release_id = c.release_id
    LEFT JOIN with_originals AS o ON r.release_id = o.release_id
    LEFT JOIN with_flags AS f ON r.release_id = f.release_id
    LEFT JOIN without_theta AS w ON r.release_id = w.release_id
    LEFT JOIN drawn AS d ON r.release_id = d.release_id
),

bounded AS (
    SELECT
        k.*,
        coalesce(asked_k::INTEGER, k.k) AS judged_k,
        CASE
            WHEN k.own_alpha IS NOT NULL THEN k.own_alpha.num
            WHEN k.alpha_den > 0 THEN k.alpha_num
        END AS judged_num,
        CASE
            WHEN k.own_alpha IS NOT NULL THEN k.own_alpha.den
            WHEN k.alpha_den > 0 THEN k.alpha_den
        END AS judged_den
    FROM known AS k
),

wanted AS (
    SELECT
        b.*,
        CASE
            WHEN asked::VARCHAR[] = ['all']
                THEN list_filter(
                    ['b', 'f', 'l', 'md', 'ss', 'p'],
                    LAMBDA a: a <> 'ss' OR b.judged_den IS NOT NULL
                )
            WHEN len(asked::VARCHAR[]) > 0
                THEN list_transform(asked::VARCHAR[], LAMBDA a: lower(a))
            WHEN len(b.promised) > 0 THEN b.promised
            ELSE ['b', 'f', 'l']
        END AS asked_attacks,
        list_filter(
            ['md', 'ss'],
            LAMBDA a: (a = 'md' AND NOT b.knows_next) OR (a = 'ss' AND NOT b.knows_ss)
        ) AS unknown
    FROM bounded AS b
)

SELECT
    w.seq,
    w.release_id,
    w.dataset,
    w.series,
    w.quarter,
    w.quarter_no,
    w.model,
    w.status,
    w.judged_k AS k,
    w.judged_num AS alpha_num,
    w.judged_den AS alpha_den,
    w.own_theta.num AS theta_num,
    w.own_theta.den AS theta_den,
    w.weight_scale,
    list_filter(
        ['b', 'f', 'l', 'md', 'ss', 'p'],
        LAMBDA a: list_contains(w.asked_attacks, a) AND NOT list_contains(w.unknown, a)
    ) AS attacks,
    list_filter(
        ['b', 'f', 'l', 'md', 'ss', 'p'],
        LAMBDA a: list_contains(w.asked_attacks, a) AND list_contains(w.unknown, a)
    ) AS not_evaluated,
    list_filter(
        [
            CASE
                WHEN list_contains(w.asked_attacks, 'md') AND NOT w.knows_next
                    THEN (SELECT a.why FROM awaited AS a)
            END,
            CASE
                WHEN list_contains(w.asked_attacks, 'ss') AND NOT w.knows_ss
                    THEN 'ss: it is not told which cases are substantial: import the release with '
                        || 'them'
            END
        ],
        LAMBDA text: text IS NOT NULL
    ) AS why,
    list_filter(
        ['b', 'f', 'l', 'md', 'ss', 'p'],
        LAMBDA a: w.k > 0 AND NOT list_contains(coalesce(w.promised, []), a)
    ) AS undefended,
    w.newest,
    w.originals,
    of_period IS NULL OR w.quarter = of_period::VARCHAR AS reported,
    coalesce(v.newer, []) AS newer,
    coalesce(s.since, []) AS since,
    coalesce(v.claims_erasure, false) AS claims_erasure,
    len(asked::VARCHAR[]) > 0 AS explicit,
    w.ids <> 'per-quarter' AS joined,
    w.perturbed,
    list_filter(
        [
            w.not_audited || ', so what is published does not tell: use srsql verify',
            CASE WHEN w.judged_k < 1 THEN 'no k is known: give k := 5' END,
            CASE WHEN NOT w.knows_theta THEN 'no thresholds are known: give theta := ''1/3''' END,
            CASE
                WHEN w.judged_den IS NULL AND w.knows_ss AND list_contains(w.asked_attacks, 'ss')
                    THEN 'no alpha is known: give alpha := 0.5, or leave ss out of attacks'
            END,
            CASE
                WHEN w.release_id IN (SELECT x.release_id FROM without_rows AS x)
                    THEN 'it has no regions to attack: use srsql verify'
            END,
            CASE
                WHEN w.qid_sets IS NOT NULL
                    THEN 'it has several sets of quasi-identifiers: use srsql audit or verify'
            END
        ],
        LAMBDA text: text IS NOT NULL
    ) AS lacks
FROM wanted AS w
LEFT JOIN versions AS v ON w.release_id = v.release_id
LEFT JOIN since AS s ON w.release_id = s.release_id
WHERE
    CASE
        WHEN of_period IS NULL OR of_period::VARCHAR IN (SELECT r.quarter FROM releases AS r)
            THEN true
        ELSE
            error('no release of ' || of_period::VARCHAR || ': FROM srsql.series() lists them')
    END;
