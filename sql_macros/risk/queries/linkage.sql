-- How well the cases of a release can be linked to their records, by what the step risk/linkage
-- found.
-- Source: Wu 2022, section V (RR, AR_rev, and what medical knowledge adds to them).

-- name: risks
-- The uniform rows. What the attacker knows of diseases comes in lists of the same length: an
-- interval of the QID at a position goes with a disease (normalized), by a row of the file.
WITH
link_knowledge AS MATERIALIZED (
    SELECT
        unnest($terms::VARCHAR[]) AS term,
        unnest($numbers::INTEGER[]) AS row_no,
        unnest($positions::INTEGER[]) AS position,
        unnest($lows::BIGINT[]) AS low,
        unnest($highs::BIGINT[]) AS high
),

-- Cells: published records of equal QID that show the same of the diseases one knows about.
link_telling AS MATERIALIZED (
    SELECT t.case_no, t.term_no
    FROM srsql.telling_terms($release_id::INTEGER, 'link_knowledge') AS t
),

link_signature AS MATERIALIZED (
    SELECT s.case_no, s.signature_no, s.term_nos
    FROM srsql.signatures('link_telling') AS s
),

link_place AS MATERIALIZED (
    SELECT
        p.case_no,
        p.own_no,
        p.published_no,
        coalesce(s.signature_no, 0) AS signature_no,
        (dense_rank() OVER (ORDER BY p.published_no, coalesce(s.signature_no, 0)) - 1)::INTEGER
            AS cell_no
    FROM temp.main.srsql_link_tuple AS p
    LEFT JOIN link_signature AS s ON p.case_no = s.case_no
),

link_cell AS MATERIALIZED (
    SELECT p.cell_no, p.published_no, p.signature_no, count(*) AS cases
    FROM link_place AS p
    GROUP BY p.cell_no, p.published_no, p.signature_no
),

link_case AS MATERIALIZED (
    SELECT p.case_no, p.own_no, p.cell_no FROM link_place AS p WHERE p.own_no IS NOT NULL
),

link_term AS MATERIALIZED (
    SELECT p.cell_no, c.term_no, count(*) AS cases
    FROM srsql.case_term AS c
    INNER JOIN srsql.threshold AS t ON c.release_id = t.release_id AND c.term_no = t.term_no
    INNER JOIN link_place AS p ON c.case_no = p.case_no
    WHERE c.release_id = $release_id::INTEGER AND c.direct AND t.released
    GROUP BY p.cell_no, c.term_no
),

link_candidate AS MATERIALIZED (
    SELECT n.own_no, c.cell_no
    FROM temp.main.srsql_link_pair AS n
    INNER JOIN link_cell AS c ON n.published_no = c.published_no
),

-- The same for one who knows which diseases go with which sex or age.
link_disease AS MATERIALIZED (
    SELECT DISTINCT t.term_no, h.term
    FROM link_telling AS t
    INNER JOIN srsql.threshold AS h ON t.term_no = h.term_no
    WHERE h.release_id = $release_id::INTEGER
),

link_signature_term AS MATERIALIZED (
    SELECT DISTINCT s.signature_no, unnest(s.term_nos) AS term_no
    FROM link_signature AS s
),

link_contradicted AS MATERIALIZED (
    SELECT x.own_no, x.term_no
    FROM srsql.contradictions(
        'temp.main.srsql_link_own_value',
        'link_knowledge',
        'link_disease'
    ) AS x
),

link_narrowed AS MATERIALIZED (
    SELECT n.own_no, n.cell_no
    FROM srsql.narrowed_candidates(
        'link_candidate',
        'link_cell',
        'link_signature_term',
        'link_contradicted'
    ) AS n
),

link_risk AS MATERIALIZED (
    SELECT r.*
    FROM srsql.record_risk(
        $release_id::INTEGER,
        'rr',
        'link_case',
        'link_candidate',
        'link_cell'
    ) AS r
    UNION ALL
    SELECT r.*
    FROM srsql.record_risk(
        $release_id::INTEGER,
        'rr_medical',
        'link_case',
        'link_narrowed',
        'link_cell'
    ) AS r
    UNION ALL
    SELECT r.*
    FROM srsql.attribute_risk(
        $release_id::INTEGER,
        'ar_rev',
        'link_case',
        'link_candidate',
        'link_cell',
        'link_term'
    ) AS r
    UNION ALL
    SELECT r.*
    FROM srsql.attribute_risk(
        $release_id::INTEGER,
        'ar_medical',
        'link_case',
        'link_narrowed',
        'link_cell',
        'link_term'
    ) AS r
)

SELECT r.* FROM link_risk AS r
UNION ALL
SELECT b.*
FROM srsql.knowledge_bias('link_risk', 'rr', 'rr_medical', 'rr_bias') AS b
UNION ALL
SELECT b.*
FROM srsql.knowledge_bias('link_risk', 'ar_rev', 'ar_medical', 'ar_bias') AS b;

-- name: telling_cases
-- How many released cases show a disease that is known of, $terms (normalized).
WITH link_knowledge AS MATERIALIZED (
    SELECT unnest($terms::VARCHAR[]) AS term
)

SELECT count(DISTINCT t.case_no) AS cases
FROM srsql.telling_terms($release_id::INTEGER, 'link_knowledge') AS t;
