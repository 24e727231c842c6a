-- The hold-back pool of a series, and late arrivals. It is made before the catalog, a view of which
-- reads it.

-- Those of the withheld cases that wait: their reports are among those of the next period that the
-- series releases (--max-delay). since: the first period whose reports of the case wait.
CREATE TABLE IF NOT EXISTS srsql.waiting (
    release_id INTEGER NOT NULL,
    case_id VARCHAR NOT NULL,
    since VARCHAR NOT NULL
);

-- The cases that waited for a release (srsql.waiting), and what their earlier reports were read
-- from: every period that the series released from the one since which they waited to the one
-- before, as ingested then. And the cases of which a release took reports that a dump brought
-- after their period was loaded: quarter is that period, ingestion_id the dump
-- (srsql.dump_period).
CREATE TABLE IF NOT EXISTS srsql.taken_case (
    release_id INTEGER NOT NULL,
    case_id VARCHAR NOT NULL,
    quarter VARCHAR NOT NULL,
    ingestion_id INTEGER NOT NULL
);

-- The periods that the dumps of cumulative sources have (srsql ingest --cumulative). label: what
-- the raw tables have in the place of the period, in the rows of reports that came after it was
-- loaded, or with other values than before; NULL: the dump brought none of that.
CREATE TABLE IF NOT EXISTS srsql.dump_period (
    dataset VARCHAR NOT NULL,
    quarter VARCHAR NOT NULL,
    ingestion_id INTEGER NOT NULL,
    label VARCHAR
);
