-- Facts about the tables and views of a connection that are read as a source.

-- name: places
-- The tables and views of every attached database that are called $name, in any case.
SELECT
    t.database_name,
    t.schema_name,
    t.table_name
FROM duckdb_tables() AS t
WHERE lower(t.table_name) = lower($name)
UNION ALL
SELECT
    v.database_name,
    v.schema_name,
    v.view_name
FROM duckdb_views() AS v
WHERE lower(v.view_name) = lower($name);

-- name: labels
-- The periods that the texts of a period column are of; see srsql.period_labels.
SELECT DISTINCT l.label
FROM srsql.period_labels('temp.main.srsql_period_key', $rule, $ends) AS l
WHERE l.label IS NOT NULL
ORDER BY l.label;

-- name: any_known
-- Whether some text is of the period that was asked for.
SELECT coalesce(bool_or(t.known), false) AS any_known
FROM temp.main.srsql_period_text AS t;

-- name: records_and_digest
-- Records, and SHA-256 over them in their order; an empty field and NULL are the same, and so is
-- every fault: a row is of no period.
SELECT
    coalesce(sum(b.records), 0)::BIGINT AS records,
    sha256(coalesce(string_agg(b.digest, '' ORDER BY b.block), '')) AS digest
FROM (
    SELECT
        s.line // 4096 AS block,
        count(*) AS records,
        string_agg(
            sha256(
                CASE WHEN s.fault IS NULL THEN ' ' ELSE 'no period ' END
                || array_to_string(
                    list_transform(
                        s.field,
                        LAMBDA part: coalesce(strlen(part), 0)::VARCHAR || ':' || coalesce(part, '')
                    ),
                    ''
                )
            ),
            '' ORDER BY s.line
        ) AS digest
    FROM temp.main.srsql_record AS s
    GROUP BY block
) AS b;
