-- How little a grouping could lose at all, beside what a release lost.

-- What:    a lower bound of NIL over all groupings of the released cases into groups of k, however
--          they are made and whatever theta is: each case loses at least what it would with its
--          (k - 1)-th nearest other case alone (UDF srsql_least_losses of udfs/risk/least_loss.py).
--          Cases of equal quasi-identifiers are looked at together.
-- Inputs:  of_release: a release id.
-- Outputs: one uniform row 'nil_bound'; violating = the sum over cases, total = cases x QIDs.
-- Source:  Lin 2016, eq. (1) and (9).
CREATE OR REPLACE MACRO srsql.loss_bound(of_release) AS TABLE
WITH
own AS MATERIALIZED (
    SELECT c.case_no, c.position, c.low, c.high
    FROM srsql.case_qid AS c
    INNER JOIN srsql.member AS m ON m.release_id = of_release AND c.case_no = m.case_no
    WHERE c.release_id = of_release
),

packed AS (
    SELECT list(struct_pack(low := o.low, high := o.high) ORDER BY o.position) AS qid
    FROM own AS o
    GROUP BY o.case_no
),

kinds AS MATERIALIZED (
    SELECT p.qid, count(*) AS cases, (row_number() OVER (ORDER BY p.qid) - 1)::INTEGER AS kind
    FROM packed AS p
    GROUP BY p.qid
),

places AS (
    SELECT
        a.position,
        coalesce(a.span, 0)::BIGINT AS span,
        a.attribute,
        a.kind,
        (row_number() OVER (ORDER BY a.position))::INTEGER AS place
    FROM srsql.attribute AS a
    WHERE a.release_id = of_release AND a.position IN (SELECT o.position FROM own AS o)
),

held AS (
    SELECT k.kind, p.place, k.qid[p.place].low AS low, k.qid[p.place].high AS high
    FROM kinds AS k
    CROSS JOIN places AS p
),

-- every node over a value, and so over two values what is over both
above AS (
    SELECT DISTINCT p.place, o.low AS value, n.pre, n.height
    FROM own AS o
    INNER JOIN places AS p ON o.position = p.position AND p.kind <> 'numeric'
    INNER JOIN srsql.release AS r ON r.release_id = of_release
    INNER JOIN srsql.node AS n
        ON
            r.dataset = n.dataset
            AND p.attribute = n.attribute
            AND o.low >= n.pre
            AND o.high <= n.last
),

united AS (
    SELECT
        u.place,
        u.value AS own,
        v.value AS other,
        coalesce(min(u.height) / nullif(max(u.height), 0), 0)::DOUBLE AS loss
    FROM above AS u
    INNER JOIN above AS v ON u.place = v.place AND u.pre = v.pre
    GROUP BY u.place, u.value, v.value
),

least AS (
    SELECT srsql_least_losses(
        (SELECT r.k::INTEGER FROM srsql.release AS r WHERE r.release_id = of_release),
        (SELECT coalesce(list(k.cases::BIGINT ORDER BY k.kind), []) FROM kinds AS k),
        (
            SELECT coalesce(list(struct_pack(
                kind := h.kind, place := h.place, low := h.low, high := h.high
            ) ORDER BY h.kind, h.place) FILTER (WHERE h.low IS NOT NULL), [])
            FROM held AS h
        ),
        (
            SELECT coalesce(list(struct_pack(
                place := p.place, span := p.span
            ) ORDER BY p.place), [])
            FROM places AS p
        ),
        (
            SELECT coalesce(list(struct_pack(
                place := u.place, own := u.own, other := u.other, loss := u.loss
            ) ORDER BY u.place, u.own, u.other), [])
            FROM united AS u
        )
    ) AS losses
),

summed AS (
    SELECT
        coalesce(fsum(k.cases * l.losses[k.kind + 1]), 0) AS loss,
        coalesce(sum(k.cases), 0) * (SELECT count(*) FROM places) AS total
    FROM kinds AS k
    CROSS JOIN least AS l
)

SELECT unnest(srsql.metric_row(of_release, 'nil_bound', 'release', s.loss, s.total))
FROM summed AS s;
