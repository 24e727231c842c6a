"""Tables of a page in a real browser: sorted and filtered by its own script, and by no other; marks
of figures name their values; without a script, and printed, everything is there."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from report.conftest import QUARTERS, Pages
from support.browser import BROWSER, Tab, tab

from srsql.engine.report.page import Table, render
from srsql.schemas import load_dataset

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(BROWSER is None, reason="no Chromium on PATH"),
]
ROWS: list[tuple[Any, ...]] = [
    ("beta", 10, True, "x"), ("alpha", 9.5, False, "<b>x</b>"), ("", None, True, "item 10"),
    ("gamma", -1e-3, True, "item 9"), ("beta", 1_234_567, False, "Ä"), ("delta", 0, True, "a"),
    ("eta", float("inf"), True, "z"), ("zeta", 2, True, "b"), ("theta", 3, True, "c"),
    ("iota", 1e20, False, "d"), ("kappa", None, True, None), ("Beta", 11, True, "e"),
]  # fmt: skip
COLUMNS = ("name", "number", "holds", "text")
PAGE = """{% extends "page.html.j2" %}
{% block content %}{{ p.table(many) }}{{ p.table(few) }}{{ p.table(one) }}{% endblock %}"""


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A page of three tables."""
    folder = tmp_path_factory.mktemp("tables")
    template = folder / "page.html.j2x"
    template.write_text(PAGE, encoding="utf-8")
    made = render(
        template, dataset=load_dataset("faers"), series="main",
        many=Table("many", "Many rows", COLUMNS, ROWS),
        few=Table("few", "Few rows", COLUMNS, ROWS[:3]),
        one=Table("one", "One row", COLUMNS, ROWS[:1]),
    )  # fmt: skip
    file = folder / "page.html"
    file.write_text(made.html, encoding="utf-8")
    return file


@pytest.fixture(scope="module")
def opened(file: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Tab]:
    """The page; every complaint of the browser, and every request, is a fault."""
    with tab(tmp_path_factory.mktemp("profile")) as page:
        page.open(file)
        yield page
        assert page.requests == [file.as_uri()]
        assert page.complaints == []


def shown(page: Tab, table: str = "many", column: int = 0) -> list[str]:
    """The texts of a column whose rows are seen, from above."""
    return list(
        page.value(
            f"[...document.querySelectorAll('#{table} tbody tr')].filter(row => row.offsetHeight)"
            f".map(row => row.cells[{column}].textContent)"
        )
    )


def press(page: Tab, key: str) -> None:
    """A key as a person presses it."""
    code = {"Enter": 13, "Tab": 9}[key]
    text = {"text": "\r"} if key == "Enter" else {}
    for kind in ("keyDown", "keyUp"):
        page.call("Input.dispatchKeyEvent", type=kind, key=key, code=key, **text,
                  windowsVirtualKeyCode=code)  # fmt: skip
        text = {}


def sort(page: Tab, column: int, table: str = "many") -> str | None:
    """A click on a heading; what it says of its order then."""
    head = f"document.querySelectorAll('#{table} th')[{column}]"
    page.value(f"{head}.querySelector('button').click()")
    told = page.value(f"{head}.getAttribute('aria-sort')")
    assert page.value(f"document.querySelectorAll('#{table} [aria-sort]').length") == bool(told)
    return None if told is None else str(told)


def test_a_column_of_numbers_is_sorted_as_numbers_with_what_is_missing_last(opened: Tab) -> None:
    before = shown(opened)
    known = sorted(row[1] for row in ROWS if row[1] is not None and row[1] != float("inf"))
    values = "[...document.querySelectorAll('#many tbody tr')].map(r => r.cells[1].dataset.value)"
    rest = [None, None, "inf"]
    assert sort(opened, 1) == "ascending"
    found = opened.value(values)
    assert [float(value) for value in found[:9]] == known
    assert sorted(found[9:], key=str) == rest
    assert sort(opened, 1) == "descending"
    found = opened.value(values)
    assert [float(value) for value in found[:9]] == known[::-1]
    assert sorted(found[9:], key=str) == rest
    assert sort(opened, 1) is None
    assert shown(opened) == before


def test_texts_are_sorted_by_letters_and_numbers_in_them_and_equals_keep_their_order(
    opened: Tab,
) -> None:
    assert sort(opened, 3) == "ascending"
    assert shown(opened, column=3) == [
        "<b>x</b>", "a", "Ä", "b", "c", "d", "e", "item 9", "item 10", "x", "z", "–",
    ]  # fmt: skip
    assert sort(opened, 2) == "ascending"  # another column takes the order over
    names = shown(opened)
    assert names[:3] == ["alpha", "beta", "iota"]  # those of NO, as they came
    assert names[3:6] == ["beta", "", "gamma"]
    assert sort(opened, 2) == "descending"
    assert sort(opened, 2) is None


def test_a_heading_is_reached_and_pressed_by_keys_alone(opened: Tab) -> None:
    opened.value("document.querySelector('#many-caption').closest('.scroll').focus()")
    press(opened, "Tab")  # the filter
    assert opened.value("document.activeElement.type") == "search"
    press(opened, "Tab")
    assert opened.value("document.activeElement.textContent") == "name"
    press(opened, "Enter")
    assert opened.value("document.activeElement.closest('th').ariaSort") == "ascending"
    assert shown(opened)[:2] == ["", "alpha"]
    press(opened, "Enter")
    press(opened, "Enter")
    assert shown(opened) == [row[0] for row in ROWS]


def look_for(page: Tab, words: str) -> str:
    """Types into the filter; what is said of the rows then."""
    field = "document.querySelector('#many [type=search]')"
    page.value(f"{field}.focus(), {field}.select()")
    page.call("Input.insertText", text=words)
    if not words:
        page.value(f"{field}.value = '', {field}.dispatchEvent(new Event('input')), 0")
    return str(page.value("document.querySelector('#many output').value"))


def test_rows_are_filtered_by_every_word_in_any_column_and_counted(opened: Tab) -> None:
    assert look_for(opened, "BETA") == "3 of 12 rows"
    assert shown(opened) == ["beta", "beta", "Beta"]
    assert look_for(opened, "item yes") == "2 of 12 rows"
    assert shown(opened) == ["", "gamma"]
    assert sort(opened, 3) == "ascending"  # rows that are hidden stay hidden
    assert shown(opened) == ["gamma", ""]
    assert (sort(opened, 3), sort(opened, 3)) == ("descending", None)
    assert look_for(opened, "<b>") == "1 of 12 rows"
    assert look_for(opened, "nothing has this") == "0 of 12 rows"
    assert shown(opened) == []
    assert look_for(opened, "") == ""
    assert len(shown(opened)) == len(ROWS)


def test_a_page_that_is_filtered_prints_every_row(opened: Tab) -> None:
    look_for(opened, "gamma")
    opened.call("Emulation.setEmulatedMedia", media="print")
    try:
        assert len(shown(opened)) == len(ROWS)
        assert opened.value("document.querySelector('#many .filter').offsetHeight") == 0
    finally:
        opened.call("Emulation.setEmulatedMedia", media="")
    assert shown(opened) == ["gamma"]
    look_for(opened, "")


def test_few_rows_have_no_filter_and_one_row_no_order(opened: Tab) -> None:
    count = "document.querySelectorAll('#{} {}').length"
    assert opened.value(count.format("many", "input")) == 1
    assert opened.value(count.format("few", "input")) == 0
    assert opened.value(count.format("few", "th button")) == len(COLUMNS)
    assert opened.value(count.format("one", "button")) == 0


def attempts(marker: str) -> str:
    """Ways in which text of a page could run, each of which would set a mark.

    A debugger may evaluate texts for as long as its own call lasts, hence the wait before that one.
    """
    return f"""(() => {{
      const script = document.createElement("script");
      script.textContent = "window.{marker} = 1";
      document.body.append(script);
      const picture = document.createElement("div");
      picture.innerHTML = '<img src="x" onerror="window.{marker} = 2"><a href="javascript:window'
        + '.{marker} = 3">link</a><form action="https://example.org"><button></button></form>';
      document.body.append(picture);
      picture.querySelector("a").click();
      setTimeout(() => {{ try {{ new Function("window.{marker} = 4")(); }} catch {{ }} }}, 0);
      setTimeout("window.{marker} = 5", 0);
      picture.querySelector("button").click();
      const link = document.createElement("base");
      link.href = "https://example.org/";
      document.head.append(link);
      return fetch("https://example.org/").then(() => window.{marker} = 6, () => 0)
        .then(() => new Promise(done => setTimeout(done, 100)))
        .then(() => [window.{marker} ?? 0, document.baseURI, location.href]);
    }})()"""


def test_no_other_script_runs_and_nothing_is_asked_of_the_network(
    file: Path, tmp_path: Path
) -> None:
    with tab(tmp_path) as page:
        page.open(file)
        assert page.complaints == []
        page.requests.clear()
        assert page.value(attempts("ran")) == [0, file.as_uri(), file.as_uri()]
        assert len(page.complaints) >= 5  # each attempt was refused aloud
        assert [url for url in page.requests if "example.org" in url] == []


def test_without_a_script_a_page_has_every_row_and_no_control(file: Path, tmp_path: Path) -> None:
    with tab(tmp_path) as page:
        page.call("Emulation.setScriptExecutionDisabled", value=True)
        page.open(file)
        assert page.value("document.querySelectorAll('button, input').length") == 0
        assert page.value("document.querySelectorAll('tbody tr').length") == len(ROWS) + 3 + 1


def test_nothing_of_a_heading_is_positioned_in_print(opened: Tab) -> None:
    """What is positioned is printed once, where a heading is repeated on every page."""
    placed = ("[...document.querySelectorAll('thead, thead *, caption')]"
              ".filter(each => getComputedStyle(each).position !== 'static').length")  # fmt: skip
    assert opened.value(placed) > 0
    opened.call("Emulation.setEmulatedMedia", media="print")
    try:
        assert opened.value(placed) == 0
        thead = "getComputedStyle(document.querySelector('#many thead')).breakInside"
        assert opened.value(thead) == "avoid"
    finally:
        opened.call("Emulation.setEmulatedMedia", media="")


@pytest.mark.thorough
def test_marks_of_figures_name_what_they_show(pages: Pages) -> None:
    html = pages.html[f"internal {QUARTERS[1]}"]
    figures = re.findall(r'<figure id="figure-([^"]*)">(.*?)</figure>', html, re.S)
    drawn = {key: re.findall(r"<title>([^<]*)</title>", svg)[1:] for key, svg in figures}
    assert {"sizes", "missing", "reasons", "before-after", "widths", "scatter"} <= {
        key for key, texts in drawn.items() if texts
    }
    groups = [re.fullmatch(r"(?:more than )?([\d,]+) cases: ([\d,]+) groups", text)
              for text in drawn["sizes"]]  # fmt: skip
    table = pages.page[f"internal {QUARTERS[1]}"]
    assert sum(int(found[2]) for found in groups if found) == table.facts["groups"]
    series = pages.html["internal series"]
    for quarter in QUARTERS:
        assert f"<title>{quarter}: NIL" in series
