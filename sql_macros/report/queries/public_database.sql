-- The database in memory that the public edition is made in: it holds copies of released views and
-- the few catalog rows by which the engine finds them.

-- name: limits
-- The memory limit and the number of threads of the warehouse that is copied from.
SELECT current_setting('memory_limit') AS memory_limit, current_setting('threads') AS threads;

-- name: add_series
-- The series, without a key; its ids are taken as they are.
INSERT INTO srsql.series VALUES ($dataset, $series, 'released', $schema, NULL, 'original');

-- name: add_release
-- A release with the schema of its views, and nothing of how it was made.
INSERT INTO srsql.release VALUES (
    $number, $dataset, $series, $quarter, 'released', 'released', 0, 0, 1, $schema, NULL, '{}'
);
