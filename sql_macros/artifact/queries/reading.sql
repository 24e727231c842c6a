-- What a verification reads into its tables, and what it asks of a file before.

-- name: add_thresholds
-- The thresholds of artifact $artifact: $terms, $nums and $dens, side by side.
INSERT INTO temp.main.srsql_value_threshold
SELECT
    $artifact::INTEGER AS artifact,
    unnest($terms::VARCHAR[]) AS value,
    unnest($nums::BIGINT[]) AS theta_num,
    unnest($dens::BIGINT[]) AS theta_den;

-- name: keep_keys
-- Every spelling of the terms of a quarter and its key: $spellings and $keys, side by side.
CREATE OR REPLACE TEMP TABLE srsql_term_spelling AS
SELECT unnest($spellings::VARCHAR[]) AS spelling, unnest($keys::VARCHAR[]) AS key;

-- name: follows_on
-- Whether the period $2 is the one just after $1.
SELECT srsql.follows_on($1, $2) AS follows;

-- name: has_table
-- A row if the database in memory has the table $1.
SELECT t.table_name
FROM duckdb_tables() AS t
WHERE t.database_name = 'memory' AND t.schema_name = 'main' AND t.table_name = $1;

-- name: is_table
-- A row if $2.$3 of the DuckDB file attached as $1 is a table, and nothing that would be run.
SELECT t.table_name
FROM duckdb_tables() AS t
WHERE t.database_name = $1 AND t.schema_name = $2 AND t.table_name = $3;

-- name: view_texts
-- The views of the schema main of the database in memory, as attached_objects tells them.
SELECT 'view ' || v.schema_name || '.' || v.view_name || ': ' || v.sql AS name
FROM duckdb_views() AS v
WHERE v.database_name = 'memory' AND v.schema_name = 'main' AND NOT v.internal;

-- name: file_metadata
-- Key and value of what the Parquet file $1 says of itself.
SELECT m.key, m.value FROM parquet_kv_metadata($1) AS m;

-- name: attached_objects
-- Everything that the DuckDB file attached as $1 holds, by kind and name, and all that can be
-- written beside the rows: the text of views, comments, tags, defaults, constraints.
SELECT 'table ' || t.schema_name || '.' || t.table_name AS name
FROM duckdb_tables() AS t WHERE t.database_name = $1
UNION ALL
SELECT 'view ' || v.schema_name || '.' || v.view_name || ': ' || v.sql
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
SELECT 'comment on table ' || t.schema_name || '.' || t.table_name || ': ' || t.comment
FROM duckdb_tables() AS t WHERE t.database_name = $1 AND t.comment IS NOT NULL
UNION ALL
SELECT 'comment on view ' || v.schema_name || '.' || v.view_name || ': ' || v.comment
FROM duckdb_views() AS v
WHERE v.database_name = $1 AND NOT v.internal AND v.comment IS NOT NULL
UNION ALL
SELECT
    'comment on column ' || c.schema_name || '.' || c.table_name || '.' || c.column_name || ': '
    || c.comment
FROM duckdb_columns() AS c
WHERE c.database_name = $1 AND NOT c.internal AND c.comment IS NOT NULL
UNION ALL
SELECT 'tag on ' || t.schema_name || '.' || t.table_name
FROM duckdb_tables() AS t WHERE t.database_name = $1 AND cardinality(t.tags) > 0
UNION ALL
SELECT 'tag on ' || v.schema_name || '.' || v.view_name
FROM duckdb_views() AS v
WHERE v.database_name = $1 AND NOT v.internal AND cardinality(v.tags) > 0
UNION ALL
SELECT 'tag on ' || c.schema_name || '.' || c.table_name || '.' || c.column_name
FROM duckdb_columns() AS c
WHERE c.database_name = $1 AND NOT c.internal AND cardinality(c.tags) > 0
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

-- name: unprotected
-- Of artifact 0: values with a threshold of 1, values with any, pairs of a case and such a value.
WITH bounded AS (
    SELECT t.value, t.theta_num = t.theta_den AS free
    FROM temp.main.srsql_value_threshold AS t WHERE t.artifact = 0
),

pairs AS (
    SELECT b.free
    FROM temp.main.srsql_case_value AS c INNER JOIN bounded AS b ON c.value = b.value
    WHERE c.artifact = 0
)

SELECT
    (SELECT count(*) FROM bounded AS b WHERE b.free) AS free_values,
    (SELECT count(*) FROM bounded) AS all_values,
    (SELECT count(*) FROM pairs AS p WHERE p.free) AS held_unprotected,
    (SELECT count(*) FROM pairs) AS held;

-- name: create_every_case
-- The cases of all quarters of an artifact, in which each quarter adds its own.
CREATE TABLE memory.main.srsql_every_case (case_id VARCHAR);

-- name: add_every_case
-- Adds the cases of the quarter that was read.
INSERT INTO memory.main.srsql_every_case
SELECT DISTINCT r.case_id FROM temp.main.srsql_case_region AS r;

-- name: every_case
-- How many cases the quarters have together.
SELECT count(DISTINCT c.case_id) AS cases FROM memory.main.srsql_every_case AS c;
