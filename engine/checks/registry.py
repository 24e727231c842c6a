"""The one registry of checks: everything that is proved of a release before it is committed.

A release runs the entries of its stages in this order; the first that fails ends it. The legends of
reports, docs/glossary.md and docs/models.md are made of the same entries.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import astuple, replace
from functools import partial

from srsql.engine import measures as of
from srsql.engine.checks import (
    Evidence,
    asked,
    lattice,
    lineage,
    made_counts,
    noise,
    published_text,
    region_counts,
    require_proof,
    secrets,
    series,
    whole_rows,
)
from srsql.engine.checks import count_tables as counts
from srsql.engine.checks import noisy_tables as noisy
from srsql.engine.checks import released_rows as rows
from srsql.engine.checks import term_chunks as chunks
from srsql.engine.checks import term_nodes as nodes
from srsql.engine.measures import Check, Measure, MeasureRow, ReleaseFacts, Stage

CHECKS: tuple[Check[Evidence], ...] = (
    Check(
        "lineage",
        of.EVERY_RELEASE,
        "Every published column derives only from columns that the dataset's schema lets out.",
        "SPEC section 16",
        lineage.check_views,
        composed_by="lineage.check_lineage",
        emits=(),
        of_making=True,
    ),
    Check(
        "check_text",
        of.EVERY_RELEASE,
        "No text that is published holds a line end or control character, is longer than its "
        "column may be, or holds the id of another report or case as a whole word.",
        "SPEC section 22",
        published_text.check_text,
    ),
    Check(
        "check_asked",
        of.EVERY_RELEASE,
        "Thresholds, k, the k of groups, external knowledge and the figures of the manifest are "
        "those that were asked for, or follow from these by the paper's rule.",
        "SPEC section 18; Lin 2016, after Definition 3",
        asked.check_asked,
        composed_by="asked.check_asked",
    ),
    Check(
        "check_ids",
        of.IDS,
        "Every published id is the one that follows from an original of the period and the key of "
        "the series by a derivation of the check's own, so that nobody has ids of the source, of "
        "no key or of public columns; the key is no other series' and none that can be guessed.",
        "SPEC section 5, section 18; RFC 2104",
        secrets.check_ids,
    ),
    Check(
        "check_order",
        of.UNORDERED,
        "Subrecords, clusters within groups, generalized records and rows over a lattice do not "
        "stand in the order in which they were made: of neighbours by number, each pair by itself, "
        "either comes first (one false alarm in 10 million at most; some 25 pairs are needed).",
        "SPEC section 18; Hoeffding 1963, theorem 1",
        secrets.check_order,
        of_making=True,
    ),
    Check(
        "check_k",
        of.ROWS_WITH_K,
        "Every region of the released rows has at least k distinct cases.",
        "Lin 2016, Definition 3 (1)",
        rows.check_k,
    ),
    Check(
        "check_theta",
        of.ROWS_WITH_THETA,
        "No sensitive value of the released rows exceeds its threshold in any region.",
        "Lin 2016, Definition 3 (2)",
        rows.check_theta,
    ),
    Check(
        "check_theta_knowledge",
        of.KNOWLEDGE,
        "No sensitive value exceeds its threshold in any region, external knowledge included.",
        "Lin 2016, Definition 3 (2)",
        rows.check_theta_knowledge,
    ),
    Check(
        "check_own_theta",
        of.OWN_THRESHOLDS,
        "Of a patient with a threshold of their own no value is concluded with more probability in "
        "any region, and every value of theirs has it at most in the catalog.",
        "Huang 2021, section 7",
        rows.check_own_theta,
    ),
    Check(
        "check_persons",
        of.OTHER_UNITS,
        "Where persons are counted: no two cases that were suspected to be one person are counted "
        "as two.",
        "Fellegi & Sunter 1969",
        partial(rows.check_units, unit="person"),
        of_making=True,
    ),
    Check(
        "check_k_persons",
        of.OTHER_UNITS,
        "Where persons are counted: every region has at least k distinct persons, new ones where "
        "the model counts new cases.",
        "Lin 2016, Definition 3 (1), of persons",
        partial(rows.check_k, unit="person"),
        composed_by="srsql.check_k",
        of_making=True,
    ),
    Check(
        "check_theta_persons",
        of.OTHER_UNITS,
        "Where persons are counted: no sensitive value exceeds its threshold among the persons of "
        "a region.",
        "Lin 2016, Definition 3 (2), of persons",
        partial(rows.check_theta, unit="person"),
        composed_by="srsql.check_theta",
        of_making=True,
    ),
    Check(
        "check_suppressed",
        of.SUPPRESSED,
        "No row shows a value that the series suppressed of its case, no other value is missing, "
        "and no report has lost all values of an attribute.",
        "SPEC section 16",
        rows.check_suppressed,
        of_making=True,
    ),
    Check(
        "check_reports",
        of.ROWS_WITH_REPORTS,
        "Every region of the released rows has at least k reports, of however few cases.",
        'Lin 2016, section "Privacy models for microdata publishing"',
        rows.check_reports,
    ),
    Check(
        "check_alpha",
        of.ROWS_WITH_ALPHA,
        "No sensitive value is held by a larger share of a region's reports than α.",
        "Wong et al. 2006, (α, k)-anonymity",
        rows.check_alpha,
    ),
    Check(
        "check_values",
        of.ROWS_WITH_VALUES,
        "For l-diversity: every region has at least l distinct values of each sensitive attribute.",
        'Lin 2016, section "Privacy models for microdata publishing"',
        rows.check_values,
    ),
    Check(
        "check_term_keys",
        of.CASES_WITH_KEYS,
        "Beside every published term stands its key, derived anew from the spelling.",
        "SPEC section 2 (term, key)",
        rows.check_term_keys,
        composed_by="released_rows.term_key_query",
    ),
    Check(
        "check_manifest",
        of.CASES,
        "The public manifest names thresholds of released values only.",
        "SPEC section 16",
        rows.check_manifest,
    ),
    Check(
        "check_internal",
        of.DRAWS,
        "Every internal group of a model with noise has at least k carriers, and no sensitive "
        "value is held by more of them than its threshold allows.",
        "Wu 2022, Definitions 1 and 3",
        rows.check_internal,
    ),
    Check(
        "check_draws",
        of.DRAWS,
        "Every released case has one value of each perturbed quasi-identifier, missing exactly "
        "where its own was missing or given up, and every draw is charged once in the ledger.",
        "SPEC section 10",
        rows.check_draws,
    ),
    Check(
        "check_noise",
        of.DRAWS,
        "The values that were drawn have the scale that is charged, by the law of the draws: the "
        "share that lies near its originals has, under the law, a chance of 1 in 10 million or "
        "more. A tenth of the scale is seen of some 30 draws that no domain cuts, of 300 where the "
        "scale is three times the domain; fewer draws prove nothing.",
        "Wu 2022, section IV; Hoeffding 1963, theorem 1",
        noise.check_noise,
        composed_by="noise.check_noise",
    ),
    Check(
        "check_fresh",
        of.DRAWS,
        "Numbers drawn by a secure generator are not those of a generator with the seed of the "
        "release, or with a small one, and not those that another release drew for the same cases. "
        "A seed that nobody kept and no other release shares cannot be told from a secure one.",
        "SPEC section 18",
        noise.check_fresh,
        composed_by="noise.check_fresh",
    ),
    Check(
        "check_charged",
        of.SPENDING,
        "The ledger charges, under the calibration that was asked for, the amount that follows "
        "from epsilon: its share of each attribute where the mechanism is sound, else the whole.",
        "SPEC section 10, section 18",
        asked.check_charged,
        composed_by="asked.check_charged",
    ),
    Check(
        "check_made_counts",
        of.NOISY_COUNTS,
        "Counts of rows over a lattice have noise of the scale that is charged, by the law of the "
        "draws (one false alarm in 10 million at most; some 40 classes or cells are needed), and "
        "it is not that of a generator with the seed of the release, or with a small one.",
        'Lee 2020, Algorithm 1 and "Data utility"; Hoeffding 1963, theorem 1',
        made_counts.check_made_counts,
        composed_by="made_counts.check_made_counts",
    ),
    Check(
        "check_values",
        of.DRAWS,
        "For models with noise: every released value is one that can be released at all.",
        "SPEC section 10",
        rows.check_drawn_values,
        composed_by="published_regions.drawn_values_query",
    ),
    Check(
        "check_common",
        of.BESIDE_DRAWS,
        "All cases of an internal group show the same categories where these are generalized.",
        "SPEC section 10",
        rows.check_common,
    ),
    Check(
        "check_cohorts",
        of.STAYING,
        "Of the cases of a region of the release just before, those who are in this one are none "
        "or have k that were new there, and so have those who are not; in a region here those of "
        "one region there are none or have k new there, and no value beyond its threshold.",
        "SPEC section 9, P; decision D287 (rules 2 and 3)",
        rows.check_cohorts,
    ),
    Check(
        "check_complete",
        of.CASES,
        "Every report of the quarter is either released or withheld.",
        "SPEC section 16",
        rows.check_complete,
        of_making=True,
    ),
    Check(
        "check_waiting",
        of.HOLDING_BACK,
        "Every case that waits is withheld, in no release since its reports wait, has not waited "
        "as long as it may, and waits since the release that says so.",
        "SPEC section 9; decision D390",
        rows.check_waiting,
    ),
    Check(
        "check_waiting_rows",
        of.HOLDING_BACK,
        "No released row is of a case that waits, and the raw rows have a report of every such "
        "case in the period since which it waits.",
        "SPEC section 9; decision D392",
        rows.check_waiting_rows,
        of_making=True,
    ),
    Check(
        "check_late",
        of.LATE,
        "A report that came when its period was out is released of a case that no other period "
        "has, or beside a report of the release's own period; no version of a period gains a case.",
        "SPEC section 22",
        rows.check_late,
        of_making=True,
    ),
    Check(
        "check_delay",
        of.TAKING_IN,
        "Whoever knows that a case waited or came late, and from which period on, rules out those "
        "of its group that were released meanwhile: k cases are left, and no value beyond its "
        "threshold.",
        "SPEC section 9; decision D391",
        rows.check_delay,
    ),
    Check(
        "check_delay_persons",
        of.UNITS_TAKEN_IN,
        "Where persons are counted: the same of persons, who are ruled out by any of their cases.",
        "SPEC section 9; decision D392",
        partial(rows.check_delay, unit="person"),
        composed_by="srsql.check_delay",
    ),
    Check(
        "check_inside",
        of.REGIONS,
        "Every original value of a released case lies in the region that is published of it.",
        "Lin 2016, Definition 3",
        rows.check_inside,
        composed_by="released_rows.inside_query",
        of_making=True,
    ),
    Check(
        "check_earlier",
        of.COVERING,
        "The generalized categories of an old case cover those of its earlier releases.",
        "Wu 2022, Definition 2",
        rows.check_earlier,
        of_making=True,
    ),
    Check(
        "check_catalog",
        of.CASES,
        "The catalog of the warehouse has what the released views show.",
        "SPEC section 9",
        rows.check_catalog,
        of_making=True,
    ),
    Check(
        "check_row_numbers",
        of.LATTICE,
        "Rows over a lattice have the numbers from 1 on, each once, and an informative value.",
        "SPEC section 12",
        lattice.check_row_numbers,
    ),
    Check(
        "check_row_levels",
        of.LATTICE,
        "Every dimension value of a row is one of the level that was taken, or says nothing.",
        "Lee 2020, full-domain generalization",
        lattice.check_row_levels,
    ),
    Check(
        "check_row_classes",
        of.LATTICE,
        "Every class of rows with the same dimension values has as many rows as is claimed.",
        'Lee 2020, "Data utility"',
        lattice.check_row_classes,
    ),
    Check(
        "check_charges",
        of.LATTICE,
        "Rows over a lattice charge every case of the quarter the whole of ε in the ledger, once.",
        "SPEC section 10",
        lattice.check_charges,
    ),
    Check(
        "check_count_rows",
        of.COUNT_TABLES,
        "Rows of cases show ids and a region and nothing else, and no other table has such rows.",
        "SPEC section 19, claim (a)",
        counts.check_count_rows,
        composed_by="count_tables.check_count_rows",
    ),
    Check(
        region_counts.NAME,
        of.REGION_COUNTS,
        "Every published region counts k cases or more, each in one region: those whose originals "
        "lie in it and that no earlier release of the series has.",
        "SPEC section 19, rules R1 and R6",
        region_counts.check_region_counts,
        of_making=True,
    ),
    Check(
        "check_count_cells",
        of.COUNT_TABLES,
        "Every told count is of k cases or more, and the strata of a key have no case in common.",
        "SPEC section 19, rules R2 and R5",
        counts.check_count_cells,
        of_making=True,
    ),
    Check(
        "check_count_theta",
        of.COUNT_TABLES,
        "No told count is a larger share than a threshold allows, and an item is lacked by none or "
        "by k cases.",
        "SPEC section 19, rule R2",
        counts.check_count_theta,
        of_making=True,
    ),
    Check(
        "check_count_bridges",
        of.COUNT_TABLES,
        "Two told partners of a sensitive item force it on no more of those who hold both than its "
        "threshold allows, where their number is told.",
        "SPEC section 19, rule G3",
        partial(counts.check_count_bridges, measure="check_count_bridges"),
        of_making=True,
    ),
    Check(
        "count_bridges_not_shown",
        of.COUNT_TABLES,
        "Of how many such pairs of partners nothing told says how many hold both.",
        "SPEC section 19, rule G3",
        partial(counts.check_count_bridges, measure="count_bridges_not_shown"),
        composed_by="srsql.check_count_bridges",
        severity="is told",
        of_making=True,
    ),
    Check(
        "check_count_truth",
        of.COUNT_TABLES,
        "Every told count is that of the released cases that no earlier release of the series has, "
        "in the stratum of their published region.",
        "SPEC section 19, rules R1, R3 and R6",
        counts.check_count_truth,
        of_making=True,
    ),
    Check(
        "check_count_ways_out",
        of.COUNT_TABLES,
        "What is told of an item and a sensitive one leaves a data set, published alike, in which "
        "the threshold holds of the item's holders.",
        "SPEC section 19, rules G1 and G2; decision 39",
        counts.check_count_ways_out,
        of_making=True,
    ),
    Check(
        "check_noisy_rows",
        of.NOISY_TABLES,
        "Rows of cases show ids and a region alone beside counts with noise.",
        "SPEC section 19, R8",
        noisy.check_noisy_rows,
        composed_by="noisy_tables.check_noisy_rows",
    ),
    Check(
        "check_noisy_plan",
        of.NOISY_TABLES,
        "The noise of every table is as large as epsilon asks, its threshold as high as delta "
        "asks, both add up to the budget of a case, and no count is below its threshold.",
        "SPEC section 19, R8; decision 53",
        noisy.check_noisy_plan,
        composed_by="noisy_tables.check_noisy_plan",
    ),
    Check(
        "check_noisy_budget",
        of.NOISY_TABLES,
        "Every case of the period that no earlier table with noise of the series counts is charged "
        "its budget in the ledger, once, and no other case.",
        "SPEC section 19, rules R6 and R8",
        noisy.check_noisy_budget,
        composed_by="noisy_tables.check_noisy_budget",
        of_making=True,
    ),
    Check(
        "check_noisy_law",
        of.NOISY_TABLES,
        "Counts lie as near to those of the cases, each with so many values at most, as the noise "
        "that is stated says, as many pass the threshold, and no value is published that none has.",
        "SPEC section 19, R8; Hoeffding 1963, theorem 1",
        noisy.check_noisy_law,
        composed_by="noisy_tables.check_noisy_law",
        of_making=True,
    ),
    Check(
        "check_term_structure",
        of.CHUNKS,
        "The published tables of clusters and chunks are such as disassociation makes.",
        "Loukides 2014, section 3.1",
        partial(chunks.check_chunks, macro="check_term_structure"),
    ),
    Check(
        "check_km",
        of.CHUNKS,
        "Every set of at most m terms that occurs in a chunk is in at least k of its subrecords.",
        "Loukides 2014, section 3.1",
        partial(chunks.check_chunks, macro="check_km"),
    ),
    Check(
        "check_cluster_size",
        of.CHUNKS,
        "Every cluster has at least k records, and l where sensitive terms are named.",
        "Loukides 2014, section 7.2",
        partial(chunks.check_chunks, macro="check_cluster_size"),
    ),
    Check(
        "check_bare_clusters",
        of.CHUNKS,
        "A cluster without item chunk has subrecords enough for k records to hold the same terms.",
        "SPEC section 11, after Terrovitis et al. 2012",
        partial(chunks.check_chunks, macro="check_bare_clusters"),
    ),
    Check(
        "check_one_place",
        of.CHUNKS,
        "A term stands in one place of a cluster.",
        "Loukides 2014, section 4",
        partial(chunks.check_chunks, macro="check_one_place"),
    ),
    Check(
        "check_row_clusters",
        of.WHOLE_ROWS,
        "A case has one row, a cluster as many rows as records, and every region of a cluster at "
        "least k cases.",
        "SPEC section 11",
        whole_rows.check_row_clusters,
    ),
    Check(
        "check_known_shares",
        of.WHOLE_ROWS,
        "Whoever knows the region and cluster of a case and at most m of its items finds no "
        "sensitive value more probable than its threshold, over the placements within the caps "
        "of every region of the cluster.",
        "SPEC section 11, section 18",
        partial(whole_rows.check_known_shares, measure="check_known_shares"),
        composed_by="whole_rows.check_known_shares",
    ),
    Check(
        "check_other_shares",
        of.WHOLE_ROWS,
        "Whoever knows the region and cluster of a case and at most m of its items finds no term "
        "without a threshold more probable than 1 / l, where an l above 1 is asked for.",
        "SPEC section 11, after Loukides 2014, section 7.2",
        partial(whole_rows.check_known_shares, measure="check_other_shares"),
        composed_by="whole_rows.check_known_shares",
    ),
    Check(
        "terms_inferred",
        of.WHOLE_ROWS,
        "How many values and other terms of clusters follow from at most m known items, with "
        "certainty or above their threshold (1 / l for terms without any), is told.",
        "SPEC section 11, after Awad 2019",
        partial(whole_rows.check_known_shares, measure="terms_inferred"),
        composed_by="whole_rows.check_known_shares",
        severity="is told",
    ),
    Check(
        "worst_known_share",
        of.WHOLE_ROWS,
        "How many values of clusters exceed their threshold in some dataset that fits, where no "
        "item or one is known, is told: an item without a count may stand for several records.",
        "SPEC section 11",
        partial(whole_rows.check_known_shares, measure="worst_known_share"),
        composed_by="whole_rows.check_known_shares",
        severity="is told",
    ),
    Check(
        "check_kept_apart",
        of.SENSITIVE,
        "A sensitive term stands in item chunks only.",
        "Loukides 2014, section 7.2",
        chunks.check_kept_apart,
        of_making=True,
    ),
    Check(
        "check_term_support",
        of.CHUNKS,
        "The chunks hold as many records as the originals, and every term as often.",
        "Loukides 2014, section 3.1",
        chunks.check_term_support,
        of_making=True,
    ),
    Check(
        "check_projection",
        of.CHUNKS,
        "The originals are one of the datasets that the chunks stand for.",
        "Loukides 2014, section 3.1",
        chunks.check_projection,
        of_making=True,
    ),
    Check(
        "check_item_cases",
        of.WHOLE_ROWS,
        "No item without a count is held by more cases of its cluster than is promised: fewer "
        "than k of the terms.",
        "SPEC section 18",
        chunks.check_item_cases,
        of_making=True,
    ),
    Check(
        "check_region_caps",
        of.WHOLE_ROWS,
        "No sensitive value is held by a larger share of the cases of a region in a cluster than "
        "its threshold.",
        "SPEC section 18",
        chunks.check_region_caps,
        of_making=True,
    ),
    Check(
        "check_reconstructed",
        of.CHUNKS,
        "The sampled dataset is one of the datasets that the chunks stand for.",
        "Loukides 2014, section 3.1",
        chunks.check_sampled_dataset,
        composed_by="term_chunks.check_reconstructed",
        of_making=True,
    ),
    Check(
        "check_node_structure",
        of.NODES,
        "A generalized term is in one node, and a node has a term and a record.",
        "SPEC section 13",
        nodes.check_node_structure,
    ),
    Check(
        "check_node_constraints",
        of.NODES,
        "No node mixes terms of a utility constraint with other terms.",
        "Loukides 2014, section 1.1",
        nodes.check_node_constraints,
    ),
    Check(
        "check_node_km",
        of.SOME_NODES,
        "Every set of at most m nodes that a record has is had by at least k records.",
        "Loukides 2014, section 1.1",
        nodes.check_node_km,
        composed_by="term_nodes.check_node_km",
    ),
    Check(
        "check_generalized_records",
        of.NODES,
        "Every record has the nodes of its own terms, no other, and none is missing.",
        "SPEC section 13",
        nodes.check_generalized_records,
        of_making=True,
    ),
    Check(
        "series audit",
        of.DEFENDED,
        "No attack that the models of a series withstand puts a group in danger that was not, or "
        "more than before.",
        "Huang 2021, section 5.1",
        series.check_series,
        composed_by="series.check_series",
        stage="audit",
        emits=("dir", "dsr", "ssgr"),
    ),
    Check(
        "series audit",
        of.UNDEFENDED,
        "The shares of groups that attacks on the series put in danger are known.",
        "Huang 2021, section 5.1",
        series.check_series,
        composed_by="series.check_series",
        stage="audit",
        severity="is told",
        emits=("dir", "dsr", "ssgr"),
    ),
    Check(
        "group_size",
        of.KEEPS_K,
        "Every group of the catalog has at least k distinct cases.",
        "Lin 2016, Definition 3 (1)",
        None,
        composed_by="srsql.group_sizes",
        stage="metrics",
    ),
    Check(
        "dr",
        of.KEEPS_THETA,
        "No sensitive value exceeds its threshold in any group of the catalog.",
        "Lin 2016, eq. (10)",
        None,
        composed_by="srsql.danger_ratio",
        stage="metrics",
    ),
)


def prove(evidence: Evidence, stage: Stage, *, again: bool = False) -> list[Measure]:
    """Run every check of the stage that applies to a release.

    Args:
        evidence: of the release, within its transaction.
        stage: of the release.
        again: a draft is confirmed, of which the tables that it was made with are gone.

    Raises:
        CheckFailedError: one of them failed, or proves nothing; the text names it.
    """
    found: list[Measure] = []
    for check in CHECKS:
        wanted = check.stage == stage and not (again and check.of_making)
        if check.run and wanted and check.applies.holds(evidence.facts):
            found += (measured := check.run(evidence))
            require_proof(check, measured)
    return found


def judged(facts: ReleaseFacts, measured: Iterable[MeasureRow]) -> list[MeasureRow]:
    """Metrics, with a verdict only where a check of that measure applies to the release."""
    judging = {name for check in _of_metrics(facts) for name in check.measures}
    return [row if row.measure in judging else replace(row, passed=None) for row in measured]


def require_bounds(facts: ReleaseFacts, measured: Sequence[MeasureRow]) -> None:
    """Refuse a release of which a metric with a bound does not keep it.

    Raises:
        CheckFailedError: the text names the measure.
    """
    for check in _of_metrics(facts):
        require_proof(check, [astuple(row) for row in measured if row.measure in check.measures])


def _of_metrics(facts: ReleaseFacts) -> list[Check[Evidence]]:
    return [check for check in CHECKS if check.stage == "metrics" and check.applies.holds(facts)]
