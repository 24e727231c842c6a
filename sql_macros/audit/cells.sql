-- Targets of a release of which nobody tells the raw values: the cells that the ends of other
-- regions cut out of each region. Parameters that name tables take their names.

-- What:    where boxes begin and where the values behind their ends begin.
-- Inputs:  boxes(cut_key, box).
-- Outputs: cut_key, position (from 1), start; distinct.
CREATE OR REPLACE MACRO srsql.box_cuts(boxes) AS TABLE
WITH sides AS (
    SELECT
        b.cut_key,
        b.box,
        unnest(range(1, len(b.box) // 2 + 1)) AS position
    FROM query_table(boxes) AS b
    WHERE b.box IS NOT NULL
)

SELECT s.cut_key, s.position, -s.box[2 * s.position - 1] AS start
FROM sides AS s WHERE s.box[2 * s.position] < srsql.unbounded_end()
UNION
SELECT s.cut_key, s.position, s.box[2 * s.position] + 1 AS start
FROM sides AS s WHERE s.box[2 * s.position] < srsql.unbounded_end();

-- What:    the elementary cells of each region: values that no cut tells apart are one cell. A
--          number is the interval between two cuts, a node the least leaf between them (an interval
--          without a leaf is nobody's value). Where the region is missing, the value may be missing
--          as well, which is like lying outside all other regions.
-- Inputs:  regions(region_key, cut_key, box); cuts: of srsql.box_cuts; leaves(position, leaf):
--          every leaf of the positions that have a hierarchy.
-- Outputs: region_key, box.
-- Source:  SPEC section 9 (corners of the regions are not enough).
CREATE OR REPLACE MACRO srsql.elementary_cells(regions, cuts, leaves) AS TABLE
WITH
sides AS (
    SELECT
        r.region_key,
        r.cut_key,
        r.box,
        unnest(range(1, len(r.box) // 2 + 1)) AS position
    FROM query_table(regions) AS r
),

spans AS (
    SELECT
        s.region_key,
        s.cut_key,
        s.position,
        CASE WHEN s.box[2 * s.position] < srsql.unbounded_end() THEN -s.box[2 * s.position - 1] END
            AS low,
        CASE WHEN s.box[2 * s.position] < srsql.unbounded_end() THEN s.box[2 * s.position] END
            AS high
    FROM sides AS s
),

starts AS (
    SELECT s.region_key, s.position, s.low AS start, s.high
    FROM spans AS s WHERE s.low IS NOT NULL
    UNION
    SELECT s.region_key, s.position, c.start, s.high
    FROM spans AS s
    INNER JOIN query_table(cuts) AS c ON s.cut_key = c.cut_key AND s.position = c.position
    WHERE s.low IS NULL OR (s.low < c.start AND c.start <= s.high)
),

intervals AS (
    SELECT
        s.region_key,
        s.position,
        s.start,
        coalesce(
            lead(s.start) OVER (PARTITION BY s.region_key, s.position ORDER BY s.start) - 1, s.high
        ) AS stop
    FROM starts AS s
),

choices AS (
    SELECT i.region_key, i.position, [-i.start, i.stop] AS part
    FROM intervals AS i
    WHERE
        i.stop IS NOT NULL
        AND i.position NOT IN (SELECT v.position FROM query_table(leaves) AS v)
    UNION ALL
    SELECT i.region_key, i.position, [-min(v.leaf), min(v.leaf)] AS part
    FROM intervals AS i
    INNER JOIN query_table(leaves) AS v
        ON i.position = v.position AND v.leaf BETWEEN i.start AND i.stop
    GROUP BY i.region_key, i.position, i.start
    UNION ALL
    SELECT s.region_key, s.position, [srsql.unbounded_end(), srsql.unbounded_end()] AS part
    FROM spans AS s WHERE s.low IS NULL
),

listed AS (
    SELECT c.region_key, c.position, list(c.part ORDER BY c.part) AS parts
    FROM choices AS c GROUP BY c.region_key, c.position
),

grids AS (
    SELECT
        p.region_key,
        list(p.parts ORDER BY p.position) AS parts,
        list(len(p.parts) ORDER BY p.position) AS counts
    FROM listed AS p
    GROUP BY p.region_key
),

radixes AS (
    SELECT
        g.region_key,
        g.parts,
        g.counts,
        list_transform(
            range(1, len(g.counts) + 1),
            LAMBDA p: coalesce(list_product(list_slice(g.counts, 1, p - 1)), 1)::BIGINT
        ) AS radix,
        unnest(range(0, CASE
            WHEN list_product(g.counts) < 10000000 THEN list_product(g.counts)::BIGINT
            ELSE error('a region without originals has too many cells: import its originals')
        END)) AS cell
    FROM grids AS g
)

SELECT
    r.region_key,
    flatten(list_transform(
        range(1, len(r.counts) + 1),
        LAMBDA p: r.parts[p][r.cell // r.radix[p] % r.counts[p] + 1]
    )) AS box
FROM radixes AS r;
