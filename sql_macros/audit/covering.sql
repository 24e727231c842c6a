-- Which regions cover which points, without comparing all with all. Boxes are those of
-- audit/exclusion.sql; parameters that name tables take their names.

-- What:    the shape of a box: per position how many binary digits its width has, rounded up to an
--          even number; -1 where it is missing.
CREATE OR REPLACE MACRO srsql.shape(box) AS
list_transform(
    range(1, len(box) // 2 + 1),
    LAMBDA p: CASE
        WHEN box[2 * p] = srsql.unbounded_end() THEN -1
        WHEN box[2 * p] + box[2 * p - 1] <= 0 THEN 0
        ELSE (len(bin(box[2 * p] + box[2 * p - 1])) + 1) // 2 * 2
    END
);

-- What:    the address of a point among the tiles of a shape: tiles are 2^digits wide, so a region
--          of that shape touches two tiles at most per position. Shifted to be positive.
CREATE OR REPLACE MACRO srsql.tile(box, shape) AS
list_transform(
    range(1, len(shape) + 1),
    LAMBDA p: CASE
        WHEN shape[p] < 0 THEN 0
        ELSE (2305843009213693952 - box[2 * p - 1]) >> shape[p]
    END
);

-- What:    each question as the points it is for the regions: one per pattern of known positions
--          among the regions, what lies at the other positions blanked. Points are shared.
-- Inputs:  asks(ask_no, box); places(place_no, pattern, box): pattern is the list of flags that
--          tell which numbers of the box are known.
-- Outputs: ask_no, pattern, box; patterns of which the question does not know every position are
--          left out, since no such region covers it.
CREATE OR REPLACE MACRO srsql.projected(asks, places) AS TABLE
WITH patterns AS (
    SELECT DISTINCT p.pattern FROM query_table(places) AS p
)

SELECT
    a.ask_no,
    q.pattern,
    list_transform(
        list_zip(a.box, q.pattern),
        LAMBDA p: CASE WHEN p[2] THEN p[1] ELSE srsql.unbounded_end() END
    ) AS box
FROM query_table(asks) AS a
CROSS JOIN patterns AS q
WHERE
    list_bool_and(
        list_transform(
            list_zip(a.box, q.pattern), LAMBDA p: NOT p[2] OR p[1] < srsql.unbounded_end()
        )
    );

-- What:    which regions cover which points of their own pattern: each region is entered under the
--          tiles of its shape that it touches, each point looked up once per shape. Tiles are of
--          the six positions of a pattern where its regions differ most, so that a region touches
--          64 at most; what lies in a tile is compared at all positions.
-- Inputs:  points(point_no, pattern, box); places(place_no, pattern, box).
-- Outputs: point_no, place_no.
CREATE OR REPLACE MACRO srsql.covering(points, places) AS TABLE
WITH
ends AS (
    SELECT
        p.pattern,
        p.box,
        unnest(range(1, len(p.box) // 2 + 1)) AS position
    FROM query_table(places) AS p
),

spreads AS (
    SELECT
        e.pattern,
        e.position,
        row_number() OVER (
            PARTITION BY e.pattern
            ORDER BY
                count(DISTINCT [e.box[2 * e.position - 1], e.box[2 * e.position]]) DESC, e.position
        ) AS place
    FROM ends AS e
    GROUP BY e.pattern, e.position
),

chosen AS MATERIALIZED (
    SELECT s.pattern, list(s.position ORDER BY s.position) AS positions
    FROM spreads AS s
    WHERE s.place <= 6
    GROUP BY s.pattern
),

shaped AS (
    SELECT
        p.place_no,
        p.pattern,
        p.box,
        c.positions,
        list_transform(
            list_zip(srsql.shape(p.box), range(1, len(p.box) // 2 + 1)),
            LAMBDA s: CASE WHEN list_contains(c.positions, s[2]) THEN s[1] ELSE -1 END
        ) AS shape
    FROM query_table(places) AS p
    INNER JOIN chosen AS c ON p.pattern = c.pattern
),

shapes AS (
    SELECT s.pattern, s.shape, row_number() OVER () AS shape_no
    FROM shaped AS s GROUP BY s.pattern, s.shape
),

corners AS (
    SELECT
        s.place_no,
        s.box,
        s.positions,
        h.shape_no,
        srsql.tile(s.box, s.shape) AS first_tile,
        srsql.tile(
            list_transform(
                range(1, len(s.box) + 1),
                LAMBDA i: CASE WHEN i % 2 = 1 THEN -s.box[i + 1] ELSE s.box[i] END
            ),
            s.shape
        ) AS last_tile,
        unnest(range(0, 1 << len(s.positions))) AS corner
    FROM shaped AS s
    INNER JOIN shapes AS h ON s.pattern = h.pattern AND s.shape = h.shape
),

tiles AS (
    SELECT
        c.place_no,
        c.box,
        c.shape_no,
        hash(list_transform(
            range(1, len(c.first_tile) + 1),
            LAMBDA p: c.first_tile[p]
            + coalesce((c.corner >> (list_position(c.positions, p) - 1)) & 1, 0)
        )) AS tile
    FROM corners AS c
    WHERE list_bool_and(list_transform(
        range(1, len(c.positions) + 1),
        LAMBDA n: c.first_tile[c.positions[n]] + ((c.corner >> (n - 1)) & 1)
        <= c.last_tile[c.positions[n]]
    ))
),

looked_up AS (
    SELECT p.point_no, p.box, h.shape_no, hash(srsql.tile(p.box, h.shape)) AS tile
    FROM query_table(points) AS p
    INNER JOIN shapes AS h ON p.pattern = h.pattern
)

SELECT l.point_no, t.place_no
FROM looked_up AS l
INNER JOIN tiles AS t ON l.shape_no = t.shape_no AND l.tile = t.tile
WHERE srsql.covers(t.box, l.box);
