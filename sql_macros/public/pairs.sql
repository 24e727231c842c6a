-- What tells the drugs and reactions of a series, to the public macros of signals: rows of cases,
-- counts, or views of the reader's own; and how many cases may have what no row shows.

-- What:    the rows of a view of pairs: all of a reader's own; of a view of srsql_reader those of a
--          series, of each case as its latest period has it, or as one period has it, and of drugs
--          in a role that counts.
-- Inputs:  rows(case_id): the name of the view; of_series: NULL is main; of_dataset: as of
--          named_series; of_period: NULL: the latest of each case.
-- Outputs: its columns, and those of srsql_reader that it lacks, as NULL; an error where neither
--          rows nor counts of the series tell pairs.
-- Source:  SPEC section 14.
CREATE OR REPLACE MACRO srsql_internal.pair_rows(rows, of_series, of_dataset, of_period) AS TABLE
WITH
named AS MATERIALIZED (
    SELECT n.dataset, n.series
    FROM srsql_internal.named_series(coalesce(of_series, 'main'), of_dataset) AS n
    WHERE starts_with(rows, 'srsql_reader.')
),

asked AS MATERIALIZED (
    SELECT DISTINCT c.dataset, c.series, c.case_id, c.quarter
    FROM srsql_reader.signal_case AS c
    SEMI JOIN named AS n ON c.dataset = n.dataset AND c.series = n.series
    WHERE CASE WHEN of_period IS NULL THEN c.latest ELSE c.quarter = of_period END
),

own AS (
    SELECT t.* FROM query_table(rows) AS t
    UNION ALL BY NAME
    SELECT
        NULL::VARCHAR AS dataset,
        NULL::VARCHAR AS series,
        NULL::VARCHAR AS quarter,
        NULL::VARCHAR AS role,
        NULL::VARCHAR[] AS roles
    WHERE false
)

SELECT o.* REPLACE (o.case_id::VARCHAR AS case_id)
FROM own AS o
WHERE
    NOT starts_with(rows, 'srsql_reader.')
    OR (
        (coalesce(len(o.roles), 0) = 0 OR list_contains(o.roles, upper(trim(o.role))))
        AND (o.dataset, o.series, o.case_id::VARCHAR, o.quarter) IN (
            SELECT (a.dataset, a.series, a.case_id, a.quarter) FROM asked AS a
        )
    )
UNION ALL BY NAME
SELECT
    error(
        'series ' || n.series || ' of ' || n.dataset || ' has no rows '
        || coalesce('of ' || of_period || ' ', '') || 'that tell drugs and reactions of cases '
        || 'which can be followed: use srsql signals, or give cases, drugs and reactions := '
        || '''NAME'' of views'
    )::VARCHAR AS case_id
FROM named AS n
WHERE
    NOT EXISTS (SELECT 1 FROM asked)
    AND (n.dataset, n.series) NOT IN (
        SELECT (c.dataset, c.series) FROM srsql_reader.signal_count AS c
    );

-- What:    the series of which views of pairs show rows.
-- Inputs:  cases, drugs, reactions: names of views; of_series.
-- Outputs: its name; NULL where some view is the reader's own and no series is named.
CREATE OR REPLACE MACRO srsql_internal.shown_series(cases, drugs, reactions, of_series) AS
CASE
    WHEN
        starts_with(cases, 'srsql_reader.')
        AND starts_with(drugs, 'srsql_reader.')
        AND starts_with(reactions, 'srsql_reader.')
        THEN coalesce(of_series, 'main')
    ELSE of_series
END;

-- What:    how many cases of a series may have any one drug, or any one reaction, that no row
--          shows.
-- Inputs:  as of pair_rows. Of a reader's own views that name no series it is not known whose rows
--          they show: then it is the series with the most such cases.
-- Outputs: drugs, reactions; one row.
-- Source:  SPEC section 14; engine/signals/cases.py (suppressed_cases).
CREATE OR REPLACE MACRO srsql_internal.hidden_cases(
    cases, drugs, reactions, of_series, of_dataset, of_period
) AS TABLE
WITH
asked AS (
    SELECT srsql_internal.shown_series(cases, drugs, reactions, of_series) AS series
),

sums AS (
    SELECT h.dataset, h.series, h.what, sum((h.share * h.cases + 9999) // 10000)::BIGINT AS cases
    FROM srsql_reader.signal_hidden AS h
    CROSS JOIN asked AS a
    WHERE
        (a.series IS NULL OR h.series = a.series)
        AND (of_dataset IS NULL OR h.dataset = of_dataset)
        AND (of_period IS NULL OR h.quarter = of_period)
    GROUP BY h.dataset, h.series, h.what
)

SELECT
    coalesce(max(s.cases) FILTER (WHERE s.what = 'drug'), 0) AS drugs,
    coalesce(max(s.cases) FILTER (WHERE s.what = 'reaction'), 0) AS reactions
FROM sums AS s;

-- What:    what counts of one release tell of drugs and reactions, which count the new cases of its
--          period; nothing where rows of the series tell them, or views of a reader's own.
-- Inputs:  as of pair_rows.
-- Outputs: drug, reaction (NULL: any), stratum, cases; an error where several periods have counts
--          and none is asked for, since those of several are of different cases.
-- Source:  SPEC section 19.
CREATE OR REPLACE MACRO srsql_internal.told_cells(
    cases, drugs, reactions, of_series, of_dataset, of_period
) AS TABLE
WITH
own AS MATERIALIZED (
    SELECT c.*
    FROM srsql_reader.signal_count AS c
    WHERE
        c.series = coalesce(of_series, 'main')
        AND (of_dataset IS NULL OR c.dataset = of_dataset)
        AND (of_period IS NULL OR c.quarter = of_period)
        AND (
            starts_with(cases, 'srsql_reader.')
            OR starts_with(drugs, 'srsql_reader.')
            OR starts_with(reactions, 'srsql_reader.')
        )
),

asked AS (
    SELECT
        CASE
            WHEN srsql_internal.shown_series(cases, drugs, reactions, NULL) IS NULL
                THEN error(
                    'drugs and reactions are told as counts, and by no row of a case: leave cases, '
                    || 'drugs and reactions out, and use srsql signals for a condition'
                )
            WHEN count(DISTINCT o.quarter) > 1
                THEN error(
                    'counts of several periods are of different cases: give period := '''
                    || max(o.quarter) || ''''
                )
            ELSE true
        END AS fits
    FROM own AS o
    HAVING count(*) > 0
),

named AS (
    SELECT
        CASE
            WHEN o.attribute = o.drug_attribute THEN o.term
            WHEN o.other_attribute = o.drug_attribute THEN o.other_term
        END AS drug,
        CASE
            WHEN o.attribute = o.reaction_attribute THEN o.term
            WHEN o.other_attribute = o.reaction_attribute THEN o.other_term
        END AS reaction,
        (o.attribute IS NOT NULL)::INTEGER + (o.other_attribute IS NOT NULL)::INTEGER AS items,
        o.stratum,
        o.cases
    FROM own AS o
    CROSS JOIN asked AS a
    WHERE a.fits
)

SELECT n.drug, n.reaction, n.stratum, n.cases
FROM named AS n
WHERE (n.drug IS NOT NULL)::INTEGER + (n.reaction IS NOT NULL)::INTEGER = n.items;
