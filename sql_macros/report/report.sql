-- What a report shows of a release, as distributions. Macros over of_release read the catalog (the
-- steward's edition); the others take tables, so that the public edition can give them what it read
-- off the released views. Parameters that name tables take their names.

-- What:    the cases of a release and their groups.
-- Inputs:  of_release: a release id.
-- Outputs: case_id (the number of the case within the release), group_id.
CREATE OR REPLACE MACRO srsql.report_members(of_release) AS TABLE
SELECT m.case_no AS case_id, m.group_id
FROM srsql.member AS m
WHERE m.release_id = of_release;

-- What:    how wide the region of each group is: granules beyond the first of a number, height of
--          the node of a category.
-- Inputs:  of_release.
-- Outputs: group_id, position, width; NULL where the quasi-identifier is missing.
CREATE OR REPLACE MACRO srsql.report_regions(of_release) AS TABLE
SELECT
    g.group_id,
    g.position,
    CASE
        WHEN g.low IS NULL THEN NULL
        WHEN a.kind = 'numeric' THEN g.high - g.low
        ELSE n.height
    END::DOUBLE AS width
FROM srsql.region AS g
INNER JOIN srsql.release AS r ON g.release_id = r.release_id
INNER JOIN srsql.attribute AS a ON g.release_id = a.release_id AND g.position = a.position
LEFT JOIN srsql.node AS n
    ON
        r.dataset = n.dataset
        AND a.attribute = n.attribute
        AND g.low = n.pre
        AND g.high = n.last
WHERE g.release_id = of_release;

-- What:    how often a quasi-identifier is missing, before and after.
-- Inputs:  of_release.
-- Outputs: position, cases (of the quarter), missing (of them, no report knows it), released
--          (cases), released_missing (of them, no report knows it), given_up (of them, known but
--          released as missing).
-- Source:  SPEC section 4.
CREATE OR REPLACE MACRO srsql.report_missingness(of_release) AS TABLE
SELECT
    c.position,
    count(*) AS cases,
    count(*) FILTER (WHERE c.low IS NULL) AS missing,
    count(m.case_no) AS released,
    count(m.case_no) FILTER (WHERE c.low IS NULL) AS released_missing,
    count(m.case_no) FILTER (WHERE c.given_up) AS given_up
FROM srsql.case_qid AS c
LEFT JOIN srsql.member AS m ON m.release_id = of_release AND c.case_no = m.case_no
WHERE c.release_id = of_release
GROUP BY c.position;

-- What:    how many of the released cases lie at each place of a quasi-identifier, before and
--          after: a value that covers several places counts in each by the share that lies there.
-- Inputs:  of_release; parts: places of a number, from its least value to its greatest.
-- Outputs: position, place (from 0), low, high (granules, or the leaf), label (of a leaf), before,
--          after (cases that have a value; what is missing or given up is at no place).
CREATE OR REPLACE MACRO srsql.report_before_after(of_release, parts) AS TABLE
WITH
met AS MATERIALIZED (
    SELECT s.position, s.own_low, s.own_high, s.low, s.high, s.cases
    FROM srsql.star_loss(of_release) AS s
),

sides AS (
    SELECT m.position, m.own_low AS low, m.own_high AS high, m.cases AS before, 0 AS after
    FROM met AS m
    UNION ALL
    SELECT m.position, m.low, m.high, 0 AS before, m.cases AS after
    FROM met AS m
),

held AS MATERIALIZED (
    SELECT
        v.position,
        v.low,
        v.high,
        sum(v.before)::DOUBLE AS before,
        sum(v.after)::DOUBLE AS after
    FROM sides AS v
    WHERE v.low IS NOT NULL
    GROUP BY v.position, v.low, v.high
),

kinds AS (
    SELECT a.position, a.attribute, a.kind, r.dataset
    FROM srsql.attribute AS a
    INNER JOIN srsql.release AS r ON a.release_id = r.release_id
    WHERE a.release_id = of_release
),

ends AS (
    SELECT h.position, min(h.low) AS first, max(h.high) + 1 - min(h.low) AS granules
    FROM held AS h
    INNER JOIN kinds AS t ON h.position = t.position AND t.kind = 'numeric'
    GROUP BY h.position
),

places AS MATERIALIZED (
    SELECT
        e.position,
        p.place,
        (e.first + e.granules * p.place // parts)::BIGINT AS low,
        (e.first + e.granules * (p.place + 1) // parts - 1)::BIGINT AS high,
        NULL::VARCHAR AS label
    FROM ends AS e
    CROSS JOIN range(parts) AS p (place)
    UNION ALL
    SELECT
        t.position,
        row_number() OVER (PARTITION BY t.position ORDER BY n.pre) - 1 AS place,
        n.pre AS low,
        n.pre AS high,
        n.node AS label
    FROM kinds AS t
    INNER JOIN srsql.node AS n
        ON t.dataset = n.dataset AND t.attribute = n.attribute AND n.height = 0
    WHERE t.kind <> 'numeric'
),

shares AS (
    SELECT
        p.position,
        p.place,
        p.low,
        p.high,
        p.label,
        h.before,
        h.after,
        CASE
            WHEN p.label IS NULL
                THEN (least(h.high, p.high) - greatest(h.low, p.low) + 1) / (h.high - h.low + 1)
            ELSE 1 / count(*) OVER (PARTITION BY p.position, h.low, h.high)
        END AS share
    FROM places AS p
    LEFT JOIN held AS h ON p.position = h.position AND h.low <= p.high AND h.high >= p.low
    WHERE p.low <= p.high
)

SELECT
    s.position,
    s.place,
    s.low,
    s.high,
    s.label,
    coalesce(sum(s.before * s.share), 0) AS before,
    coalesce(sum(s.after * s.share), 0) AS after
FROM shares AS s
GROUP BY s.position, s.place, s.low, s.high, s.label;

-- What:    the information loss of each quasi-identifier: its part of NIL.
-- Inputs:  of_release.
-- Outputs: position, cases, loss (summed over the cases: of widened regions, and 1 for each value
--          that was known but released as missing).
-- Source:  Lin 2016, eqs. (1) and (9), taken apart.
CREATE OR REPLACE MACRO srsql.report_losses(of_release) AS TABLE
WITH given_up AS (
    SELECT c.position, count(*) AS cases
    FROM srsql.case_qid AS c
    WHERE c.release_id = of_release AND c.given_up
    GROUP BY c.position
)

SELECT
    l.position,
    sum(l.cases)::BIGINT AS cases,
    coalesce(fsum(l.cases * l.loss), 0) + coalesce(any_value(u.cases), 0) AS loss
FROM srsql.group_loss(of_release) AS l
LEFT JOIN given_up AS u ON l.position = u.position
GROUP BY l.position;

-- What:    what was not released, by reason.
-- Inputs:  of_release.
-- Outputs: reason, cases, reports.
CREATE OR REPLACE MACRO srsql.report_withheld(of_release) AS TABLE
SELECT w.reason, count(*) AS cases, sum(w.reports)::BIGINT AS reports
FROM srsql.withheld AS w
WHERE w.release_id = of_release
GROUP BY w.reason;

-- What:    how confident an attacker can be of each value of each group, against its threshold.
-- Inputs:  of_release.
-- Outputs: group_id, term, theta, conf (with what external knowledge adds).
-- Source:  Lin 2016, Definition 1.
CREATE OR REPLACE MACRO srsql.report_confidences(of_release) AS TABLE
SELECT c.group_id, c.term, c.theta, c.conf_e AS conf
FROM srsql.confidence(of_release) AS c;

-- What:    the values of the quarter by their threshold.
-- Inputs:  of_release.
-- Outputs: theta, terms, least, most (cases of the quarter that hold such a value).
CREATE OR REPLACE MACRO srsql.report_thresholds(of_release) AS TABLE
SELECT
    t.theta_num / t.theta_den AS theta,
    count(*) AS terms,
    min(t.cases) AS least,
    max(t.cases) AS most
FROM srsql.threshold AS t
WHERE t.release_id = of_release
GROUP BY t.theta_num / t.theta_den;

-- What:    the releases of a series that are out, side by side.
-- Inputs:  of_dataset, of_series.
-- Outputs: release_id, quarter, model, k, cases, new_cases, reports, groups, withheld (cases),
--          everyone (distinct cases of this and all earlier of these releases), nil, dr (as
--          measured when it was made; NULL where nothing was released).
CREATE OR REPLACE MACRO srsql.report_series(of_dataset, of_series) AS TABLE
WITH
listed AS (
    SELECT r.release_id, r.quarter, r.model, r.k
    FROM srsql.release AS r
    WHERE r.dataset = of_dataset AND r.series = of_series AND r.status = 'released'
),

counted AS (
    SELECT
        m.release_id,
        count(*) AS cases,
        count(*) FILTER (WHERE m.is_new) AS new_cases,
        sum(m.reports)::BIGINT AS reports,
        count(DISTINCT m.group_id) AS groups
    FROM srsql.member AS m
    SEMI JOIN listed AS r ON m.release_id = r.release_id
    GROUP BY m.release_id
),

gone AS (
    SELECT w.release_id, count(*) AS cases
    FROM srsql.withheld AS w
    SEMI JOIN listed AS r ON w.release_id = r.release_id
    GROUP BY w.release_id
),

firsts AS (
    SELECT m.case_id, min(r.quarter) AS quarter
    FROM srsql.member AS m
    INNER JOIN listed AS r ON m.release_id = r.release_id
    GROUP BY m.case_id
),

arrivals AS (
    SELECT f.quarter, count(*) AS cases FROM firsts AS f GROUP BY f.quarter
),

measured AS (
    SELECT
        q.release_id,
        max(q.ratio) FILTER (WHERE q.measure = 'nil') AS nil,
        max(q.ratio) FILTER (WHERE q.measure = 'dr') AS dr
    FROM srsql.measure AS q
    WHERE q.stage = 'metric'
    GROUP BY q.release_id
)

SELECT
    r.release_id,
    r.quarter,
    r.model,
    r.k,
    coalesce(c.cases, 0) AS cases,
    coalesce(c.new_cases, 0) AS new_cases,
    coalesce(c.reports, 0) AS reports,
    coalesce(c.groups, 0) AS groups,
    coalesce(g.cases, 0) AS withheld,
    coalesce(sum(a.cases) OVER (ORDER BY r.quarter), 0)::BIGINT AS everyone,
    q.nil,
    q.dr
FROM listed AS r
LEFT JOIN counted AS c ON r.release_id = c.release_id
LEFT JOIN gone AS g ON r.release_id = g.release_id
LEFT JOIN arrivals AS a ON r.quarter = a.quarter
LEFT JOIN measured AS q ON r.release_id = q.release_id;

-- What:    how many groups (published regions) there are of each size.
-- Inputs:  members(case_id, group_id), distinct.
-- Outputs: size (cases), groups.
CREATE OR REPLACE MACRO srsql.report_sizes(members) AS TABLE
WITH sizes AS (
    SELECT m.group_id, count(*) AS size FROM query_table(members) AS m GROUP BY m.group_id
)

SELECT s.size, count(*) AS groups FROM sizes AS s GROUP BY s.size;

-- What:    how many cases have a region of each width, by quasi-identifier.
-- Inputs:  members(case_id, group_id), distinct; regions(group_id, position, width).
-- Outputs: position, width (NULL: missing), cases.
CREATE OR REPLACE MACRO srsql.report_widths(members, regions) AS TABLE
WITH sizes AS (
    SELECT m.group_id, count(*) AS size FROM query_table(members) AS m GROUP BY m.group_id
)

SELECT r.position, r.width, sum(s.size)::BIGINT AS cases
FROM query_table(regions) AS r
INNER JOIN sizes AS s ON r.group_id = s.group_id
GROUP BY r.position, r.width;

-- What:    the confidence of inferring each value of each group, from rows that show it.
-- Inputs:  members(case_id, group_id) and held(case_id, term), both distinct;
--          thresholds(term, theta).
-- Outputs: group_id, term, theta, conf.
-- Source:  Lin 2016, Definition 1.
CREATE OR REPLACE MACRO srsql.report_shares(members, held, thresholds) AS TABLE
WITH
sizes AS (
    SELECT m.group_id, count(*) AS size FROM query_table(members) AS m GROUP BY m.group_id
),

holders AS (
    SELECT m.group_id, h.term, count(*) AS cases
    FROM query_table(members) AS m
    INNER JOIN query_table(held) AS h ON m.case_id = h.case_id
    GROUP BY m.group_id, h.term
)

SELECT h.group_id, h.term, t.theta, h.cases / s.size AS conf
FROM holders AS h
INNER JOIN sizes AS s ON h.group_id = s.group_id
INNER JOIN query_table(thresholds) AS t ON h.term = t.term;

-- What:    how much of its threshold the most exposed value of a group uses up: the greatest
--          conf / theta over its values with theta below 1 (1 bounds nothing).
-- Inputs:  confidences(group_id, theta, conf).
-- Outputs: exposure (1: at the threshold), groups.
CREATE OR REPLACE MACRO srsql.report_exposure(confidences) AS TABLE
WITH most AS (
    SELECT c.group_id, max(c.conf / c.theta) AS exposure
    FROM query_table(confidences) AS c
    WHERE c.theta > 0 AND c.theta < 1
    GROUP BY c.group_id
)

SELECT m.exposure, count(*) AS groups FROM most AS m GROUP BY m.exposure;

-- What:    the highest confidence in any group of a value with each threshold.
-- Inputs:  confidences(group_id, term, theta, conf).
-- Outputs: theta, terms (that are released), highest.
CREATE OR REPLACE MACRO srsql.report_highest(confidences) AS TABLE
SELECT c.theta, count(DISTINCT c.term) AS terms, max(c.conf) AS highest
FROM query_table(confidences) AS c
GROUP BY c.theta;
