-- Super-records of a lake are made bucket by bucket; their cases have numbers within their bucket
-- until all have come back.

-- name: knowledge
-- External knowledge of a release ($release_id).
SELECT e.release_id, e.drug, e.disease, e.drug_key, e.disease_key
FROM srsql.external_knowledge AS e
WHERE e.release_id = $release_id
ORDER BY e.drug, e.disease;

-- name: forget_withdrawn
-- Where a bucket is carried: whom another one had withdrawn.
DELETE FROM srsql.deleted_case;

-- name: withdrawn
-- Where a bucket is carried: the cases ($cases of $dataset) that a list withdrew.
INSERT INTO srsql.deleted_case
SELECT $dataset, d.case_id, 0
FROM (SELECT unnest($cases::VARCHAR[]) AS case_id) AS d;

-- name: forget_knowledge
-- Where a bucket is carried: what another one was told.
DELETE FROM srsql.external_knowledge;

-- name: known
-- Where a bucket is carried: external knowledge.
INSERT INTO srsql.external_knowledge
SELECT e.release_id, e.drug, e.disease, e.drug_key, e.disease_key
FROM temp.main.srsql_knowledge AS e;

-- name: found
-- Where a bucket ($part) is carried: what comes back of it, each table as a list.
SELECT
    $part::INTEGER AS part,
    (
        SELECT
            list(struct_pack(case_no := c.case_no, report_id := c.report_id, case_id := c.case_id))
        FROM temp.main.srsql_case_report AS c
    ) AS reports,
    (
        SELECT list(struct_pack(case_no := c.case_no, case_id := c.case_id, reports := c.reports))
        FROM temp.main.srsql_case AS c
    ) AS cases,
    (
        SELECT
            list(struct_pack(
                case_no := b.case_no, position := b.position, low := b.low, high := b.high
            ))
        FROM temp.main.srsql_box AS b
    ) AS boxes,
    (
        SELECT
            list(struct_pack(
                case_no := t.case_no,
                attribute := w.attribute,
                text := w.text,
                term := w.term,
                weight := t.weight,
                direct := t.direct,
                shown := t.shown
            ))
        FROM temp.main.srsql_case_word AS t
        INNER JOIN temp.main.srsql_word AS w ON t.word_no = w.word_no
    ) AS texts,
    (
        SELECT
            list(struct_pack(
                case_id := s.case_id,
                attribute := s.attribute,
                symptoms := s.symptoms,
                spellings := s.spellings
            ))
        FROM temp.main.srsql_symptoms AS s
    ) AS symptoms,
    (
        SELECT list(struct_pack(report_id := d.report_id, case_id := d.case_id))
        FROM temp.main.srsql_deleted AS d
    ) AS deleted;

-- name: take_reports
-- Its reports.
SELECT p.part, unnest(p.reports, recursive := true) FROM temp.main.srsql_carried AS p;

-- name: take_cases
-- Its cases.
SELECT p.part, unnest(p.cases, recursive := true) FROM temp.main.srsql_carried AS p;

-- name: take_boxes
-- The values of their quasi-identifiers.
SELECT p.part, unnest(p.boxes, recursive := true) FROM temp.main.srsql_carried AS p;

-- name: take_texts
-- Their sensitive values.
SELECT p.part, unnest(p.texts, recursive := true) FROM temp.main.srsql_carried AS p;

-- name: take_symptoms
-- How many of them each case has of each attribute.
SELECT unnest(p.symptoms, recursive := true) FROM temp.main.srsql_carried AS p;

-- name: take_deleted
-- The reports of withdrawn cases.
SELECT unnest(p.deleted, recursive := true) FROM temp.main.srsql_carried AS p;
