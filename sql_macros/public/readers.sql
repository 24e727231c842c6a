-- Views by which public macros find the rows of datasets, whose tables and columns no macro can
-- name. They are empty until an ingestion or a release has rows for them: catalog/readers.

-- The raw reports of every dataset: who has a report in which period.
CREATE VIEW IF NOT EXISTS srsql_reader.report AS
SELECT NULL::VARCHAR AS dataset, NULL::VARCHAR AS case_id, NULL::VARCHAR AS quarter WHERE false;

-- The released cases of every series in which cases can be followed, each in its latest period,
-- with what it counts where no condition is asked: lower, expected and upper are 1.
CREATE VIEW IF NOT EXISTS srsql_reader.signal_case AS
SELECT
    NULL::VARCHAR AS dataset,
    NULL::VARCHAR AS series,
    NULL::VARCHAR AS case_id,
    NULL::VARCHAR AS quarter,
    NULL::BIGINT AS lower,
    NULL::DECIMAL(18, 12) AS expected,
    NULL::BIGINT AS upper
WHERE false;

-- Their released drugs, by key, of every period; roles: those that count, an empty list where the
-- dataset tells none.
CREATE VIEW IF NOT EXISTS srsql_reader.signal_drug AS
SELECT
    NULL::VARCHAR AS dataset,
    NULL::VARCHAR AS series,
    NULL::VARCHAR AS case_id,
    NULL::VARCHAR AS quarter,
    NULL::VARCHAR AS drug,
    NULL::VARCHAR AS role,
    NULL::VARCHAR[] AS roles
WHERE false;

-- Their released reactions, by key, of every period.
CREATE VIEW IF NOT EXISTS srsql_reader.signal_reaction AS
SELECT
    NULL::VARCHAR AS dataset,
    NULL::VARCHAR AS series,
    NULL::VARCHAR AS case_id,
    NULL::VARCHAR AS quarter,
    NULL::VARCHAR AS reaction
WHERE false;
