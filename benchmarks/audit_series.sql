-- One release of a synthetic series in the catalog. Parameter: $id. Reads the frames
-- bench_case(case_no, case_id, group_id, is_new, age, wt, sex, age_low, age_high, ...), where -1
-- and NaN are missing values, and bench_term(case_no, term_no). k = 5; theta = 1 for the most
-- frequent tenth of 15,000 terms, else 2/5.

INSERT INTO srsql.release
VALUES (
    $id, 'bench', 'main', (2000 + $id)::VARCHAR, 'bench', 'released', 5, 5, 1, '', NULL, '{}'
);

INSERT INTO srsql.attribute
VALUES ($id, 0, 'age', 'numeric', 120), ($id, 1, 'wt', 'numeric', 400),
($id, 2, 'sex', 'categorical', 0);

INSERT INTO srsql.member
SELECT $id, c.case_no, c.case_id, c.group_id, 1, c.is_new FROM bench_case AS c;

INSERT INTO srsql.case_qid
SELECT $id, c.case_no, 0, nullif(c.age, -1), nullif(c.age, -1), false FROM bench_case AS c
UNION ALL
SELECT $id, c.case_no, 1, nullif(c.wt, -1), nullif(c.wt, -1), false FROM bench_case AS c
UNION ALL
SELECT $id, c.case_no, 2, nullif(c.sex, -1), nullif(c.sex, -1), false FROM bench_case AS c;

-- Both sexes in a group: the root, [0, 2].
INSERT INTO srsql.region
WITH ends AS (
    SELECT DISTINCT
        c.group_id,
        unnest([0, 1, 2]) AS position,
        unnest([c.age_low, c.wt_low, if(c.sex_low <> c.sex_high, 0, c.sex_low)]) AS low,
        unnest([c.age_high, c.wt_high, c.sex_high]) AS high
    FROM bench_case AS c
)

SELECT
    $id,
    e.group_id,
    e.position,
    if(isnan(e.low), NULL, e.low),
    if(isnan(e.high), NULL, e.high)
FROM ends AS e;

INSERT INTO srsql.threshold
SELECT $id, r.n, 'TERM ' || r.n, if(r.n < 1500, 1, 2), if(r.n < 1500, 1, 5), 0, true
FROM range(15000) AS r (n);

-- No group of k cases holds a term more often than theta allows.
INSERT INTO srsql.case_term
SELECT $id, t.case_no, t.term_no, 1, true
FROM bench_term AS t
INNER JOIN bench_case AS c ON t.case_no = c.case_no
QUALIFY
    t.term_no < 1500
    OR row_number() OVER (PARTITION BY c.group_id, t.term_no ORDER BY t.case_no) <= 2;
