-- The check of a release after the fact, from what was released alone. Nothing here is used to make
-- a release. Inputs are tables read off the released views:
--   rows(region, case_id): one row per released report; region is the text of its published QIDs.
--   values(case_id, term): the sensitive terms of the released child rows, normalized anew.
--   For k and theta, case_id is who is counted (srsql.counted_units where these are not cases), and
--   rows tell besides whether they carry the bounds.
--   thresholds(term, theta_num, theta_den).
-- Every check returns the uniform row, release = the id given.

-- What:    every region that is published holds at least k distinct cases that carry its bounds.
-- Inputs:  rows_of(region, case_id, carries).
-- Source:  Lin 2016, Definition 3 (1); Huang 2021, Definition 4 (NC-bounding).
CREATE OR REPLACE MACRO srsql.check_k(rows_of, at_least, release_id) AS TABLE
WITH crowd AS (
    SELECT r.region, count(DISTINCT r.case_id) FILTER (WHERE r.carries) AS cases
    FROM query_table(rows_of) AS r GROUP BY r.region
)

SELECT
    unnest(srsql.check_row(
        release_id, 'check_k', 'published region', f.violating, f.total, at_least
    ))
FROM (
    SELECT count(*) FILTER (WHERE c.cases < at_least) AS violating, count(*) AS total
    FROM crowd AS c
) AS f;

-- What:    no value of any published region is held by more of its cases than theta allows of those
--          that carry the bounds; a released value without a threshold is a breach.
-- Inputs:  rows_of(region, case_id, carries).
-- Source:  Lin 2016, Definition 3 (2).
CREATE OR REPLACE MACRO srsql.check_theta(rows_of, values_of, thresholds_of, release_id) AS TABLE
WITH
placed AS (
    SELECT DISTINCT r.region, r.case_id, r.carries FROM query_table(rows_of) AS r
),

crowd AS (
    SELECT
        p.region, count(*) FILTER (WHERE p.carries) AS cases, row_number() OVER () AS region_no
    FROM placed AS p GROUP BY p.region
),

bounds AS (
    SELECT t.term, t.theta_num, t.theta_den, row_number() OVER () AS term_no
    FROM query_table(thresholds_of) AS t
),

-- a threshold of 1 is kept by whatever is shown
shown AS (
    SELECT DISTINCT v.case_id, coalesce(b.term_no, 0) AS term_no
    FROM query_table(values_of) AS v
    LEFT JOIN bounds AS b ON v.term = b.term
    WHERE b.term_no IS NULL OR b.theta_num < b.theta_den
),

holders AS (
    SELECT c.region_no, s.term_no, count(*) AS cases
    FROM placed AS p
    INNER JOIN crowd AS c ON p.region = c.region
    INNER JOIN shown AS s ON p.case_id = s.case_id
    GROUP BY c.region_no, s.term_no
),

breaches AS (
    SELECT DISTINCT h.region_no
    FROM holders AS h
    INNER JOIN crowd AS c ON h.region_no = c.region_no
    LEFT JOIN bounds AS b ON h.term_no = b.term_no
    WHERE
        b.term_no IS NULL
        OR h.cases::HUGEINT * b.theta_den > b.theta_num::HUGEINT * c.cases
)

SELECT
    unnest(srsql.check_row(release_id, 'check_theta', 'published region', f.violating, f.total, 0))
FROM (
    SELECT (SELECT count(*) FROM breaches) AS violating, count(*) AS total
    FROM crowd
) AS f;

-- What:    the same with external knowledge: a case that does not show a value may still have it,
--          with probability 1 - prod(1 - 1/|E(d)|) over its released drugs d with it in E(d).
-- Inputs:  drugs_of(case_id, drug): released, by keys; knowledge_of(spelling, drug, disease): of a
--          drug with several spellings the one that makes a disease likeliest counts.
-- Source:  Lin 2016, Definitions 1 and 2. Probabilities are floats here; the tolerance covers their
--          rounding only.
CREATE OR REPLACE MACRO srsql.check_theta_knowledge(
    rows_of, values_of, drugs_of, knowledge_of, thresholds_of, release_id
) AS TABLE
WITH
placed AS (
    SELECT DISTINCT r.region, r.case_id FROM query_table(rows_of) AS r
),

crowd AS (
    SELECT p.region, count(*) AS cases FROM placed AS p GROUP BY p.region
),

listed AS (
    SELECT e.drug, e.disease, min(e.diseases) AS diseases
    FROM (
        SELECT k.drug, k.disease, count(*) OVER (PARTITION BY k.drug, k.spelling) AS diseases
        FROM (
            SELECT DISTINCT u.spelling, u.drug, u.disease FROM query_table(knowledge_of) AS u
        ) AS k
    ) AS e
    GROUP BY e.drug, e.disease
),

likely AS (
    SELECT d.case_id, e.disease AS term, 1 - product(1 - 1 / e.diseases) AS p
    FROM (SELECT DISTINCT q.case_id, q.drug FROM query_table(drugs_of) AS q) AS d
    INNER JOIN listed AS e ON d.drug = e.drug
    GROUP BY d.case_id, e.disease
),

belief AS (
    SELECT u.case_id, u.term, max(u.p) AS p
    FROM (
        SELECT DISTINCT v.case_id, v.term, 1.0::DOUBLE AS p FROM query_table(values_of) AS v
        UNION ALL
        SELECT l.case_id, l.term, l.p FROM likely AS l
    ) AS u
    GROUP BY u.case_id, u.term
),

verdicts AS (
    SELECT
        p.region,
        coalesce(
            fsum(b.p) > any_value(t.theta_num / t.theta_den) * any_value(c.cases) + 1e-09, true
        ) AS breached
    FROM placed AS p
    INNER JOIN belief AS b ON p.case_id = b.case_id
    INNER JOIN crowd AS c ON p.region = c.region
    LEFT JOIN query_table(thresholds_of) AS t ON b.term = t.term
    GROUP BY p.region, b.term
),

regions AS (
    SELECT c.region, coalesce(bool_or(v.breached), false) AS breached
    FROM crowd AS c LEFT JOIN verdicts AS v ON c.region = v.region GROUP BY c.region
)

SELECT
    unnest(srsql.check_row(
        release_id, 'check_theta_knowledge', 'published region', f.violating, f.total, 0
    ))
FROM (
    SELECT count(*) FILTER (WHERE g.breached) AS violating, count(*) AS total
    FROM regions AS g
) AS f;

-- What:    every case that is released or withheld is in the quarter, and the other way round;
--          a case is either released or withheld.
-- Inputs:  quarter_of(report_id, case_id): the ingested reports; released_of(report_id, case_id):
--          off the released view, of the same types; withheld_of(case_id as text). Where reports
--          are withheld, not cases, each is a case of its own here.
CREATE OR REPLACE MACRO srsql.check_complete(
    quarter_of, released_of, withheld_of, release_id
) AS TABLE
WITH
accounted AS (
    SELECT r.report_id, r.case_id, 1 AS times FROM query_table(released_of) AS r
    UNION ALL
    SELECT q.report_id, q.case_id, 1
    FROM query_table(quarter_of) AS q
    INNER JOIN query_table(withheld_of) AS w ON q.case_id::VARCHAR = w.case_id
),

elsewhere AS (
    SELECT count(DISTINCT w.case_id) AS cases
    FROM query_table(withheld_of) AS w
    ANTI JOIN query_table(quarter_of) AS q ON w.case_id = q.case_id::VARCHAR
),

balance AS (
    SELECT b.report_id, b.case_id, sum(b.times) AS times
    FROM (
        SELECT a.report_id, a.case_id, a.times FROM accounted AS a
        UNION ALL
        SELECT q.report_id, q.case_id, -1 FROM query_table(quarter_of) AS q
    ) AS b
    GROUP BY b.report_id, b.case_id
)

SELECT
    unnest(srsql.check_row(
        release_id, 'check_complete', 'report', f.violating + e.cases, f.total + e.cases, 0
    ))
FROM (
    SELECT count(*) FILTER (WHERE b.times <> 0) AS violating, count(*) AS total
    FROM balance AS b
) AS f
CROSS JOIN elsewhere AS e;

-- What:    the public manifest gives a threshold for released values only.
-- Inputs:  told: its list of STRUCT(value, theta); values_of(case_id, term): as above.
CREATE OR REPLACE MACRO srsql.check_manifest(told, values_of, release_id) AS TABLE
WITH
listed AS (
    SELECT DISTINCT struct_extract(u.entry, 'value') AS term
    FROM (SELECT unnest(told) AS entry) AS u
),

unseen AS (
    SELECT l.term FROM listed AS l ANTI JOIN query_table(values_of) AS v ON l.term = v.term
)

SELECT
    unnest(srsql.check_row(release_id, 'check_manifest', 'threshold', f.violating, f.total, 0))
FROM (
    SELECT (SELECT count(*) FROM unseen) AS violating, count(*) AS total
    FROM listed
) AS f;

-- What:    the released reports whose case the catalog has, with its group.
-- Inputs:  identity_of(report_id, case_id, case_no, public_report, public_case).
-- Outputs: case_no, group_id, public_report, public_case.
CREATE OR REPLACE MACRO srsql.kept_reports(identity_of, of_release) AS TABLE
SELECT m.case_no, m.group_id, i.public_report, i.public_case
FROM srsql.member AS m
INNER JOIN query_table(identity_of) AS i
    ON m.case_no = i.case_no AND m.case_id = i.case_id::VARCHAR
WHERE m.release_id = of_release;

-- What:    the catalog, which audits read, has what the released views show: the region (or the
--          perturbed values) of every report, every value of every case, every case with
--          substantially many symptoms. A missing categorical QID is shown as the root of its
--          hierarchy.
-- Inputs:  cases_of(public_case, case_no), distinct: the released cases, of srsql.kept_reports;
--          ends_of(group_id, case_no, reports, position, low, high): the published regions, as the
--          catalog codes them, of one case for so many reports of its group that show the same (of
--          perturbed ones, each), NULL where the catalog has no such case; values_of(case_id,
--          term), distinct; symptoms_of(case_id, attribute, symptoms): off the released views.
-- Outputs: three uniform rows.
CREATE OR REPLACE MACRO srsql.check_catalog(
    cases_of, ends_of, values_of, symptoms_of, of_release
) AS TABLE
WITH
roots AS (
    SELECT a.position, n.pre, n.last
    FROM srsql.release AS r
    INNER JOIN srsql.attribute AS a ON r.release_id = a.release_id AND a.kind = 'categorical'
    INNER JOIN srsql.node AS n
        ON r.dataset = n.dataset AND a.attribute = n.attribute AND n.parent IS NULL
    WHERE r.release_id = of_release
),

coded AS (
    SELECT
        g.group_id,
        g.position,
        coalesce(g.low, t.pre) AS low,
        coalesce(g.high, t.last) AS high
    FROM srsql.region AS g
    LEFT JOIN roots AS t ON g.position = t.position
    WHERE g.release_id = of_release
),

regions AS (
    SELECT
        coalesce(sum(e.reports), 0) AS total,
        coalesce(sum(e.reports) FILTER (
            WHERE
            c.position IS NULL
            OR coalesce(p.low, c.low) IS DISTINCT FROM e.low
            OR coalesce(p.high, c.high) IS DISTINCT FROM e.high
        ), 0) AS n
    FROM query_table(ends_of) AS e
    LEFT JOIN coded AS c ON e.group_id = c.group_id AND e.position = c.position
    LEFT JOIN srsql.perturbed AS p
        ON p.release_id = of_release AND e.case_no = p.case_no AND e.position = p.position
),

held AS (
    SELECT p.public_case, h.term_no
    FROM query_table(cases_of) AS p
    INNER JOIN srsql.case_term AS h ON h.release_id = of_release AND p.case_no = h.case_no
),

-- a value that has no number is held by nobody
numbered AS (
    SELECT v.case_id, t.term_no
    FROM query_table(values_of) AS v
    LEFT JOIN srsql.threshold AS t ON t.release_id = of_release AND v.term = t.term
),

shown AS (
    SELECT count(*) AS total, count(*) FILTER (WHERE h.term_no IS NULL) AS n
    FROM numbered AS s
    LEFT JOIN held AS h ON s.case_id = h.public_case AND s.term_no = h.term_no
),

judged AS MATERIALIZED (
    SELECT s.case_id, coalesce(s.symptoms >= r.cutoff, false) AS substantially
    FROM query_table(symptoms_of) AS s
    LEFT JOIN srsql.ss_rule AS r ON r.release_id = of_release AND s.attribute = r.attribute
),

-- few, and only theirs are looked up
flagged AS (
    SELECT coalesce(t.is_ss, false) AS is_ss
    FROM judged AS j
    LEFT JOIN query_table(cases_of) AS p ON j.case_id = p.public_case
    LEFT JOIN srsql.case_flag AS t ON t.release_id = of_release AND p.case_no = t.case_no
    WHERE j.substantially
),

symptoms AS (
    SELECT
        (SELECT count(*) FROM judged) AS total,
        (SELECT count(*) FROM flagged AS f WHERE NOT f.is_ss) AS n
),

figures AS (
    SELECT 'region' AS scope, r.n, r.total FROM regions AS r
    UNION ALL
    SELECT 'value' AS scope, s.n, s.total FROM shown AS s
    UNION ALL
    SELECT 'substantial symptoms' AS scope, s.n, s.total FROM symptoms AS s
)

SELECT unnest(srsql.check_row(of_release, 'check_catalog', f.scope, f.n, f.total, 0))
FROM figures AS f;

-- What:    of a release that suppresses values: no row of a case shows one that the release, or
--          another one of its series, suppressed of it; nothing else is missing; and no report has
--          lost all values of an attribute.
-- Inputs:  originals_of(report_id, case_id, attribute, term): the ingested values of the released
--          reports under their public ids, normalized anew; shown_of: the same off the released
--          views; suppressed_of(case_id, term, own): what the catalog says, own: of this release.
-- Outputs: three uniform rows.
-- Source:  Lin 2016, "Conclusions" (suppression); SPEC section 16.
CREATE OR REPLACE MACRO srsql.check_suppressed(
    originals_of, shown_of, suppressed_of, of_release
) AS TABLE
WITH
original AS (
    SELECT DISTINCT o.report_id, o.case_id, o.attribute, o.term FROM query_table(originals_of) AS o
),

shown AS (
    SELECT DISTINCT s.report_id, s.case_id, s.attribute, s.term FROM query_table(shown_of) AS s
),

gone AS (
    SELECT g.case_id, g.term, bool_or(g.own) AS own
    FROM query_table(suppressed_of) AS g
    GROUP BY g.case_id, g.term
),

missing AS (
    SELECT o.report_id, o.case_id, o.attribute, o.term
    FROM original AS o
    ANTI JOIN shown AS s
        ON o.report_id = s.report_id AND o.attribute = s.attribute AND o.term = s.term
),

figures AS (
    SELECT
        'suppressed value' AS scope,
        (
            SELECT count(*)
            FROM gone AS g
            SEMI JOIN shown AS s ON g.case_id = s.case_id AND g.term = s.term
        ) AS n,
        (SELECT count(*) FROM gone) AS total
    UNION ALL
    SELECT
        'value' AS scope,
        (
            SELECT count(*)
            FROM missing AS m
            ANTI JOIN gone AS g ON m.case_id = g.case_id AND m.term = g.term AND g.own
        ) AS n,
        (SELECT count(*) FROM original) AS total
    UNION ALL
    SELECT
        'attribute of a report' AS scope,
        (
            SELECT count(*)
            FROM (SELECT DISTINCT m.report_id, m.attribute FROM missing AS m) AS l
            ANTI JOIN shown AS s ON l.report_id = s.report_id AND l.attribute = s.attribute
        ) AS n,
        (
            SELECT count(*)
            FROM (SELECT DISTINCT o.report_id, o.attribute FROM original AS o) AS d
        ) AS total
)

SELECT unnest(srsql.check_row(of_release, 'check_suppressed', f.scope, f.n, f.total, 0))
FROM figures AS f;
