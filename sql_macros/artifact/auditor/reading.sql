-- What an auditor's client does with published artifacts, so that the macros of an audit find the
-- catalog that they read: `srsql macros --public` prints it behind them. The folders are in the
-- variable `artifacts`; nothing else is opened, and a manifest names files of its own folder alone.
-- Source: SPEC section 20; the catalog as audit/import_catalog makes it of somebody else's release.

SET VARIABLE srsql_files = (
    SELECT
        CASE
            WHEN len(getvariable('artifacts')::VARCHAR[]) > 0
                THEN list_transform(
                    getvariable('artifacts')::VARCHAR[],
                    LAMBDA f: rtrim(f, '/') || '/manifest.json'
                )
            ELSE
                error('no artifact is named: begin with SET VARIABLE artifacts = [''FOLDER''];')
        END
);

-- Every quarter of the artifacts, with what its manifest says.
CREATE TABLE srsql_internal.published AS
WITH
manifests AS (
    SELECT
        regexp_replace(f.filename, '.manifest[.]json$', '') AS folder,
        f.content::JSON AS manifest
    FROM read_text(getvariable('srsql_files')) AS f
),

parts AS (
    SELECT m.folder, false AS of_several, m.manifest AS part
    FROM manifests AS m
    WHERE (m.manifest ->> '$.quarters') IS NULL
    UNION ALL
    SELECT m.folder, true AS of_several, unnest((m.manifest -> '$.quarters')::JSON[]) AS part
    FROM manifests AS m
    WHERE (m.manifest ->> '$.quarters') IS NOT NULL
),

known AS (
    SELECT
        p.folder,
        p.of_several,
        p.part,
        p.part ->> '$.dataset' AS dataset,
        p.part ->> '$.series' AS series,
        p.part ->> '$.quarter' AS quarter,
        p.part ->> '$.format' AS format,
        p.part ->> '$.report_table' AS report_table
    FROM parts AS p
)

SELECT
    row_number() OVER (ORDER BY k.dataset, k.series, k.quarter, k.folder)::INTEGER AS release_id,
    k.*
FROM known AS k;

CREATE TABLE srsql_internal.published_column AS
WITH
listed AS (
    SELECT p.release_id, unnest((p.part -> '$.tables')::JSON[]) AS item
    FROM srsql_internal.published AS p
),

columns AS (
    SELECT l.release_id, l.item, unnest((l.item -> '$.columns')::JSON[]) AS shown
    FROM listed AS l
)

SELECT
    c.release_id,
    c.item ->> '$.name' AS table_name,
    c.item ->> '$.file' AS file,
    c.shown ->> '$.name' AS name,
    c.shown ->> '$.role' AS role,
    c.shown ->> '$.attribute' AS attribute
FROM columns AS c;

CREATE TABLE srsql_internal.published_attribute AS
WITH listed AS (
    SELECT
        p.release_id,
        unnest((p.part -> '$.attributes')::JSON[]) AS item,
        generate_subscripts((p.part -> '$.attributes')::JSON[], 1) - 1 AS position
    FROM srsql_internal.published AS p
)

SELECT
    l.release_id,
    l.position,
    l.item ->> '$.name' AS name,
    l.item ->> '$.kind' AS kind,
    coalesce(l.item ->> '$.granularity', '1')::DOUBLE AS granularity,
    (l.item ->> '$.low')::DOUBLE AS low,
    (l.item ->> '$.high')::DOUBLE AS high
FROM listed AS l;

-- What cannot be audited is refused before any row is read.
SET VARIABLE srsql_fault = (
    WITH
    shown AS (
        SELECT c.*
        FROM srsql_internal.published_column AS c
        INNER JOIN srsql_internal.published AS p
            ON c.release_id = p.release_id AND c.table_name = p.report_table
        WHERE c.role IN ('lower bound', 'upper bound', 'node')
    ),

    bounds AS (
        SELECT
            coalesce(a.release_id, s.release_id) AS release_id,
            coalesce(a.name, 'an unknown quasi-identifier') AS name,
            coalesce(a.kind, '') AS kind,
            count(*) FILTER (WHERE s.role = 'lower bound') AS low,
            count(*) FILTER (WHERE s.role = 'upper bound') AS high,
            count(*) FILTER (WHERE s.role = 'node') AS node
        FROM srsql_internal.published_attribute AS a
        FULL OUTER JOIN shown AS s ON a.release_id = s.release_id AND a.name = s.attribute
        GROUP BY coalesce(a.release_id, s.release_id), a.name, coalesce(a.kind, '')
    ),

    named AS (
        SELECT
            c.release_id,
            c.table_name,
            count(*) FILTER (WHERE c.role = 'case id') AS ids,
            bool_or(c.role = 'sensitive') AS is_sensitive
        FROM srsql_internal.published_column AS c
        GROUP BY c.release_id, c.table_name
    ),

    faults AS (
        SELECT
            p.quarter || ' has no rows of reports (' || p.folder || '): use srsql verify' AS fault
        FROM srsql_internal.published AS p
        WHERE p.report_table IS NULL
        UNION ALL
        SELECT p.quarter || ' tells terms apart from rows (' || p.folder || '): use srsql verify'
        FROM srsql_internal.published AS p
        WHERE (p.part ->> '$.terms') IS NOT NULL
        UNION ALL
        SELECT
            p.folder || ' was published by another version of srsql: print the macros with that one'
        FROM srsql_internal.published AS p
        WHERE coalesce((p.part ->> '$.artifact_version')::INTEGER, 0) NOT BETWEEN 1 AND 5
        UNION ALL
        SELECT
            'not every one of these folders has a manifest.json: '
            || array_to_string(getvariable('artifacts')::VARCHAR[], ', ')
        FROM (SELECT count(DISTINCT p.folder) AS folders FROM srsql_internal.published AS p) AS n
        WHERE n.folders < len(list_distinct(getvariable('artifacts')::VARCHAR[]))
        UNION ALL
        SELECT
            min(p.quarter) || ' of series ' || min(p.series) || ' is there twice ('
            || string_agg(p.folder, ', ' ORDER BY p.folder) || '): name one artifact of each period'
        FROM srsql_internal.published AS p
        GROUP BY p.dataset, p.series, p.quarter
        HAVING count(*) > 1
        UNION ALL
        SELECT p.folder || ' has a manifest that names no table, file or column as artifacts do'
        FROM srsql_internal.published AS p
        INNER JOIN srsql_internal.published_column AS c ON p.release_id = c.release_id
        WHERE
            NOT coalesce(
                regexp_full_match(c.table_name, '[a-z][a-z0-9_]*')
                AND regexp_full_match(c.name, '[a-z][a-z0-9_]*')
                AND regexp_full_match(c.file, '[A-Za-z0-9][A-Za-z0-9._-]*')
                AND p.format IN ('parquet', 'duckdb', 'csv'),
                false
            )
        UNION ALL
        SELECT p.folder || ' has a manifest without the columns of ' || b.name
        FROM srsql_internal.published AS p
        INNER JOIN bounds AS b ON p.release_id = b.release_id
        WHERE
            p.report_table IS NOT NULL
            AND (b.kind, b.low, b.high, b.node) NOT IN (
                ('numeric', 1, 1, 0), ('categorical', 0, 0, 1)
            )
        UNION ALL
        SELECT p.folder || ' has a manifest without the case id of ' || i.table_name
        FROM srsql_internal.published AS p
        INNER JOIN named AS i ON p.release_id = i.release_id
        WHERE (i.is_sensitive OR i.table_name = p.report_table) AND i.ids <> 1
        UNION ALL
        SELECT p.folder || ' has a manifest without its table of reports'
        FROM srsql_internal.published AS p
        WHERE
            p.report_table NOT IN (
                SELECT c.table_name
                FROM srsql_internal.published_column AS c
                WHERE c.release_id = p.release_id
            )
        UNION ALL
        SELECT
            p.folder || ' has terms without keys (' || c.table_name || '.' || c.name
            || '): use srsql verify'
        FROM srsql_internal.published AS p
        INNER JOIN srsql_internal.published_column AS c
            ON p.release_id = c.release_id AND c.role = 'sensitive'
        ANTI JOIN srsql_internal.published_column AS k
            ON
                c.release_id = k.release_id
                AND c.table_name = k.table_name
                AND k.name = c.name || '_key'
                AND k.role = 'term key'
    )

    SELECT CASE WHEN count(*) > 0 THEN error(min(f.fault)) END FROM faults AS f
);

-- Where the rows of each table are, as the text of a FROM.
CREATE TABLE srsql_internal.published_table AS
WITH places AS (
    SELECT DISTINCT
        p.release_id,
        c.table_name,
        replace(p.folder || '/' || c.file, '''', '''''') AS path,
        replace(p.quarter, '''', '''''') AS quarter,
        p.format,
        p.of_several
    FROM srsql_internal.published AS p
    INNER JOIN srsql_internal.published_column AS c ON p.release_id = c.release_id
)

SELECT
    p.release_id,
    p.table_name,
    CASE p.format
        WHEN 'parquet' THEN 'read_parquet(''' || p.path || ''')'
        WHEN 'csv'
            THEN
                'read_csv(''' || p.path || ''', header = true, all_varchar = true, '
                || 'delim = '','', quote = ''"'', escape = ''"'', nullstr = '''')'
        ELSE
            'read_duckdb(''' || p.path || ''', table_name = ''' || p.table_name
            || ''', schema_name = '''
            || CASE WHEN p.of_several THEN 'release_' || lower(p.quarter) ELSE 'main' END || ''')'
    END
    || ' AS t'
    || CASE
        WHEN p.of_several AND p.format <> 'duckdb' THEN ' WHERE t.quarter = ''' || p.quarter || ''''
        ELSE ''
    END AS rows
FROM places AS p;

-- The ends of the region of each row of a report, as texts.
SET VARIABLE srsql_query = (
    WITH ends AS (
        SELECT
            a.release_id,
            string_agg(
                '{''position'': ' || a.position || ', ''low'': t."'
                || CASE a.kind WHEN 'numeric' THEN l.name ELSE n.name END
                || '"::VARCHAR, ''high'': t."'
                || CASE a.kind WHEN 'numeric' THEN h.name ELSE n.name END || '"::VARCHAR}',
                ', '
            ) AS listed
        FROM srsql_internal.published_attribute AS a
        LEFT JOIN srsql_internal.published_column AS l
            ON a.release_id = l.release_id AND a.name = l.attribute AND l.role = 'lower bound'
        LEFT JOIN srsql_internal.published_column AS h
            ON a.release_id = h.release_id AND a.name = h.attribute AND h.role = 'upper bound'
        LEFT JOIN srsql_internal.published_column AS n
            ON a.release_id = n.release_id AND a.name = n.attribute AND n.role = 'node'
        GROUP BY a.release_id
    )

    SELECT
        string_agg(
            'SELECT ' || p.release_id || ' AS release_id, row_number() OVER () AS line, t."'
            || c.name || '"::VARCHAR AS case_id, unnest([' || e.listed
            || '], recursive := true) FROM ' || s.rows,
            ' UNION ALL '
        )
    FROM srsql_internal.published AS p
    INNER JOIN ends AS e ON p.release_id = e.release_id
    INNER JOIN srsql_internal.published_table AS s
        ON p.release_id = s.release_id AND p.report_table = s.table_name
    INNER JOIN srsql_internal.published_column AS c
        ON p.release_id = c.release_id AND p.report_table = c.table_name AND c.role = 'case id'
);

CREATE TABLE srsql_internal.published_end AS
SELECT e.* FROM query(getvariable('srsql_query')) AS e;

-- The sensitive values of each case, by the keys of their terms.
SET VARIABLE srsql_query = (
    SELECT
        coalesce(
            string_agg(
                'SELECT ' || v.release_id || ' AS release_id, t."' || c.name
                || '"::VARCHAR AS case_id, ''' || v.name || ''' AS attribute, t."'
                || v.name || '_key"::VARCHAR AS term FROM ' || s.rows,
                ' UNION '
            ),
            'SELECT 0 AS release_id, '''' AS case_id, '''' AS attribute, NULL::VARCHAR AS term'
        )
    FROM srsql_internal.published_column AS v
    INNER JOIN srsql_internal.published_table AS s
        ON v.release_id = s.release_id AND v.table_name = s.table_name
    INNER JOIN srsql_internal.published_column AS c
        ON v.release_id = c.release_id AND v.table_name = c.table_name AND c.role = 'case id'
    WHERE v.role = 'sensitive'
);

CREATE TABLE srsql_internal.published_term AS
SELECT DISTINCT t.release_id, t.case_id, t.attribute, t.term
FROM query(getvariable('srsql_query')) AS t
WHERE t.term IS NOT NULL;

-- Thresholds and hierarchies stand beside the tables.
SET VARIABLE srsql_query = (
    SELECT
        string_agg(
            'SELECT ' || p.release_id || ' AS release_id, t.value AS term, '
            || 't.theta_num::BIGINT AS theta_num, t.theta_den::BIGINT AS theta_den FROM read_csv('''
            || replace(p.folder, '''', '''''')
            || '/value-thresholds.csv'', header = true, auto_detect = false, delim = '','', '
            || 'quote = ''"'', escape = ''"'', columns = {'
            || CASE WHEN p.of_several THEN '''quarter'': ''VARCHAR'', ' ELSE '' END
            || '''value'': ''VARCHAR'', ''theta_num'': ''VARCHAR'', ''theta_den'': ''VARCHAR''}) '
            || 'AS t'
            || CASE
                WHEN p.of_several
                    THEN ' WHERE t.quarter = ''' || replace(p.quarter, '''', '''''') || ''''
                ELSE ''
            END,
            ' UNION ALL '
        )
    FROM srsql_internal.published AS p
);

CREATE TABLE srsql_internal.published_threshold AS
SELECT
    t.release_id,
    t.term,
    arg_min(struct_pack(num := t.theta_num, den := t.theta_den), t.theta_num / t.theta_den) AS theta
FROM query(getvariable('srsql_query')) AS t
GROUP BY t.release_id, t.term;

SET VARIABLE srsql_query = (
    SELECT
        string_agg(
            'SELECT ''' || f.dataset || ''' AS dataset, t.attribute, t.node, '
            || 'nullif(t.parent, '''') AS parent FROM read_csv('''
            || replace(f.folder, '''', '''''')
            || '/value-hierarchies.csv'', header = true, auto_detect = false, delim = '','', '
            || 'quote = ''"'', escape = ''"'', columns = {''attribute'': ''VARCHAR'', '
            || '''node'': ''VARCHAR'', ''parent'': ''VARCHAR''}) AS t',
            ' UNION '
        )
    FROM (
        SELECT DISTINCT p.folder, replace(p.dataset, '''', '''''') AS dataset
        FROM srsql_internal.published AS p
    ) AS f
);
