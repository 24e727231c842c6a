-- Step: lists the quasi-identifiers of a dataset ($positions, $names, $kinds, $spans, and of a
--   categorical one $parents, $lasts, $heights of its nodes in preorder) and the nodes of their
--   hierarchies ($node_positions, $labels, $pres, $node_lasts; $lows, $highs in granules where a
--   node stands for a range of a number).
-- Reads: nothing
-- Writes: attribute(position, name, kind, span, parent, last, height), node(position, node, pre,
--   last, low, high)
-- Source: SPEC section 4 (roles and hierarchies); Lin 2016, eq. (1) (the span, by which a loss is
--   divided).

-- span 0 of a number stands for "observed" until grouping/steps/cases.sql has seen its values.
CREATE OR REPLACE TEMP TABLE srsql_attribute AS
SELECT
    unnest($positions::INTEGER[]) AS position,
    unnest($names::VARCHAR[]) AS name,
    unnest($kinds::VARCHAR[]) AS kind,
    unnest($spans::BIGINT[]) AS span,
    unnest($parents::BIGINT[][]) AS parent,
    unnest($lasts::BIGINT[][]) AS last,
    unnest($heights::BIGINT[][]) AS height;

CREATE OR REPLACE TEMP TABLE srsql_node AS
SELECT
    unnest($node_positions::INTEGER[]) AS position,
    unnest($labels::VARCHAR[]) AS node,
    unnest($pres::BIGINT[]) AS pre,
    unnest($node_lasts::BIGINT[]) AS last,
    unnest($lows::BIGINT[]) AS low,
    unnest($highs::BIGINT[]) AS high;
