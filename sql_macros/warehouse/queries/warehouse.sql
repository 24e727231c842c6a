-- What a connection has before anything of ours is installed: every name is written in full, since
-- what is called like ours may be the caller's.

-- name: schema_conflicts
-- Attached databases that are called like a schema of ours in $database.
SELECT d.database_name
FROM system.main.duckdb_databases() AS d
INNER JOIN system.main.duckdb_schemas() AS s ON d.database_name = s.schema_name
WHERE
    s.database_name = $database
    AND d.database_name <> $database
    AND NOT d.internal
    AND system.main.regexp_matches(s.schema_name, '^(srsql|raw_|draft_|release_|released)')
ORDER BY d.database_name;

-- name: hidden_functions
-- Built-in functions that a temporary macro precedes.
SELECT f.function_name
FROM system.main.duckdb_functions() AS f
WHERE f.database_name = 'temp' OR f.internal
GROUP BY f.function_name
HAVING
    system.main.bool_or(f.database_name = 'temp') AND system.main.bool_or(f.internal);

-- name: schema_of_ours
-- Whether $database is attached, and its schema of our name where it has one.
SELECT d.database_name, s.schema_name
FROM system.main.duckdb_databases() AS d
LEFT JOIN system.main.duckdb_schemas() AS s
    ON d.database_name = s.database_name AND s.schema_name = 'srsql'
WHERE d.database_name = $database;

-- name: things_of_others
-- Tables of a database that are not the catalog's.
SELECT t.schema_name, t.table_name
FROM system.main.duckdb_tables() AS t
WHERE t.database_name = $database AND t.schema_name <> 'srsql';

-- name: catalog_tables
-- Tables of the catalog of a database.
SELECT t.table_name
FROM system.main.duckdb_tables() AS t
WHERE t.database_name = $database AND t.schema_name = 'srsql';

-- name: temporary
-- The temporary tables and views of ours, with what each is.
SELECT t.table_name, 'TABLE' AS kind
FROM system.main.duckdb_tables() AS t
WHERE t.temporary AND system.main.starts_with(t.table_name, 'srsql_')
UNION ALL
SELECT v.view_name, 'VIEW' AS kind
FROM system.main.duckdb_views() AS v
WHERE v.temporary AND system.main.starts_with(v.view_name, 'srsql_');

-- name: definitions
-- What runs as code of ours in $database: each macro, view and type of its catalog, with its text.
SELECT
    system.main.to_json([
        f.schema_name, f.function_name, f.function_type,
        system.main.to_json(f.parameters)::VARCHAR,
        system.main.to_json(f.parameter_types)::VARCHAR
    ])::VARCHAR AS name,
    f.macro_definition AS text
FROM system.main.duckdb_functions() AS f
WHERE f.database_name = $database AND f.schema_name IN ('srsql', 'srsql_data', 'srsql_internal')
UNION ALL
SELECT system.main.to_json([v.schema_name, v.view_name, 'view'])::VARCHAR, v.sql
FROM system.main.duckdb_views() AS v
WHERE v.database_name = $database AND v.schema_name IN ('srsql', 'srsql_data', 'srsql_internal')
UNION ALL
SELECT system.main.to_json([t.schema_name, t.type_name, 'type'])::VARCHAR, t.logical_type
FROM system.main.duckdb_types() AS t
WHERE t.database_name = $database AND t.schema_name IN ('srsql', 'srsql_data', 'srsql_internal');

-- name: views_of_rows
-- The views of $database over raw and released rows, with their texts.
SELECT v.schema_name, v.view_name, v.sql
FROM system.main.duckdb_views() AS v
WHERE
    v.database_name = $database
    AND system.main.regexp_matches(v.schema_name, '^(raw_|draft_|release_|released|srsql_reader$)')
ORDER BY v.schema_name, v.view_name;

-- name: syntax
-- The syntax tree of the query in $text, as a JSON document.
SELECT system.main.json_serialize_sql($text::VARCHAR)::VARCHAR;

-- name: columns
-- The columns of the tables and views of the catalog, and of the views of readers.
SELECT c.schema_name, c.table_name, c.column_name
FROM system.main.duckdb_columns() AS c
WHERE c.database_name = $database AND c.schema_name IN ('srsql', 'srsql_reader')
ORDER BY ALL;
