-- Step of measuring a release: how well its cases can be linked to their records, with and without
-- medical knowledge. Reads the catalog, srsql_link_release(release_id) and
-- srsql_link_knowledge(term, row_no, position, low, high); fills srsql_link_risk (uniform rows).

CREATE OR REPLACE TEMP TABLE srsql_link_own_box AS
SELECT o.case_no, o.position, o.low, o.high
FROM srsql.original_qid($release_id::INTEGER) AS o;

CREATE OR REPLACE TEMP TABLE srsql_link_published_box AS
SELECT p.case_no, p.position, p.low, p.high
FROM srsql.released_qid($release_id::INTEGER) AS p;

CREATE OR REPLACE TEMP TABLE srsql_link_own AS
SELECT t.case_no, t.tuple_no FROM srsql.qid_tuples('temp.main.srsql_link_own_box') AS t;

CREATE OR REPLACE TEMP TABLE srsql_link_published AS
SELECT t.case_no, t.tuple_no FROM srsql.qid_tuples('temp.main.srsql_link_published_box') AS t;

CREATE OR REPLACE TEMP TABLE srsql_link_own_value AS
SELECT v.tuple_no, v.position, v.low, v.high
FROM srsql.tuple_values('temp.main.srsql_link_own_box', 'temp.main.srsql_link_own') AS v;

CREATE OR REPLACE TEMP TABLE srsql_link_published_value AS
SELECT v.tuple_no, v.position, v.low, v.high
FROM srsql.tuple_values(
    'temp.main.srsql_link_published_box', 'temp.main.srsql_link_published'
) AS v;

CREATE OR REPLACE TEMP TABLE srsql_link_attribute AS
SELECT a.position, CASE WHEN a.kind = 'numeric' THEN a.span ELSE 0 END AS span
FROM srsql.attribute AS a
WHERE a.release_id = $release_id::INTEGER;

CREATE OR REPLACE TEMP TABLE srsql_link_distance AS
SELECT d.position, d.own, d.published, d.apart, d.united
FROM srsql.node_distance($release_id::INTEGER) AS d;

CREATE OR REPLACE TEMP TABLE srsql_link_pair AS
SELECT n.own_no, n.published_no
FROM srsql.nearest(
    'temp.main.srsql_link_own',
    'temp.main.srsql_link_own_value',
    'temp.main.srsql_link_published',
    'temp.main.srsql_link_published_value',
    'temp.main.srsql_link_attribute',
    'temp.main.srsql_link_distance'
) AS n;

-- Cells: published records of equal QID that show the same of the diseases one knows about.
CREATE OR REPLACE TEMP TABLE srsql_link_telling AS
SELECT t.case_no, t.term_no
FROM srsql.telling_terms(
    $release_id::INTEGER,
    'temp.main.srsql_link_knowledge'
) AS t;

CREATE OR REPLACE TEMP TABLE srsql_link_signature AS
SELECT s.case_no, s.signature_no, s.term_nos
FROM srsql.signatures('temp.main.srsql_link_telling') AS s;

CREATE OR REPLACE TEMP TABLE srsql_link_place AS
SELECT
    p.case_no,
    p.tuple_no AS published_no,
    coalesce(s.signature_no, 0) AS signature_no,
    (dense_rank() OVER (ORDER BY p.tuple_no, coalesce(s.signature_no, 0)) - 1)::INTEGER AS cell_no
FROM temp.main.srsql_link_published AS p
LEFT JOIN temp.main.srsql_link_signature AS s ON p.case_no = s.case_no;

CREATE OR REPLACE TEMP TABLE srsql_link_cell AS
SELECT p.cell_no, p.published_no, p.signature_no, count(*) AS cases
FROM temp.main.srsql_link_place AS p
GROUP BY p.cell_no, p.published_no, p.signature_no;

CREATE OR REPLACE TEMP TABLE srsql_link_case AS
SELECT p.case_no, o.tuple_no AS own_no, p.cell_no
FROM temp.main.srsql_link_place AS p
INNER JOIN temp.main.srsql_link_own AS o ON p.case_no = o.case_no;

CREATE OR REPLACE TEMP TABLE srsql_link_term AS
SELECT p.cell_no, c.term_no, count(*) AS cases
FROM srsql.case_term AS c
INNER JOIN srsql.threshold AS t ON c.release_id = t.release_id AND c.term_no = t.term_no
INNER JOIN temp.main.srsql_link_place AS p ON c.case_no = p.case_no
WHERE c.release_id = $release_id::INTEGER AND c.direct AND t.released
GROUP BY p.cell_no, c.term_no;

CREATE OR REPLACE TEMP TABLE srsql_link_candidate AS
SELECT n.own_no, c.cell_no
FROM temp.main.srsql_link_pair AS n
INNER JOIN temp.main.srsql_link_cell AS c ON n.published_no = c.published_no;

-- The same for one who knows which diseases go with which sex or age.
CREATE OR REPLACE TEMP TABLE srsql_link_disease AS
SELECT DISTINCT t.term_no, h.term
FROM temp.main.srsql_link_telling AS t
INNER JOIN srsql.threshold AS h ON t.term_no = h.term_no
WHERE h.release_id = $release_id::INTEGER;

CREATE OR REPLACE TEMP TABLE srsql_link_signature_term AS
SELECT DISTINCT s.signature_no, unnest(s.term_nos) AS term_no
FROM temp.main.srsql_link_signature AS s;

CREATE OR REPLACE TEMP TABLE srsql_link_contradicted AS
SELECT x.own_no, x.term_no
FROM srsql.contradictions(
    'temp.main.srsql_link_own_value',
    'temp.main.srsql_link_knowledge',
    'temp.main.srsql_link_disease'
) AS x;

CREATE OR REPLACE TEMP TABLE srsql_link_narrowed AS
SELECT n.own_no, n.cell_no
FROM srsql.narrowed_candidates(
    'temp.main.srsql_link_candidate',
    'temp.main.srsql_link_cell',
    'temp.main.srsql_link_signature_term',
    'temp.main.srsql_link_contradicted'
) AS n;

CREATE OR REPLACE TEMP TABLE srsql_link_risk AS
SELECT r.*
FROM srsql.record_risk(
    $release_id::INTEGER,
    'rr',
    'temp.main.srsql_link_case',
    'temp.main.srsql_link_candidate',
    'temp.main.srsql_link_cell'
) AS r
UNION ALL
SELECT r.*
FROM srsql.record_risk(
    $release_id::INTEGER,
    'rr_medical',
    'temp.main.srsql_link_case',
    'temp.main.srsql_link_narrowed',
    'temp.main.srsql_link_cell'
) AS r
UNION ALL
SELECT r.*
FROM srsql.attribute_risk(
    $release_id::INTEGER,
    'ar_rev',
    'temp.main.srsql_link_case',
    'temp.main.srsql_link_candidate',
    'temp.main.srsql_link_cell',
    'temp.main.srsql_link_term'
) AS r
UNION ALL
SELECT r.*
FROM srsql.attribute_risk(
    $release_id::INTEGER,
    'ar_medical',
    'temp.main.srsql_link_case',
    'temp.main.srsql_link_narrowed',
    'temp.main.srsql_link_cell',
    'temp.main.srsql_link_term'
) AS r;

INSERT INTO temp.main.srsql_link_risk
SELECT b.*
FROM srsql.knowledge_bias('temp.main.srsql_link_risk', 'rr', 'rr_medical', 'rr_bias') AS b
UNION ALL
SELECT b.*
FROM srsql.knowledge_bias('temp.main.srsql_link_risk', 'ar_rev', 'ar_medical', 'ar_bias') AS b;
