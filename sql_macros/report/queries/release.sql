-- What the catalog says of the releases that a report is about; the steward's edition alone reads
-- it, but for `released_quarters`, which names views.

-- name: released_quarters
-- The quarters of a series that are out, with the schemas of their views, oldest first.
SELECT r.quarter, r.schema_name
FROM srsql.release AS r
WHERE r.dataset = $dataset AND r.series = $series AND r.status = 'released'
ORDER BY r.quarter;

-- name: subject
-- The fields of Subject after its release id.
SELECT r.quarter, r.status, r.k, r.schema_name, r.private_manifest
FROM srsql.release AS r
WHERE r.release_id = $release;

-- name: original_classes
-- Released cases by the values of their quasi-identifiers, as the originals have them: the least
-- class, the cases that are alone, the classes and the cases.
SELECT min(c.cases) AS least, coalesce(sum(c.cases) FILTER (c.cases = 1), 0), count(*), sum(c.cases)
FROM (
    SELECT v.qids, count(*) AS cases
    FROM (
        SELECT q.case_no, list((q.position, q.low, q.high) ORDER BY q.position) AS qids
        FROM srsql.case_qid AS q
        SEMI JOIN srsql.member AS m ON q.release_id = m.release_id AND q.case_no = m.case_no
        WHERE q.release_id = $release
        GROUP BY q.case_no
    ) AS v
    GROUP BY v.qids
) AS c;

-- name: checks
-- The uniform rows of the checks that were stored with the release, after its id.
SELECT q.measure, q.scope, q.violating, q.total, q.ratio, q.threshold, q.passed
FROM srsql.measure AS q
WHERE q.release_id = $release AND q.stage = 'check'
ORDER BY q.measure, q.scope;

-- name: suppressed
-- The largest share of a group of these releases that shows a suppressed value or lost it.
SELECT max(q.ratio) AS worst
FROM srsql.measure AS q
WHERE q.measure = 'suppressed_confidence' AND list_contains($releases::INTEGER[], q.release_id);

-- name: raw_rows_replaced
-- Whether the raw rows behind the release were replaced since.
SELECT i.replaced
FROM srsql.release AS r
INNER JOIN srsql.ingestion AS i ON r.ingestion_id = i.ingestion_id
WHERE r.release_id = $release;

-- name: missingness
-- The fields of Missingness, of each quasi-identifier in the order of the schema.
SELECT m.position, m.cases, m.missing, m.released, m.released_missing, m.given_up
FROM srsql.report_missingness($release) AS m
ORDER BY m.position;

-- name: before_after
-- The places of each quasi-identifier with the cases there, before and after.
SELECT b.position, b.low, b.high, b.label, b.before, b.after
FROM srsql.report_before_after($release, $parts) AS b
ORDER BY b.position, b.place;

-- name: losses
-- Released cases and summed loss of each quasi-identifier.
SELECT l.position, l.cases, l.loss
FROM srsql.report_losses($release) AS l
ORDER BY l.position;

-- name: withheld
-- Reasons with their cases and reports, the most cases first.
SELECT w.reason, w.cases, w.reports
FROM srsql.report_withheld($release) AS w
ORDER BY w.cases DESC, w.reason ASC;

-- name: threshold_classes
-- The values of the quarter by their threshold: how many, and the fewest and most cases of one.
SELECT t.theta, t.terms, t.least, t.most
FROM srsql.report_thresholds($release) AS t
ORDER BY t.theta;

-- name: series
-- The releases of a series that are out, side by side.
SELECT s.*
FROM srsql.report_series($dataset, $series) AS s
ORDER BY s.quarter;
