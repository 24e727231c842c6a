-- What a warehouse holds (srsql status).

-- name: quarters
-- Every ingested quarter, with what became of its records.
SELECT
    i.dataset,
    i.quarter,
    i.source,
    sum(f.records)::BIGINT AS records,
    sum(f.loaded)::BIGINT AS loaded,
    sum(f.rejected)::BIGINT AS rejected
FROM srsql.ingestion AS i
INNER JOIN srsql.ingested_file AS f ON i.ingestion_id = f.ingestion_id
WHERE NOT i.replaced
GROUP BY i.dataset, i.quarter, i.source
ORDER BY i.dataset, i.quarter;

-- name: releases
-- Every release, drafts and superseded ones included.
SELECT
    r.release_id,
    r.dataset,
    r.series,
    r.quarter,
    r.model,
    r.k,
    r.status,
    r.schema_name AS schema,
    s.ids,
    (r.private_manifest ->> '$.cases.released')::BIGINT AS released_cases,
    (r.private_manifest ->> '$.cases.withheld')::BIGINT AS withheld_cases
FROM srsql.release AS r
INNER JOIN srsql.series AS s ON r.dataset = s.dataset AND r.series = s.series
ORDER BY r.dataset, r.series, r.quarter, r.release_id;
