-- The published records that are nearest to an original: those it may have become, as far as one
-- who knows its QID can tell. They depend on the QID alone, so they are searched once for each
-- distinct original among the distinct published QIDs (UDF srsql_nearest of
-- udfs/risk/nearest_records.py). Parameters name tables; `query_table` reads them.

-- What:    cases of equal QID as one tuple.
-- Inputs:  boxes(case_no, position, low, high): one row per case and QID, NULL = missing.
-- Outputs: case_no, tuple_no (0, 1 ... in the order of the values).
CREATE OR REPLACE MACRO srsql.qid_tuples(boxes) AS TABLE
WITH packed AS (
    SELECT
        b.case_no,
        list(struct_pack(low := b.low, high := b.high) ORDER BY b.position) AS qid
    FROM query_table(boxes) AS b
    GROUP BY b.case_no
)

SELECT p.case_no, (dense_rank() OVER (ORDER BY p.qid) - 1)::INTEGER AS tuple_no
FROM packed AS p;

-- What:    the known values of each tuple.
-- Inputs:  boxes as above; tuples(case_no, tuple_no).
-- Outputs: tuple_no, position, low, high.
CREATE OR REPLACE MACRO srsql.tuple_values(boxes, tuples) AS TABLE
WITH shown AS (
    SELECT t.tuple_no, min(t.case_no) AS case_no FROM query_table(tuples) AS t GROUP BY t.tuple_no
)

SELECT s.tuple_no, b.position, b.low, b.high
FROM shown AS s
INNER JOIN query_table(boxes) AS b ON s.case_no = b.case_no
WHERE b.low IS NOT NULL;

-- What:    G of each original: the published tuples of least IL*, summed over the QIDs. Least is
--          exact: equal sums of fractions are equal.
-- Inputs:  own, published: tuples(case_no, tuple_no); own_values, published_values(tuple_no,
--          position, low, high); attributes(position, span): span 0 = categorical;
--          distances(position, own, published, apart, united).
-- Outputs: own_no, published_no.
-- Source:  Wu 2022, section V.A (G, "minimum difference from r").
CREATE OR REPLACE MACRO srsql.nearest(
    own, own_values, published, published_values, attributes, distances
) AS TABLE
WITH pairs AS (
    SELECT unnest(srsql_nearest(
        (SELECT count(DISTINCT t.tuple_no)::INTEGER FROM query_table(own) AS t),
        (
            SELECT coalesce(list(struct_pack(
                tuple_no := v.tuple_no::INTEGER,
                position := v.position::INTEGER,
                low := v.low::BIGINT,
                high := v.high::BIGINT
            ) ORDER BY v.tuple_no, v.position), [])
            FROM query_table(own_values) AS v
        ),
        (SELECT count(DISTINCT t.tuple_no)::INTEGER FROM query_table(published) AS t),
        (
            SELECT coalesce(list(struct_pack(
                tuple_no := v.tuple_no::INTEGER,
                position := v.position::INTEGER,
                low := v.low::BIGINT,
                high := v.high::BIGINT
            ) ORDER BY v.tuple_no, v.position), [])
            FROM query_table(published_values) AS v
        ),
        (
            SELECT coalesce(list(struct_pack(
                position := a.position::INTEGER, span := a.span::BIGINT
            ) ORDER BY a.position), [])
            FROM query_table(attributes) AS a
        ),
        (
            SELECT coalesce(list(struct_pack(
                position := d.position::INTEGER,
                own := d.own::BIGINT,
                published := d.published::BIGINT,
                apart := d.apart::BIGINT,
                united := d.united::BIGINT
            ) ORDER BY d.position, d.own, d.published), [])
            FROM query_table(distances) AS d
        )
    )) AS pair
)

SELECT pairs.pair.own AS own_no, pairs.pair.published AS published_no
FROM pairs;
