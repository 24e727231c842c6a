"""Pages are complete in themselves, accessible, inert whatever the names are, and repeatable."""

from __future__ import annotations

import re
from base64 import b64encode
from hashlib import sha256
from pathlib import Path

import pytest
from matplotlib import rcParams
from oracles.term_key import term_key
from report.conftest import MARKUP, QUARTERS, SCRIPT, Pages
from support.pages import Page

from srsql.engine.api.engine import Engine
from srsql.engine.report import quarter_figures, signal_figures
from srsql.engine.report.drawing import plain, svg
from srsql.engine.report.shapes import Widths

pytestmark = pytest.mark.thorough

QUARTER = QUARTERS[1]
EVERY = [f"internal {QUARTER}", f"public {QUARTER}", "internal series", "public series"]


@pytest.mark.parametrize("name", EVERY)
def test_a_page_loads_nothing_and_runs_its_own_script_alone(pages: Pages, name: str) -> None:
    page = pages.page[name]
    tags = [tag for tag, _ in page.elements]
    assert set(tags) & {"link", "img", "iframe", "object", "embed", "image", "base"} == set()
    assert tags.count("script") == 1
    assert page.all("script") == [{}]
    for tag, attributes in page.elements:
        for attribute, value in attributes.items():
            assert not attribute.startswith("on"), f"{tag} has {attribute}"
            if attribute in ("href", "src", "xlink:href", "srcset", "action", "data"):
                assert value.startswith("#")
            if "url(" in value:
                assert re.findall(r"url\((?!#)", value) == []
    style = pages.html[name].split("<style>")[1].split("</style>")[0]
    assert "url(" not in style
    assert "@import" not in style
    policy = [m for m in page.all("meta") if m.get("http-equiv") == "Content-Security-Policy"]
    script = pages.html[name].split("<script>")[1].split("</script>")[0]
    hashed = b64encode(sha256(script.encode()).digest()).decode()
    assert policy[0]["content"] == (
        "default-src 'none'; style-src 'unsafe-inline'; "
        f"script-src 'sha256-{hashed}'; base-uri 'none'; form-action 'none'"
    )
    footer = " ".join("".join(page.text).partition("complete in itself")[2].split())
    assert f"One script of {script.count(chr(10))} lines" in footer
    assert hashed in footer
    names = {"eval", "Function", "innerHTML", "outerHTML", "insertAdjacentHTML", "write",
             "fetch", "import", "localStorage", "cookie", "setTimeout", "open"}  # fmt: skip
    assert set(re.findall(r"\w+", re.sub("//.*", "", script))) & names == set()


@pytest.mark.parametrize("name", EVERY)
def test_every_id_is_there_once_and_every_link_leads_somewhere(pages: Pages, name: str) -> None:
    ids = [found["id"] for _, found in pages.page[name].elements if "id" in found]
    assert len(ids) == len(set(ids))
    links = [found["href"] for _, found in pages.page[name].elements if "href" in found]
    links += [f"#{i}" for i in re.findall(r"url\(#([^)]*)\)", pages.html[name])]
    assert {link.removeprefix("#") for link in links} <= set(ids)


@pytest.mark.parametrize("name", EVERY)
def test_a_page_can_be_read_without_seeing_it(pages: Pages, name: str) -> None:
    page = pages.page[name]
    assert pages.html[name].startswith("<!DOCTYPE html>")
    assert page.all("html") == [{"lang": "en"}]
    assert len(page.all("h1")) == 1
    assert page.within("s-guarantee")
    drawings = [a for a in page.all("svg") if a.get("role") == "img" and a.get("aria-label")]
    assert len(drawings) == len(page.all("svg")) == len(page.all("figure")) >= 3
    assert len(page.all("figcaption")) == len(page.all("figure"))
    assert all(th.get("scope") == "col" for th in page.all("th"))
    for table in page.tables.values():
        assert table.caption
        assert all(len(row) == len(table.columns) for row in table.rows)


def test_hostile_names_are_text(pages: Pages) -> None:
    for name in (f"internal {QUARTER}", f"public {QUARTER}"):
        page = pages.page[name]
        text = "".join(page.text)
        assert term_key(SCRIPT) in text
        assert term_key(MARKUP) in text
        assert term_key(SCRIPT) not in pages.html[name]
        assert "49" not in [cell for t in page.tables.values() for row in t.rows for cell in row]
    assert term_key(SCRIPT) in pages.page[f"public {QUARTER}"].tables["pairs"].column("drug")


ODD = [
    "$x^2$ costs $5",
    r"$\frac{broken",
    "nul\x00bell\x07line\nend\u2028para",
    "\u202eright to left\u202c",
    "𓀀 no font has this 漢字",
    "x" * 500,
    "\"'<&>",
]


def test_names_that_are_formulas_or_no_characters_at_all_can_be_drawn() -> None:
    drawn = signal_figures.forest([(name, 1.0, 2.0, 3.0) for name in ODD])
    page = Page(drawn.svg)
    texts = "".join(page.text)
    assert "$x^2$ costs $5" in texts
    assert r"$\frac{broken" in texts
    assert "\"'<&>" in texts
    assert not set(texts) & set("\x00\x07\u2028")
    assert plain("a\x00b\nc") == "a b c"


def test_the_same_figure_has_the_same_bytes_and_no_setting_of_the_reader_changes_it() -> None:
    def drawn() -> str:
        return quarter_figures.group_sizes({3: 10, 4: 2, 60: 1}, 3, "group").svg

    first = drawn()
    before = dict(rcParams)
    assert drawn() == first
    rcParams["font.size"], rcParams["svg.hashsalt"] = 30, "other"
    rcParams["axes.facecolor"] = "red"
    try:
        assert drawn() == first
    finally:
        rcParams.update(before)
    assert dict(rcParams) == before
    assert svg.__doc__


def test_a_scatter_of_many_pairs_stays_small_and_draws_shapes_only() -> None:
    pairs = [(1.01**n, 1.01**n * (1 + n % 7 / 50)) for n in range(1, 900)] * 40
    drawn = signal_figures.scatter([("all", pairs), ("some", pairs[:1000]), ("none", [])])
    assert len(drawn.svg) < 600_000
    page = Page(drawn.svg)
    assert page.all("image") == []
    assert "36,000" not in drawn.svg
    assert f"all ({len(pairs):,} pairs)" in "".join(page.text)


def test_regions_of_a_fine_granularity_stay_small() -> None:
    fine = Widths("dose", "numeric", "mg", {n / 1000: 1 + n % 3 for n in range(50_000)}, 0, 0, "")
    flat = Widths("odd", "categorical", "", {}, 0, 0, "Any")
    drawn = quarter_figures.widths([fine, flat])
    assert len(drawn.svg) < 200_000
    assert "median 25" in "".join(Page(drawn.svg).text)


def test_the_same_release_gives_the_same_pages(db: Path, pages: Pages) -> None:
    with Engine(db, read_only=True, threads=1) as again:
        for public in (False, True):
            name = f"{'public' if public else 'internal'} {QUARTER}"
            assert again.report(QUARTER, public=public).html == pages.html[name]
