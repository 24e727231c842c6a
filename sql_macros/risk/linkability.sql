-- Rows that link to the rows of another release. A case has a set of items, by its number, and a
-- box: the list [-low, high, -low, high, ...] of audit/exclusion.sql, in which a missing position
-- has srsql.unbounded_end() twice. Parameters that name tables take their names.

-- What:    whether two boxes overlap; what is missing overlaps everything. The first positions are
--          written out: comparisons of one side with the other are part of a join itself.
CREATE OR REPLACE MACRO srsql.overlaps(first_box, second_box) AS
coalesce(-first_box[1], 0) <= coalesce(second_box[2], 0)
AND coalesce(first_box[2], 0) >= coalesce(-second_box[1], 0)
AND coalesce(-first_box[3], 0) <= coalesce(second_box[4], 0)
AND coalesce(first_box[4], 0) >= coalesce(-second_box[3], 0)
AND coalesce(-first_box[5], 0) <= coalesce(second_box[6], 0)
AND coalesce(first_box[6], 0) >= coalesce(-second_box[5], 0)
AND (
    len(first_box) <= 6
    OR list_bool_and(
        list_transform(
            range(4, len(first_box) // 2 + 1),
            LAMBDA p: -first_box[2 * p - 1] <= second_box[2 * p]
            AND first_box[2 * p] >= -second_box[2 * p - 1]
        )
    )
);

-- What:    the rows that link one to one: exactly one case of the other release has the same set of
--          items and a box that overlaps, and it has exactly this one in turn.
-- Inputs:  first_cases, second_cases(case_no, set_no, box): each case once.
-- Outputs: case_no, counterpart.
-- Source:  SPEC section 18 (linkability). Cases of equal set and box have the same counterparts, so
--          they are counted together, and only one that stands alone can be linked. Of a set that
--          many hold, the first 64 boxes rule out nearly all before all pairs are looked at.
CREATE OR REPLACE MACRO srsql.linked_pairs(first_cases, second_cases) AS TABLE
WITH
first_kinds AS MATERIALIZED (
    SELECT c.set_no, c.box, count(*) AS cases, min(c.case_no) AS case_no
    FROM query_table(first_cases) AS c
    GROUP BY c.set_no, c.box
),

second_kinds AS MATERIALIZED (
    SELECT
        c.set_no,
        c.box,
        count(*) AS cases,
        min(c.case_no) AS case_no,
        row_number() OVER (PARTITION BY c.set_no ORDER BY hash(c.box)) AS place
    FROM query_table(second_cases) AS c
    GROUP BY c.set_no, c.box
),

ambiguous AS MATERIALIZED (
    SELECT f.case_no
    FROM first_kinds AS f
    INNER JOIN second_kinds AS s ON f.set_no = s.set_no
    WHERE f.cases = 1 AND s.place <= 64 AND srsql.overlaps(f.box, s.box)
    GROUP BY f.case_no
    HAVING sum(s.cases) > 1
),

forward AS MATERIALIZED (
    SELECT f.case_no, min(s.case_no) AS counterpart
    FROM first_kinds AS f
    ANTI JOIN ambiguous AS a ON f.case_no = a.case_no
    INNER JOIN second_kinds AS s ON f.set_no = s.set_no
    WHERE f.cases = 1 AND srsql.overlaps(f.box, s.box)
    GROUP BY f.case_no
    HAVING sum(s.cases) = 1
),

backward AS (
    SELECT s.case_no AS counterpart
    FROM second_kinds AS s
    INNER JOIN first_kinds AS f ON s.set_no = f.set_no
    WHERE s.case_no IN (SELECT w.counterpart FROM forward AS w) AND srsql.overlaps(f.box, s.box)
    GROUP BY s.case_no
    HAVING sum(f.cases) = 1
)

SELECT w.case_no, w.counterpart
FROM forward AS w
INNER JOIN backward AS b ON w.counterpart = b.counterpart;

-- What:    the sets of items of the cases of two releases, numbered alike.
-- Inputs:  items(side, case_no, attribute, term): what each case shows, each once; cases(side,
--          case_no, box), side 1 or 2.
-- Outputs: side, case_no, set_no, box; a case without items has the empty set.
CREATE OR REPLACE MACRO srsql.item_sets(items, cases) AS TABLE
WITH
named AS (
    SELECT i.attribute, i.term, row_number() OVER () AS item_no
    FROM query_table(items) AS i
    GROUP BY i.attribute, i.term
),

held AS (
    SELECT i.side, i.case_no, list_sort(list(n.item_no)) AS item_nos
    FROM query_table(items) AS i
    INNER JOIN named AS n ON i.attribute = n.attribute AND i.term = n.term
    GROUP BY i.side, i.case_no
),

numbered AS (
    SELECT h.item_nos, row_number() OVER () AS set_no FROM held AS h GROUP BY h.item_nos
)

SELECT c.side, c.case_no, coalesce(n.set_no, 0) AS set_no, c.box
FROM query_table(cases) AS c
LEFT JOIN held AS h ON c.side = h.side AND c.case_no = h.case_no
LEFT JOIN numbered AS n ON h.item_nos = n.item_nos;

-- What:    how many rows of a release link to another one.
-- Inputs:  of_release, of_scope: the first columns of the row; cases(case_no): its rows; pairs(
--          case_no): those that link, each any number of times.
-- Outputs: a uniform row; violating = rows that link, total = rows.
CREATE OR REPLACE MACRO srsql.linkable(of_release, of_scope, cases, pairs) AS TABLE
WITH
figures AS (
    SELECT
        (SELECT count(DISTINCT p.case_no) FROM query_table(pairs) AS p) AS linked,
        (SELECT count(c.case_no) FROM query_table(cases) AS c) AS total
)

SELECT unnest(srsql.metric_row(of_release, 'linkable', of_scope, f.linked, f.total))
FROM figures AS f;
