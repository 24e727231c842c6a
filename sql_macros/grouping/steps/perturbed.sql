-- Step: keeps in the catalog what a release ($release_id) perturbed ($positions, by $mechanisms,
--   each at $epsilon_num / $epsilon_den, under $calibration, with $noise), what was drawn for its
--   cases, and what each draw costs them.
-- Reads: grouped(case_no), drawn(case_no, position, low, high), case(case_no, case_id),
--   attribute(position, name), srsql.release
-- Writes: srsql.perturbation, srsql.perturbed, srsql.budget_ledger
-- Source: Wu 2022, section IV; SPEC section 10.

INSERT INTO srsql.perturbation
SELECT
    $release_id,
    p.position,
    p.mechanism,
    $calibration,
    $noise,
    $epsilon_num,
    $epsilon_den
FROM (
    SELECT
        unnest($positions::INTEGER[]) AS position,
        unnest($mechanisms::VARCHAR[]) AS mechanism
) AS p
ORDER BY p.position;

INSERT INTO srsql.perturbed
SELECT $release_id, g.case_no, p.position, d.low, d.high
FROM temp.main.srsql_grouped AS g
INNER JOIN srsql.perturbation AS p ON p.release_id = $release_id
LEFT JOIN temp.main.srsql_drawn AS d ON g.case_no = d.case_no AND p.position = d.position
ORDER BY g.case_no, p.position;

INSERT INTO srsql.budget_ledger
SELECT
    r.release_id,
    r.dataset,
    r.series,
    r.quarter,
    c.case_id::VARCHAR,
    a.name,
    p.mechanism,
    p.calibration,
    p.epsilon_num,
    p.epsilon_den
FROM temp.main.srsql_drawn AS d
INNER JOIN srsql.perturbation AS p ON p.release_id = $release_id AND d.position = p.position
INNER JOIN srsql.release AS r ON p.release_id = r.release_id
INNER JOIN temp.main.srsql_case AS c ON d.case_no = c.case_no
INNER JOIN temp.main.srsql_attribute AS a ON d.position = a.position
ORDER BY d.case_no, d.position;
