-- Step: the tables that artifacts of one series are gathered in, empty. Numeric quasi-identifiers
--   have low and high (both missing: anything), categorical ones a node; every node is its own
--   ancestor.
-- Reads: none
-- Writes: series_case(artifact, case_id, region),
--   series_region(artifact, region, attribute, low, high, node),
--   series_value(artifact, case_id, value),
--   series_threshold(artifact, value, theta_num, theta_den), series_claim(artifact, quarter, k),
--   node_ancestor(attribute, node, ancestor)
-- Source: SPEC section 16.

CREATE TEMP TABLE srsql_series_case (artifact INTEGER, case_id VARCHAR, region VARCHAR);

CREATE TEMP TABLE srsql_series_region (
    artifact INTEGER,
    region VARCHAR,
    attribute VARCHAR,
    low DECIMAL(38, 18),
    high DECIMAL(38, 18),
    node VARCHAR
);

CREATE TEMP TABLE srsql_series_value (artifact INTEGER, case_id VARCHAR, value VARCHAR);

CREATE TEMP TABLE srsql_series_threshold (
    artifact INTEGER,
    value VARCHAR,
    theta_num BIGINT,
    theta_den BIGINT
);

CREATE TEMP TABLE srsql_series_claim (artifact INTEGER, quarter VARCHAR, k BIGINT);

CREATE TEMP TABLE srsql_node_ancestor (attribute VARCHAR, node VARCHAR, ancestor VARCHAR);
