"""Every refusal of the table of features is raised, as soon as it is known, with its words."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from support.sets import write_sets

from srsql.engine.catalog.series import ORIGINAL, PER_QUARTER, PSEUDONYM, Series
from srsql.engine.checks.registry import CHECKS
from srsql.engine.errors import ReleaseError
from srsql.engine.release.features.feature import (
    Asked,
    ByOthers,
    InGroups,
    InSeries,
    OfRange,
    OnDataset,
    OnShown,
    OnTerms,
    WithIds,
)
from srsql.engine.release.features.table import FEATURES, refuse
from srsql.engine.release.request import Request, make_request, release_options
from srsql.engine.release.stages.registry import STAGES
from srsql.engine.workers.carriers import InProcess
from srsql.schemas import load_dataset

FAERS = load_dataset("faers")
TERMS = {"terms": "disassociate", "term_attributes": "pt"}
COUNTS = {"terms": "tables", "model": "ms"}
NOISY = {"terms": "noisy-tables", "model": "ms"}
_AS_EXACT = ", as exact tables do not: leave one of them out"
ROWS = {"terms": "disassociate", "term_attributes": "all"}
OWN = {"own_theta": "lit_ref", "model": "ms"}
OWN_SAYS = "--own-theta is proved of rows that show the values of cases, and "
APART = "leave one of them out"
TELLING = FAERS.model_copy(update={"tables": tuple(
    each.model_copy(update={"publish": ("lit_ref",)}) if each.name == "demo" else each
    for each in FAERS.tables
)})  # fmt: skip
Known = Callable[[Request], Asked]


def in_series(ids: str) -> Known:
    of = Series("faers", "one", "periodical", "released_one", None, ids)
    return lambda request: InSeries(request, FAERS, of, waits=False)


def others(**known: Any) -> Known:
    usual: dict[str, Any] = {"carrier": InProcess(), "in_lake": False, "by_set": False}
    return lambda request: ByOthers(request, **usual | known)


def on_dataset(kind: Callable[..., Asked]) -> Known:
    return lambda request: kind(request, FAERS)


def waiting(request: Request) -> Asked:
    of = Series("faers", "one", "periodical", "released_one", None, PSEUDONYM)
    return InSeries(request, FAERS, of, waits=True)


AT_ONCE: tuple[tuple[dict[str, Any], str], ...] = (
    ({"count": "persons", "match": 0.1}, "--match 0.1: pairs below 0.5 are not kept: give at least "
     "0.5"),
    ({"count": "persons", "model": "k-anonymity"}, "--count persons is for the models ms, ppms, "
     "ppms-ear, ppms++, and not for k-anonymity"),
    ({"count": "persons", **TERMS}, "--count persons does not go with --terms: leave one of them "
     "out"),
    ({"count": "persons", "leftovers": "suppress"}, "--count persons does not go with values that "
     "are suppressed: leave one of them out"),
    ({"max_delay": 2, "model": "k-anonymity"}, "--max-delay holds back cases that no group has "
     "room for, and k-anonymity does not group cases: leave it out"),
    ({"max_delay": 2, "model": "ipa"}, "--max-delay holds back cases that no group has room for, "
     "and ipa does not group cases: leave it out"),
    ({"max_delay": 2, "model": "msdp-num"}, "--max-delay holds back cases that no group has room "
     "for, and msdp-num does not tell how many are withheld: leave it out"),
    ({"max_delay": 2, "model": "ppms-stay"}, "--max-delay holds back cases that no group has room "
     "for, and ppms-stay promises who is in consecutive releases, which waiting changes: leave it "
     "out"),
    ({"max_delay": 2, **TERMS}, "--max-delay holds back cases that no group has room for, and "
     "terms that are told apart from rows are of the cases of one period: leave it out"),
    ({"on_infeasible": "suppress", **TERMS}, "--on-infeasible suppress is for values that rows of "
     "cases show and theta bounds, which is not so with terms apart from rows: use "
     "--on-infeasible withhold"),
    ({"on_infeasible": "suppress", "model": "ipa"}, "--on-infeasible suppress is for values that "
     "rows of cases show and theta bounds, which is not so with the model ipa: use "
     "--on-infeasible withhold"),
    ({"leftovers": "suppress", **TERMS}, "--leftovers suppress is for values that rows of cases "
     "show and theta bounds, which is not so with terms apart from rows: use --leftovers withhold"),
    ({"leftovers": "suppress", "model": "l-diversity"}, "--leftovers suppress is for values that "
     "rows of cases show and theta bounds, which is not so with the model l-diversity: use "
     "--leftovers withhold"),
    ({**OWN, "model": "ipa"}, f"{OWN_SAYS}the model ipa has none that theta bounds: {APART}"),
    ({**OWN, "model": "disassociation"}, f"{OWN_SAYS}the model disassociation has none that theta "
     f"bounds: {APART}"),
    ({**OWN, **TERMS}, f"{OWN_SAYS}--terms tells these apart from them: {APART}"),
    ({**OWN, "count": "persons"}, f"{OWN_SAYS}--count persons counts several cases as one: "
     f"{APART}"),
    ({**OWN, "leftovers": "suppress"}, f"{OWN_SAYS}a value that is suppressed is not shown: "
     f"{APART}"),
    ({"model": "tables", "terms": "disassociate"}, "the model tables releases counts, and no terms "
     "of clusters: leave --terms out"),
    ({**COUNTS, "model": "msdp-num"}, "--terms tables does not go with the model msdp-num: "
     "rows beside counts keep k alone, in regions that hold the values of their cases: give "
     "--model ms or ppms++"),
    ({**COUNTS, "model": "ppms-alpha"}, "--terms tables does not go with the model ppms-alpha: "
     "rows beside counts keep k alone, in regions that hold the values of their cases: give "
     "--model ms or ppms++"),
    ({**COUNTS, "count": "persons"}, "--terms tables does not go with --count persons, since "
     "a case that is new may be of a person who was counted before: leave one of them out"),
    ({**COUNTS, "draft": True}, "--terms tables does not go with --draft, since it is confirmed "
     "when other tables of its cases may be out: leave one of them out"),
    ({**COUNTS, "max_delay": 2}, "--terms tables does not go with --max-delay, since the proof "
     "is of cases that are released in their own period: leave one of them out"),
    ({**COUNTS, "leftovers": "suppress"}, "--terms tables does not go with values that are "
     "suppressed, since counts are of all values of a case, and need no suppression: leave one of "
     "them out"),
    ({**NOISY, "model": "tables"}, "--terms noisy-tables does not go with the model tables, whose "
     "counts are exact: give --model ms or ppms++"),
    ({**NOISY, "model": "msdp-num"}, "--terms noisy-tables does not go with the model msdp-num: "
     "rows beside counts keep k alone, in regions that hold the values of their cases: give "
     "--model ms or ppms++"),
    ({**NOISY, "count": "persons"}, "--terms noisy-tables does not go with --count persons"
     + _AS_EXACT),
    ({**NOISY, "draft": True}, "--terms noisy-tables does not go with --draft" + _AS_EXACT),
    ({**NOISY, "max_delay": 2}, "--terms noisy-tables does not go with --max-delay" + _AS_EXACT),
    ({**NOISY, "leftovers": "suppress"}, "--terms noisy-tables does not go with values that are "
     "suppressed" + _AS_EXACT),
    ({"as_printed": "wu2022", "model": "ms"}, "--as-printed wu2022 runs ppms-dp-all, ppms-dp-num, "
     "ppms++, and not ms: give one of these, or leave it out"),
    ({"as_printed": "lin2016", "model": "ms"}, "--as-printed lin2016 takes --missing drop: leave "
     "one of the two out"),
)  # fmt: skip
"""What is refused of a request by itself."""
LATER: tuple[tuple[dict[str, Any], Known, str], ...] = (
    ({"model": "ipa", **TERMS}, on_dataset(OnTerms), "--terms does not go with the model ipa"),
    ({"model": "msdp-num", **TERMS}, on_dataset(OnTerms),
     "--terms does not go with the model msdp-num"),
    ({"model": "cba", "max_cluster_size": 30, "term_attributes": "pt"}, on_dataset(OnTerms),
     "--max-cluster-size does not go with the model cba"),
    ({"model": "cba", "partners": "neighbours", "term_attributes": "pt"}, on_dataset(OnTerms),
     "--partners does not go with the model cba"),
    ({"model": "cba", "pooled_by": "splits", "term_attributes": "pt"}, on_dataset(OnTerms),
     "--pooled-by does not go with the model cba"),
    ({"model": "disassociation", "term_attributes": "pt", "term_cases": 20}, on_dataset(OnTerms),
     "--term-cases takes whole rows apart, and the model disassociation releases none: leave it "
     "out, or give --terms disassociate with a model that does"),
    ({"repeated_terms": True, "term_cases": 20, **ROWS}, on_dataset(OnTerms),
     "--repeated-terms does not go with whole rows that are taken apart: leave it out"),
    ({"term_k": 6, **TERMS}, on_dataset(OnTerms), "--term-k is for whole rows that are taken "
     "apart: give --term-attributes all or --term-cases as well"),
    ({"link_quarters": True, **TERMS}, on_dataset(OnTerms), "--link-quarters is for whole rows "
     "that are taken apart: give --term-attributes all or --term-cases as well"),
    ({"max_cluster_size": 30, **TERMS}, on_dataset(OnTerms), "--max-cluster-size is for whole rows "
     "that are taken apart: give --term-attributes all or --term-cases as well"),
    ({"columns": "drug.route"}, lambda request: OnShown(request, FAERS),
     "--columns drug.route: this release has no rows of drug that could show it: leave it out"),
    ({"term_cases": 20, **ROWS}, in_series(ORIGINAL), "original ids join rows that are taken apart "
     "with those of the source: leave --ids out, or give another --series"),
    ({"term_cases": 20, **ROWS}, in_series(PSEUDONYM), "--ids pseudonym are the same in all "
     "quarters, which tells in which clusters a case was: give --ids per-quarter, or "
     "--link-quarters, with which whole rows are claimed to be safe in one quarter alone"),
    ({"term_cases": 20, "link_quarters": True, **ROWS}, in_series(PER_QUARTER), "--link-quarters: "
     "series 'one' has pseudonyms of each quarter, which link none: leave it out, or give another "
     "--series"),
    ({"max_delay": 2}, lambda request: WithIds(request, "one", ORIGINAL), "series 'one' has "
     "original ids, whose order tells which cases waited: leave --max-delay out, or give another "
     "--series, which gets pseudonyms"),
    ({"model": "ms", "supersede": True}, waiting, "series 'one' holds cases back, which later "
     "periods took in: --supersede would release them twice, so leave it out, or give another "
     "--series"),
    ({"workers": 2}, others(), "a carrier takes the place of --workers: leave one of them out"),
    ({"model": "ipa", "spark": "sc://one"}, others(carrier=None),
     "--spark is for parts, and the model ipa makes none: leave it out"),
    ({"model": "ms", "parts": "auto"}, others(by_set=True), "a carrier is for parts, and several "
     "sets of quasi-identifiers make none: leave it out"),
    ({"model": "ms"}, others(), "a carrier is for parts, and with --parts 1 there is one, so that "
     "nothing would be spread: give --parts auto, or leave a carrier out"),
    ({"model": "ms", "parts": "auto", "spark": "sc://one"}, others(),
     "--spark takes the place of a carrier: leave one of them out"),
    ({**NOISY, "columns": "drug.route"}, on_dataset(OnDataset), "--terms noisy-tables releases no "
     "rows that could show other columns than regions: leave --columns out"),
    (NOISY, in_series(ORIGINAL), "rows beside --terms noisy-tables have pseudonyms that are the "
     "same in all quarters: leave --ids out, or give another --series"),
    ({**NOISY, "supersede": True}, in_series(PSEUDONYM), "counts that are out are never revised: "
     "a second draw of the same cases spends their budget again: leave --supersede out, or give "
     "another --series"),
    ({**COUNTS, "columns": "drug.route"}, on_dataset(OnDataset), "--terms tables releases no rows "
     "that could show other columns than regions: leave --columns out"),
    (COUNTS, in_series(PER_QUARTER), "counts of --terms tables are of new cases, and ids of a "
     "quarter do not tell which rows are: the difference would count the others: leave --ids out, "
     "or give another --series"),
    (COUNTS, in_series(ORIGINAL), "original ids join the rows of --terms tables with those of the "
     "source: leave --ids out, or give another --series"),
    ({**COUNTS, "supersede": True}, in_series(PSEUDONYM), "counts that are out are never revised: "
     "two tables of the same cases are subtracted from each other: leave --supersede out, or give "
     "another --series"),
    ({**OWN, "own_theta": "mine"}, on_dataset(OnDataset), "--own-theta mine: demo has no such "
     "column: name one of this table, without the table"),
    (OWN, lambda request: OnShown(request, TELLING), "--own-theta lit_ref: the column is "
     "published, which would tell who asked for more protection: leave it out of publish in the "
     "dataset, or of --columns"),
    ({"draft": True}, OfRange, "--draft and --supersede take one quarter, not a range"),
    ({"supersede": True}, OfRange, "--draft and --supersede take one quarter, not a range"),
)  # fmt: skip
"""What is refused once more is known."""


@pytest.mark.parametrize(("options", "told"), AT_ONCE)
def test_a_request_that_does_not_go_together_is_refused_as_it_is_read(
    options: dict[str, Any], told: str
) -> None:
    with pytest.raises(ReleaseError) as error:
        make_request("2011Q4", options)
    assert str(error.value) == told


@pytest.mark.parametrize(("options", "known", "told"), LATER)
def test_what_does_not_go_with_a_dataset_a_series_or_a_carrier_is_refused_when_it_is_known(
    options: dict[str, Any], known: Known, told: str
) -> None:
    request = make_request("2011Q4", options)
    with pytest.raises(ReleaseError) as error:
        refuse(known(request))
    assert str(error.value) == told


def of_files(folder: Path) -> Iterator[tuple[dict[str, Any], Known, str]]:
    """What is refused with a file: of terms, of knowledge, of a dataset."""
    for name, text in (("terms.csv", "term\nDeath\n"), ("known.csv", "drug,disease\nA,B\n")):
        (folder / name).write_text(text)
    terms, known = str(folder / "terms.csv"), str(folder / "known.csv")
    yield ({"model": "cba", "sensitive_terms": terms, "term_attributes": "pt"},
           on_dataset(OnTerms), "--sensitive-terms does not go with the model cba")  # fmt: skip
    yield ({"l": 9, "k": 4, "sensitive_terms": terms, **TERMS}, InGroups, "--l 9 is above k = 4: "
           "within QID-groups clusters cannot be larger than groups are; give a larger --k"
           )  # fmt: skip
    yield ({"knowledge": known, "term_cases": 20, **ROWS}, in_series(PER_QUARTER), "--knowledge "
           "tells diseases of drugs, and whole rows are taken apart so that no row tells its "
           "drugs: leave it out")  # fmt: skip
    (folder / "two").mkdir()
    dataset = load_dataset(write_sets(folder / "two"))
    where = "dataset two declares several sets of quasi-identifiers (clinic, work), "
    asked: tuple[tuple[str, dict[str, Any]], ...] = (
        ("--count persons", {"count": "persons"}), ("--terms", TERMS),
        ("--leftovers suppress", {"leftovers": "suppress"}),
        ("--on-infeasible suppress", {"on_infeasible": "suppress"}), ("--parts", {"parts": "2"}),
        ("--max-delay", {"max_delay": 2}),
    )  # fmt: skip
    for option, given in asked:
        yield (given, lambda request: OnDataset(request, dataset),
               f"{where}with which {option} does not go: leave it out")  # fmt: skip
    yield (OWN | {"own_theta": "caseid"}, lambda request: OnDataset(request, dataset),
           "--own-theta is proved of regions of all quasi-identifiers, and the dataset declares "
           "several sets: leave it out")  # fmt: skip
    yield (COUNTS, lambda request: OnDataset(request, dataset), f"{where}with which --terms tables "
           "does not go: leave it out")  # fmt: skip
    yield (NOISY, lambda request: OnDataset(request, dataset), f"{where}with which --terms "
           "noisy-tables does not go: leave it out")  # fmt: skip
    yield ({"model": "ipa"}, lambda request: OnDataset(request, dataset), f"{where}which ipa does "
           "not keep each by itself: give --model ms, ppms, ppms-ear, ppms++ or xy-anonymity, or a "
           "dataset without [[qid_set]]")  # fmt: skip


def test_what_does_not_go_with_a_file_is_refused(tmp_path: Path) -> None:
    for options, known, told in of_files(tmp_path):
        request = make_request("2011Q4", {"model": "ms", **options})
        with pytest.raises(ReleaseError) as error:
            refuse(known(request))
        assert str(error.value) == told
    with pytest.raises(ReleaseError) as error:
        make_request("2011Q4", {"count": "persons", "knowledge": str(tmp_path / "known.csv")})
    assert str(error.value) == (
        "--count persons does not go with --knowledge, by which thresholds of persons are not "
        "checked: leave one of them out"
    )
    with pytest.raises(
        ReleaseError, match="--terms tables does not go with --knowledge, since whoever"
    ):
        make_request("2011Q4", {**COUNTS, "knowledge": str(tmp_path / "known.csv")})
    with pytest.raises(ReleaseError, match="--terms noisy-tables does not go with --knowledge"):
        make_request("2011Q4", {**NOISY, "knowledge": str(tmp_path / "known.csv")})
    alone = replace(make_request("2011Q4", {"model": "disassociation"}), terms=None)
    with pytest.raises(ReleaseError, match="the model disassociation releases terms only: say"):
        refuse(OnTerms(alone, FAERS))


def test_every_refusal_of_the_table_is_one_that_these_tests_raise(tmp_path: Path) -> None:
    texts = [told for *_, told in (*AT_ONCE, *LATER, *of_files(tmp_path))]
    elsewhere = {  # above, in test_who_waits.py, and in tests of derived quasi-identifiers
        "no --terms", "--knowledge", "published columns that are made from dates",
        "a quasi-identifier that is made from rows whose terms are told apart",
    }  # fmt: skip
    for feature in FEATURES:
        for refusal in feature.refusals:
            pattern = ".+".join(map(re.escape, re.split(r"\{.*?\}", refusal.template)))
            raised = any(re.fullmatch(pattern, text) for text in texts)
            assert raised or refusal.other in elsewhere, refusal.template


def test_a_feature_names_options_stages_and_checks_that_there_are() -> None:
    options, ran = release_options(), {stage.run.__name__: stage for stage in STAGES}
    used = {check.applies.words for check in CHECKS}
    named = [stage for feature in FEATURES for stage in feature.stages]
    assert len(ran) == len(STAGES)
    for feature in FEATURES:
        assert set(feature.options) <= set(options)
        assert {applies.words for applies in feature.checks} <= used
    plain = make_request("2011Q4", {"model": "ms"})
    for name, stage in ran.items():
        assert name not in named or not stage.applies(plain)
    assert set(named) <= set(ran)
