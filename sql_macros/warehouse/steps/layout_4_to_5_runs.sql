-- Step: the catalog of layout 4 becomes that of layout 5: commands that write the warehouse leave a
--   row. Of those of earlier versions nobody knows.
-- Reads: nothing
-- Writes: srsql.run
-- Source: schemas/catalog.sql.

CREATE TABLE IF NOT EXISTS srsql.run (
    run_id INTEGER NOT NULL,
    command VARCHAR NOT NULL,
    parameters JSON NOT NULL,
    started TIMESTAMP NOT NULL,
    ended TIMESTAMP,
    exit_code INTEGER,
    software VARCHAR NOT NULL,
    host VARCHAR NOT NULL,
    pid BIGINT NOT NULL
);
