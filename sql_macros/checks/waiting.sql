-- Checks of a series that holds cases back, or takes late ones; they share nothing with what makes
-- it.

-- What:    every case that waits is withheld in the release, in no group of it, and has not waited
--          as many periods as a case may; nobody who waited through the release before is in
--          a release between. Since when a case waits follows from the releases: whoever waited in
--          the one before waits since then, and anybody else since this one.
-- Inputs:  most: periods that a case may wait; of_release.
-- Outputs: one uniform row over the cases that wait.
-- Source:  docs/decisions.md, D390.
CREATE OR REPLACE MACRO srsql.check_waiting(most, of_release) AS TABLE
WITH
own AS (SELECT r.* FROM srsql.release AS r WHERE r.release_id = of_release),

series_release AS (
    SELECT r.release_id, r.quarter
    FROM srsql.release AS r
    INNER JOIN own AS o ON r.dataset = o.dataset AND r.series = o.series
    WHERE r.quarter <= o.quarter AND (r.status <> 'draft' OR r.release_id = of_release)
),

quarters AS (SELECT DISTINCT s.quarter FROM series_release AS s),

-- Who waited in the release just before, by all versions of it.
waited_before AS (
    SELECT w.case_id, min(w.since) AS since
    FROM srsql.waiting AS w
    INNER JOIN series_release AS s ON w.release_id = s.release_id
    WHERE
        s.quarter = (
            SELECT max(q.quarter) FROM quarters AS q CROSS JOIN own AS o WHERE q.quarter < o.quarter
        )
    GROUP BY w.case_id
),

judged AS (
    SELECT
        w.case_id,
        w.case_id IN (
            SELECT h.case_id FROM srsql.withheld AS h WHERE h.release_id = of_release
        ) AS is_withheld,
        coalesce(
            w.since <= (
                SELECT max(s.quarter)
                FROM srsql.member AS m
                INNER JOIN series_release AS s ON m.release_id = s.release_id
                WHERE m.case_id = w.case_id
            ),
            false
        ) AS is_released,
        coalesce(
            srsql.period_number(o.quarter) - srsql.period_number(w.since),
            (
                SELECT count(*) FROM quarters AS q
                WHERE q.quarter >= w.since AND q.quarter < o.quarter
            )
        ) AS waited,
        w.since = coalesce(b.since, o.quarter) AS is_since
    FROM srsql.waiting AS w
    CROSS JOIN own AS o
    LEFT JOIN waited_before AS b ON w.case_id = b.case_id
    WHERE w.release_id = of_release
),

figures AS (
    SELECT
        count(*) FILTER (
            WHERE NOT j.is_withheld OR j.is_released OR j.waited >= most OR NOT j.is_since
        ) AS wrong,
        count(*) AS cases
    FROM judged AS j
)

SELECT unnest(srsql.check_row(of_release, 'check_waiting', 'cases', f.wrong, f.cases, most))
FROM figures AS f;

-- What:    no released row is of a case that waits, by the originals behind the rows; and the raw
--          rows have a report of every case that waits in the period since which it does, so that
--          it does not wait longer than is told; or they had one when a release withheld the case
--          there, and what replaced the source of that period has none.
-- Inputs:  raw_of(case_id, quarter): the raw reports, as they were ingested; late_of(case_id,
--          quarter): those that came after their period was loaded; shown_of(case_id): the
--          originals behind the released rows; of_release.
-- Outputs: one uniform row over the cases that wait.
-- Source:  docs/decisions.md, D390 and D392.
CREATE OR REPLACE MACRO srsql.check_waiting_rows(raw_of, late_of, shown_of, of_release) AS TABLE
WITH
reported AS (SELECT DISTINCT r.case_id, r.quarter FROM query_table(raw_of) AS r),

-- Cases whose reports were taken out of a period after a release of the series had them wait there.
replaced AS (
    SELECT DISTINCT c.case_id, c.quarter
    FROM srsql.release AS own
    INNER JOIN srsql.release AS s ON own.dataset = s.dataset AND own.series = s.series
    INNER JOIN srsql.waiting AS b ON s.release_id = b.release_id AND s.quarter = b.since
    INNER JOIN srsql.replaced_case AS c
        ON
            s.dataset = c.dataset
            AND s.quarter = c.quarter
            AND b.case_id = c.case_id
            AND s.ingestion_id < c.ingestion_id
    WHERE
        own.release_id = of_release
        AND s.release_id <> of_release
        AND s.status <> 'draft'
        AND c.change = 'absent'
),

judged AS (
    SELECT
        w.case_id IN (SELECT s.case_id::VARCHAR FROM query_table(shown_of) AS s) AS is_shown,
        r.case_id IS NOT NULL
        OR g.case_id IS NOT NULL
        OR EXISTS (
            SELECT 1 FROM query_table(late_of) AS l
            WHERE l.case_id = w.case_id AND l.quarter <= w.since
        ) AS is_reported
    FROM srsql.waiting AS w
    LEFT JOIN reported AS r ON w.case_id = r.case_id AND w.since = r.quarter
    LEFT JOIN replaced AS g ON w.case_id = g.case_id AND w.since = g.quarter
    WHERE w.release_id = of_release
),

figures AS (
    SELECT count(*) FILTER (WHERE j.is_shown OR NOT j.is_reported) AS wrong, count(*) AS cases
    FROM judged AS j
)

SELECT unnest(srsql.check_row(of_release, 'check_waiting_rows', 'cases', f.wrong, f.cases, 0))
FROM figures AS f;

-- What:    the releases of a series that are out, of the periods before one of its releases.
-- Inputs:  of_release.
-- Outputs: release_id, quarter.
-- Source:  SPEC section 9 (attacks on a series).
CREATE OR REPLACE MACRO srsql.exposed_before(of_release) AS TABLE
SELECT r.release_id, r.quarter
FROM srsql.exposed_release AS r
INNER JOIN srsql.release AS o
    ON r.dataset = o.dataset AND r.series = o.series AND r.quarter < o.quarter
WHERE o.release_id = of_release;

-- What:    who was waiting in the last release before one of a series, and from when on; by the
--          releases before alone.
-- Inputs:  of_release.
-- Outputs: case_id, since; distinct.
-- Source:  docs/decisions.md, D391.
CREATE OR REPLACE MACRO srsql.waited_before(of_release) AS TABLE
WITH earlier AS (SELECT b.* FROM srsql.exposed_before(of_release) AS b)

SELECT DISTINCT w.case_id, w.since
FROM srsql.waiting AS w
INNER JOIN earlier AS e ON w.release_id = e.release_id
WHERE e.quarter = (SELECT max(l.quarter) FROM earlier AS l);

-- What:    the cases of a release that are in no release of its series of an earlier period, and of
--          which reports came late: when a release of the period that received them was out.
-- Inputs:  late_of(case_id, quarter): the reports that came after their period was loaded, as they
--          were ingested; of_release.
-- Outputs: case_id, since: the first period of these reports; distinct.
-- Source:  SPEC section 22 (cumulative sources).
CREATE OR REPLACE MACRO srsql.late_before(late_of, of_release) AS TABLE
WITH
earlier AS (SELECT b.* FROM srsql.exposed_before(of_release) AS b),

late AS (
    SELECT m.case_id, min(l.quarter) AS since
    FROM srsql.member AS m
    INNER JOIN query_table(late_of) AS l ON m.case_id = l.case_id
    WHERE m.release_id = of_release AND l.quarter IN (SELECT e.quarter FROM earlier AS e)
    GROUP BY m.case_id
)

SELECT l.case_id, l.since
FROM late AS l
WHERE
    l.case_id NOT IN (
        SELECT b.case_id
        FROM srsql.member AS b
        SEMI JOIN earlier AS e ON b.release_id = e.release_id
    );

-- What:    a report that came when its period was out stands in the release only where it may. A
--          release of its period is out. Its case is in no release of another period, or it has a
--          report of the release's own period. No earlier version of the release lacks the case.
--          The ids of the series are not those of the source, whose order tells when it came.
-- Inputs:  late_of(report_id, case_id, quarter): the released reports that came after their period
--          was loaded, of periods before that of the release; own_of(case_id): the cases with a
--          report that was received in the period of the release; of_release.
-- Outputs: one uniform row over these reports.
-- Source:  SPEC section 22 (cumulative sources).
CREATE OR REPLACE MACRO srsql.check_late(late_of, own_of, of_release) AS TABLE
WITH
own AS (
    SELECT r.dataset, r.series, r.quarter, s.ids
    FROM srsql.release AS r
    INNER JOIN srsql.series AS s ON r.dataset = s.dataset AND r.series = s.series
    WHERE r.release_id = of_release
),

others AS (
    SELECT e.release_id, e.quarter
    FROM srsql.exposed_release AS e
    INNER JOIN own AS o ON e.dataset = o.dataset AND e.series = o.series
    WHERE e.release_id <> of_release
),

elsewhere AS (
    SELECT DISTINCT m.case_id
    FROM srsql.member AS m
    INNER JOIN others AS t ON m.release_id = t.release_id
    CROSS JOIN own AS o
    WHERE t.quarter <> o.quarter
),

versions AS (
    SELECT t.release_id
    FROM others AS t
    INNER JOIN own AS o ON t.quarter = o.quarter
    WHERE t.release_id < of_release
),

lacking AS (
    SELECT DISTINCT l.case_id
    FROM query_table(late_of) AS l
    CROSS JOIN versions AS v
    WHERE
        NOT EXISTS (
            SELECT 1 FROM srsql.member AS m
            WHERE m.release_id = v.release_id AND m.case_id = l.case_id
        )
        AND NOT EXISTS (
            SELECT 1 FROM srsql.withheld AS w
            WHERE w.release_id = v.release_id AND w.case_id = l.case_id
        )
),

judged AS (
    SELECT
        l.report_id,
        o.ids = 'original'
        OR l.quarter NOT IN (SELECT t.quarter FROM others AS t)
        OR l.case_id IN (SELECT k.case_id FROM lacking AS k)
        OR (
            l.case_id IN (SELECT e.case_id FROM elsewhere AS e)
            AND l.case_id NOT IN (SELECT c.case_id FROM query_table(own_of) AS c)
        ) AS is_wrong
    FROM query_table(late_of) AS l
    CROSS JOIN own AS o
),

figures AS (
    SELECT
        count(DISTINCT j.report_id) FILTER (WHERE j.is_wrong) AS wrong,
        count(DISTINCT j.report_id) AS reports
    FROM judged AS j
)

SELECT unnest(srsql.check_row(of_release, 'check_late', 'reports', f.wrong, f.reports, 0))
FROM figures AS f;

-- What:    whoever knows the first period of the reports of a case, and so that it waited until
--          this release, or that they came late, rules out those of its group that were released
--          meanwhile: k cases are left, and of them no value is more frequent than its threshold.
--          Where persons are counted, the same of them, who are ruled out by any of their cases.
-- Inputs:  unit: 'case' or 'person' (see srsql.counted_units); late_of(case_id, quarter): the
--          reports that came after their period was loaded, as they were ingested; of_release.
-- Outputs: one uniform row over groups and the periods from which some member waited, or was late.
-- Source:  SPEC section 9 (attacks on a series), section 22; docs/decisions.md, D382, D391, D392.
CREATE OR REPLACE MACRO srsql.check_delay(unit, late_of, of_release) AS TABLE
WITH
own AS (SELECT r.* FROM srsql.release AS r WHERE r.release_id = of_release),

earlier AS (SELECT b.* FROM srsql.exposed_before(of_release) AS b),

counted AS MATERIALIZED (
    SELECT u.case_id, u.unit AS counted FROM srsql.counted_units(unit, of_release) AS u
),

members AS MATERIALIZED (
    SELECT
        m.case_no,
        m.case_id,
        m.group_id,
        coalesce(u.counted, 'case ' || m.case_id) AS counted
    FROM srsql.member AS m
    LEFT JOIN counted AS u ON m.case_id = u.case_id
    WHERE m.release_id = of_release
),

known_since AS MATERIALIZED (
    SELECT b.case_id, b.since FROM srsql.waited_before(of_release) AS b
    UNION
    SELECT l.case_id, l.since FROM srsql.late_before(late_of, of_release) AS l
),

windows AS MATERIALIZED (
    SELECT DISTINCT m.group_id, w.since
    FROM members AS m
    INNER JOIN known_since AS w ON m.case_id = w.case_id
),

-- By any case that is counted with one here, also one that this release does not have.
latest_before AS (
    SELECT coalesce(u.counted, 'case ' || b.case_id) AS counted, max(e.quarter) AS quarter
    FROM srsql.member AS b
    INNER JOIN earlier AS e ON b.release_id = e.release_id
    LEFT JOIN counted AS u ON b.case_id = u.case_id
    GROUP BY ALL
),

remaining AS MATERIALIZED (
    SELECT w.group_id, w.since, m.case_no, m.counted
    FROM windows AS w
    INNER JOIN members AS m ON w.group_id = m.group_id
    LEFT JOIN latest_before AS l ON m.counted = l.counted
    WHERE l.quarter IS NULL OR l.quarter < w.since
),

sizes AS (
    SELECT w.group_id, w.since, count(DISTINCT r.counted) AS n
    FROM windows AS w
    LEFT JOIN remaining AS r ON w.group_id = r.group_id AND w.since = r.since
    GROUP BY w.group_id, w.since
),

-- Whoever has several cases holds a value as surely as the surest of them.
held AS (
    SELECT r.group_id, r.since, r.counted, c.term_no, max(c.weight) AS weight
    FROM remaining AS r
    INNER JOIN srsql.case_term AS c ON c.release_id = of_release AND r.case_no = c.case_no
    GROUP BY r.group_id, r.since, r.counted, c.term_no
),

too_frequent AS (
    SELECT DISTINCT h.group_id, h.since
    FROM (
        SELECT d.group_id, d.since, d.term_no, sum(d.weight) AS weight
        FROM held AS d
        GROUP BY d.group_id, d.since, d.term_no
    ) AS h
    INNER JOIN sizes AS s ON h.group_id = s.group_id AND h.since = s.since
    INNER JOIN srsql.threshold AS t ON t.release_id = of_release AND h.term_no = t.term_no
    CROSS JOIN own AS o
    WHERE srsql.exceeds(h.weight, t.theta_num, t.theta_den, s.n, o.weight_scale)
),

figures AS (
    SELECT
        count(*) FILTER (WHERE s.n < o.k OR f.group_id IS NOT NULL) AS wrong,
        count(*) AS windows
    FROM sizes AS s
    CROSS JOIN own AS o
    LEFT JOIN too_frequent AS f ON s.group_id = f.group_id AND s.since = f.since
)

SELECT unnest(srsql.check_row(of_release, 'check_delay', 'windows', f.wrong, f.windows, o.k))
FROM figures AS f
CROSS JOIN own AS o;
