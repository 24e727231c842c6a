-- What the catalog tells of the quality of ingested files, beside srsql.ingested_file.

-- What was understood of the column of a quasi-identifier or of a sensitive attribute: values that
-- are not blank, and those of them that say nothing to the dataset. An ingestion made before
-- layout 12 has no rows here.
CREATE TABLE IF NOT EXISTS srsql.ingested_column (
    ingestion_id INTEGER NOT NULL,
    table_name VARCHAR NOT NULL,
    column_name VARCHAR NOT NULL,
    filled BIGINT NOT NULL,
    unread BIGINT NOT NULL
);

-- One row per text file: the encoding by which it was read, and its lines that do not fit it.
CREATE TABLE IF NOT EXISTS srsql.ingested_text (
    ingestion_id INTEGER NOT NULL,
    file VARCHAR NOT NULL,
    encoding VARCHAR NOT NULL,
    odd_lines BIGINT NOT NULL
);

-- Tables in which each report must have a row, and in which some have none. allowed: these are too
-- many, and the steward had the period taken in all the same.
CREATE TABLE IF NOT EXISTS srsql.required_table (
    ingestion_id INTEGER NOT NULL,
    table_name VARCHAR NOT NULL,
    reports BIGINT NOT NULL,
    without_row BIGINT NOT NULL,
    allowed BOOLEAN NOT NULL
);

-- Values of loaded records that lost control characters or line ends.
CREATE TABLE IF NOT EXISTS srsql.cleaned_value (
    ingestion_id INTEGER NOT NULL,
    file VARCHAR NOT NULL,
    column_name VARCHAR NOT NULL,
    cleaned BIGINT NOT NULL
);

-- Records and values of a file, counted for what they are. counted: 'other period' (records that
-- were left out, by the column that tells periods), or 'fallback' (values of a column that were
-- blank and taken from another one).
CREATE TABLE IF NOT EXISTS srsql.ingested_count (
    ingestion_id INTEGER NOT NULL,
    file VARCHAR NOT NULL,
    counted VARCHAR NOT NULL,
    column_name VARCHAR NOT NULL,
    number BIGINT NOT NULL
);
