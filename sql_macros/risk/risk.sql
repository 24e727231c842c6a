-- Disclosure risk and what a release left out, in the uniform row
-- release, measure, scope, violating, total, ratio, threshold, passed.

-- What:    the confidence of inferring each value in each group: conf(q -> s) from the cases' own
--          values, conf(q -> s, E) with what external knowledge adds.
-- Inputs:  of_release: a release id; everything: false leaves out values whose theta is 1, which no
--          confidence exceeds.
-- Outputs: group_id, term_no, term, cases, theta, conf, conf_e, breached, breached_e (both exact).
-- Source:  Lin 2016, Definition 1.
CREATE OR REPLACE MACRO srsql.confidence_by_theta(of_release, everything) AS TABLE
WITH
sizes AS (
    SELECT m.group_id, count(*) AS cases
    FROM srsql.member AS m WHERE m.release_id = of_release GROUP BY m.group_id
),

bounds AS (
    SELECT t.term_no, t.term, t.theta_num, t.theta_den
    FROM srsql.threshold AS t
    WHERE t.release_id = of_release AND (everything OR t.theta_num < t.theta_den)
),

held AS (
    SELECT
        m.group_id,
        c.term_no,
        coalesce(sum(c.weight) FILTER (WHERE c.direct), 0) AS own,
        sum(c.weight) AS believed
    FROM srsql.case_term AS c
    SEMI JOIN bounds AS b ON c.term_no = b.term_no
    INNER JOIN srsql.member AS m ON m.release_id = of_release AND c.case_no = m.case_no
    WHERE c.release_id = of_release
    GROUP BY m.group_id, c.term_no
)

SELECT
    h.group_id,
    h.term_no,
    b.term,
    s.cases,
    b.theta_num / b.theta_den AS theta,
    h.own / (s.cases * r.weight_scale) AS conf,
    h.believed / (s.cases * r.weight_scale) AS conf_e,
    h.own * b.theta_den > b.theta_num::HUGEINT * s.cases * r.weight_scale AS breached,
    h.believed * b.theta_den > b.theta_num::HUGEINT * s.cases * r.weight_scale AS breached_e
FROM held AS h
INNER JOIN sizes AS s ON h.group_id = s.group_id
INNER JOIN bounds AS b ON h.term_no = b.term_no
INNER JOIN srsql.release AS r ON r.release_id = of_release;

-- What:    the same of every value.
-- Inputs:  of_release.
-- Outputs: as srsql.confidence_by_theta.
CREATE OR REPLACE MACRO srsql.confidence(of_release) AS TABLE
SELECT c.* FROM srsql.confidence_by_theta(of_release, true) AS c;

-- What:    danger ratio: share of groups in which some value can be inferred with confidence above
--          its theta, over distinct cases.
-- Inputs:  of_release.
-- Outputs: two uniform rows, scope 'with E' and 'without E'; violating = dangerous groups, total =
--          groups, ratio = DR.
-- Source:  Lin 2016, eq. (10).
CREATE OR REPLACE MACRO srsql.danger_ratio(of_release) AS TABLE
WITH
own AS (SELECT of_release AS release_id),

dangerous AS (
    SELECT
        count(DISTINCT c.group_id) FILTER (WHERE c.breached) AS own,
        count(DISTINCT c.group_id) FILTER (WHERE c.breached_e) AS believed
    FROM srsql.confidence_by_theta(of_release, false) AS c
),

groups AS (
    SELECT count(DISTINCT m.group_id) AS n FROM srsql.member AS m WHERE m.release_id = of_release
),

figures AS (
    SELECT 'without E' AS scope, d.own AS n FROM dangerous AS d
    UNION ALL
    SELECT 'with E' AS scope, d.believed AS n FROM dangerous AS d
)

SELECT unnest(srsql.check_row(own.release_id, 'dr', f.scope, f.n, g.n, 0))
FROM figures AS f
CROSS JOIN groups AS g
CROSS JOIN own;

-- What:    share of the quarter's cases and reports that were withheld, in all and by reason.
-- Inputs:  of_release.
-- Outputs: uniform rows; scope = 'cases', 'reports' or 'cases: REASON'.
CREATE OR REPLACE MACRO srsql.withheld_rate(of_release) AS TABLE
WITH
own AS (SELECT of_release AS release_id),

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

SELECT unnest(srsql.metric_row(own.release_id, 'withheld', r.scope, r.n, r.total))
FROM rates AS r
CROSS JOIN own;

-- What:    share of QID values that were released as NULL although known (suppression), per QID.
-- Inputs:  of_release.
-- Outputs: uniform rows; scope = QID.
CREATE OR REPLACE MACRO srsql.suppression_rate(of_release) AS TABLE
WITH counted AS (
    SELECT
        c.position,
        count(*) FILTER (WHERE c.given_up) AS violating,
        count(*) FILTER (WHERE c.low IS NOT NULL) AS total
    FROM srsql.case_qid AS c
    INNER JOIN srsql.member AS m ON m.release_id = of_release AND c.case_no = m.case_no
    WHERE c.release_id = of_release
    GROUP BY c.position
)

SELECT
    unnest(srsql.metric_row(a.release_id, 'suppressed', a.attribute, f.violating, f.total))
FROM counted AS f
INNER JOIN srsql.attribute AS a ON a.release_id = of_release AND f.position = a.position;

-- What:    how often each value that was suppressed of cases may be had in a group: by those that
--          show it, those of which it was suppressed, and what external knowledge adds. Whoever
--          knows how values are suppressed can suspect so many; what is published keeps theta.
-- Inputs:  of_release.
-- Outputs: term_no, term, theta, cases (of which it was suppressed), groups (that have such a
--          case), above (of them, those in which more than theta may have it), worst (the largest
--          share of a group's cases).
-- Source:  Lin 2016, Definition 1, for what is published and suppressed together.
CREATE OR REPLACE MACRO srsql.suppressed_confidence(of_release) AS TABLE
WITH
gone AS (
    SELECT m.group_id, s.term_no, s.case_no
    FROM srsql.suppressed AS s
    INNER JOIN srsql.member AS m ON s.release_id = m.release_id AND s.case_no = m.case_no
    WHERE s.release_id = of_release
),

may_have AS (
    SELECT g.group_id, g.term_no, count(*) AS suppressed
    FROM gone AS g
    GROUP BY g.group_id, g.term_no
),

sizes AS (
    SELECT m.group_id, count(*) AS cases
    FROM srsql.member AS m
    SEMI JOIN gone AS g ON m.group_id = g.group_id
    WHERE m.release_id = of_release
    GROUP BY m.group_id
),

-- a case of which a value is suppressed counts once, whatever its drugs suggest
counted AS (
    SELECT m.group_id, c.term_no, sum(c.weight) AS weight
    FROM srsql.case_term AS c
    INNER JOIN srsql.member AS m ON c.release_id = m.release_id AND c.case_no = m.case_no
    SEMI JOIN may_have AS h ON m.group_id = h.group_id AND c.term_no = h.term_no
    ANTI JOIN gone AS g ON c.case_no = g.case_no AND c.term_no = g.term_no
    WHERE c.release_id = of_release
    GROUP BY m.group_id, c.term_no
)

SELECT
    h.term_no,
    any_value(t.term) AS term,
    any_value(t.theta_num / t.theta_den) AS theta,
    sum(h.suppressed)::BIGINT AS cases,
    count(*) AS groups,
    count(*) FILTER (
        WHERE
        (coalesce(c.weight, 0) + h.suppressed::HUGEINT * r.weight_scale) * t.theta_den
        > t.theta_num::HUGEINT * s.cases * r.weight_scale
    ) AS above,
    max((coalesce(c.weight, 0) + h.suppressed * r.weight_scale) / (s.cases * r.weight_scale))
        AS worst
FROM may_have AS h
INNER JOIN sizes AS s ON h.group_id = s.group_id
INNER JOIN srsql.threshold AS t ON h.term_no = t.term_no AND t.release_id = of_release
INNER JOIN srsql.release AS r ON r.release_id = of_release
LEFT JOIN counted AS c ON h.group_id = c.group_id AND h.term_no = c.term_no
GROUP BY h.term_no;

-- What:    how much of the released cases is suppressed, and how far that could be guessed.
-- Inputs:  of_release.
-- Outputs: uniform rows, none where nothing is suppressed: 'suppressed_values' by scope: 'values of
--          cases' (of all that released cases have themselves), 'cases' and 'reports' of which some
--          value is suppressed, 'cases, worst value' (of which the same one is);
--          'suppressed_confidence': violating = pairs of a group and a value of which more cases
--          than theta allows show it or have lost it, total = pairs in which some case lost it,
--          ratio = the largest share of a group's cases.
CREATE OR REPLACE MACRO srsql.suppressed_value_rate(of_release) AS TABLE
WITH
own AS (SELECT of_release AS release_id),

by_value AS (
    SELECT c.* FROM srsql.suppressed_confidence(of_release) AS c
),

losers AS (
    SELECT m.case_id, any_value(m.reports) AS reports
    FROM srsql.suppressed AS s
    INNER JOIN srsql.member AS m ON s.release_id = m.release_id AND s.case_no = m.case_no
    WHERE s.release_id = of_release
    GROUP BY m.case_id
),

hiding AS (  -- empty where nothing is suppressed, and then nothing is counted
    SELECT DISTINCT s.release_id FROM srsql.suppressed AS s WHERE s.release_id = of_release
),

released AS (
    SELECT
        count(DISTINCT m.case_id) AS cases,
        coalesce(sum(m.reports), 0) AS reports
    FROM srsql.member AS m
    SEMI JOIN hiding AS h ON m.release_id = h.release_id
),

shown AS (
    SELECT count(*) AS pairs
    FROM srsql.case_term AS c
    SEMI JOIN hiding AS h ON c.release_id = h.release_id
    SEMI JOIN srsql.member AS m ON c.release_id = m.release_id AND c.case_no = m.case_no
    WHERE c.direct
),

lost AS (
    SELECT
        sum(v.cases)::BIGINT AS pairs,
        max(v.cases) AS most,
        sum(v.above)::BIGINT AS above,
        sum(v.groups)::BIGINT AS groups,
        max(v.worst) AS worst
    FROM by_value AS v
    HAVING count(*) > 0
)

SELECT
    unnest(srsql.metric_row(own.release_id, 'suppressed_values', f.scope, f.n, f.total))
FROM (
    SELECT 'values of cases' AS scope, l.pairs AS n, l.pairs + s.pairs AS total
    FROM lost AS l CROSS JOIN shown AS s
    UNION ALL
    SELECT 'cases' AS scope, (SELECT count(*) FROM losers) AS n, r.cases AS total
    FROM released AS r WHERE EXISTS (SELECT 1 FROM lost)
    UNION ALL
    SELECT 'reports' AS scope, (SELECT sum(u.reports) FROM losers AS u) AS n, r.reports AS total
    FROM released AS r WHERE EXISTS (SELECT 1 FROM lost)
    UNION ALL
    SELECT 'cases, worst value' AS scope, l.most AS n, r.cases AS total
    FROM lost AS l CROSS JOIN released AS r
) AS f
CROSS JOIN own
UNION ALL
SELECT
    unnest(srsql.uniform_row(
        own.release_id,
        'suppressed_confidence',
        'worst value',
        l.above,
        l.groups,
        l.worst,
        NULL,
        NULL
    ))
FROM lost AS l
CROSS JOIN own;

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
    unnest(srsql.uniform_row(
        f.release_id,
        'group_size',
        f.scope,
        f.violating,
        f.total,
        f.size,
        f.k,
        f.violating = 0
    ))
FROM (
    SELECT
        r.release_id,
        points.point.scope,
        points.point.size,
        r.k,
        (SELECT count(*) FROM sizes AS s WHERE s.cases < r.k) AS violating,
        (SELECT count(*) FROM sizes) AS total
    FROM points
    INNER JOIN srsql.release AS r ON r.release_id = of_release
) AS f;
