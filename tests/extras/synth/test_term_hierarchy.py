"""The hierarchy of terms that ships has the frequent words of synthetic quarters."""

from __future__ import annotations

from collections import Counter

from support.scripts import DOCS, load

from srsql.engine.extras.synth.vocabulary import indications, reactions
from srsql.engine.terms.policies import load_tree


def test_the_words_of_synthetic_quarters_are_those_that_the_vocabulary_has() -> None:
    module = load(DOCS / "build_term_hierarchy.py")
    text = module.FILE.read_text(encoding="utf-8").splitlines()
    assert module.lines(text) == text


def test_nearly_all_frequent_words_of_both_kinds_are_in_it() -> None:
    labels = set(load_tree(None).labels)
    for words in (reactions().words[:900], indications().words[:900]):
        assert Counter(word in labels for word in words)[False] == 0
