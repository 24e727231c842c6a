-- A database in memory that holds copies of released views, and the few catalog rows by which the
-- engine finds them: the public edition is made in one, and an artifact is asked in one.

-- name: limits
-- The memory limit and the number of threads of the warehouse that is copied from.
SELECT current_setting('memory_limit') AS memory_limit, current_setting('threads') AS threads;

-- name: add_series
-- The series, without its key; $key is empty where its ids are pseudonyms, missing elsewhere.
INSERT INTO srsql.series VALUES ($dataset, $series, 'released', $schema, $key, $ids);

-- name: add_release
-- A release with its model and the schema of its views, and nothing of how it was made.
INSERT INTO srsql.release VALUES (
    $number, $dataset, $series, $quarter, $model, 'released', 0, 0, 1, $schema, NULL, '{}'
);
