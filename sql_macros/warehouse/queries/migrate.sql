-- What a migration asks of a warehouse of any layout.

-- name: layout
-- The layout of its catalog.
SELECT w.layout FROM srsql.warehouse AS w;

-- name: next_release_id
-- The first number that no release has, nor a draft that was removed and left its charges.
SELECT coalesce(max(u.release_id), 0) + 1
FROM (
    SELECT r.release_id FROM srsql.release AS r
    UNION ALL
    SELECT s.release_id FROM srsql.budget_ledger AS s
) AS u;

-- name: set_layout
-- The definitions are installed anew when the warehouse is opened.
UPDATE srsql.warehouse SET layout = $layout, definitions = '';

-- name: stored
-- Schema and name of every table of ours and of every released view; what it calls is named in
-- full, since the file may have macros of the caller's.
SELECT t.schema_name, t.table_name AS name
FROM system.main.duckdb_tables() AS t
WHERE t.database_name = $database AND NOT t.temporary AND t.table_name <> 'warehouse'
UNION ALL
SELECT v.schema_name, v.view_name AS name
FROM system.main.duckdb_views() AS v
WHERE NOT v.internal AND system.main.regexp_matches(v.schema_name, '^(draft_|release_|released)')
ORDER BY ALL;
