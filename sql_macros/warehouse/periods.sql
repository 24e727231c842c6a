-- The calendar of periods, read off their labels: years (2022), quarters (2022Q4) and months
-- (2022-10). A label of another form has no calendar; there the order of labels is all there is.

-- What:    how many months a period has: 12, 3 or 1; NULL: its label has no calendar.
CREATE OR REPLACE MACRO srsql.period_months(label) AS
CASE
    WHEN regexp_full_match(label, '[0-9]{4}') THEN 12
    WHEN regexp_full_match(label, '[0-9]{4}[- ]?[Qq][1-4]') THEN 3
    WHEN regexp_full_match(label, '[0-9]{4}-(0[1-9]|1[0-2])') THEN 1
END;

-- What:    the months between year 0 and the begin of a period; NULL: its label has no calendar.
CREATE OR REPLACE MACRO srsql.period_begin(label) AS
CASE srsql.period_months(label)
    WHEN 12 THEN 12 * try_cast(label[:4] AS INTEGER)
    WHEN 3 THEN 12 * try_cast(label[:4] AS INTEGER) + 3 * (try_cast(label[-1:] AS INTEGER) - 1)
    WHEN 1 THEN 12 * try_cast(label[:4] AS INTEGER) + try_cast(label[-2:] AS INTEGER) - 1
END;

-- What:    whether a period is the one just after another one; of labels that have no calendar in
--          common true, since there the order is all that is known.
-- Inputs:  earlier, later: labels of which no third one of the dataset stands between.
-- Source:  SPEC sections 5 and 9: the next quarter is the one that follows.
CREATE OR REPLACE MACRO srsql.follows_on(earlier, later) AS
coalesce(
    CASE
        WHEN srsql.period_months(earlier) = srsql.period_months(later)
            THEN
                srsql.period_begin(later)
                = srsql.period_begin(earlier) + srsql.period_months(earlier)
    END,
    true
);

-- What:    the labels of the periods between two others, in the form of the earlier one; none if
--          the two have no calendar in common.
CREATE OR REPLACE MACRO srsql.periods_between(earlier, later) AS
CASE
    WHEN srsql.period_months(earlier) = srsql.period_months(later)
        THEN
            list_transform(
                range(
                    srsql.period_begin(earlier) + srsql.period_months(earlier),
                    srsql.period_begin(later),
                    srsql.period_months(earlier)
                ),
                LAMBDA m: lpad((m // 12)::VARCHAR, 4, '0') || CASE srsql.period_months(earlier)
                    WHEN 12 THEN ''
                    WHEN 3 THEN earlier[5:-2] || (m % 12 // 3 + 1)::VARCHAR
                    ELSE '-' || lpad((m % 12 + 1)::VARCHAR, 2, '0')
                END
            )
    ELSE []
END;
