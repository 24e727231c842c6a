-- Step: gives what the buckets of a lake have of their cases the numbers of the whole quarter.
-- Reads: case_report(case_no, report_id, case_id), bucket_case(part, case_no, case_id, reports),
--   bucket_box(part, case_no, position, low, high), bucket_text(part, case_no, attribute,
--   text, term, weight, direct, shown), word(word_no, key_no, attribute, text, term)
-- Writes: case(case_no, case_id, reports), box(case_no, position, low, high), case_word(case_no,
--   key_no, word_no, weight, direct, shown), bucket_number(part, bucket_no, case_no),
--   bucket_report, bucket_case, bucket_box, bucket_text
-- Source: SPEC section 17.

CREATE OR REPLACE TEMP TABLE srsql_bucket_number AS
WITH cases AS (
    SELECT DISTINCT r.case_no, r.case_id FROM temp.main.srsql_case_report AS r
)

SELECT b.part, b.case_no AS bucket_no, c.case_no
FROM temp.main.srsql_bucket_case AS b
INNER JOIN cases AS c ON b.case_id = c.case_id;

CREATE OR REPLACE TEMP TABLE srsql_case AS
SELECT n.case_no, b.case_id, b.reports
FROM temp.main.srsql_bucket_case AS b
INNER JOIN temp.main.srsql_bucket_number AS n ON b.part = n.part AND b.case_no = n.bucket_no;

CREATE OR REPLACE TEMP TABLE srsql_box AS
SELECT n.case_no, b.position, b.low, b.high
FROM temp.main.srsql_bucket_box AS b
INNER JOIN temp.main.srsql_bucket_number AS n ON b.part = n.part AND b.case_no = n.bucket_no;

CREATE OR REPLACE TEMP TABLE srsql_case_word AS
SELECT n.case_no, w.key_no, w.word_no, b.weight, b.direct, b.shown
FROM temp.main.srsql_bucket_text AS b
INNER JOIN temp.main.srsql_word AS w
    ON
        b.term = w.term
        AND b.attribute IS NOT DISTINCT FROM w.attribute
        AND b.text IS NOT DISTINCT FROM w.text
INNER JOIN temp.main.srsql_bucket_number AS n ON b.part = n.part AND b.case_no = n.bucket_no;

DROP TABLE temp.main.srsql_bucket_report;

DROP TABLE temp.main.srsql_bucket_case;

DROP TABLE temp.main.srsql_bucket_box;

DROP TABLE temp.main.srsql_bucket_text;

DROP TABLE temp.main.srsql_bucket_number;
