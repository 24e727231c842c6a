-- Super-records: all reports of a case in one period as one record (SPEC section 2).
-- Parameters name tables; `query_table` reads them.

-- What:    the hull of the known values of each case and QID.
-- Inputs:  report_boxes(case_no, position, low, high): one row per report and QID, NULL = missing.
-- Outputs: case_no, position, low, high; NULL where no report of the case knows the value.
-- Source:  Lin 2016, "combined record"; SPEC section 2.
CREATE OR REPLACE MACRO srsql.super_record(report_boxes) AS TABLE
SELECT
    b.case_no,
    b.position,
    min(b.low) AS low,
    max(b.high) AS high
FROM query_table(report_boxes) AS b
GROUP BY b.case_no, b.position;

-- What:    the lowest common ancestor of each categorical interval, as the ancestor's interval.
-- Inputs:  boxes(position, low, high, ...); nodes(position, pre, last): the categorical QIDs.
-- Outputs: the rows of boxes, categorical ends widened to their node; numeric ends as they are.
-- Source:  Lin 2016, Definition 4 (h(C, g)).
CREATE OR REPLACE MACRO srsql.enclosing_node(boxes, nodes) AS TABLE
WITH
spans AS (
    SELECT DISTINCT b.position, b.low, b.high FROM query_table(boxes) AS b WHERE b.low IS NOT NULL
),

ancestors AS (
    SELECT
        s.position,
        s.low,
        s.high,
        max(n.pre) AS node_low,
        min(n.last) AS node_high
    FROM spans AS s
    INNER JOIN query_table(nodes) AS n
        ON s.position = n.position AND n.pre <= s.low AND n.last >= s.high
    GROUP BY s.position, s.low, s.high
)

SELECT b.* REPLACE (
    coalesce(a.node_low, b.low) AS low,
    coalesce(a.node_high, b.high) AS high
)
FROM query_table(boxes) AS b
LEFT JOIN ancestors AS a ON b.position = a.position AND b.low = a.low AND b.high = a.high;

-- What:    which QIDs a case knows, as a bit mask over positions.
-- Inputs:  boxes(case_no, position, low, high).
-- Outputs: case_no, known.
CREATE OR REPLACE MACRO srsql.known_qids(boxes) AS TABLE
SELECT
    b.case_no,
    bit_or(CASE WHEN b.low IS NULL THEN 0 ELSE 1 << b.position END)::INTEGER AS known
FROM query_table(boxes) AS b
GROUP BY b.case_no;

-- What:    external knowledge of a release by keys. A drug has several spellings where the file has
--          them: of a disease the greatest share over these counts, the least 1 / diseases.
-- Inputs:  of_release.
-- Outputs: drug, disease, diseases: how many a spelling of the drug suggests, at least.
-- Source:  SPEC section 2 (term: E).
CREATE OR REPLACE MACRO srsql.known_diseases(of_release) AS TABLE
WITH
pairs AS (
    SELECT DISTINCT e.drug AS spelling, e.drug_key, e.disease_key
    FROM srsql.external_knowledge AS e
    WHERE e.release_id = of_release
),

breadth AS (
    SELECT p.spelling, p.drug_key, count(*) AS diseases
    FROM pairs AS p
    GROUP BY p.spelling, p.drug_key
)

SELECT p.drug_key AS drug, p.disease_key AS disease, min(b.diseases) AS diseases
FROM pairs AS p
INNER JOIN breadth AS b ON p.spelling = b.spelling AND p.drug_key = b.drug_key
GROUP BY p.drug_key, p.disease_key;

-- What:    p(r, s) by external knowledge: 1 - prod(1 - 1/|E(d)|) over drugs d of r with s in E(d).
-- Inputs:  case_drugs(case_no, drug), distinct; knowledge(drug, disease, diseases: |E(d)|),
--          distinct; unit: what a certain value weighs.
-- Outputs: case_no, disease, weight in 1 / unit, rounded up.
-- Source:  Lin 2016, Definition 1; SPEC section 7.
CREATE OR REPLACE MACRO srsql.inferred_terms(case_drugs, knowledge, unit) AS TABLE
WITH
evidence AS (
    SELECT
        c.case_no,
        e.disease,
        list(e.diseases ORDER BY e.diseases) AS sizes
    FROM query_table(case_drugs) AS c
    INNER JOIN query_table(knowledge) AS e ON c.drug = e.drug
    GROUP BY c.case_no, e.disease
),

weights AS (
    SELECT s.sizes, srsql_knowledge_weight(s.sizes, unit::BIGINT) AS weight
    FROM (SELECT DISTINCT e.sizes FROM evidence AS e) AS s
)

SELECT
    e.case_no,
    e.disease,
    w.weight
FROM evidence AS e
INNER JOIN weights AS w ON e.sizes = w.sizes;
