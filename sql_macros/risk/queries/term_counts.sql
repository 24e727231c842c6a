-- The terms that the released cases have by the raw rows.
-- Source: SPEC section 2 (super-record: all reports of a case).

-- name: original_terms
-- What each released case holds, anew from the raw rows report_value(record, prefix, term, times):
-- how often a report of the case has the term. Where a term that a case has n times is n terms
-- ($repeated), the second is called "TERM (2)".
SELECT DISTINCT
    e.record,
    CASE WHEN e.nth = 0 THEN e.term ELSE e.term || ' (' || (e.nth + 1)::VARCHAR || ')' END AS term
FROM (
    SELECT
        m.record,
        m.prefix || m.term AS term,
        unnest(range(0, CASE WHEN $repeated THEN m.times ELSE 1 END)) AS nth
    FROM (
        SELECT
            v.record,
            v.prefix,
            v.term,
            max(v.times) AS times
        FROM report_value AS v
        GROUP BY v.record, v.prefix, v.term
    ) AS m
) AS e;
