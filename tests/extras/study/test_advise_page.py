"""The page of an advice: the command to copy, and all of its table."""

from __future__ import annotations

import shlex
from dataclasses import replace

import pytest
from support.advice import advice
from support.pages import Page

from srsql.engine.extras.study.advise_page import page
from srsql.schemas import load_dataset

FAERS = load_dataset("faers")


@pytest.mark.slow
def test_the_command_is_on_the_page_as_it_is_typed() -> None:
    found = advice()
    shown = Page(page(FAERS, found))
    assert shlex.split(shown.within("command")) == found.command
    assert found.command is not None
    hostile = replace(found, command=[*found.command, "--series", "<b>'x'</b> & y"])
    assert shlex.split(Page(page(FAERS, hostile)).within("command")) == hostile.command


def test_there_is_no_command_where_nothing_is_recommended() -> None:
    found = advice()
    none = replace(found, recommended=None, nearest=found.settings[0], command=None)
    assert "command" not in Page(page(FAERS, none)).of


def test_tables_stand_in_boxes_that_scroll_and_have_every_column() -> None:
    shown = Page(page(FAERS, advice()))
    boxes = [found for found in shown.all("div") if "scroll" in found.get("class", "")]
    assert len(boxes) == len(shown.tables) + len(shown.all("figure"))
    for box in boxes:
        assert box["tabindex"] == "0"
        assert shown.within(box["aria-labelledby"])
    assert len(shown.tables["settings"].columns) == 22
    assert len(shown.tables["settings"].rows) == 6
    assert len(shown.tables["failed"].rows) == 1


def test_settings_that_differ_in_what_becomes_of_leftovers_are_told_apart() -> None:
    found = advice()
    first = found.settings[0]
    both = [replace(first, leftovers=way, refine=how)
            for way in ("withhold", "suppress") for how in ("off", "fast")]  # fmt: skip
    table = Page(page(FAERS, replace(found, settings=both))).tables["settings"]
    told = list(zip(table.column("leftovers"), table.column("refine"), strict=True))
    assert told == [(one.leftovers, one.refine) for one in both]
