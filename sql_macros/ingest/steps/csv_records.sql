-- Step: makes records of the lines of quoted CSV: puts the lines of a span together, then splits
--   every record into fields at $delimiter. For $field and the others of quotes see quoted_lines;
--   for $controls and $ends srsql.without_controls. $blank matches a blank record.
-- Reads: record(line, text, quoted, marked), quoted_line(line, close, fault)
-- Writes: record(line, lines, field, fault, cleaned)
-- Source: SPEC section 6 (srsql ingest), section 16 (a malformed line has a fault), section 22;
--   RFC 4180, section 2, rules 5 to 7 (quoted fields).

-- The records take the place of the lines. Few lines are in spans, and only these are put together.
CREATE OR REPLACE TEMP TABLE srsql_record AS
WITH covered AS (
    SELECT
        q.line AS first,
        unnest(range(q.line, 1 + coalesce(q.close, q.line))) AS line,
        q.fault
    FROM temp.main.srsql_quoted_line AS q
),

joined AS (
    SELECT
        p.line,
        1::BIGINT AS lines,
        p.text,
        p.quoted AND c.line IS NULL AS quoted,
        p.marked,
        c.fault
    FROM temp.main.srsql_record AS p
    LEFT JOIN covered AS c ON p.line = c.line
    WHERE c.line IS NULL OR c.fault IS NOT NULL
    UNION ALL
    SELECT
        c.first AS line,
        count(*) AS lines,
        string_agg(p.text, chr(10) ORDER BY p.line) AS text,
        true AS quoted,
        true AS marked,
        NULL AS fault
    FROM temp.main.srsql_record AS p
    INNER JOIN covered AS c ON p.line = c.line
    WHERE c.fault IS NULL
    GROUP BY c.first
),

split AS (
    SELECT
        line,
        lines,
        marked,
        CASE
            WHEN quoted
                THEN
                    srsql.quoted_fields(
                        text, $delimiter, $quote, $field, $inner_text, $behind, $escaped
                    )
            ELSE string_split(text, $delimiter)
        END AS field,
        CASE
            WHEN fault IS NOT NULL THEN fault
            WHEN regexp_full_match(text, $blank) THEN 'blank line'
        END AS fault
    FROM joined
)

SELECT
    line,
    lines,
    CASE
        WHEN marked THEN srsql.fields_without_controls(field, $controls, $ends) ELSE field
    END AS field,
    fault,
    CASE WHEN marked THEN srsql.fields_with_controls(field, $controls) END AS cleaned
FROM split;
