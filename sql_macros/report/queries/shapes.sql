-- Groups or published regions of one release, as distributions of the rows member(case_id,
-- group_id), region(group_id, position, width) and confidence(group_id, term, theta, conf), which
-- stand before the statement: read from the catalog by the queries below, or composed of published
-- rows by engine/report/shapes.py.

-- name: distributions
-- One row of four lists: cases -> groups of so many; for each quasi-identifier, width of the region
-- -> cases; conf / theta of the most exposed value -> groups; theta, its released values, the
-- highest confidence of one of them in any group.
SELECT
    (
        SELECT list(struct_pack(size := s.size, groups := s.groups) ORDER BY s.size)
        FROM srsql.report_sizes('member') AS s
    ) AS sizes,
    (
        SELECT
            list(
                struct_pack(position := w.position, width := w.width, cases := w.cases)
                ORDER BY w.position, w.width
            )
        FROM srsql.report_widths('member', 'region') AS w
    ) AS widths,
    (
        SELECT
            list(struct_pack(exposure := e.exposure, groups := e.groups) ORDER BY e.exposure)
        FROM srsql.report_exposure('confidence') AS e
    ) AS exposures,
    (
        SELECT
            list(
                struct_pack(theta := h.theta, terms := h.terms, highest := h.highest)
                ORDER BY h.theta
            )
        FROM srsql.report_highest('confidence') AS h
    ) AS highest;

-- name: members
-- The cases of a release and their groups, from the catalog.
SELECT m.* FROM srsql.report_members($release) AS m;

-- name: regions
-- How wide the region of each group is, from the catalog.
SELECT g.* FROM srsql.report_regions($release) AS g;

-- name: confidences
-- The confidence of each value of each group, from the catalog.
SELECT c.* FROM srsql.report_confidences($release) AS c;

-- name: published_members
-- The cases of published rows and their regions.
SELECT DISTINCT r.case_id, r.group_id FROM report_row AS r;

-- name: published_confidences
-- The confidence of each value of each published region, from the rows that show it.
SELECT c.* FROM srsql.report_shares('member', 'report_value', 'report_theta') AS c;

-- name: no_confidences
-- No confidences, where only regions are shown.
SELECT
    NULL::BIGINT AS group_id,
    NULL::VARCHAR AS term,
    NULL::DOUBLE AS theta,
    NULL::DOUBLE AS conf
WHERE false;
