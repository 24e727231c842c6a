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
