-- Whose exact quasi-identifiers follow from regions that are the hulls of their groups.

-- What:    cases in whose region a known value of a member follows. A region has wide columns, of
--          more than one value. None: every row has exactly these values. One, a number: some row
--          of the region has exactly the low end, and some the high end, with the other values. Of
--          more than one nothing follows, since the ends may belong to rows in several ways, nor of
--          a wide category or a drawn value.
-- Inputs:  of_release.
-- Outputs: group_id, cases; every_row, some_row: what follows by the region alone; proved: it
--          does, and where ends are needed they are a member's own. An end can also come from an
--          earlier region that is covered. Only columns that the region shows count, one at least.
-- Source:  docs/models.md (values that follow from a region).
CREATE OR REPLACE MACRO srsql.exact_regions(of_release) AS TABLE
WITH
shown AS MATERIALIZED (
    SELECT
        g.group_id,
        g.position,
        g.low,
        g.high,
        t.position IS NOT NULL OR (g.low < g.high AND a.kind <> 'numeric') AS hides
    FROM srsql.region AS g
    INNER JOIN srsql.attribute AS a ON a.release_id = of_release AND g.position = a.position
    LEFT JOIN srsql.perturbation AS t ON t.release_id = of_release AND g.position = t.position
    WHERE g.release_id = of_release AND (g.low IS NOT NULL OR t.position IS NOT NULL)
),

widths AS (
    SELECT
        s.group_id,
        bool_or(s.hides) AS hides,
        count(*) FILTER (WHERE s.low < s.high) AS wide,
        max(s.position) FILTER (WHERE s.low < s.high) AS wide_position,
        max(s.low) FILTER (WHERE s.low < s.high) AS wide_low,
        max(s.high) FILTER (WHERE s.low < s.high) AS wide_high
    FROM shown AS s
    GROUP BY s.group_id
),

telling AS MATERIALIZED (
    SELECT w.* FROM widths AS w WHERE NOT w.hides AND w.wide <= 1
),

sizes AS (
    SELECT m.group_id, count(*) AS cases
    FROM srsql.member AS m
    WHERE m.release_id = of_release
    GROUP BY m.group_id
),

own_ends AS (
    SELECT m.group_id, bool_or(q.low = t.wide_low) AND bool_or(q.high = t.wide_high) AS are_own
    FROM telling AS t
    INNER JOIN srsql.member AS m ON m.release_id = of_release AND t.group_id = m.group_id
    INNER JOIN srsql.case_qid AS q
        ON q.release_id = of_release AND m.case_no = q.case_no AND t.wide_position = q.position
    WHERE t.wide = 1
    GROUP BY m.group_id
)

SELECT
    s.group_id,
    s.cases,
    coalesce(t.wide = 0, false) AS every_row,
    t.group_id IS NOT NULL AS some_row,
    t.group_id IS NOT NULL AND (t.wide = 0 OR coalesce(o.are_own, false)) AS proved
FROM sizes AS s
LEFT JOIN telling AS t ON s.group_id = t.group_id
LEFT JOIN own_ends AS o ON s.group_id = o.group_id;

-- What:    the same as shares of the released cases.
-- Inputs:  of_release.
-- Outputs: uniform rows, total = cases: 'every row', violating = cases of regions each row of which
--          has exactly known values; 'some row', of regions of which some row has; 'some row, by
--          regions alone', where ends are taken for members' own that are not.
-- Source:  docs/models.md (values that follow from a region).
CREATE OR REPLACE MACRO srsql.exact_values(of_release) AS TABLE
WITH
figures AS (
    SELECT
        sum(r.cases) AS total,
        coalesce(sum(r.cases) FILTER (WHERE r.every_row), 0) AS every_row,
        coalesce(sum(r.cases) FILTER (WHERE r.proved), 0) AS proved,
        coalesce(sum(r.cases) FILTER (WHERE r.some_row), 0) AS some_row
    FROM srsql.exact_regions(of_release) AS r
)

SELECT unnest(srsql.metric_row(of_release, 'exact_values', 'every row', f.every_row, f.total))
FROM figures AS f
WHERE f.total > 0
UNION ALL
SELECT unnest(srsql.metric_row(of_release, 'exact_values', 'some row', f.proved, f.total))
FROM figures AS f
WHERE f.total > 0
UNION ALL
SELECT unnest(srsql.metric_row(
    of_release, 'exact_values', 'some row, by regions alone', f.some_row, f.total
))
FROM figures AS f
WHERE f.total > 0 AND f.some_row <> f.proved;
