-- Step: finds what the quotes of a file make of its lines (without a header). A record over several
--   lines is a span. A line that begins no record has a fault; what follows it is read afresh. All
--   other lines are records by themselves.
--   $closed matches a line that is read from outside quotes and ends outside, others end inside;
--   $neat one of the latter whose unquoted fields hold no quote. $stays and $closes match a line
--   that is read from inside and ends inside or outside. $field is one field and the delimiter
--   behind it; for $quote, $inner_text, $behind and $escaped see srsql.quoted_fields; an escape at
--   the end of a line that would take the quote put behind it ($lone) becomes $completed. $width:
--   fields of the header; $place: the one of the report id (NULL: unknown); $integer, $ends: see
--   srsql.identifier.
-- Reads: record(line, text, quoted)
-- Writes: quoted_line(line, close, fault)
-- Source: SPEC section 22 (one rule for all readers); RFC 4180, section 2, rules 5 to 7.

-- A span is over where a line read from inside does not stay inside: that line is the same for
-- every quote opened since the last such line. So the lines of a span are gone through once, though
-- several lines may have begun it.
CREATE OR REPLACE TEMP TABLE srsql_quoted_line AS
WITH effect AS (
    SELECT
        line,
        CASE
            WHEN regexp_matches(text, $closed) THEN 'closed'
            ELSE 'open'
        END AS outside,
        CASE
            WHEN regexp_matches(text, $stays) THEN 'open'
            WHEN regexp_matches(text, $closes) THEN 'closed'
            ELSE 'improper'
        END AS inside
    FROM temp.main.srsql_record
    WHERE quoted
),

leaving AS (
    SELECT
        line,
        inside
    FROM effect
    WHERE inside <> 'open'
),

opening AS (
    SELECT
        e.line,
        c.line AS close,
        c.inside = 'closed' AS properly
    FROM effect AS e
    ASOF LEFT JOIN leaving AS c ON e.line < c.line
    WHERE e.outside = 'open'
),

reach AS (
    SELECT
        close,
        min(line) AS first
    FROM opening
    WHERE properly
    GROUP BY close
),

member AS (
    SELECT
        r.close,
        r.line,
        r.line > r.first AS within,
        p.text,
        e.outside,
        string_split(p.text, $delimiter) AS part,
        CASE
            WHEN e.outside IS NOT NULL
                THEN
                    srsql.quoted_fields(
                        CASE
                            WHEN e.outside = 'open'
                                THEN regexp_replace(p.text, $lone, $completed) || $quote
                            ELSE p.text
                        END,
                        $delimiter,
                        $quote,
                        $field,
                        $inner_text,
                        $behind,
                        $escaped
                    )
        END AS own,
        CASE
            WHEN e.line IS NOT NULL AND r.line > r.first
                THEN
                    srsql.quoted_fields(
                        $quote || CASE
                            WHEN r.line < r.close
                                THEN regexp_replace(p.text, $lone, $completed) || $quote
                            ELSE p.text
                        END,
                        $delimiter,
                        $quote,
                        $field,
                        $inner_text,
                        $behind,
                        $escaped
                    )
        END AS rest
    FROM (
        SELECT
            close,
            first,
            unnest(range(first, close + 1)) AS line
        FROM reach
    ) AS r
    INNER JOIN temp.main.srsql_record AS p ON r.line = p.line
    LEFT JOIN effect AS e ON r.line = e.line
),

-- A line is known as a record of its own by its report id and its number of fields: as quotes make
-- them, or by its delimiters alone; one that opens a quote has no more than the header.
known AS (
    SELECT
        close,
        line,
        outside,
        len(own) AS width,
        coalesce(len(rest) - 1, 0) AS more,
        line = close
        AND (
            ends_with(text, $delimiter) OR ends_with(text, $delimiter || $quote || $quote)
        ) AS ends_blank,
        within AND (
            (
                srsql.has_width(part, $width)
                AND ($place IS NULL OR srsql.identifier(part[$place], $ends, $integer) IS NOT NULL)
            )
            OR (
                outside = 'closed'
                AND srsql.has_width(own, $width)
                AND ($place IS NULL OR srsql.identifier(own[$place], $ends, $integer) IS NOT NULL)
            )
            OR (
                outside = 'open'
                AND len(own) BETWEEN $place + 1 AND $width
                AND srsql.identifier(own[$place], $ends, $integer) IS NOT NULL
                AND regexp_matches(text, $neat)
            )
        ) AS alone
    FROM member
),

judged AS (
    SELECT
        *,
        width + coalesce(sum(more) OVER later, 0) AS joined_width,
        min(CASE WHEN alone THEN line END) OVER later AS holds,
        coalesce(bool_or(ends_blank) OVER later, false) AS blank
    FROM known
    WHERE outside IS NOT NULL OR alone
    WINDOW
        later AS (
            PARTITION BY close ORDER BY line ROWS BETWEEN 1 FOLLOWING AND UNBOUNDED FOLLOWING
        )
),

verdict AS (
    SELECT
        o.line,
        o.close,
        CASE
            WHEN o.close IS NULL THEN 'a quote is opened and never closed'
            WHEN NOT o.properly
                THEN
                    'a quoted field goes on to line ' || o.close
                    || ', where text follows its closing quote'
            WHEN j.holds IS NOT NULL
                THEN 'a quoted field holds line ' || j.holds || ', a record of its own'
            WHEN j.joined_width <> $width AND NOT (j.joined_width = $width + 1 AND j.blank)
                THEN
                    'a quoted field goes on to line ' || o.close
                    || ', but that makes no record of the width of the header'
        END AS fault
    FROM opening AS o
    LEFT JOIN judged AS j ON o.close = j.close AND o.line = j.line AND j.outside = 'open'
),

-- Spans that end in one line: the first one counts. It may begin where another span ends (linked),
-- and then counts only where that other one does not: along a chain of such ends, every second.
whole AS (
    SELECT
        v.line,
        v.close,
        v.line IN (SELECT w.close FROM verdict AS w WHERE w.fault IS NULL) AS is_linked
    FROM verdict AS v
    WHERE v.fault IS NULL
),

ending AS (
    SELECT
        close,
        min(line) FILTER (WHERE NOT is_linked) AS free,
        min(line) FILTER (WHERE is_linked) AS linked
    FROM whole
    GROUP BY close
),

numbered AS (
    SELECT
        *,
        row_number() OVER (ORDER BY close) AS place
    FROM ending
),

chained AS (
    SELECT
        close,
        free,
        linked,
        (
            place - max(CASE WHEN free IS NOT NULL THEN place END)
                OVER (ORDER BY close ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW)
        ) % 2 = 0 AS counts
    FROM numbered
),

begun AS (
    SELECT
        CASE
            WHEN linked IS NOT NULL AND NOT lag(counts) OVER (ORDER BY close) THEN linked
            ELSE free
        END AS line,
        close
    FROM chained
),

span AS (
    SELECT
        line,
        close
    FROM begun
    WHERE line IS NOT NULL
),

faulty AS (
    SELECT
        line,
        fault
    FROM verdict
    WHERE fault IS NOT NULL
)

SELECT
    line,
    close,
    NULL::VARCHAR AS fault
FROM span
UNION ALL
SELECT
    f.line,
    NULL::BIGINT AS close,
    f.fault
FROM faulty AS f
ASOF LEFT JOIN span AS s ON f.line > s.line
WHERE s.close IS NULL OR f.line > s.close;
