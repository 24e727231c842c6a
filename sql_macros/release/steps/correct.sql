-- Step: who is withheld of a new version ($release_id) of a quarter: what the quarter holds besides
--   the cases that are kept, for the reason it was before ($before), deleted, withdrawn (it has
--   left), group_corrected (somebody of its group has), or not_in_first_version. A case that left
--   the data as well is no case of the quarter any more.
-- Reads: raw_case(case_id, reports), corrected_case(case_no, case_id, reason, kept),
--   srsql.release, srsql.deleted_case, srsql.withheld
-- Writes: srsql.withheld
-- Source: SPEC section 5 (correction).

INSERT INTO srsql.withheld
WITH
deleted AS (
    SELECT DISTINCT d.case_id
    FROM srsql.deleted_case AS d
    INNER JOIN srsql.release AS r ON r.release_id = $before::INTEGER AND d.dataset = r.dataset
),

known AS (
    SELECT w.case_no, w.case_id, w.reason
    FROM srsql.withheld AS w
    WHERE w.release_id = $before::INTEGER
    UNION ALL
    SELECT
        l.case_no,
        l.case_id,
        CASE WHEN l.reason IS NULL THEN 'group_corrected' ELSE 'withdrawn' END AS reason
    FROM temp.main.srsql_corrected_case AS l
)

SELECT
    $release_id::INTEGER,
    CASE WHEN d.case_id IS NULL THEN w.case_no END,
    r.case_id,
    r.reports,
    CASE
        WHEN d.case_id IS NULL THEN coalesce(w.reason, 'not_in_first_version')
        ELSE 'deleted'
    END
FROM temp.main.srsql_raw_case AS r
ANTI JOIN temp.main.srsql_corrected_case AS s ON r.case_id = s.case_id AND s.kept
LEFT JOIN known AS w ON r.case_id = w.case_id
LEFT JOIN deleted AS d ON r.case_id = d.case_id
ORDER BY r.case_id;
