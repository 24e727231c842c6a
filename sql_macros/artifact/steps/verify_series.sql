-- Step: what several artifacts of one series must keep together. It runs on a connection of its own
--   that knows no warehouse. Artifacts are numbered from 0, in the order of the series;
--   series_claim has those that claim to withstand attacks by joining, and whose earlier releases
--   are all given. Both bounds hold for the union of the groups with one region. Backward and
--   forward attacks exclude a case by a region of it that does not cover the target; if every later
--   region of a case covers its first one, no new case is excluded.
-- Reads: series_case(artifact, case_id, region),
--   series_region(artifact, region, attribute, low, high, node),
--   series_value(artifact, case_id, value),
--   series_threshold(artifact, value, theta_num, theta_den), series_claim(artifact, quarter, k),
--   node_ancestor(attribute, node, ancestor)
-- Writes: fault(check_name, place), total(check_name, total), first_artifact(case_id, artifact),
--   new_cases(artifact, quarter, k, region, cases),
--   region_value_count(artifact, region, value, cases),
--   later_region(case_id, quarter, artifact, region, first_artifact, first_region)
-- Source: SPEC section 16; Huang 2021, Definition 4: k new cases that no attack excludes in every
--   group, and sigma_s <= max(k, |new|) theta_s.

CREATE OR REPLACE TEMP TABLE srsql_fault (check_name VARCHAR, place VARCHAR);
CREATE OR REPLACE TEMP TABLE srsql_total (check_name VARCHAR, total BIGINT);

CREATE OR REPLACE TEMP TABLE srsql_first_artifact AS
SELECT s.case_id, min(s.artifact) AS artifact
FROM temp.main.srsql_series_case AS s
GROUP BY s.case_id;

CREATE OR REPLACE TEMP TABLE srsql_new_cases AS
SELECT
    s.artifact,
    c.quarter,
    c.k,
    s.region,
    count(*) FILTER (WHERE f.artifact = s.artifact) AS cases
FROM temp.main.srsql_series_case AS s
INNER JOIN temp.main.srsql_series_claim AS c ON s.artifact = c.artifact
INNER JOIN temp.main.srsql_first_artifact AS f ON s.case_id = f.case_id
GROUP BY s.artifact, c.quarter, c.k, s.region;

-- new k
INSERT INTO temp.main.srsql_total SELECT 'new k', count(*) FROM temp.main.srsql_new_cases;

INSERT INTO temp.main.srsql_fault
SELECT 'new k', n.quarter || ' region ' || n.region || ' has ' || n.cases || ' new case(s), k is '
    || n.k
FROM temp.main.srsql_new_cases AS n
WHERE n.cases < n.k;

-- new theta: a threshold of 1 bounds nothing.
CREATE OR REPLACE TEMP TABLE srsql_region_value_count AS
SELECT
    s.artifact,
    s.region,
    v.value,
    count(*) AS cases
FROM temp.main.srsql_series_case AS s
INNER JOIN temp.main.srsql_series_claim AS c ON s.artifact = c.artifact
INNER JOIN temp.main.srsql_series_value AS v ON s.artifact = v.artifact AND s.case_id = v.case_id
GROUP BY s.artifact, s.region, v.value;

INSERT INTO temp.main.srsql_total
SELECT 'new theta', count(*) FROM temp.main.srsql_region_value_count;

INSERT INTO temp.main.srsql_fault
SELECT 'new theta', n.quarter || ' region ' || h.region || ': ' || h.cases || ' cases hold '
    || h.value || ', ' || n.cases || ' are new, its threshold is ' || t.theta_num || '/'
    || t.theta_den
FROM temp.main.srsql_region_value_count AS h
INNER JOIN temp.main.srsql_new_cases AS n ON h.artifact = n.artifact AND h.region = n.region
INNER JOIN temp.main.srsql_series_threshold AS t ON h.artifact = t.artifact AND h.value = t.value
WHERE t.theta_num < t.theta_den
    AND h.cases::HUGEINT * t.theta_den > t.theta_num::HUGEINT * greatest(n.cases, n.k);

-- cover
CREATE OR REPLACE TEMP TABLE srsql_later_region AS
SELECT
    s.case_id,
    c.quarter,
    s.artifact,
    s.region,
    f.artifact AS first_artifact,
    b.region AS first_region
FROM temp.main.srsql_series_case AS s
INNER JOIN temp.main.srsql_series_claim AS c ON s.artifact = c.artifact
INNER JOIN temp.main.srsql_first_artifact AS f ON s.case_id = f.case_id AND s.artifact > f.artifact
INNER JOIN temp.main.srsql_series_case AS b ON f.case_id = b.case_id AND f.artifact = b.artifact;

INSERT INTO temp.main.srsql_total SELECT 'cover', count(*) FROM temp.main.srsql_later_region;

INSERT INTO temp.main.srsql_fault
SELECT 'cover', a.quarter || ' case ' || a.case_id || ': ' || late.attribute
    || ' does not cover its first region, ' || a.first_region
FROM temp.main.srsql_later_region AS a
INNER JOIN temp.main.srsql_series_region AS late
    ON a.artifact = late.artifact AND a.region = late.region
INNER JOIN temp.main.srsql_series_region AS early
    ON a.first_artifact = early.artifact AND a.first_region = early.region
    AND late.attribute = early.attribute
LEFT JOIN temp.main.srsql_node_ancestor AS u
    ON late.attribute = u.attribute AND early.node = u.node AND late.node = u.ancestor
WHERE CASE
    WHEN late.node IS NOT NULL THEN u.node IS NULL
    WHEN late.low IS NULL THEN false
    ELSE early.low IS NULL OR early.low < late.low OR early.high > late.high
END;
