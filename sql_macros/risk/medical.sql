-- Medical background knowledge: what a disease says of a patient's QID. Parameters name tables;
-- `query_table` reads them.

-- What:    the diseases that knowledge speaks of, which each case shows.
-- Inputs:  of_release; knowledge(term, row_no, position, low, high), terms normalized.
-- Outputs: case_no, term_no; only values of the case itself that are published.
CREATE OR REPLACE MACRO srsql.telling_terms(of_release, knowledge) AS TABLE
WITH known AS (
    SELECT DISTINCT k.term FROM query_table(knowledge) AS k
)

SELECT c.case_no, c.term_no
FROM srsql.case_term AS c
INNER JOIN srsql.member AS m ON c.release_id = m.release_id AND c.case_no = m.case_no
INNER JOIN srsql.threshold AS t ON c.release_id = t.release_id AND c.term_no = t.term_no
INNER JOIN known AS k ON t.term = k.term
WHERE c.release_id = of_release AND c.direct AND t.released;

-- What:    cases that show the same of those diseases, as one signature.
-- Inputs:  telling(case_no, term_no).
-- Outputs: case_no, signature_no (1, 2 ...), term_nos; a case that shows none has no row.
CREATE OR REPLACE MACRO srsql.signatures(telling) AS TABLE
WITH listed AS (
    SELECT t.case_no, list(t.term_no ORDER BY t.term_no) AS term_nos
    FROM query_table(telling) AS t
    GROUP BY t.case_no
)

SELECT l.case_no, dense_rank() OVER (ORDER BY l.term_nos)::INTEGER AS signature_no, l.term_nos
FROM listed AS l;

-- What:    which diseases an original cannot have: it contradicts every row of the disease; it
--          contradicts a row if for some QID it lies outside all the row's intervals. A missing
--          value contradicts nothing.
-- Inputs:  own_values(tuple_no, position, low, high); knowledge(term, row_no, position, low,
--          high): the intervals of one row and position are alternatives, and so are the rows of a
--          disease; diseases(term_no, term): those that occur.
-- Outputs: own_no, term_no.
-- Source:  Wu 2022, section V.E.
CREATE OR REPLACE MACRO srsql.contradictions(own_values, knowledge, diseases) AS TABLE
WITH
judged AS (
    SELECT
        v.tuple_no,
        d.term_no,
        k.row_no,
        v.position,
        bool_or(v.low <= k.high AND v.high >= k.low) AS fits
    FROM query_table(own_values) AS v
    INNER JOIN query_table(knowledge) AS k ON v.position = k.position
    INNER JOIN query_table(diseases) AS d ON k.term = d.term
    GROUP BY v.tuple_no, d.term_no, k.row_no, v.position
),

refuted AS (
    SELECT DISTINCT j.tuple_no, j.term_no, j.row_no FROM judged AS j WHERE NOT j.fits
),

alternatives AS (
    SELECT d.term_no, count(DISTINCT k.row_no) AS rows_of_it
    FROM query_table(knowledge) AS k
    INNER JOIN query_table(diseases) AS d ON k.term = d.term
    GROUP BY d.term_no
)

SELECT r.tuple_no AS own_no, r.term_no
FROM refuted AS r
INNER JOIN alternatives AS a ON r.term_no = a.term_no
GROUP BY r.tuple_no, r.term_no, a.rows_of_it
HAVING count(*) = a.rows_of_it;

-- What:    the candidates that remain for one who knows which diseases the target cannot have.
-- Inputs:  candidates(own_no, cell_no); cells(cell_no, signature_no); signature_terms(signature_no,
--          term_no); contradicted(own_no, term_no).
-- Outputs: own_no, cell_no.
-- Source:  Wu 2022, section V.E; SPEC section 10.
CREATE OR REPLACE MACRO srsql.narrowed_candidates(
    candidates, cells, signature_terms, contradicted
) AS TABLE
WITH dropped AS (
    SELECT DISTINCT c.own_no, c.cell_no
    FROM query_table(candidates) AS c
    INNER JOIN query_table(cells) AS k ON c.cell_no = k.cell_no
    INNER JOIN query_table(signature_terms) AS s ON k.signature_no = s.signature_no
    INNER JOIN query_table(contradicted) AS x ON c.own_no = x.own_no AND s.term_no = x.term_no
)

SELECT c.own_no, c.cell_no
FROM query_table(candidates) AS c
ANTI JOIN dropped AS d ON c.own_no = d.own_no AND c.cell_no = d.cell_no;

-- What:    what knowledge adds to a risk: the difference of two uniform rows.
-- Inputs:  risks: uniform rows; plain, informed: the measures without and with knowledge; measure:
--          of the row that is made.
-- Outputs: a uniform row; violating and ratio are differences.
-- Source:  Wu 2022, Figs. 10 and 11 (bias of RR and AR).
CREATE OR REPLACE MACRO srsql.knowledge_bias(risks, plain, informed, measure) AS TABLE
SELECT
    p.release,
    measure AS measure,
    p.scope,
    i.violating - p.violating AS violating,
    p.total,
    i.ratio - p.ratio AS ratio,
    NULL::DOUBLE AS threshold,
    NULL::BOOLEAN AS passed
FROM query_table(risks) AS p
INNER JOIN query_table(risks) AS i ON p.release = i.release AND p.scope = i.scope
WHERE p.measure = plain AND i.measure = informed;
