-- Disclosure risk and what a release left out, in the uniform row
-- release, measure, scope, violating, total, ratio, threshold, passed.

-- What:    the confidence of inferring each value in each group: conf(q -> s) from the cases' own
--          values, conf(q -> s, E) with what external knowledge adds.
-- Inputs:  of_release: a release id.
-- Outputs: group_id, term_no, term, cases, theta, conf, conf_e, breached, breached_e (both exact).
-- Source:  Lin 2016, Definition 1.
CREATE OR REPLACE MACRO srsql.confidence(of_release) AS TABLE
WITH
sizes AS (
    SELECT m.group_id, count(*) AS cases
    FROM srsql.member AS m WHERE m.release_id = of_release GROUP BY m.group_id
),

held AS (
    SELECT
        m.group_id,
        c.term_no,
        coalesce(sum(c.weight) FILTER (WHERE c.direct), 0) AS own,
        sum(c.weight) AS believed
    FROM srsql.member AS m
    INNER JOIN srsql.case_term AS c ON m.release_id = c.release_id AND m.case_no = c.case_no
    WHERE m.release_id = of_release
    GROUP BY m.group_id, c.term_no
)

SELECT
    h.group_id,
    h.term_no,
    t.term,
    s.cases,
    t.theta_num / t.theta_den AS theta,
    h.own / (s.cases * r.weight_scale) AS conf,
    h.believed / (s.cases * r.weight_scale) AS conf_e,
    h.own * t.theta_den > t.theta_num::HUGEINT * s.cases * r.weight_scale AS breached,
    h.believed * t.theta_den > t.theta_num::HUGEINT * s.cases * r.weight_scale AS breached_e
FROM held AS h
INNER JOIN sizes AS s ON h.group_id = s.group_id
INNER JOIN srsql.threshold AS t ON h.term_no = t.term_no AND t.release_id = of_release
INNER JOIN srsql.release AS r ON r.release_id = of_release;

-- What:    danger ratio: share of groups in which some value can be inferred with confidence above
--          its theta, over distinct cases.
-- Inputs:  of_release.
-- Outputs: two uniform rows, scope 'with E' and 'without E'; violating = dangerous groups, total =
--          groups, ratio = DR.
-- Source:  Lin 2016, eq. (10).
CREATE OR REPLACE MACRO srsql.danger_ratio(of_release) AS TABLE
WITH
dangerous AS (
    SELECT
        count(DISTINCT c.group_id) FILTER (WHERE c.breached) AS own,
        count(DISTINCT c.group_id) FILTER (WHERE c.breached_e) AS believed
    FROM srsql.confidence(of_release) AS c
),

groups AS (
    SELECT count(DISTINCT m.group_id) AS n FROM srsql.member AS m WHERE m.release_id = of_release
),

figures AS (
    SELECT 'without E' AS scope, d.own AS n FROM dangerous AS d
    UNION ALL
    SELECT 'with E' AS scope, d.believed AS n FROM dangerous AS d
)

SELECT
    of_release AS release,
    'dr' AS measure,
    f.scope,
    f.n::DOUBLE AS violating,
    g.n::DOUBLE AS total,
    f.n / nullif(g.n, 0) AS ratio,
    0::DOUBLE AS threshold,
    f.n = 0 AS passed
FROM figures AS f
CROSS JOIN groups AS g;

-- What:    share of the quarter's cases and reports that were withheld, in all and by reason.
-- Inputs:  of_release.
-- Outputs: uniform rows; scope = 'cases', 'reports' or 'cases: REASON'.
CREATE OR REPLACE MACRO srsql.withheld_rate(of_release) AS TABLE
WITH
gone AS (
    SELECT w.case_id, w.reports, w.reason FROM srsql.withheld AS w WHERE w.release_id = of_release
),

kept AS (
    SELECT count(*) AS cases, coalesce(sum(m.reports), 0) AS reports
    FROM srsql.member AS m WHERE m.release_id = of_release
),

lost AS (
    SELECT count(*) AS cases, coalesce(sum(g.reports), 0) AS reports FROM gone AS g
),

rates AS (
    SELECT 'cases' AS scope, l.cases AS n, l.cases + k.cases AS total
    FROM lost AS l CROSS JOIN kept AS k
    UNION ALL
    SELECT 'reports' AS scope, l.reports AS n, l.reports + k.reports AS total
    FROM lost AS l CROSS JOIN kept AS k
    UNION ALL
    SELECT
        'cases: ' || g.reason AS scope,
        count(*) AS n,
        any_value(l.cases + k.cases) AS total
    FROM gone AS g CROSS JOIN lost AS l CROSS JOIN kept AS k
    GROUP BY g.reason
)

SELECT
    of_release AS release,
    'withheld' AS measure,
    r.scope,
    r.n::DOUBLE AS violating,
    r.total::DOUBLE AS total,
    r.n / nullif(r.total, 0) AS ratio,
    NULL::DOUBLE AS threshold,
    NULL::BOOLEAN AS passed
FROM rates AS r;

-- What:    share of QID values that were released as NULL although known (suppression), per QID.
-- Inputs:  of_release.
-- Outputs: uniform rows; scope = QID.
CREATE OR REPLACE MACRO srsql.suppression_rate(of_release) AS TABLE
SELECT
    of_release AS release,
    'suppressed' AS measure,
    a.attribute AS scope,
    count(*) FILTER (WHERE c.given_up)::DOUBLE AS violating,
    count(*) FILTER (WHERE c.low IS NOT NULL)::DOUBLE AS total,
    count(*) FILTER (WHERE c.given_up)
    / nullif(count(*) FILTER (WHERE c.low IS NOT NULL), 0) AS ratio,
    NULL::DOUBLE AS threshold,
    NULL::BOOLEAN AS passed
FROM srsql.case_qid AS c
INNER JOIN srsql.member AS m ON c.release_id = m.release_id AND c.case_no = m.case_no
INNER JOIN srsql.attribute AS a ON c.release_id = a.release_id AND c.position = a.position
WHERE c.release_id = of_release
GROUP BY a.attribute;

-- What:    distribution of group sizes in distinct cases.
-- Inputs:  of_release.
-- Outputs: uniform rows; scope = 'min', 'p25', 'median', 'p75', 'max', 'mean'; ratio = the size,
--          violating = groups below k, threshold = k.
CREATE OR REPLACE MACRO srsql.group_sizes(of_release) AS TABLE
WITH
sizes AS (
    SELECT m.group_id, count(*) AS cases
    FROM srsql.member AS m WHERE m.release_id = of_release GROUP BY m.group_id
),

summary AS (
    SELECT
        count(*) AS n,
        min(s.cases) AS least,
        quantile_disc(s.cases, [0.25, 0.5, 0.75]) AS quartiles,
        max(s.cases) AS most,
        sum(s.cases) / count(*) AS mean
    FROM sizes AS s
),

points AS (
    SELECT unnest([
        struct_pack(scope := 'min', size := u.least::DOUBLE),
        struct_pack(scope := 'p25', size := u.quartiles[1]::DOUBLE),
        struct_pack(scope := 'median', size := u.quartiles[2]::DOUBLE),
        struct_pack(scope := 'p75', size := u.quartiles[3]::DOUBLE),
        struct_pack(scope := 'max', size := u.most::DOUBLE),
        struct_pack(scope := 'mean', size := u.mean::DOUBLE)
    ]) AS point
    FROM summary AS u
    WHERE u.n > 0
)

SELECT
    of_release AS release,
    'group_size' AS measure,
    points.point.scope AS scope,
    (SELECT count(*) FROM sizes AS s WHERE s.cases < r.k)::DOUBLE AS violating,
    (SELECT count(*) FROM sizes)::DOUBLE AS total,
    points.point.size AS ratio,
    r.k::DOUBLE AS threshold,
    (SELECT count(*) FROM sizes AS s WHERE s.cases < r.k) = 0 AS passed
FROM points
INNER JOIN srsql.release AS r ON r.release_id = of_release;
