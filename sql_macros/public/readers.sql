-- Views by which public macros find the rows of datasets, whose tables and columns no macro can
-- name. They are empty until an ingestion or a release has rows for them: catalog/readers.

-- The raw reports of every dataset: who has a report in which period.
CREATE VIEW IF NOT EXISTS srsql_reader.report AS
SELECT NULL::VARCHAR AS dataset, NULL::VARCHAR AS case_id, NULL::VARCHAR AS quarter WHERE false;

-- The released cases of every series in which cases can be followed, in each of their periods, and
-- once more in their latest one, with what they count where no condition is asked: lower, expected
-- and upper are 1.
CREATE VIEW IF NOT EXISTS srsql_reader.signal_case AS
SELECT
    NULL::VARCHAR AS dataset,
    NULL::VARCHAR AS series,
    NULL::VARCHAR AS case_id,
    NULL::VARCHAR AS quarter,
    NULL::BOOLEAN AS latest,
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

-- How many released cases may have a drug, or a reaction, that no row shows, as the public manifest
-- of each release tells it: share, in parts of 10,000 and rounded up, of cases; what: 'drug' or
-- 'reaction'. Releases that suppress no value are not here.
CREATE VIEW IF NOT EXISTS srsql_reader.signal_hidden AS
SELECT
    NULL::VARCHAR AS dataset,
    NULL::VARCHAR AS series,
    NULL::VARCHAR AS quarter,
    NULL::VARCHAR AS what,
    NULL::BIGINT AS share,
    NULL::BIGINT AS cases
WHERE false;

-- Released counts of cases by stratum, of nothing (attribute is NULL), of an item or of two, where
-- a release tells drugs and reactions as counts; drug_attribute and reaction_attribute: which
-- attributes these are.
CREATE VIEW IF NOT EXISTS srsql_reader.signal_count AS
SELECT
    NULL::VARCHAR AS dataset,
    NULL::VARCHAR AS series,
    NULL::VARCHAR AS quarter,
    NULL::VARCHAR AS drug_attribute,
    NULL::VARCHAR AS reaction_attribute,
    NULL::VARCHAR AS stratum,
    NULL::VARCHAR AS attribute,
    NULL::VARCHAR AS term,
    NULL::VARCHAR AS other_attribute,
    NULL::VARCHAR AS other_term,
    NULL::BIGINT AS cases
WHERE false;
