-- Cases whose reports are released in a later period than they came in. The hold-back pool of a
-- series: cases that a release withholds for want of a group wait, and their reports are among
-- those of the next period that the series releases. Late arrivals: reports that a dump brought
-- when their period was out.

-- What:    how many periods lie between two of a series: by their calendar, else by how many of the
--          series' own periods do.
-- Inputs:  earlier, later: labels; periods: the labels of the series' releases.
CREATE OR REPLACE MACRO srsql.periods_apart(earlier, later, periods) AS
coalesce(
    list_transform(
        [{ 'one': srsql.calendar_period(earlier), 'other': srsql.calendar_period(later) }],
        LAMBDA p: CASE WHEN p.one.kind = p.other.kind THEN p.other.number - p.one.number END
    )[1],
    len(list_filter(list_distinct(periods), LAMBDA p: p >= earlier AND p < later))
)::BIGINT;

-- What:    into which period the reports of waiting cases go.
-- Inputs:  of_dataset, of_series; own_release: a draft that counts as if it were out (NULL: none).
-- Outputs: case_id, since: the first period whose reports wait; held_in: the last; batch: the
--          period released next (NULL: none yet). A case that waits on goes into each in turn.
--          periods: those of the series from since to held_in; what came in a period that the
--          series skipped goes nowhere.
CREATE OR REPLACE MACRO srsql.carried_cases(of_dataset, of_series, own_release) AS TABLE
WITH known AS (
    SELECT r.release_id, r.quarter
    FROM srsql.release AS r
    WHERE
        r.dataset = of_dataset
        AND r.series = of_series
        AND (r.status <> 'draft' OR coalesce(r.release_id = own_release, false))
),

following AS (
    SELECT k.quarter, lead(k.quarter) OVER (ORDER BY k.quarter) AS batch
    FROM (SELECT DISTINCT n.quarter FROM known AS n) AS k
),

released AS (SELECT list(o.quarter ORDER BY o.quarter) AS quarters FROM following AS o)

SELECT DISTINCT
    w.case_id,
    w.since,
    k.quarter AS held_in,
    f.batch,
    list_filter(a.quarters, LAMBDA q: q >= w.since AND q <= k.quarter) AS periods
FROM srsql.waiting AS w
CROSS JOIN released AS a
INNER JOIN known AS k ON w.release_id = k.release_id
INNER JOIN following AS f ON k.quarter = f.quarter;

-- What:    the cases that a release takes in from the period released before it.
-- Inputs:  of_release.
-- Outputs: case_id, since: the first period whose reports waited.
CREATE OR REPLACE MACRO srsql.taken_in(of_release) AS TABLE
WITH own AS (
    SELECT r.dataset, r.series, r.quarter FROM srsql.release AS r WHERE r.release_id = of_release
),

earlier AS (
    SELECT e.release_id, e.quarter
    FROM srsql.exposed_release AS e
    INNER JOIN own AS o ON e.dataset = o.dataset AND e.series = o.series AND e.quarter < o.quarter
)

SELECT DISTINCT w.case_id, w.since
FROM srsql.waiting AS w
INNER JOIN earlier AS e ON w.release_id = e.release_id
WHERE e.quarter = (SELECT max(l.quarter) FROM earlier AS l);

-- What:    the cases that a release takes in which are absent from what replaced the data of the
--          first period that waited, or of a later one.
-- Inputs:  of_release.
-- Outputs: case_id, quarter: the period of the data; distinct.
-- Source:  SPEC section 16 (replaced sources).
CREATE OR REPLACE MACRO srsql.left_while_waiting(of_release) AS TABLE
SELECT DISTINCT t.case_id, c.quarter
FROM srsql.taken_in(of_release) AS t
INNER JOIN srsql.release AS r ON r.release_id = of_release
INNER JOIN srsql.replaced_case AS c
    ON r.dataset = c.dataset AND t.case_id = c.case_id AND c.quarter >= t.since
WHERE c.change = 'absent' AND r.quarter > c.quarter;

-- What:    the cases of a release of which reports came late, when their period was out: no earlier
--          period of the series has them.
-- Inputs:  of_release.
-- Outputs: case_id, since: the first period of these reports.
-- Source:  SPEC section 22 (cumulative sources).
CREATE OR REPLACE MACRO srsql.came_late(of_release) AS TABLE
SELECT t.case_id, min(t.quarter) AS since
FROM srsql.taken_case AS t
INNER JOIN srsql.release AS own ON t.release_id = own.release_id
INNER JOIN srsql.dump_period AS d
    ON own.dataset = d.dataset AND t.quarter = d.quarter AND t.ingestion_id = d.ingestion_id
WHERE
    own.release_id = of_release
    AND t.quarter < own.quarter
    AND d.label IS NOT NULL
    AND NOT EXISTS (
        SELECT 1
        FROM srsql.member AS m
        INNER JOIN srsql.exposed_release AS e ON m.release_id = e.release_id
        WHERE
            e.dataset = own.dataset
            AND e.series = own.series
            AND e.quarter < own.quarter
            AND m.case_id = t.case_id
    )
GROUP BY t.case_id;

-- What:    under which period a series shows the reports that dumps brought late: that of the
--          release that took them; their own, as long as no release of it is out; of those that no
--          release took yet there is no row.
-- Inputs:  late_row(report_id, case_id, quarter, ingestion_id, label): the late reports of the
--          dataset; of_dataset, of_series; own_release: a draft, or the release that is being made,
--          which counts as if it were out (NULL: none).
-- Outputs: report_id, label, quarter: its own period; batch: the period under which it is shown, by
--          the newest dump that goes there.
-- Source:  SPEC section 22 (cumulative sources).
CREATE OR REPLACE MACRO srsql.late_places(late_row, of_dataset, of_series, own_release) AS TABLE
WITH
known AS (
    SELECT r.release_id, r.quarter
    FROM srsql.release AS r
    WHERE
        r.dataset = of_dataset
        AND r.series = of_series
        AND (r.status <> 'draft' OR coalesce(r.release_id = own_release, false))
),

taken AS (
    SELECT DISTINCT t.case_id, t.quarter, t.ingestion_id, k.quarter AS batch
    FROM srsql.taken_case AS t
    INNER JOIN known AS k ON t.release_id = k.release_id
),

placed AS (
    SELECT l.report_id, l.label, l.quarter, l.ingestion_id, t.batch
    FROM query_table(late_row) AS l
    INNER JOIN taken AS t
        ON
            l.case_id = t.case_id
            AND l.quarter = t.quarter
            AND l.ingestion_id = t.ingestion_id
    UNION ALL
    SELECT l.report_id, l.label, l.quarter, l.ingestion_id, l.quarter AS batch
    FROM query_table(late_row) AS l
    WHERE l.quarter NOT IN (SELECT k.quarter FROM known AS k)
)

SELECT p.report_id, p.label, p.quarter, p.batch
FROM placed AS p
QUALIFY row_number() OVER (PARTITION BY p.report_id, p.batch ORDER BY p.ingestion_id DESC) = 1;

-- What:    how long the cases of a release waited, or how late their reports came.
-- Inputs:  of_release.
-- Outputs: case_no, case_id, group_id, since: the first period that reports it and was waiting, or
--          out already; delay: periods from there to the release (0: it did not wait).
CREATE OR REPLACE MACRO srsql.member_delays(of_release) AS TABLE
WITH periods AS (
    SELECT own.quarter, list(DISTINCT r.quarter) AS labels
    FROM srsql.release AS own
    INNER JOIN srsql.release AS r ON own.dataset = r.dataset AND own.series = r.series
    WHERE own.release_id = of_release
    GROUP BY own.quarter
)

SELECT
    m.case_no,
    m.case_id,
    m.group_id,
    coalesce(least(t.since, l.since), p.quarter) AS since,
    CASE
        WHEN coalesce(t.since, l.since) IS NULL THEN 0
        ELSE srsql.periods_apart(least(t.since, l.since), p.quarter, p.labels)
    END AS delay
FROM srsql.member AS m
CROSS JOIN periods AS p
LEFT JOIN srsql.taken_in(of_release) AS t ON m.case_id = t.case_id
LEFT JOIN srsql.came_late(of_release) AS l ON m.case_id = l.case_id
WHERE m.release_id = of_release;
