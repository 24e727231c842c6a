-- Groups or published regions of one release, as distributions. The tables srsql_report_member,
-- srsql_report_region and srsql_report_confidence are filled from the catalog by the statements
-- below, or from published rows by engine/report/shapes.py.

-- name: members
-- The cases of a release and their groups, from the catalog.
CREATE OR REPLACE TEMP TABLE temp.main.srsql_report_member AS
SELECT m.* FROM srsql.report_members($release) AS m;

-- name: regions
-- How wide the region of each group is, from the catalog.
CREATE OR REPLACE TEMP TABLE temp.main.srsql_report_region AS
SELECT g.* FROM srsql.report_regions($release) AS g;

-- name: confidences
-- The confidence of each value of each group, from the catalog.
CREATE OR REPLACE TEMP TABLE temp.main.srsql_report_confidence AS
SELECT c.* FROM srsql.report_confidences($release) AS c;

-- name: published_members
-- The cases of published rows and their regions.
CREATE OR REPLACE TEMP TABLE temp.main.srsql_report_member AS
SELECT DISTINCT r.case_id, r.group_id
FROM temp.main.srsql_report_row AS r;

-- name: published_confidences
-- The confidence of each value of each published region, from the rows that show it.
CREATE OR REPLACE TEMP TABLE temp.main.srsql_report_confidence AS
SELECT c.*
FROM srsql.report_shares(
    'temp.main.srsql_report_member',
    'temp.main.srsql_report_value',
    'temp.main.srsql_report_theta'
) AS c;

-- name: no_confidences
-- No confidences, where only regions are shown.
CREATE OR REPLACE TEMP TABLE temp.main.srsql_report_confidence (
    group_id BIGINT, term VARCHAR, theta DOUBLE, conf DOUBLE
);

-- name: sizes
-- Cases -> groups of so many.
SELECT s.size, s.groups
FROM srsql.report_sizes('temp.main.srsql_report_member') AS s
ORDER BY s.size;

-- name: widths
-- Cases by the width of their region, for each quasi-identifier.
SELECT w.position, w.width, w.cases
FROM srsql.report_widths('temp.main.srsql_report_member', 'temp.main.srsql_report_region') AS w
ORDER BY w.position, w.width;

-- name: exposures
-- conf / theta of the most exposed value -> groups.
SELECT e.exposure, e.groups
FROM srsql.report_exposure('temp.main.srsql_report_confidence') AS e
ORDER BY e.exposure;

-- name: highest_confidences
-- theta, its released values, the highest confidence of one of them in any group.
SELECT h.theta, h.terms, h.highest
FROM srsql.report_highest('temp.main.srsql_report_confidence') AS h
ORDER BY h.theta;
