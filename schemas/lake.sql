-- The lake: raw rows that lie as Parquet files in a folder, and not in the file of the warehouse.
-- Private to the steward like the rest of the catalog.

-- One row where there is a lake: the name that its folder carries, where the folder is, and how
-- often it was changed (the folder knows that too: a copy of the warehouse that lags is found out).
CREATE TABLE IF NOT EXISTS srsql.lake (
    lake VARCHAR NOT NULL,
    folder VARCHAR NOT NULL,
    changes BIGINT NOT NULL
);

-- The datasets whose raw rows lie there, and into how many buckets a period is cut by its cases
-- (srsql.case_bucket), which never changes.
CREATE TABLE IF NOT EXISTS srsql.lake_dataset (
    dataset VARCHAR PRIMARY KEY,
    buckets INTEGER NOT NULL
);

-- The files that the raw views read, by their paths within the folder; no other file counts.
CREATE TABLE IF NOT EXISTS srsql.lake_file (
    dataset VARCHAR NOT NULL,
    table_name VARCHAR NOT NULL,
    quarter VARCHAR NOT NULL,
    bucket INTEGER NOT NULL,
    file VARCHAR NOT NULL,
    records BIGINT NOT NULL,
    bytes BIGINT NOT NULL,
    sha256 VARCHAR NOT NULL
);

-- What is to be removed from the folder: a file that is listed no more, or (file NULL) whatever a
-- change that began has left there, whose files carry its name. Empty unless a command was killed.
CREATE TABLE IF NOT EXISTS srsql.lake_leftover (
    change VARCHAR NOT NULL,
    file VARCHAR
);
