-- Step: the catalog of layout 5 becomes that of layout 6: it tells which sensitive values a release
--   suppressed of which cases. Earlier versions suppressed none.
-- Reads: nothing
-- Writes: srsql.suppressed
-- Source: schemas/catalog.sql.

CREATE TABLE IF NOT EXISTS srsql.suppressed (
    release_id INTEGER NOT NULL,
    case_no INTEGER NOT NULL,
    term_no INTEGER NOT NULL
);
