-- The uniform row in which every check and every metric is told, written once: release, measure,
-- scope, violating, total, ratio, threshold, passed. A macro ends in SELECT unnest(row).

-- What:    the row itself. violating: how much breaks the bound, or what is measured; total: of how
--          much; ratio: their quotient, or a figure of its own; threshold, passed: NULL where
--          nothing is bounded.
CREATE OR REPLACE MACRO srsql.uniform_row(
    release_id, measure, scope, violating, total, ratio, threshold, passed
) AS
struct_pack(
    release := release_id::INTEGER,
    measure := measure::VARCHAR,
    scope := scope::VARCHAR,
    violating := violating::DOUBLE,
    total := total::DOUBLE,
    ratio := ratio::DOUBLE,
    threshold := threshold::DOUBLE,
    passed := passed::BOOLEAN
);

-- What:    the row of a check: it passes where nothing is violating.
CREATE OR REPLACE MACRO srsql.check_row(
    release_id, measure, scope, violating, total, threshold
) AS
srsql.uniform_row(
    release_id,
    measure,
    scope,
    violating,
    total,
    violating / nullif(total, 0),
    threshold,
    violating = 0
);

-- What:    the row of a metric, which bounds nothing.
CREATE OR REPLACE MACRO srsql.metric_row(release_id, measure, scope, violating, total) AS
srsql.uniform_row(
    release_id,
    measure,
    scope,
    violating,
    total,
    violating / nullif(total, 0),
    NULL,
    NULL
);
