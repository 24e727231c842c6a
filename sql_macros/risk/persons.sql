-- Of a release: how many persons there are in its groups, if suspected duplicates are one person.

-- What:    the release, if its rows are cases in groups that keep k: then persons can be counted.
-- Inputs:  of_release: a release id.
-- Outputs: release_id, dataset, series, quarter, ingestion_id, k; in_series: its model withstands
--          attacks on the series. No row of somebody else's release, of rows over a lattice, of
--          terms without rows, nor of a comparator that claims something else.
-- Source:  Lin 2016, Definition 3 (1).
CREATE OR REPLACE MACRO srsql.release_of_groups(of_release) AS TABLE
SELECT
    r.release_id,
    r.dataset,
    r.series,
    r.quarter,
    r.ingestion_id,
    r.k,
    coalesce(len(d.attacks), 0) > 0 AS in_series
FROM srsql.release AS r
LEFT JOIN srsql.defended_attack AS d ON r.release_id = d.release_id
WHERE
    r.release_id = of_release
    AND r.ingestion_id IS NOT NULL
    AND NOT EXISTS (SELECT 1 FROM srsql.lattice AS l WHERE l.release_id = r.release_id)
    AND NOT EXISTS (
        SELECT 1 FROM srsql.disassociated AS t
        WHERE t.release_id = r.release_id AND NOT t.with_rows
    )
    AND (
        NOT EXISTS (SELECT 1 FROM srsql.claim AS c WHERE c.release_id = r.release_id)
        OR EXISTS (
            SELECT 1 FROM srsql.claim AS c WHERE c.release_id = r.release_id AND c.claim = 'k'
        )
    );

-- What:    the periods up to that of such a release whose data, as they are now, no search for
--          suspected duplicates has seen.
-- Inputs:  of_release: a release id.
-- Outputs: quarter. No rows where all were searched: then persons can be counted.
-- Source:  SPEC section 16 (what was not measured is not told).
CREATE OR REPLACE MACRO srsql.unsearched_periods(of_release) AS TABLE
SELECT i.quarter
FROM srsql.release_of_groups(of_release) AS r
INNER JOIN srsql.ingestion AS i ON r.dataset = i.dataset AND r.quarter >= i.quarter
WHERE
    (
        NOT i.replaced
        OR i.ingestion_id IN (
            SELECT d.ingestion_id FROM srsql.dump_period AS d WHERE d.label IS NOT NULL
        )
    )
    AND NOT EXISTS (
        SELECT 1 FROM srsql.duplicate_search AS s
        WHERE s.dataset = i.dataset AND list_contains(s.ingestions, i.ingestion_id)
    );

-- What:    the cases and persons of each group, and those of them that carry its bounds. A new case
--          carries nothing as a person where the series released another case of that person in an
--          earlier period, if its model withstands attacks on the series.
-- Inputs:  of_release: a release id; at_least: the match probability from which on two cases are
--          one person.
-- Outputs: group_id, cases, persons, carriers, carrying_persons. No rows where suspected duplicates
--          were not searched for in the data that the release was made of and in all before it.
-- Source:  Fellegi & Sunter 1969; Norén et al. 2007; Lin 2016, Definition 3 (1); Huang 2021,
--          Definition 4 (NC-bounding), of persons.
CREATE OR REPLACE MACRO srsql.group_persons(of_release, at_least) AS TABLE
WITH
asked AS MATERIALIZED (
    SELECT r.release_id, r.dataset, r.series, r.quarter, r.in_series
    FROM srsql.release_of_groups(of_release) AS r
    INNER JOIN srsql.duplicate_search AS s
        ON r.dataset = s.dataset AND list_contains(s.ingestions, r.ingestion_id)
    WHERE (SELECT count(u.quarter) FROM srsql.unsearched_periods(of_release) AS u) = 0
),

suspected AS (
    SELECT p.case_id, p.other_case_id, p.probability
    FROM srsql.suspected_duplicate AS p
    SEMI JOIN asked AS a ON p.dataset = a.dataset
),

one_person AS MATERIALIZED (
    SELECT c.case_id, c.person FROM srsql.person_clusters('suspected', at_least) AS c
),

known AS (
    SELECT DISTINCT o.person
    FROM asked AS a
    INNER JOIN srsql.exposed_release AS e
        ON a.dataset = e.dataset AND a.series = e.series AND a.quarter > e.quarter
    INNER JOIN srsql.member AS m ON e.release_id = m.release_id
    INNER JOIN one_person AS o ON m.case_id = o.case_id
    WHERE a.in_series
),

placed AS (
    SELECT
        m.group_id,
        m.case_id,
        coalesce(o.person, m.case_id) AS person,
        coalesce(f.carrier, true) AS carrier,
        k.person IS NULL AS carries
    FROM asked AS a
    INNER JOIN srsql.member AS m ON a.release_id = m.release_id
    LEFT JOIN srsql.case_flag AS f ON m.release_id = f.release_id AND m.case_no = f.case_no
    LEFT JOIN one_person AS o ON m.case_id = o.case_id
    LEFT JOIN known AS k ON o.person = k.person
)

SELECT
    p.group_id,
    count(DISTINCT p.case_id) AS cases,
    count(DISTINCT p.person) AS persons,
    count(DISTINCT p.case_id) FILTER (WHERE p.carrier) AS carriers,
    count(DISTINCT p.person) FILTER (WHERE p.carrier AND p.carries) AS carrying_persons
FROM placed AS p
GROUP BY p.group_id;

-- What:    how many groups reach k through suspected duplicates alone, and by how much the smallest
--          group falls if these are one person, at two thresholds.
-- Inputs:  of_release: a release id.
-- Outputs: uniform rows. reached_by_duplicates: violating = groups of k cases and fewer persons,
--          total = groups. least_persons: ratio = persons of the group that has fewest, total =
--          cases of the group that has fewest, violating = their difference, threshold = k. Scope
--          'groups, match 0.9', or 'carriers, match 0.9' where not all cases carry the bounds.
-- Source:  Lin 2016, Definition 3 (1), of persons.
CREATE OR REPLACE MACRO srsql.persons_of_groups(of_release) AS TABLE
WITH
counted AS (
    SELECT '0.9' AS at_least, g.* FROM srsql.group_persons(of_release, 0.9) AS g
    UNION ALL
    SELECT '0.99' AS at_least, g.* FROM srsql.group_persons(of_release, 0.99) AS g
),

kinds AS (
    SELECT 'groups' AS kind, c.at_least, c.cases, c.persons FROM counted AS c
    UNION ALL
    SELECT 'carriers' AS kind, c.at_least, c.carriers AS cases, c.carrying_persons AS persons
    FROM counted AS c
    CROSS JOIN srsql.defended_attack AS d
    WHERE d.release_id = of_release AND len(d.attacks) > 0
),

figures AS (
    SELECT
        k.kind || ', match ' || k.at_least AS scope,
        count(*) FILTER (WHERE k.cases >= r.k AND k.persons < r.k) AS reached,
        count(*) AS n,
        min(k.cases) AS cases,
        min(k.persons) AS persons,
        any_value(r.k) AS k
    FROM kinds AS k
    INNER JOIN srsql.release AS r ON r.release_id = of_release
    GROUP BY k.kind, k.at_least
)

SELECT unnest(srsql.metric_row(of_release, 'reached_by_duplicates', f.scope, f.reached, f.n))
FROM figures AS f
UNION ALL
SELECT unnest(srsql.uniform_row(
    of_release, 'least_persons', f.scope, f.cases - f.persons, f.cases, f.persons, f.k, NULL
))
FROM figures AS f;
