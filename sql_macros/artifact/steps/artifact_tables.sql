-- Step: the tables that the rows of artifacts are gathered in, empty; artifacts are numbered from
--   0, in the order of their series. Numeric quasi-identifiers have low and high (both missing:
--   anything), categorical ones a node.
-- Reads: nothing
-- Writes: case_region(artifact, region, case_id), case_value(artifact, case_id, value),
--   value_threshold(artifact, value, theta_num, theta_den), series_region(artifact, region,
--   attribute, low, high, node)
-- Source: SPEC section 16.

CREATE TEMP TABLE srsql_case_region (artifact INTEGER, region VARCHAR, case_id VARCHAR);

CREATE TEMP TABLE srsql_case_value (artifact INTEGER, case_id VARCHAR, value VARCHAR);

CREATE TEMP TABLE srsql_value_threshold (
    artifact INTEGER,
    value VARCHAR,
    theta_num BIGINT,
    theta_den BIGINT
);

CREATE TEMP TABLE srsql_series_region (
    artifact INTEGER,
    region VARCHAR,
    attribute VARCHAR,
    low DECIMAL(38, 18),
    high DECIMAL(38, 18),
    node VARCHAR
);
