-- Step: generalizes categories (or only virtually so) and merges the groups that have the same
--   ones; what is not to be perturbed ($perturbed_positions are) has a region.
-- Reads: grouped(case_no, group_no, pattern), attribute(position, kind), node, bounded(case_no,
--   position, low, high, earlier_low, earlier_high)
-- Writes: grouped(case_no, group_no, pattern), region(group_no, position, low, high),
--   drawn(case_no, position, low, high)
-- Source: Wu 2022, QID^C-Gen&Merging and VirtualGen&Merging (Example 1).

-- What each group's categories must cover: its members, and what an old case was released as.
CREATE OR REPLACE TEMP TABLE srsql_grouped AS
WITH
hull AS MATERIALIZED (
    SELECT
        g.group_no,
        b.position,
        min(least(b.low, b.earlier_low)) AS low,
        max(greatest(b.high, b.earlier_high)) AS high
    FROM temp.main.srsql_grouped AS g
    INNER JOIN temp.main.srsql_bounded AS b ON g.case_no = b.case_no
    INNER JOIN temp.main.srsql_attribute AS a ON b.position = a.position AND a.kind = 'categorical'
    WHERE (g.pattern >> b.position) & 1 = 1
    GROUP BY g.group_no, b.position
),

category AS MATERIALIZED (
    SELECT e.group_no, e.position, e.low, e.high
    FROM srsql.enclosing_node('hull', 'temp.main.srsql_node') AS e
)

SELECT g.case_no, m.merged_no AS group_no, g.pattern
FROM temp.main.srsql_grouped AS g
INNER JOIN srsql.merged_groups('temp.main.srsql_grouped', 'category') AS m
    ON g.group_no = m.group_no;

-- Groups that were merged had the same node, so it is that of all their members.
CREATE OR REPLACE TEMP TABLE srsql_region AS
WITH
hull AS MATERIALIZED (
    SELECT
        g.group_no,
        b.position,
        min(least(b.low, b.earlier_low)) AS low,
        max(greatest(b.high, b.earlier_high)) AS high
    FROM temp.main.srsql_grouped AS g
    INNER JOIN temp.main.srsql_bounded AS b ON g.case_no = b.case_no
    INNER JOIN temp.main.srsql_attribute AS a ON b.position = a.position AND a.kind = 'categorical'
    WHERE
        (g.pattern >> b.position) & 1 = 1
        AND NOT list_contains($perturbed_positions::INTEGER[], b.position)
    GROUP BY g.group_no, b.position
),

category AS MATERIALIZED (
    SELECT e.group_no, e.position, e.low, e.high
    FROM srsql.enclosing_node('hull', 'temp.main.srsql_node') AS e
),

groups AS (
    SELECT DISTINCT g.group_no FROM temp.main.srsql_grouped AS g
)

SELECT g.group_no, a.position, c.low, c.high
FROM groups AS g
CROSS JOIN temp.main.srsql_attribute AS a
LEFT JOIN category AS c ON g.group_no = c.group_no AND a.position = c.position;

CREATE OR REPLACE TEMP TABLE srsql_drawn (
    case_no INTEGER NOT NULL, position INTEGER NOT NULL, low BIGINT NOT NULL, high BIGINT NOT NULL
);
