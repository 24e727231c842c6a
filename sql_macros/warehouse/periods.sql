-- The calendar of periods, read off their labels: years (2022), quarters (2022Q4), months
-- (2022-10), ISO weeks (2022W40) and days (2022-10-03). A label of another form has no calendar;
-- there the order of labels is all there is.

-- What:    how many weeks from the first one of year 1 begin before the first week of a year: a
--          week begins on Monday and belongs to the year that has its Thursday, so that the first
--          week of a year is the one that has January 4. The first day of year 1 is a Monday.
-- Source:  ISO 8601-1:2019, section 5.5 (week date).
CREATE OR REPLACE MACRO srsql.weeks_before(year) AS
(date_trunc('week', make_date(year, 1, 4))::DATE - DATE '0001-01-01') // 7;

-- What:    what a period is, and its number among all of its kind, which is higher by one for the
--          next one; NULL: its label has no calendar, as those of days and weeks that there are not
--          (2022-02-30, 2022W53).
-- Returns: {kind: 'year', 'quarter', 'month', 'week' or 'day', number}.
CREATE OR REPLACE MACRO srsql.calendar_period(label) AS
CASE
    WHEN regexp_full_match(label, '[0-9]{4}')
        THEN { 'kind': 'year', 'number': try_cast(label AS BIGINT) }
    WHEN regexp_full_match(label, '[0-9]{4}[- ]?[Qq][1-4]')
        THEN
            {
                'kind': 'quarter',
                'number': 4 * try_cast(label[:4] AS BIGINT) + try_cast(label[-1:] AS INTEGER) - 1
            }
    WHEN regexp_full_match(label, '[0-9]{4}-(0[1-9]|1[0-2])')
        THEN
            {
                'kind': 'month',
                'number': 12 * try_cast(label[:4] AS BIGINT) + try_cast(label[-2:] AS INTEGER) - 1
            }
    WHEN
        regexp_full_match(label, '[0-9]{4}[- ]?[Ww](0[1-9]|[1-4][0-9]|5[0-3])')
        AND try_cast(label[-2:] AS INTEGER)
        <= srsql.weeks_before(try_cast(label[:4] AS INTEGER) + 1)
        - srsql.weeks_before(try_cast(label[:4] AS INTEGER))
        THEN
            {
                'kind': 'week',
                'number':
                srsql.weeks_before(try_cast(label[:4] AS INTEGER))
                + try_cast(label[-2:] AS BIGINT)
                - 1
            }
    WHEN
        regexp_full_match(label, '[0-9]{4}-[0-9]{2}-[0-9]{2}')
        AND try_cast(label AS DATE) IS NOT NULL
        THEN { 'kind': 'day', 'number': try_cast(label AS DATE) - DATE '0001-01-01' }
END;

-- What:    what a period is: 'year', 'quarter', 'month', 'week' or 'day'; NULL: its label has no
--          calendar.
CREATE OR REPLACE MACRO srsql.period_kind(label) AS srsql.calendar_period(label).kind;

-- What:    the number of a period among all of its kind, which is higher by one for the next one;
--          NULL: its label has no calendar.
CREATE OR REPLACE MACRO srsql.period_number(label) AS srsql.calendar_period(label).number;

-- What:    whether a period is the one just after another one; of labels that have no calendar in
--          common true, since there the order is all that is known.
-- Inputs:  earlier, later: labels of which no third one of the dataset stands between.
-- Source:  SPEC sections 5 and 9: the next quarter is the one that follows.
CREATE OR REPLACE MACRO srsql.follows_on(earlier, later) AS
list_transform(
    [{ 'one': srsql.calendar_period(earlier), 'next': srsql.calendar_period(later) }],
    LAMBDA p: coalesce(
        CASE WHEN p.one.kind = p.next.kind THEN p.next.number = p.one.number + 1 END, true
    )
)[1];

-- What:    the label of a period by its kind and number, written as another label of the kind is.
CREATE OR REPLACE MACRO srsql.period_label(kind, number, like_label) AS
CASE kind
    WHEN 'year' THEN lpad(number::VARCHAR, 4, '0')
    WHEN 'quarter'
        THEN
            lpad((number // 4)::VARCHAR, 4, '0') || like_label[5:-2] || (number % 4 + 1)::VARCHAR
    WHEN 'month'
        THEN
            lpad((number // 12)::VARCHAR, 4, '0')
            || '-'
            || lpad((number % 12 + 1)::VARCHAR, 2, '0')
    WHEN 'week'
        THEN
            lpad(isoyear(DATE '0001-01-01' + (7 * number)::INTEGER)::VARCHAR, 4, '0')
            || like_label[5:-3]
            || lpad(weekofyear(DATE '0001-01-01' + (7 * number)::INTEGER)::VARCHAR, 2, '0')
    WHEN 'day' THEN strftime(DATE '0001-01-01' + number::INTEGER, '%Y-%m-%d')
END;

-- What:    the labels of the periods between two others, in the form of the earlier one; none if
--          the two have no calendar in common.
CREATE OR REPLACE MACRO srsql.periods_between(earlier, later) AS
list_transform(
    [
        {
            'one': srsql.calendar_period(earlier),
            'next': srsql.calendar_period(later),
            'text': earlier
        }
    ],
    LAMBDA p: CASE
        WHEN p.one.kind = p.next.kind
            THEN
                list_transform(
                    range(p.one.number + 1, p.next.number),
                    LAMBDA n: srsql.period_label(p.one.kind, n, p.text)
                )
        ELSE []
    END
)[1];
