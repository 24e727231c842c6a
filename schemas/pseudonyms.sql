-- The pseudonyms of all series: like the catalog private to the steward, and more than the rest of
-- it, since who has this table knows everybody.

-- What was assigned, unique in its series; a row is never changed.
-- quarter: the only one that it stands for (NULL: every one of the series). kind: case or report;
-- case_id: the case, or the report's when the pseudonym was assigned.
CREATE TABLE IF NOT EXISTS srsql.id_pseudonym (
    dataset VARCHAR NOT NULL,
    series VARCHAR NOT NULL,
    quarter VARCHAR,
    kind VARCHAR NOT NULL,
    id VARCHAR NOT NULL,
    case_id VARCHAR NOT NULL,
    pseudonym BIGINT NOT NULL
);
