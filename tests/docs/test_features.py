"""The page of features says what the registries of features and stages say."""

from __future__ import annotations

from support.scripts import DOCS, load

from srsql.engine.release.features.table import FEATURES
from srsql.engine.release.stages.registry import STAGES


def test_the_page_of_features_is_the_one_that_the_registries_generate() -> None:
    builder = load(DOCS / "build_features.py")
    text = builder.PAGE.read_text(encoding="utf-8")
    assert text == builder.page()
    for told in (*STAGES, *FEATURES):
        assert told.does in text


def test_the_way_of_a_quarter_in_the_architecture_is_the_list_of_stages() -> None:
    builder = load(DOCS / "build_features.py")
    text = builder.WAY.read_text(encoding="utf-8")
    assert text == builder.way()
    places = [text.index(f"\n1. **{stage.title.partition(' (')[0]}** ") for stage in STAGES]
    assert places == sorted(places)
    for stage in STAGES:
        assert stage.does in text
