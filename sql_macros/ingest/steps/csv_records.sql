-- Step: makes records of the lines of quoted CSV: puts physical lines together to records, then
--   splits those into fields at $delimiter. For $path, $separator, $returns and $return_mark see
--   srsql.physical_lines.
-- Reads: nothing
-- Writes: record(line, lines, field, fault)
-- Source: SPEC section 6 (srsql ingest), section 16 (a malformed line has a fault); RFC 4180,
--   section 2, rules 5 to 7 (quoted fields).

-- A line read from outside quotes may end inside ($opens) and one read from inside may stay inside
-- ($stays); composing these two-state maps by a running window gives the state before each line.
-- A quote counts only at the start of a field; what is never closed faults each of its lines.
-- $field is a regular expression of one field and the delimiter behind it, $blank one that a blank
-- record matches.
CREATE OR REPLACE TEMP TABLE srsql_record AS
WITH effect AS (
    SELECT
        line,
        text,
        contains(text, '"') AND regexp_matches(text, $opens) AS from_outside,
        NOT contains(text, '"') OR regexp_matches(text, $stays) AS from_inside
    FROM srsql.physical_lines($path, $separator, $returns, $return_mark)
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
        text,
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
        text,
        ends_inside,
        coalesce(lag(ends_inside) OVER (ORDER BY line), false) AS begins_inside
    FROM states
),

numbered AS (
    SELECT
        line,
        text,
        ends_inside,
        max(CASE WHEN NOT begins_inside THEN line END)
            OVER (ORDER BY line ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS start
    FROM starts
),

closed AS (
    SELECT
        line,
        text,
        start,
        bool_or(ends_inside AND line = (SELECT max(n.line) FROM numbered AS n))
            OVER (PARTITION BY start) AS unclosed
    FROM numbered
),

joined AS (
    SELECT
        CASE WHEN unclosed THEN line ELSE start END AS first_line,
        count(*) AS lines,
        string_agg(text, chr(10) ORDER BY line) AS text,
        bool_or(unclosed) AS unclosed
    FROM closed
    GROUP BY first_line
),

split AS (
    SELECT
        first_line AS line,
        lines,
        unclosed,
        regexp_full_match(text, $blank) AS blank,
        CASE
            WHEN unclosed OR NOT contains(text, '"') THEN string_split(text, $delimiter)
            ELSE regexp_extract_all(text || $delimiter, $field, 1)
        END AS field
    FROM joined
)

SELECT
    line,
    lines,
    CASE
        WHEN unclosed THEN field
        ELSE list_transform(
            field,
            LAMBDA part: CASE
                WHEN NOT starts_with(part, '"') THEN part
                ELSE
                    replace(regexp_extract(part, '^"((?:[^"]|"")*)"', 1), '""', '"')
                    || regexp_extract(part, '^"(?:[^"]|"")*"((?s:.*))$', 1)
            END
        )
    END AS field,
    CASE WHEN unclosed THEN 'a quote is never closed' WHEN blank THEN 'blank line' END AS fault
FROM split;
