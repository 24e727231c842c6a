-- Facts that the creation of raw tables needs.

-- name: object_of_others
-- A table or view in $schema of this database, if the schema is none of the dataset's own.
SELECT min(o.name) AS object_of_others
FROM (
    SELECT
        t.database_name,
        t.schema_name,
        t.table_name AS name
    FROM duckdb_tables() AS t
    UNION ALL
    SELECT
        v.database_name,
        v.schema_name,
        v.view_name AS name
    FROM duckdb_views() AS v
) AS o
WHERE
    o.database_name = current_database()
    AND lower(o.schema_name) = $schema
    AND NOT EXISTS (SELECT 1 FROM srsql.ingestion AS i WHERE i.dataset = $dataset);

-- name: ambiguous_codes
-- Codes of a quasi-identifier that stand for two nodes.
SELECT
    c.qid,
    c.code
FROM temp.main.srsql_code AS c
GROUP BY c.qid, c.code
HAVING count(*) > 1
ORDER BY c.qid, c.code;
