-- Step of the check of released terms: what each released case holds, anew from the raw rows.
-- Composed before it from the dataset schema: srsql_told_value(record, prefix, term, times): how
-- often a report of the case tells the term; and srsql_told_rule(repeated): one row, a term told n
-- times is n terms. Makes srsql_told_original(record, term), distinct.

CREATE OR REPLACE TEMP TABLE srsql_told_original AS
WITH
most AS (
    SELECT v.record, v.prefix, v.term, max(v.times) AS times
    FROM temp.main.srsql_told_value AS v
    GROUP BY v.record, v.prefix, v.term
),

each_time AS (
    SELECT
        m.record,
        m.prefix || m.term AS term,
        unnest(range(CASE WHEN $repeated::BOOLEAN THEN m.times ELSE 1 END)) AS nth
    FROM most AS m
)

SELECT DISTINCT
    e.record,
    CASE WHEN e.nth = 0 THEN e.term ELSE e.term || ' (' || (e.nth + 1)::VARCHAR || ')' END AS term
FROM each_time AS e;
