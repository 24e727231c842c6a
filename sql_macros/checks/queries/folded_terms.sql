-- Which releases are read by folded terms.

-- name: releases
-- Those of a series that are out, of one quarter ($quarter) or of all: quarter, release, schema.
SELECT r.quarter, r.release_id, r.schema_name
FROM srsql.release AS r
WHERE
    r.dataset = $dataset
    AND r.series = $series
    AND r.status = 'released'
    AND r.model <> 'imported'
    AND ($quarter::VARCHAR IS NULL OR r.quarter = $quarter)
ORDER BY r.quarter;
