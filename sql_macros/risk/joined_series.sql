-- What an attacker finds who has every series of a warehouse and joins the rows of a quarter that
-- link (SPEC sections 5 and 9). Boxes are those of audit/exclusion.sql.

-- What:    what the releases of a quarter tell together of each row: the region that it has in
--          common with the rows of the others that it links to.
-- Inputs:  cases(release_id, case_no, box); links(release_id, case_no, other_id, counterpart), both
--          ways, at most one per case and other release.
-- Outputs: release_id, case_no, box (one that covers nothing where the regions do not overlap),
--          links: rows that it was joined with. Links of links are not followed.
-- Source:  SPEC section 18 (linkability); SPEC section 9 (scope = match).
CREATE OR REPLACE MACRO srsql.joined_boxes(cases, links) AS TABLE
WITH
boxes AS (
    SELECT c.release_id, c.case_no, c.box, 0 AS links FROM query_table(cases) AS c
    UNION ALL
    SELECT l.release_id, l.case_no, o.box, 1 AS links
    FROM query_table(links) AS l
    INNER JOIN query_table(cases) AS o
        ON l.other_id = o.release_id AND l.counterpart = o.case_no
),

numbers AS (
    SELECT
        b.release_id,
        b.case_no,
        b.links,
        unnest(b.box) AS bound,
        generate_subscripts(b.box, 1) AS place
    FROM boxes AS b
),

least_numbers AS (
    SELECT n.release_id, n.case_no, n.place, min(n.bound) AS bound, sum(n.links) AS links
    FROM numbers AS n
    GROUP BY n.release_id, n.case_no, n.place
)

SELECT
    m.release_id,
    m.case_no,
    list(m.bound ORDER BY m.place) AS box,
    max(m.links)::INTEGER AS links
FROM least_numbers AS m
GROUP BY m.release_id, m.case_no;

-- What:    how many cases have a region that covers a target.
-- Inputs:  asks(ask_no, box): targets; regions(box): one row per case.
-- Outputs: ask_no, candidates; no row for a target that no region covers.
-- Source:  SPEC section 9 (scope = match).
CREATE OR REPLACE MACRO srsql.candidate_counts(asks, regions) AS TABLE
WITH
candidate_place AS MATERIALIZED (
    SELECT
        row_number() OVER () AS place_no,
        r.box,
        list_transform(r.box, LAMBDA x: x < srsql.unbounded_end()) AS pattern,
        count(*) AS cases
    FROM query_table(regions) AS r
    WHERE srsql.overlaps(r.box, r.box)  -- else it covers nothing
    GROUP BY r.box
),

candidate_view AS MATERIALIZED (
    SELECT p.* FROM srsql.projected(asks, 'candidate_place') AS p
),

candidate_point AS MATERIALIZED (
    SELECT row_number() OVER () AS point_no, v.pattern, v.box
    FROM candidate_view AS v
    GROUP BY v.pattern, v.box
),

covered AS MATERIALIZED (
    SELECT c.point_no, sum(p.cases) AS cases
    FROM srsql.covering('candidate_point', 'candidate_place') AS c
    INNER JOIN candidate_place AS p ON c.place_no = p.place_no
    GROUP BY c.point_no
)

SELECT v.ask_no, sum(c.cases)::BIGINT AS candidates
FROM candidate_view AS v
INNER JOIN candidate_point AS p ON v.pattern = p.pattern AND v.box = p.box
INNER JOIN covered AS c ON p.point_no = c.point_no
GROUP BY v.ask_no;

-- What:    how many cases that show the same region as a target have one that covers it.
-- Inputs:  asks(ask_no, own_box, box): targets and the region that the release shows of them;
--          regions(own_box, box): one row per case.
-- Outputs: ask_no, candidates; no row for a target without any. The first positions are written
--          out, as in srsql.overlaps.
-- Source:  SPEC section 9 (scope = group, by what is published: groups of one region are one).
CREATE OR REPLACE MACRO srsql.group_candidate_counts(asks, regions) AS TABLE
WITH
kinds AS MATERIALIZED (
    SELECT r.own_box, r.box, count(*) AS cases
    FROM query_table(regions) AS r
    GROUP BY r.own_box, r.box
)

SELECT a.ask_no, sum(k.cases)::BIGINT AS candidates
FROM query_table(asks) AS a
INNER JOIN kinds AS k
    ON
        a.own_box = k.own_box
        AND coalesce(k.box[1], 0) >= coalesce(a.box[1], 0)
        AND coalesce(k.box[2], 0) >= coalesce(a.box[2], 0)
        AND coalesce(k.box[3], 0) >= coalesce(a.box[3], 0)
        AND coalesce(k.box[4], 0) >= coalesce(a.box[4], 0)
        AND coalesce(k.box[5], 0) >= coalesce(a.box[5], 0)
        AND coalesce(k.box[6], 0) >= coalesce(a.box[6], 0)
WHERE len(a.box) <= 6 OR srsql.covers(k.box, a.box)
GROUP BY a.ask_no;

-- What:    cases that are left with fewer than k candidates.
-- Inputs:  of_release, of_scope: the first columns of the row; asks(ask_no, cases): distinct
--          targets; found(ask_no, candidates): see candidate_counts; k: least number.
-- Outputs: a uniform row: violating = cases with fewer than k, total = cases, threshold = k.
CREATE OR REPLACE MACRO srsql.too_few_candidates(of_release, of_scope, asks, found, k) AS TABLE
WITH
figures AS (
    SELECT
        coalesce(sum(a.cases) FILTER (WHERE coalesce(f.candidates, 0) < k), 0) AS few,
        coalesce(sum(a.cases), 0) AS total
    FROM query_table(asks) AS a
    LEFT JOIN query_table(found) AS f ON a.ask_no = f.ask_no
)

SELECT unnest(srsql.check_row(of_release, 'few_candidates', of_scope, f.few, f.total, k))
FROM figures AS f;
