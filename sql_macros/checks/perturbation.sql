-- The check of a perturbed release after the fact. Released values prove nothing of the groups, so
-- k and theta are counted over the member table, and released values are held against what may be
-- released at all. Nothing here is used to make a release. Every check returns the uniform row.

-- What:    the internal groups: their cases, those that carry the bounds, and whether some value is
--          held by more of them than theta of the carriers.
-- Inputs:  of_release.
-- Outputs: group_id, cases, carriers, breached. A threshold of 1 bounds nothing.
-- Source:  Wu 2022, Definitions 1 and 3; SPEC section 10.
CREATE OR REPLACE MACRO srsql.internal_groups(of_release) AS TABLE
WITH
crowd AS (
    SELECT m.group_id, count(*) AS cases, count(*) FILTER (WHERE t.carrier) AS carriers
    FROM srsql.member AS m
    INNER JOIN srsql.case_flag AS t ON m.release_id = t.release_id AND m.case_no = t.case_no
    WHERE m.release_id = of_release
    GROUP BY m.group_id
),

-- a threshold of 1 bounds nothing
unbounded AS (
    SELECT q.term_no
    FROM srsql.threshold AS q
    WHERE q.release_id = of_release AND q.theta_num >= q.theta_den
),

held AS (
    SELECT m.group_id, c.term_no, sum(c.weight)::HUGEINT AS weight
    FROM srsql.case_term AS c
    ANTI JOIN unbounded AS u ON c.term_no = u.term_no
    INNER JOIN srsql.member AS m ON m.release_id = of_release AND c.case_no = m.case_no
    WHERE c.release_id = of_release
    GROUP BY m.group_id, c.term_no
),

breaches AS (
    SELECT DISTINCT h.group_id
    FROM held AS h
    INNER JOIN crowd AS g ON h.group_id = g.group_id
    INNER JOIN srsql.release AS r ON r.release_id = of_release
    LEFT JOIN srsql.threshold AS q ON q.release_id = of_release AND h.term_no = q.term_no
    WHERE
        q.term_no IS NULL
        OR h.weight * q.theta_den > q.theta_num::HUGEINT * g.carriers * r.weight_scale
)

SELECT
    g.group_id,
    g.cases,
    g.carriers,
    b.group_id IS NOT NULL AS breached
FROM crowd AS g
LEFT JOIN breaches AS b ON g.group_id = b.group_id;

-- What:    every internal group has k cases that carry the bounds, and keeps every threshold.
-- Inputs:  of_release.
-- Outputs: two uniform rows.
CREATE OR REPLACE MACRO srsql.check_internal(of_release) AS TABLE
WITH
verdicts AS (
    SELECT i.carriers < r.k AS small, i.breached
    FROM srsql.internal_groups(of_release) AS i
    INNER JOIN srsql.release AS r ON r.release_id = of_release
),

figures AS (
    SELECT
        'k of an internal group' AS scope,
        count(*) FILTER (WHERE v.small) AS n,
        count(*) AS total
    FROM verdicts AS v
    UNION ALL
    SELECT 'theta of an internal group' AS scope, count(*) FILTER (WHERE v.breached), count(*)
    FROM verdicts AS v
)

SELECT unnest(srsql.check_row(of_release, 'check_internal', f.scope, f.n, f.total, 0))
FROM figures AS f;

-- What:    each released case has one value per perturbed QID, missing exactly where its own was or
--          was given up; and each value drawn is charged once in the ledger, at its epsilon. What a
--          correction shows was drawn, and charged, for the version that it goes back to.
-- Inputs:  of_release.
CREATE OR REPLACE MACRO srsql.check_draws(of_release) AS TABLE
WITH
expected AS (
    SELECT
        m.case_no,
        p.position,
        p.epsilon_num,
        p.epsilon_den,
        q.low IS NOT NULL AND NOT q.given_up AS known
    FROM srsql.member AS m
    INNER JOIN srsql.perturbation AS p ON m.release_id = p.release_id
    INNER JOIN srsql.case_qid AS q
        ON m.release_id = q.release_id AND m.case_no = q.case_no AND p.position = q.position
    WHERE m.release_id = of_release
),

found AS (
    SELECT v.case_no, v.position, count(*) AS times, count(v.low) AS drawn
    FROM srsql.perturbed AS v WHERE v.release_id = of_release GROUP BY v.case_no, v.position
),

copied_from AS (
    SELECT max(e.release_id) AS release_id
    FROM srsql.release AS r
    INNER JOIN srsql.correction AS own ON r.release_id = own.release_id
    INNER JOIN srsql.exposed_release AS e
        ON
            r.dataset = e.dataset
            AND r.series = e.series
            AND r.quarter = e.quarter
            AND e.release_id < r.release_id
    ANTI JOIN srsql.correction AS c ON e.release_id = c.release_id
    WHERE r.release_id = of_release
),

drawn_for AS (
    SELECT
        coalesce(f.release_id, of_release) AS release_id,
        f.release_id IS NOT NULL AS copied
    FROM copied_from AS f
),

charged AS (
    SELECT
        m.case_no,
        a.position,
        count(*) AS times,
        any_value(s.epsilon_num / s.epsilon_den) AS epsilon
    FROM srsql.budget_ledger AS s
    INNER JOIN drawn_for AS o ON s.release_id = o.release_id
    LEFT JOIN srsql.release AS r
        ON
            r.release_id = of_release
            AND s.dataset = r.dataset
            AND s.series = r.series
            AND s.quarter = r.quarter
    LEFT JOIN srsql.member AS m ON r.release_id = m.release_id AND s.case_id = m.case_id
    LEFT JOIN srsql.attribute AS a ON r.release_id = a.release_id AND s.attribute = a.attribute
    WHERE NOT o.copied OR m.case_no IS NOT NULL
    GROUP BY m.case_no, a.position
),

verdicts AS (
    SELECT coalesce(
        f.times = 1
        AND f.drawn = e.known::INTEGER
        AND coalesce(c.times, 0) = e.known::INTEGER
        AND (NOT e.known OR c.epsilon = e.epsilon_num / e.epsilon_den),
        false
    ) AS correct
    FROM expected AS e
    FULL JOIN found AS f ON e.case_no = f.case_no AND e.position = f.position
    FULL JOIN charged AS c
        ON
            coalesce(e.case_no, f.case_no) = c.case_no
            AND coalesce(e.position, f.position) = c.position
)

SELECT
    unnest(srsql.check_row(of_release, 'check_draws', 'perturbed value', f.violating, f.total, 0))
FROM (
    SELECT count(*) FILTER (WHERE NOT v.correct) AS violating, count(*) AS total
    FROM verdicts AS v
) AS f;

-- What:    the cases of an internal group show the same categories where these are generalized.
-- Inputs:  common_of(region, shown): one row per released report, its internal group and the text
--          of its generalized values; release_id.
CREATE OR REPLACE MACRO srsql.check_common(common_of, release_id) AS TABLE
WITH groups AS (
    SELECT c.region, count(DISTINCT c.shown) AS kinds
    FROM query_table(common_of) AS c GROUP BY c.region
)

SELECT
    unnest(srsql.check_row(release_id, 'check_common', 'internal group', f.violating, f.total, 0))
FROM (
    SELECT count(*) FILTER (WHERE g.kinds > 1) AS violating, count(*) AS total
    FROM groups AS g
) AS f;

-- What:    the generalized categories of an old case cover those of its earlier releases.
-- Inputs:  of_release: of a model that covers them all.
-- Source:  Wu 2022, Definition 2 on QID^C.
CREATE OR REPLACE MACRO srsql.check_earlier(of_release) AS TABLE
WITH
own AS (
    SELECT m.case_id, g.position, g.low, g.high
    FROM srsql.member AS m
    INNER JOIN srsql.attribute AS a ON m.release_id = a.release_id AND a.kind = 'categorical'
    INNER JOIN srsql.region AS g
        ON m.release_id = g.release_id AND m.group_id = g.group_id AND a.position = g.position
    WHERE m.release_id = of_release
),

before AS (
    SELECT m.case_id, g.position, g.low, g.high
    FROM srsql.release AS now
    INNER JOIN srsql.exposed_release AS r
        ON
            now.dataset = r.dataset
            AND now.series = r.series
            AND (r.quarter, r.release_id) < (now.quarter, now.release_id)
    INNER JOIN srsql.member AS m ON r.release_id = m.release_id
    INNER JOIN srsql.region AS g ON m.release_id = g.release_id AND m.group_id = g.group_id
    WHERE now.release_id = of_release
),

verdicts AS (
    SELECT
        o.low IS NULL
        OR (b.low IS NOT NULL AND o.low <= b.low AND b.high <= o.high) AS covers
    FROM own AS o
    INNER JOIN before AS b ON o.case_id = b.case_id AND o.position = b.position
)

SELECT
    unnest(srsql.check_row(
        of_release, 'check_earlier', 'category of an old case', f.violating, f.total, 0
    ))
FROM (
    SELECT count(*) FILTER (WHERE NOT v.covers) AS violating, count(*) AS total
    FROM verdicts AS v
) AS f;

-- What:    the range of a number that each node of a hierarchy stands for, from its leaves.
-- Inputs:  of_dataset, of_attribute.
-- Outputs: pre, last, low, high (in the attribute's unit).
CREATE OR REPLACE MACRO srsql.node_ranges(of_dataset, of_attribute) AS TABLE
SELECT
    n.pre,
    n.last,
    min(f.low) AS low,
    max(f.high) AS high
FROM srsql.node AS n
INNER JOIN srsql.node AS f
    ON
        n.dataset = f.dataset
        AND n.attribute = f.attribute
        AND f.pre = f.last
        AND n.pre <= f.pre
        AND f.last <= n.last
WHERE n.dataset = of_dataset AND n.attribute = of_attribute
GROUP BY n.pre, n.last;
