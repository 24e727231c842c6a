-- The books of an ingestion, as the catalog keeps them.
-- Source: SPEC section 5 (ingested files with SHA-256), section 16 (nothing is silently dropped).

-- name: withdrawals
-- Lines of a list that withdraw a case.
SELECT count(*) AS lines
FROM temp.main.srsql_record AS w
ANTI JOIN temp.main.srsql_rejected_record AS j ON w.line = j.line;

-- name: store_withdrawn
-- The cases that the lines of a list withdraw.
INSERT INTO srsql.deleted_case
SELECT DISTINCT
    $dataset AS dataset,
    w.case_id,
    $ingestion AS ingestion_id
FROM temp.main.srsql_record AS w
ANTI JOIN temp.main.srsql_rejected_record AS j ON w.line = j.line
ORDER BY w.case_id;

-- name: store_file
-- Store what became of one file.
INSERT INTO srsql.ingested_file (
    ingestion_id,
    table_name,
    file,
    sha256,
    records,
    loaded,
    rejected,
    values_rejected,
    repaired,
    orphans
) VALUES (
    $ingestion,
    $table,
    $file,
    $sha256,
    $records,
    $loaded,
    $rejected,
    $values_rejected,
    $repaired,
    $orphans
);

-- name: store_cleaned
-- Store how many values of a column of one file were cleaned.
INSERT INTO srsql.cleaned_value (ingestion_id, file, column_name, cleaned)
VALUES ($ingestion, $file, $name, $cleaned);

-- name: cleaned
-- How many values of each column of a file of an ingestion were cleaned.
SELECT
    c.column_name,
    c.cleaned
FROM srsql.cleaned_value AS c
WHERE c.ingestion_id = $ingestion AND c.file = $file
ORDER BY c.rowid;

-- name: store_count
-- Store how many values or records of a file were counted for what they are.
INSERT INTO srsql.ingested_count (ingestion_id, file, counted, column_name, number)
VALUES ($ingestion, $file, $counted, $name, $number);

-- name: counts
-- How many values or records of each file of an ingestion were counted for what they are.
SELECT
    c.file,
    c.counted,
    c.column_name,
    c.number
FROM srsql.ingested_count AS c
WHERE c.ingestion_id = $ingestion
ORDER BY c.rowid;

-- name: files
-- What became of the files of an ingestion, in the order in which they were read.
SELECT
    f.table_name,
    f.file,
    f.sha256,
    f.records,
    f.loaded,
    f.rejected,
    f.values_rejected,
    f.repaired,
    f.orphans
FROM srsql.ingested_file AS f
WHERE f.ingestion_id = $ingestion
ORDER BY f.rowid;

-- name: withdrawn_cases
-- Distinct cases that the lists of an ingestion withdraw.
SELECT count(DISTINCT d.case_id) AS withdrawn_cases
FROM srsql.deleted_case AS d
WHERE d.ingestion_id = $ingestion;
