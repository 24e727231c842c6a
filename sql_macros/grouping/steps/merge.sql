-- Step of a release of a perturbing model: categories are generalized (or only virtually so) and
-- groups merged. Reads srsql_grouped(case_no, group_no, pattern), srsql_bounded, srsql_earlier,
-- srsql_attribute, srsql_node, srsql_plan(position, ...): the QIDs to be perturbed.

-- What each group's categories must cover: its members, and what an old case was released as.
CREATE OR REPLACE TEMP TABLE srsql_category AS
SELECT
    p.group_no,
    p.position,
    min(p.low) AS low,
    max(p.high) AS high
FROM (
    SELECT g.group_no, g.pattern, b.position, b.low, b.high
    FROM temp.main.srsql_grouped AS g
    INNER JOIN temp.main.srsql_bounded AS b ON g.case_no = b.case_no
    UNION ALL
    SELECT g.group_no, g.pattern, e.position, e.low, e.high
    FROM temp.main.srsql_grouped AS g
    INNER JOIN temp.main.srsql_earlier AS e ON g.case_no = e.case_no
) AS p
INNER JOIN temp.main.srsql_attribute AS a ON p.position = a.position AND a.kind = 'categorical'
WHERE (p.pattern >> p.position) & 1 = 1
GROUP BY p.group_no, p.position;

CREATE OR REPLACE TEMP TABLE srsql_category AS
SELECT e.group_no, e.position, e.low, e.high
FROM srsql.enclosing_node('temp.main.srsql_category', 'temp.main.srsql_node') AS e;

CREATE OR REPLACE TEMP TABLE srsql_merged AS
SELECT m.group_no, m.merged_no
FROM srsql.merged_groups('temp.main.srsql_grouped', 'temp.main.srsql_category') AS m;

CREATE OR REPLACE TEMP TABLE srsql_grouped AS
SELECT g.case_no, m.merged_no AS group_no, g.pattern
FROM temp.main.srsql_grouped AS g
INNER JOIN temp.main.srsql_merged AS m ON g.group_no = m.group_no;

-- Only what is not perturbed has a region.
CREATE OR REPLACE TEMP TABLE srsql_region AS
WITH
groups AS (
    SELECT DISTINCT g.group_no FROM temp.main.srsql_grouped AS g
),

nodes AS (
    SELECT DISTINCT m.merged_no AS group_no, c.position, c.low, c.high
    FROM temp.main.srsql_category AS c
    INNER JOIN temp.main.srsql_merged AS m ON c.group_no = m.group_no
    ANTI JOIN temp.main.srsql_plan AS p ON c.position = p.position
)

SELECT g.group_no, a.position, n.low, n.high
FROM groups AS g
CROSS JOIN temp.main.srsql_attribute AS a
LEFT JOIN nodes AS n ON g.group_no = n.group_no AND a.position = n.position;

-- The values that noise is added to: known ones of the pattern, one row each.
CREATE OR REPLACE TEMP TABLE srsql_noisy AS
SELECT g.case_no, g.group_no, b.position, b.low, b.high
FROM temp.main.srsql_grouped AS g
INNER JOIN temp.main.srsql_bounded AS b ON g.case_no = b.case_no
SEMI JOIN temp.main.srsql_plan AS p ON b.position = p.position
WHERE (g.pattern >> b.position) & 1 = 1;

CREATE OR REPLACE TEMP TABLE srsql_drawn (
    case_no INTEGER NOT NULL, position INTEGER NOT NULL, low BIGINT NOT NULL, high BIGINT NOT NULL
);
