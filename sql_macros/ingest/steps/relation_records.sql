-- The rows of one table for one period, as records in an order of their own: by report id, then by
-- all fields. Lines are counted from 2, as in a file with a header.
-- In: temp table srsql_taken (id, field, fault).
-- Out: temp table srsql_staged (line, lines, field, fault).

CREATE OR REPLACE TEMP TABLE srsql_staged (
    line BIGINT, lines INTEGER, field VARCHAR[], fault VARCHAR
);

INSERT INTO temp.main.srsql_staged
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
    t.fault
FROM temp.main.srsql_taken AS t;

-- Records, and SHA-256 over them in their order; an empty field and NULL are the same.
SELECT
    coalesce(sum(b.records), 0)::BIGINT AS records,
    sha256(coalesce(string_agg(b.digest, '' ORDER BY b.block), '')) AS digest
FROM (
    SELECT
        s.line // 4096 AS block,
        count(*) AS records,
        string_agg(
            sha256(
                coalesce(s.fault, '') || ' '
                || array_to_string(
                    list_transform(
                        s.field,
                        LAMBDA part: coalesce(strlen(part), 0)::VARCHAR || ':' || coalesce(part, '')
                    ),
                    ''
                )
            ),
            '' ORDER BY s.line
        ) AS digest
    FROM temp.main.srsql_staged AS s
    GROUP BY block
) AS b;
