-- Suspected duplicates: what is compared, and what of it is kept.

-- name: rare_terms
-- The records with their rare terms (of at most one case in $rare) and their rarest one, as the
-- linkage takes them. Reads records(case_id, drugs, reactions, ...), off the warehouse.
WITH
few AS (
    SELECT greatest(2, count(f.case_id) // $rare) AS cases FROM memory.main.found AS f
),

held AS MATERIALIZED (
    SELECT f.case_id, 'drug' AS kind, unnest(f.drugs) AS term FROM memory.main.found AS f
    UNION ALL
    SELECT f.case_id, 'reaction' AS kind, unnest(f.reactions) AS term FROM memory.main.found AS f
),

counted AS (
    SELECT h.kind, h.term, count(*) AS cases FROM held AS h GROUP BY h.kind, h.term
),

rare AS (
    SELECT
        h.case_id,
        list_sort(list(h.term) FILTER (WHERE h.kind = 'drug')) AS rare_drugs,
        arg_min(h.term, (c.cases, h.term)) FILTER (WHERE h.kind = 'drug') AS rarest_drug,
        list_sort(list(h.term) FILTER (WHERE h.kind = 'reaction')) AS rare_reactions,
        arg_min(h.term, (c.cases, h.term)) FILTER (WHERE h.kind = 'reaction') AS rarest_reaction
    FROM held AS h
    INNER JOIN counted AS c ON h.kind = c.kind AND h.term = c.term
    WHERE c.cases <= (SELECT w.cases FROM few AS w)
    GROUP BY h.case_id
)

SELECT f.*, r.rare_drugs, r.rarest_drug, r.rare_reactions, r.rarest_reaction
FROM memory.main.found AS f
LEFT JOIN rare AS r ON f.case_id = r.case_id
ORDER BY f.case_id;

-- name: ingestions
-- The ingestions of a dataset that are not replaced, and the periods of which they are; those of
-- dumps that brought something late are among them.
SELECT i.ingestion_id, i.quarter
FROM srsql.ingestion AS i
WHERE
    i.dataset = $dataset
    AND (
        NOT i.replaced
        OR i.ingestion_id IN (
            SELECT d.ingestion_id FROM srsql.dump_period AS d WHERE d.label IS NOT NULL
        )
    )
ORDER BY i.ingestion_id;

-- name: forget_pairs
-- Makes room for what a search finds.
DELETE FROM srsql.suspected_duplicate AS p WHERE p.dataset = $dataset;

-- name: forget_search
-- The same of the search itself.
DELETE FROM srsql.duplicate_search AS s WHERE s.dataset = $dataset;

-- name: store_pairs
-- Keeps the pairs.
INSERT INTO srsql.suspected_duplicate
SELECT $dataset, p.case_id, p.other_case_id, p.probability
FROM (
    SELECT
        unnest($cases::VARCHAR[]) AS case_id,
        unnest($others::VARCHAR[]) AS other_case_id,
        unnest($probabilities::DOUBLE[]) AS probability
) AS p
ORDER BY p.case_id, p.other_case_id;

-- name: store_search
-- Keeps what was searched, and how.
INSERT INTO srsql.duplicate_search
VALUES (
    $dataset, $ingestions::INTEGER[], $cases, $least, $seed, $library, $model::JSON
);

-- name: clusters
-- How many clusters there are at $at_least, and how many cases they have; the largest.
WITH
pairs AS (
    SELECT p.case_id, p.other_case_id, p.probability
    FROM srsql.suspected_duplicate AS p WHERE p.dataset = $dataset
),

sizes AS (
    SELECT c.person, count(*) AS cases
    FROM srsql.person_clusters('pairs', $at_least) AS c GROUP BY c.person
)

SELECT
    (SELECT count(*) FROM pairs AS p WHERE p.probability >= $at_least) AS pairs,
    count(*) AS clusters,
    coalesce(sum(s.cases), 0)::BIGINT AS cases,
    coalesce(max(s.cases), 0) AS largest
FROM sizes AS s;

-- name: unseen
-- Periods up to $quarter of which the data there are now were not searched.
SELECT i.quarter
FROM srsql.ingestion AS i
WHERE
    i.dataset = $dataset
    AND (
        NOT i.replaced
        OR i.ingestion_id IN (
            SELECT d.ingestion_id FROM srsql.dump_period AS d WHERE d.label IS NOT NULL
        )
    )
    AND i.quarter <= $quarter
    AND NOT EXISTS (
        SELECT 1 FROM srsql.duplicate_search AS s
        WHERE s.dataset = i.dataset AND list_contains(s.ingestions, i.ingestion_id)
    )
ORDER BY i.quarter;

-- name: suppressed
-- Whether a release of the series of release $release_id that is or was out suppressed a value.
SELECT count(*) > 0
FROM srsql.release AS own
INNER JOIN srsql.exposed_release AS e ON own.dataset = e.dataset AND own.series = e.series
INNER JOIN srsql.suppressed AS s ON e.release_id = s.release_id
WHERE own.release_id = $release_id;
