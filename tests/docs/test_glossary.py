"""The glossary page says what the glossary says, and no term of the papers is missing from it."""

from __future__ import annotations

from types import ModuleType

import pytest
from support.scripts import DOCS, load

from srsql.engine.checks.registry import CHECKS
from srsql.schemas.glossary import papers, term, terms

ASKED_FOR = {
    "data": "report case quarter super_record qid sa qsa external_knowledge group region new_case "
    "old_case md_case ss_case candidates withheld",
    "attacks": "b f l md ss p e dig dsg ssg dir dsr ssgr",
    "loss and risk": "nil il il_per_group dr nil_star il_plus il_star rr ar_rev signal_bias",
    "models": "pr eta sigma theta alpha k k_effective nc_bounding qid_bounding ear_bounding "
    "ncc_grouping carriers",
    "signals": "prr ror ic ebgm chi2 omega log_likelihood_ratio",
    "terms": "km_anonymity horpart verpart refining record_chunk shared_chunk item_chunk are mre "
    "w1 w2",
    "noise": "ncp emd rate ipa epsilon calibration_paper calibration_sound exponential_mechanism",
    "releases": "pseudonym series supersede correction draft lineage_check uniform_row",
}


@pytest.fixture(scope="module")
def builder() -> ModuleType:
    return load(DOCS / "build_glossary.py")


def test_the_glossary_page_is_the_one_that_the_glossary_generates(builder: ModuleType) -> None:
    assert builder.PAGE.read_text(encoding="utf-8") == builder.page()


def test_the_page_of_the_models_has_every_check_of_the_registry(builder: ModuleType) -> None:
    text = builder.MODELS.read_text(encoding="utf-8")
    assert text == builder.models_page(text)
    assert builder.check_table() in text
    for check in CHECKS:
        assert check.proves in text


@pytest.mark.parametrize("topic", ASKED_FOR)
def test_every_term_of_a_topic_is_defined(topic: str) -> None:
    for key in ASKED_FOR[topic].split():
        assert term(key).text


def test_definitions_are_sentences_and_legends_are_phrases() -> None:
    for entry in terms().values():
        first = entry.text.split()[0]
        assert first[0].isupper() or not first.isalpha() or len(first) == 1, entry.key
        assert entry.text.endswith("."), entry.key
        assert not entry.short.endswith("."), entry.key
        assert "\n" not in entry.text + entry.short + entry.formula, entry.key


def test_names_differ_and_every_paper_that_is_cited_is_listed() -> None:
    entries = terms().values()
    assert len({entry.term for entry in entries}) == len(entries)
    sources = [entry.source for entry in entries] + [check.source for check in CHECKS]
    told = [*sources, *(" ".join(entry.text.split()) for entry in entries)]
    cited = {name for name in papers() for text in told if name in text}
    assert cited == set(papers())
    assert all(any(entry.source.startswith(name) for name in cited) for entry in entries
               if entry.source)  # fmt: skip


def test_a_term_that_does_not_exist_is_an_error() -> None:
    with pytest.raises(KeyError):
        term("nothing of the kind")
