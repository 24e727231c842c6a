-- Step: what the rows of one artifact must keep. It runs on a connection of its own that knows no
--   warehouse, and shares nothing with what makes or checks a release. region is the text of a
--   row's published quasi-identifiers; place says in words where a check fails.
-- Reads: report_row(position, report_id, case_id, period, region),
--   child_row(report_id, case_id, table_name, position), sensitive_cell(case_id, spelling),
--   value_threshold(value, theta_num, theta_den), claim(k, period, cases, reports)
-- Writes: fault(check_name, place), total(check_name, total), case_region(region, case_id),
--   region_size(region, cases, region_no), case_value(case_id, value),
--   value_count(region_no, value, cases)
-- Source: SPEC section 16; Lin 2016, Definition 3.

CREATE OR REPLACE TEMP TABLE srsql_fault (check_name VARCHAR, place VARCHAR);
CREATE OR REPLACE TEMP TABLE srsql_total (check_name VARCHAR, total BIGINT);

-- ids: a report has one row, a case id, and its child rows name it with its case.
INSERT INTO temp.main.srsql_total
SELECT 'ids', (SELECT count(*) FROM temp.main.srsql_report_row)
    + (SELECT count(*) FROM temp.main.srsql_child_row);

INSERT INTO temp.main.srsql_fault
SELECT 'ids', 'report ' || coalesce(r.report_id::VARCHAR, 'without id') || ' has '
    || count(*) || ' row(s), ' || count(r.case_id) || ' with a case id'
FROM temp.main.srsql_report_row AS r
GROUP BY r.report_id
HAVING count(*) > 1 OR r.report_id IS NULL OR count(r.case_id) < count(*);

INSERT INTO temp.main.srsql_fault
SELECT 'ids', c.table_name || ' row ' || (c.position + 1) || ': report '
    || coalesce(c.report_id::VARCHAR, 'NULL') || ' of case ' || coalesce(c.case_id::VARCHAR, 'NULL')
    || ' is not in the report table'
FROM temp.main.srsql_child_row AS c
ANTI JOIN temp.main.srsql_report_row AS r ON c.report_id = r.report_id AND c.case_id = r.case_id;

-- order: rows stand in the order of their ids, so that their place tells nothing (no group).
INSERT INTO temp.main.srsql_total
SELECT 'order', t.total FROM temp.main.srsql_total AS t WHERE t.check_name = 'ids';

INSERT INTO temp.main.srsql_fault
SELECT 'order', o.table_name || ' row ' || (o.position + 1) || ': report '
    || o.report_id::VARCHAR || ' stands after ' || o.before::VARCHAR
FROM (
    SELECT
        a.table_name,
        a.position,
        a.report_id,
        lag(a.report_id) OVER (PARTITION BY a.table_name ORDER BY a.position) AS before
    FROM (
        SELECT 'reports' AS table_name, r.position, r.report_id FROM temp.main.srsql_report_row AS r
        UNION ALL
        SELECT c.table_name, c.position, c.report_id FROM temp.main.srsql_child_row AS c
    ) AS a
) AS o
WHERE o.report_id < o.before;

-- period: every report belongs to the quarter of the artifact.
INSERT INTO temp.main.srsql_total SELECT 'period', count(*) FROM temp.main.srsql_report_row;

INSERT INTO temp.main.srsql_fault
SELECT 'period', 'report ' || r.report_id::VARCHAR || ' is of ' || coalesce(r.period, 'NULL')
FROM temp.main.srsql_report_row AS r
CROSS JOIN temp.main.srsql_claim AS c
WHERE r.period IS DISTINCT FROM c.period;

-- counts: as many cases and reports as the manifest says.
INSERT INTO temp.main.srsql_total VALUES ('counts', 2);

INSERT INTO temp.main.srsql_fault
SELECT 'counts', s.what || ': ' || s.found || ' in the rows, ' || s.told || ' in the manifest'
FROM (
    SELECT 'reports' AS what, (SELECT count(*) FROM temp.main.srsql_report_row) AS found,
        c.reports AS told
    FROM temp.main.srsql_claim AS c
    UNION ALL
    SELECT 'cases', (SELECT count(DISTINCT r.case_id) FROM temp.main.srsql_report_row AS r), c.cases
    FROM temp.main.srsql_claim AS c
) AS s
WHERE s.found <> s.told;

-- one region: all reports of a case are released with the same region (super-records).
CREATE OR REPLACE TEMP TABLE srsql_case_region AS
SELECT DISTINCT r.region, r.case_id FROM temp.main.srsql_report_row AS r;

INSERT INTO temp.main.srsql_total
SELECT 'one region', count(DISTINCT p.case_id) FROM temp.main.srsql_case_region AS p;

INSERT INTO temp.main.srsql_fault
SELECT 'one region', 'case ' || p.case_id::VARCHAR || ' has ' || count(*) || ' regions'
FROM temp.main.srsql_case_region AS p
GROUP BY p.case_id
HAVING count(*) > 1;

-- k: at least k distinct cases share every published region (Lin 2016, Definition 3 (1)).
CREATE OR REPLACE TEMP TABLE srsql_region_size AS
SELECT
    p.region,
    count(*) AS cases,
    row_number() OVER (ORDER BY p.region) AS region_no
FROM temp.main.srsql_case_region AS p
GROUP BY p.region;

INSERT INTO temp.main.srsql_total SELECT 'k', count(*) FROM temp.main.srsql_region_size;

INSERT INTO temp.main.srsql_fault
SELECT 'k', 'region ' || c.region || ' is shared by ' || c.cases || ' case(s), k is ' || q.k
FROM temp.main.srsql_region_size AS c
CROSS JOIN temp.main.srsql_claim AS q
WHERE c.cases < q.k;

-- theta: no value is held by a larger share of a region's cases than its threshold (Lin 2016,
-- Definition 3 (2)); a value without a threshold is a breach. A value is the term without white
-- space at its ends, in upper case; the same term in two columns is one.
CREATE OR REPLACE TEMP TABLE srsql_case_value AS
SELECT DISTINCT n.case_id, n.value
FROM (
    SELECT
        h.case_id,
        upper(regexp_replace(regexp_replace(
            h.spelling, '^[\s\p{Z}\x{b}\x{85}\x{200b}\x{feff}]+', ''
        ), '[\s\p{Z}\x{b}\x{85}\x{200b}\x{feff}]+$', '')) AS value
    FROM temp.main.srsql_sensitive_cell AS h
) AS n
WHERE n.value <> '';

CREATE OR REPLACE TEMP TABLE srsql_value_count AS
SELECT
    c.region_no,
    v.value,
    count(*) AS cases
FROM temp.main.srsql_case_region AS p
INNER JOIN temp.main.srsql_region_size AS c ON p.region = c.region
INNER JOIN temp.main.srsql_case_value AS v ON p.case_id = v.case_id
GROUP BY c.region_no, v.value;

INSERT INTO temp.main.srsql_total SELECT 'theta', count(*) FROM temp.main.srsql_value_count;

INSERT INTO temp.main.srsql_fault
SELECT 'theta', 'region ' || c.region || ': ' || h.cases || ' of ' || c.cases || ' cases hold '
    || h.value || coalesce(
        ', its threshold is ' || t.theta_num || '/' || t.theta_den, ', which has no threshold'
    )
FROM temp.main.srsql_value_count AS h
INNER JOIN temp.main.srsql_region_size AS c ON h.region_no = c.region_no
LEFT JOIN temp.main.srsql_value_threshold AS t ON h.value = t.value
WHERE t.value IS NULL OR h.cases::HUGEINT * t.theta_den > t.theta_num::HUGEINT * c.cases;

-- thresholds: only of values that a row shows, each once, between 0 and 1.
INSERT INTO temp.main.srsql_total
SELECT 'thresholds', count(*) FROM temp.main.srsql_value_threshold;

INSERT INTO temp.main.srsql_fault
SELECT 'thresholds', t.value || ' is in no row'
FROM temp.main.srsql_value_threshold AS t
ANTI JOIN temp.main.srsql_case_value AS v ON t.value = v.value;

INSERT INTO temp.main.srsql_fault
SELECT 'thresholds', t.value || ' has the threshold ' || min(t.theta_num) || '/'
    || min(t.theta_den) || ', ' || count(*) || ' time(s)'
FROM temp.main.srsql_value_threshold AS t
GROUP BY t.value
HAVING count(*) > 1 OR min(t.theta_num) < 0 OR min(t.theta_den) < 1
    OR min(t.theta_num) > min(t.theta_den);
