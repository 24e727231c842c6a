-- Dumps of cumulative sources (srsql ingest --cumulative).
-- Source: SPEC section 22 (cumulative sources).

-- name: last_dump
-- The last dump of a source, by the label that its files have.
SELECT i.ingestion_id, i.sha256
FROM srsql.ingestion AS i
SEMI JOIN srsql.dump_period AS d ON i.ingestion_id = d.ingestion_id
WHERE i.dataset = $dataset AND i.quarter = $quarter
ORDER BY i.ingestion_id DESC
LIMIT 1;

-- name: has_dump
-- Whether a dump brought something of a period.
SELECT count(*) > 0 FROM srsql.dump_period AS d WHERE d.dataset = $dataset AND d.quarter = $quarter;

-- name: labels
-- What the raw tables have in the place of the periods from $first to $last: their own labels, and
-- those of what dumps brought late.
SELECT i.quarter AS label
FROM srsql.ingestion AS i
WHERE i.dataset = $dataset AND i.quarter BETWEEN $first AND $last AND NOT i.replaced
UNION
SELECT d.label
FROM srsql.dump_period AS d
WHERE
    d.dataset = $dataset
    AND d.quarter BETWEEN $first AND $last
    AND d.label IS NOT NULL
ORDER BY label;

-- name: ends
-- The first and the last period of a dump, and the reports that have none.
SELECT min(r.quarter), max(r.quarter), count(*) FILTER (WHERE r.quarter IS NULL)
FROM temp.main.srsql_dump_report AS r;

-- name: counts
-- The reports of a dump by what became of them: of periods that are new, late ones, changed, the
-- same; those that it lacks, and the known ones that it should have; cases that are withdrawn and
-- in it.
SELECT
    count(*) FILTER (WHERE c.change = 'new' AND c.label = c.quarter) AS new_reports,
    count(*) FILTER (WHERE c.change = 'new' AND c.label <> c.quarter) AS late,
    count(*) FILTER (WHERE c.change = 'changed') AS changed,
    count(*) FILTER (WHERE c.change = 'same') AS unchanged,
    count(*) FILTER (WHERE c.change IN ('vanished', 'lacking')) AS vanished,
    (SELECT count(*) FROM temp.main.srsql_dump_known AS k WHERE NOT k.is_withdrawn) AS known,
    (
        SELECT count(DISTINCT p.case_id)
        FROM temp.main.srsql_dump_change AS p
        WHERE
            p.change NOT IN ('vanished', 'lacking')
            AND p.case_id IN (
                SELECT w.case_id FROM srsql.deleted_case AS w WHERE w.dataset = $dataset
            )
    ) AS withdrawn
FROM temp.main.srsql_dump_change AS c;

-- name: new_periods
-- The periods that a dump loads first.
SELECT DISTINCT c.quarter
FROM temp.main.srsql_dump_change AS c
WHERE c.label = c.quarter
ORDER BY c.quarter;

-- name: withdraw
-- Cases of which a dump has nothing any more are withdrawn, as by a list of them.
INSERT INTO srsql.deleted_case
SELECT DISTINCT $dataset AS dataset, c.case_id, $ingestion AS ingestion_id
FROM temp.main.srsql_dump_change AS c
WHERE c.change = 'vanished'
ORDER BY c.case_id;

-- name: note_lacking
-- Cases of which a dump lacks some report are changed in its period.
INSERT INTO srsql.replaced_case
SELECT DISTINCT
    $dataset AS dataset, c.quarter, c.case_id, 'changed' AS change, $ingestion AS ingestion_id
FROM temp.main.srsql_dump_change AS c
WHERE c.change = 'lacking'
ORDER BY c.quarter, c.case_id;

-- name: note_periods
-- The periods of a dump, with the label of what it brought late.
INSERT INTO srsql.dump_period
SELECT
    $dataset AS dataset,
    c.quarter,
    $ingestion AS ingestion_id,
    max(c.label) FILTER (WHERE c.label <> c.quarter) AS label
FROM temp.main.srsql_dump_change AS c
GROUP BY c.quarter
ORDER BY c.quarter;

-- name: open_period
-- A period that a dump ($dump) loads first has an ingestion of its own.
INSERT INTO srsql.ingestion
SELECT $ingestion, i.dataset, $quarter, i.source, i.sha256, i.software, false
FROM srsql.ingestion AS i
WHERE i.ingestion_id = $dump;

-- name: open_file
-- Its books: the rows of one table that are of the period.
INSERT INTO srsql.ingested_file
SELECT
    $ingestion, f.table_name, f.file, f.sha256, $loaded AS records, $loaded AS loaded, 0, 0, 0, 0
FROM srsql.ingested_file AS f
WHERE f.ingestion_id = $dump AND f.table_name = $table;

-- name: open_required
-- Tables of which reports of the dump lack rows.
INSERT INTO srsql.required_table
SELECT $ingestion, t.table_name, t.reports, t.without_row, t.allowed
FROM srsql.required_table AS t
WHERE t.ingestion_id = $dump;
