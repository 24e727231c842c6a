-- What sources write: the lines of a text file, ids, and texts that tell a period. A parameter that
-- names a table takes its name; ends is a class of white space, as a regular expression.

-- What:    the physical lines of a text file, numbered from 1, blank ones too.
-- Inputs:  file: a glob that names one file; separator: a noncharacter that no line holds; where
--          has_returns is true, return_mark stands for a carriage return.
-- Outputs: line, text.
-- Source:  SPEC section 16 (every line is accounted for).
CREATE OR REPLACE MACRO srsql.physical_lines(file, separator, has_returns, return_mark) AS TABLE
SELECT
    row_number() OVER () AS line,
    coalesce(
        CASE WHEN has_returns THEN replace(f.text, return_mark, chr(13)) ELSE f.text END, ''
    ) AS text
FROM read_csv(
    file,
    columns = { 'text': 'VARCHAR' },
    delim = separator,
    quote = '',
    escape = '',
    comment = '',
    new_line = '\n',
    header = false,
    auto_detect = false,
    hive_partitioning = false,
    max_line_size = 16777216,
    buffer_size = 33554432
) AS f;

-- What:    an id as the raw tables hold it, as text; NULL if it is blank or, where integers are
--          due, none.
-- Inputs:  written: what the source says; ends; is_integer.
-- Source:  SPEC section 16 (what is no id is rejected, not dropped).
CREATE OR REPLACE MACRO srsql.identifier(written, ends, is_integer) AS (
    CASE
        WHEN NOT is_integer
            THEN nullif(regexp_replace(written, '^' || ends || '+|' || ends || '+$', '', 'g'), '')
        WHEN regexp_full_match(written, ends || '*[0-9]+' || ends || '*')
            THEN try_cast(
                regexp_replace(written, '^' || ends || '+|' || ends || '+$', '', 'g') AS BIGINT
            )::VARCHAR
    END
);

-- What:    the fields of a record whose quotes are closed, as its author meant them.
-- Inputs:  written: the record; delimiter; quote; field: one field and the delimiter behind it, as
--          a regular expression whose first group is the field; inner_text, behind: those of what
--          stands between the quotes of a field, and behind them; escaped: that of a sign that was
--          escaped.
-- Source:  RFC 4180, section 2, rules 5 to 7.
CREATE OR REPLACE MACRO srsql.quoted_fields(
    written, delimiter, quote, field, inner_text, behind, escaped
) AS (
    list_transform(
        regexp_extract_all(written || delimiter, field, 1),
        LAMBDA part: CASE
            WHEN NOT starts_with(part, quote) THEN part
            ELSE
                regexp_replace(regexp_extract(part, inner_text, 1), escaped, '\1', 'g')
                || regexp_extract(part, behind, 1)
        END
    )
);

-- What:    the terms that one cell holds; none of a blank one.
-- Inputs:  written: the cell; separator: what stands between two terms; take: a regular expression
--          whose first group is the term, if it matches; empty: a part is the term.
-- Source:  docs/configuration.md (a cell with several terms).
CREATE OR REPLACE MACRO srsql.cell_parts(written, separator, take) AS (
    list_filter(
        list_transform(
            string_split(written, separator),
            LAMBDA part: CASE
                WHEN take <> '' AND regexp_matches(part, take) THEN regexp_extract(part, take, 1)
                ELSE part
            END
        ),
        LAMBDA term: trim(term) <> ''
    )
);

-- What:    whether a record has as many fields as a header, or one more, which is empty.
-- Inputs:  fields; width: those of the header.
-- Source:  SPEC section 22.
CREATE OR REPLACE MACRO srsql.has_width(fields, width) AS (
    len(fields) = width OR (len(fields) = width + 1 AND fields[width + 1] = '')
);

-- What:    a value without control characters and line ends. A run of them is one blank; at the
--          ends they go, and white space with them. Any other value is as it was.
-- Inputs:  written; controls: what one of them matches; ends.
-- Source:  SPEC section 22 (no value that came from one record holds another).
CREATE OR REPLACE MACRO srsql.without_controls(written, controls, ends) AS (
    CASE
        WHEN regexp_matches(written, controls)
            THEN
                regexp_replace(
                    regexp_replace(written, controls || '+', ' ', 'g'),
                    '^' || ends || '+|' || ends || '+$',
                    '',
                    'g'
                )
        ELSE written
    END
);

-- What:    the same of every field of a record.
-- Inputs:  fields; controls; ends.
-- Source:  as srsql.without_controls.
CREATE OR REPLACE MACRO srsql.fields_without_controls(fields, controls, ends) AS (
    list_transform(fields, LAMBDA part: srsql.without_controls(part, controls, ends))
);

-- What:    the places, from 1, of the fields of a record that this changes.
-- Inputs:  fields; controls.
-- Source:  as srsql.without_controls.
CREATE OR REPLACE MACRO srsql.fields_with_controls(fields, controls) AS (
    list_filter(
        range(1, len(fields) + 1), LAMBDA place: regexp_matches(fields[place], controls)
    )
);

-- What:    the labels of the periods that the texts of a period column are of.
-- Inputs:  texts(text), distinct; rule: what they are (label, year, quarter, month, week, day; a
--          date as 2022-10-14, 20221014 or, where that tells the period, 202210); ends.
-- Outputs: text, label (NULL where the text is of no period).
-- Source:  SPEC section 2 (period), docs/embedding.md (key source.period).
CREATE OR REPLACE MACRO srsql.period_labels(texts, rule, ends) AS TABLE
WITH
trimmed AS (
    SELECT
        k.text,
        regexp_replace(k.text, '^' || ends || '+|' || ends || '+$', '', 'g') AS name
    FROM query_table(texts) AS k
),

parts AS (
    SELECT
        t.text,
        t.name,
        regexp_extract(
            t.name,
            '^([0-9]{4})(?:-?(0[1-9]|1[0-2])(?:-?([0-9]{2})(?:[ T].*)?)?)?$',
            ['year', 'month', 'day']
        ) AS part
    FROM trimmed AS t
),

dated AS (
    SELECT
        p.text,
        p.name,
        p.part,
        try_cast(p.part.year || '-' || p.part.month || '-' || p.part.day AS DATE) AS date
    FROM parts AS p
)

SELECT
    p.text,
    CASE
        WHEN rule = 'label' THEN nullif(p.name, '')
        WHEN rule = 'year' THEN nullif(p.part.year, '')
        WHEN p.part.month = '' THEN NULL
        WHEN rule = 'month' THEN p.part.year || '-' || p.part.month
        WHEN rule = 'quarter'
            THEN p.part.year || 'Q' || ((try_cast(p.part.month AS INTEGER) + 2) // 3)
        WHEN rule = 'week'
            THEN
                lpad(isoyear(p.date)::VARCHAR, 4, '0')
                || 'W'
                || lpad(weekofyear(p.date)::VARCHAR, 2, '0')
        ELSE strftime(p.date, '%Y-%m-%d')
    END AS label
FROM dated AS p;

-- What:    the day of a date that is told to the day; NULL for any other text.
-- Inputs:  written: 2022-10-14 or 20221014, with a time behind it or without; ends.
-- Source:  docs/configuration.md (derived columns).
CREATE OR REPLACE MACRO srsql.day_of(written, ends) AS (
    try_cast(
        nullif(
            regexp_replace(
                regexp_extract(
                    regexp_replace(written, '^' || ends || '+|' || ends || '+$', '', 'g'),
                    '^([0-9]{4}-?[0-9]{2}-?[0-9]{2})(?:[ T].*)?$',
                    1
                ),
                '^([0-9]{4})-?([0-9]{2})-?([0-9]{2})$',
                '\1-\2-\3'
            ),
            ''
        ) AS DATE
    )
);

-- What:    the name of the class that a number is in; NULL of NULL.
-- Inputs:  number; firsts: the numbers with which a class begins, ascending; labels: the name of
--          what is below all of them, and of each.
-- Source:  docs/configuration.md (derived columns).
CREATE OR REPLACE MACRO srsql.class_label(number, firsts, labels) AS (
    labels[
        CASE
            WHEN number IS NOT NULL
                THEN 1 + len(list_filter(firsts, LAMBDA first: first <= number))
        END
    ]
);

-- What:    why something was rejected, as it is counted: without the number of the line it names.
-- Inputs:  reason: as srsql.reject has it.
-- Source:  SPEC section 16 (malformed input is counted).
CREATE OR REPLACE MACRO srsql.reason_alone(reason) AS (
    regexp_replace(reason, ' line [0-9]+,', ' another line,')
);
