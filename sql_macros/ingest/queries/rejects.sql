-- Rejected records: where they are stored, and how they count.
-- Source: SPEC section 16 (malformed input is counted, and kept with file, line and reason).

-- name: other_widths
-- Of the records that were judged by a width of $width: rejected ones that have another, and those
-- of them with one field more, which is empty.
SELECT
    count(*) FILTER (WHERE len(j.field) <> $width) AS others,
    count(*) FILTER (
        WHERE len(j.field) = $width + 1 AND list_extract(j.field, $width + 1) = ''
    ) AS with_separator
FROM temp.main.srsql_rejected_record AS j;

-- name: repeats
-- Of the records of one report (report: line, report_id; those that can be loaded) all but the
-- first, as they are rejected.
SELECT
    r.line,
    r.field,
    'duplicate report id' AS reason
FROM temp.main.srsql_record AS r
WHERE r.line IN (
    SELECT n.line
    FROM (
        SELECT
            p.line,
            row_number() OVER (PARTITION BY p.report_id ORDER BY p.line) AS place
        FROM report AS p
        WHERE
            p.report_id IN (
                SELECT d.report_id FROM report AS d
                GROUP BY d.report_id
                HAVING count(*) > 1
            )
    ) AS n
    WHERE n.place > 1
);

-- name: any_record
-- Whether a record of the file cannot be loaded.
SELECT count(*) > 0 AS any_record FROM temp.main.srsql_rejected_record;

-- name: without_text
-- No rejected record keeps its text: of a composite key nothing tells whose it is. Its fields stay,
-- so that their number is told.
UPDATE temp.main.srsql_rejected_record AS j
SET field = list_transform(j.field, LAMBDA part: '');

-- name: store_records
-- Store the records of a file that cannot be loaded, with the first $length characters of each.
INSERT INTO srsql.reject (
    ingestion_id, dataset, quarter, file, line, kind, column_name, value, reason, record
)
SELECT
    $ingestion AS ingestion_id,
    $dataset AS dataset,
    $quarter AS quarter,
    $file AS file,
    j.line,
    'row' AS kind,
    NULL AS column_name,
    CASE
        WHEN j.reason LIKE '%fields%' OR j.reason LIKE 'two %' THEN len(j.field) || ' fields'
    END AS value,
    j.reason,
    left(
        array_to_string(
            list_transform(j.field, LAMBDA part: coalesce(part, '')), $separator
        ),
        $length
    ) AS record
FROM temp.main.srsql_rejected_record AS j
ORDER BY j.line;

-- name: counts
-- Rejected records and values of one file by reason, the commonest first.
SELECT
    r.kind,
    CASE WHEN r.kind = 'value' THEN r.column_name || ': ' ELSE '' END
    || srsql.reason_alone(r.reason) AS reason,
    count(*) AS rejects
FROM srsql.reject AS r
WHERE r.ingestion_id = $ingestion AND r.file = $file
GROUP BY ALL
ORDER BY rejects DESC, reason ASC;

-- name: not_judged
-- Records of $files that say nothing of their quality: those of forgotten cases; those of no report
-- of the period, which are orphans where each has one report; and blank lines of lists of withdrawn
-- cases ($lists), which withdraw nobody.
SELECT count(*) AS records
FROM srsql.reject AS r
WHERE
    r.ingestion_id = $ingestion
    AND list_contains($files::VARCHAR[], r.file)
    AND (
        r.reason IN ('forgotten_case', 'no report has its key')
        OR (r.reason = 'blank line' AND list_contains($lists::VARCHAR[], r.file))
    );

-- name: commonest
-- The commonest reason of the rejected records of some files, and the first line that has it; blank
-- lines come last.
SELECT
    srsql.reason_alone(r.reason) AS reason,
    arg_min(r.file, (r.file, r.line)) AS file,
    arg_min(r.line, (r.file, r.line)) AS line
FROM srsql.reject AS r
WHERE
    r.ingestion_id = $ingestion
    AND r.kind = 'row'
    AND r.reason <> 'forgotten_case'
    AND list_contains($files::VARCHAR[], r.file)
GROUP BY srsql.reason_alone(r.reason)
ORDER BY
    srsql.reason_alone(r.reason) = 'blank line' ASC,
    count(*) DESC,
    srsql.reason_alone(r.reason) ASC
LIMIT 1;
