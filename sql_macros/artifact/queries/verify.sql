-- What a verification puts into the tables of its steps, and what it reads from them.

-- name: create_thresholds
-- The published thresholds: $1 values, $2 numerators, $3 denominators, side by side.
CREATE OR REPLACE TEMP TABLE srsql_value_threshold AS
SELECT
    unnest($1::VARCHAR[]) AS value,
    unnest($2::BIGINT[]) AS theta_num,
    unnest($3::BIGINT[]) AS theta_den;

-- name: create_claim
-- What the manifest says: $1 k, $2 period, $3 released cases, $4 released reports.
CREATE OR REPLACE TEMP TABLE srsql_claim AS
SELECT $1::BIGINT AS k, $2::VARCHAR AS period, $3::BIGINT AS cases, $4::BIGINT AS reports;

-- name: faults
-- Where each check fails, in words.
SELECT f.check_name, list(f.place ORDER BY f.place) AS places
FROM temp.main.srsql_fault AS f
GROUP BY f.check_name;

-- name: totals
-- How many things each check looked at, in the order of the checks.
SELECT t.check_name, t.total FROM temp.main.srsql_total AS t;

-- name: add_cases
-- The cases of artifact $1, with their regions.
INSERT INTO temp.main.srsql_series_case
SELECT $1, c.case_id::VARCHAR, c.region FROM temp.main.srsql_case_region AS c;

-- name: add_values
-- The sensitive values of its cases.
INSERT INTO temp.main.srsql_series_value
SELECT $1, v.case_id::VARCHAR, v.value FROM temp.main.srsql_case_value AS v;

-- name: add_thresholds
-- Its thresholds.
INSERT INTO temp.main.srsql_series_threshold
SELECT $1, t.value, t.theta_num, t.theta_den FROM temp.main.srsql_value_threshold AS t;

-- name: add_claim
-- What it claims: $2 quarter, $3 k.
INSERT INTO temp.main.srsql_series_claim VALUES ($1, $2, $3);

-- name: add_ancestors
-- The hierarchies: $1 attributes, $2 nodes, $3 ancestors, side by side.
INSERT INTO temp.main.srsql_node_ancestor
SELECT unnest($1::VARCHAR[]), unnest($2::VARCHAR[]), unnest($3::VARCHAR[]);

-- name: attached_objects
-- Everything that the DuckDB file attached as $1 holds, by kind and name, and all that can be
-- written beside the rows: comments, tags, defaults, constraints.
SELECT 'table ' || t.schema_name || '.' || t.table_name AS name
FROM duckdb_tables() AS t WHERE t.database_name = $1
UNION ALL
SELECT 'view ' || v.schema_name || '.' || v.view_name
FROM duckdb_views() AS v WHERE v.database_name = $1 AND NOT v.internal
UNION ALL
SELECT 'macro ' || f.schema_name || '.' || f.function_name
FROM duckdb_functions() AS f WHERE f.database_name = $1 AND NOT f.internal
UNION ALL
SELECT 'type ' || t.schema_name || '.' || t.type_name
FROM duckdb_types() AS t WHERE t.database_name = $1 AND NOT t.internal
UNION ALL
SELECT 'index ' || i.schema_name || '.' || i.index_name
FROM duckdb_indexes() AS i WHERE i.database_name = $1
UNION ALL
SELECT 'trigger ' || t.schema_name || '.' || t.table_name || '.' || t.trigger_name
FROM duckdb_triggers() AS t WHERE t.database_name = $1
UNION ALL
SELECT 'sequence ' || s.schema_name || '.' || s.sequence_name
FROM duckdb_sequences() AS s WHERE s.database_name = $1
UNION ALL
SELECT 'schema ' || s.schema_name
FROM duckdb_schemas() AS s
WHERE s.database_name = $1 AND NOT s.internal AND s.schema_name <> 'main'
UNION ALL
SELECT 'comment on database'
FROM duckdb_databases() AS d WHERE d.database_name = $1 AND d.comment IS NOT NULL
UNION ALL
SELECT 'comment or tag on schema ' || s.schema_name
FROM duckdb_schemas() AS s
WHERE s.database_name = $1 AND (s.comment IS NOT NULL OR cardinality(s.tags) > 0)
UNION ALL
SELECT 'comment or tag on ' || t.schema_name || '.' || t.table_name
FROM duckdb_tables() AS t
WHERE t.database_name = $1 AND (t.comment IS NOT NULL OR cardinality(t.tags) > 0)
UNION ALL
SELECT 'comment or tag on ' || c.schema_name || '.' || c.table_name || '.' || c.column_name
FROM duckdb_columns() AS c
WHERE c.database_name = $1 AND NOT c.internal
    AND (c.comment IS NOT NULL OR cardinality(c.tags) > 0)
UNION ALL
SELECT 'default of ' || c.schema_name || '.' || c.table_name || '.' || c.column_name
FROM duckdb_columns() AS c
WHERE c.database_name = $1 AND NOT c.internal
    AND (c.column_default IS NOT NULL OR c.is_generated)
UNION ALL
SELECT DISTINCT
    'constraint ' || c.constraint_type || ' of ' || c.schema_name || '.' || c.table_name
FROM duckdb_constraints() AS c WHERE c.database_name = $1
ORDER BY name;
