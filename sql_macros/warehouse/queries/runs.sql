-- The commands that wrote the warehouse.

-- name: start
-- A row of a command that begins; its number.
INSERT INTO srsql.run
SELECT
    coalesce(max(r.run_id), 0) + 1,
    $command,
    $parameters::JSON,
    $started::TIMESTAMP,
    NULL,
    NULL,
    $software,
    $host,
    $pid
FROM srsql.run AS r
RETURNING run_id;

-- name: complete
-- How it ended.
UPDATE srsql.run
SET ended = $ended::TIMESTAMP, exit_code = $exit_code
WHERE run_id = $run_id;

-- name: runs
-- The last $most, the latest first.
SELECT
    r.run_id,
    r.command,
    r.parameters::VARCHAR AS parameters,
    r.started,
    r.ended,
    r.exit_code,
    r.software,
    r.host,
    r.pid
FROM srsql.run AS r
ORDER BY r.run_id DESC
LIMIT $most;
