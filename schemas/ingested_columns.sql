-- What ingestion found in the columns of source files.

-- Values of loaded records that lost control characters or line ends.
CREATE TABLE IF NOT EXISTS srsql.cleaned_value (
    ingestion_id INTEGER NOT NULL,
    file VARCHAR NOT NULL,
    column_name VARCHAR NOT NULL,
    cleaned BIGINT NOT NULL
);
