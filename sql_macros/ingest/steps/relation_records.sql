-- Step: makes records of the rows of one table for one period, in an order of their own: by report
--   id, then by all fields. Lines are counted from 2, as in a file with a header.
-- Reads: period_row(id, field, fault)
-- Writes: record(line, lines, field, fault, cleaned)
-- Source: SPEC section 1 (embedding), section 16 (every line is accounted for).

CREATE OR REPLACE TEMP TABLE temp.main.srsql_record (
    line BIGINT, lines INTEGER, field VARCHAR[], fault VARCHAR, cleaned BIGINT[]
);

INSERT INTO temp.main.srsql_record
SELECT
    row_number()
        OVER (
            ORDER BY
                try_cast(t.id AS HUGEINT) ASC NULLS LAST,
                t.id ASC NULLS LAST,
                t.field ASC,
                t.fault ASC NULLS FIRST
        )
    + 1 AS line,
    1 AS lines,
    t.field,
    t.fault,
    NULL AS cleaned
FROM temp.main.srsql_period_row AS t;
