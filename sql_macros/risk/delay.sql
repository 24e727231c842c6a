-- What cases that waited or came late did to a release, and what whoever knows of it rules out.

-- What:    how long cases waited, how many wait, and what the periods of the reports tell.
-- Inputs:  of_release.
-- Outputs: uniform rows; none where no case of the series was held back, and none came late.
--          delay: scope 'median' and '95 %': ratio is that quantile of the periods that released
--          cases waited, or came late by; violating how many did so at all.
--          waiting: scope 'cases': the cases of the period that wait, of all that are not deleted.
--          known_report_period: scope 'groups': groups of which some members are fewer than k who
--          have the same first period. An attacker who knows that period of every case cannot tell
--          these apart from fewer; no model defends against that.
-- Source:  docs/decisions.md, D390 and D391.
CREATE OR REPLACE MACRO srsql.delay_rate(of_release) AS TABLE
WITH
own AS (
    SELECT r.k, (r.private_manifest ->> '$.max_delay') IS NOT NULL AS holds_back
    FROM srsql.release AS r
    WHERE r.release_id = of_release
),

delays AS MATERIALIZED (
    SELECT d.group_id, d.since, d.delay FROM srsql.member_delays(of_release) AS d
),

held AS (
    SELECT
        (SELECT count(*) FROM srsql.waiting AS w WHERE w.release_id = of_release) AS waiting,
        (
            SELECT count(*) FROM srsql.withheld AS w
            WHERE w.release_id = of_release AND w.case_no IS NOT NULL
        ) AS withheld,
        (SELECT count(*) FROM srsql.taken_in(of_release)) AS taken_in,
        (SELECT count(*) FROM srsql.came_late(of_release)) AS late
),

classes AS (
    SELECT d.group_id, count(*) AS cases FROM delays AS d GROUP BY d.group_id, d.since
),

groups AS (
    SELECT c.group_id, min(c.cases) AS least FROM classes AS c GROUP BY c.group_id
),

figures AS (
    SELECT
        'delay' AS measure,
        'median' AS scope,
        count(*) FILTER (WHERE d.delay > 0) AS violating,
        count(*) AS total,
        quantile_disc(d.delay, 0.5) AS ratio
    FROM delays AS d
    UNION ALL
    SELECT
        'delay' AS measure,
        '95 %' AS scope,
        count(*) FILTER (WHERE d.delay > 0) AS violating,
        count(*) AS total,
        quantile_disc(d.delay, 0.95) AS ratio
    FROM delays AS d
    UNION ALL
    SELECT
        'waiting' AS measure,
        'cases' AS scope,
        h.waiting AS violating,
        h.withheld + (SELECT count(*) FROM delays) AS total,
        NULL AS ratio
    FROM held AS h
    UNION ALL
    SELECT
        'known_report_period' AS measure,
        'groups' AS scope,
        count(*) FILTER (WHERE g.least < o.k) AS violating,
        count(*) AS total,
        NULL AS ratio
    FROM groups AS g
    CROSS JOIN own AS o
)

SELECT
    unnest(
        srsql.uniform_row(
            of_release,
            f.measure,
            f.scope,
            f.violating,
            f.total,
            coalesce(f.ratio, f.violating / nullif(f.total, 0)),
            NULL,
            NULL
        )
    )
FROM figures AS f
CROSS JOIN held AS h
CROSS JOIN own AS o
WHERE o.holds_back OR h.waiting > 0 OR h.taken_in > 0 OR h.late > 0;
