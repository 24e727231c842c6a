-- Step: makes records of the lines of quoted CSV: puts physical lines together to records, then
--   splits those into fields at $delimiter. For $path, $separator, $returns and $return_mark see
--   srsql.physical_lines.
-- Reads: nothing
-- Writes: record(line, lines, field, fault)
-- Source: SPEC section 6 (srsql ingest), section 16 (a malformed line has a fault); RFC 4180,
--   section 2, rules 5 to 7 (quoted fields).

-- Lines are numbered by one thread, so that they are stored before they are split by all; the
-- records take their place.
CREATE OR REPLACE TEMP TABLE srsql_record AS
SELECT
    line,
    text,
    contains(text, '"') AS quoted
FROM srsql.physical_lines($path, $separator, $returns, $return_mark);

-- A line read from outside quotes may end inside ($opens) and one read from inside may stay inside
-- ($stays); composing these two-state maps by a running window gives the state before each line.
-- A line without a quote changes no state, so that only the others go through the windows, and only
-- lines that a span covers are put together. A quote counts only at the start of a field; what is
-- never closed faults each of its lines. $field is a regular expression of one field and the
-- delimiter behind it, $blank one that a blank record matches.
CREATE OR REPLACE TEMP TABLE srsql_record AS
WITH effect AS (
    SELECT
        line,
        regexp_matches(text, $opens) AS from_outside,
        regexp_matches(text, $stays) AS from_inside
    FROM temp.main.srsql_record
    WHERE quoted
),

flips AS (
    SELECT
        *,
        sum((from_outside AND NOT from_inside)::INTEGER)
            OVER (ORDER BY line ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS flipped
    FROM effect
),

states AS (
    SELECT
        line,
        (
            coalesce(
                last_value(
                    CASE WHEN from_outside = from_inside THEN from_outside::INTEGER + flipped END
                    IGNORE NULLS
                ) OVER (ORDER BY line ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW),
                0
            ) + flipped
        ) % 2 = 1 AS ends_inside
    FROM flips
),

starts AS (
    SELECT
        line,
        ends_inside,
        coalesce(lag(ends_inside) OVER (ORDER BY line), false) AS begins_inside
    FROM states
),

numbered AS (
    SELECT
        line,
        ends_inside,
        max(CASE WHEN NOT begins_inside THEN line END)
            OVER (ORDER BY line ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS start
    FROM starts
    WHERE ends_inside OR begins_inside
),

spans AS (
    SELECT
        start,
        max(line) AS close,
        bool_and(ends_inside) AS unclosed
    FROM numbered
    GROUP BY start
),

covered AS (
    SELECT
        start,
        unclosed,
        unnest(
            range(
                start,
                1 + CASE
                    WHEN unclosed THEN (SELECT max(p.line) FROM temp.main.srsql_record AS p)
                    ELSE close
                END
            )
        ) AS line
    FROM spans
),

joined AS (
    SELECT
        p.line AS first_line,
        1::BIGINT AS lines,
        p.text,
        p.quoted,
        c.line IS NOT NULL AS unclosed
    FROM temp.main.srsql_record AS p
    LEFT JOIN covered AS c ON p.line = c.line
    WHERE c.line IS NULL OR c.unclosed
    UNION ALL
    SELECT
        c.start AS first_line,
        count(*) AS lines,
        string_agg(p.text, chr(10) ORDER BY p.line) AS text,
        true AS quoted,
        false AS unclosed
    FROM temp.main.srsql_record AS p
    INNER JOIN covered AS c ON p.line = c.line
    WHERE NOT c.unclosed
    GROUP BY c.start
)

SELECT
    first_line AS line,
    lines,
    CASE
        WHEN unclosed OR NOT quoted THEN string_split(text, $delimiter)
        ELSE
            list_transform(
                regexp_extract_all(text || $delimiter, $field, 1),
                LAMBDA part: CASE
                    WHEN NOT starts_with(part, '"') THEN part
                    ELSE
                        replace(regexp_extract(part, '^"((?:[^"]|"")*)"', 1), '""', '"')
                        || regexp_extract(part, '^"(?:[^"]|"")*"((?s:.*))$', 1)
                END
            )
    END AS field,
    CASE
        WHEN unclosed THEN 'a quote is never closed'
        WHEN regexp_full_match(text, $blank) THEN 'blank line'
    END AS fault
FROM joined;
