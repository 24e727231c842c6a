"""The site has every page, shows pages as they are meant, and loads nothing from elsewhere."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from xml.etree import ElementTree

import pytest

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
MERMAID = re.compile(r"^```mermaid\n(.*?)^```$", re.MULTILINE | re.DOTALL)
LOADED = re.compile(r"<(?:script|img|link|iframe|source)\b[^>]*?\b(?:src|href)=\"([^\"]+)\"")
WAYS = ("steward", "analyst", "auditor")

with_mkdocs = pytest.mark.skipif(
    not all(map(find_spec, ("material", "mike"))),
    reason="mkdocs-material and mike are not installed (.ci/integrations has them)",
)


@pytest.fixture(scope="module")
def pages() -> Iterator[ModuleType]:
    sys.path.insert(0, str(DOCS))
    import site_pages

    yield site_pages
    sys.path.remove(str(DOCS))
    del sys.modules["site_pages"], sys.modules["flowchart"]


def own_pages(pages: ModuleType) -> list[str]:
    """Those that docs/ holds as Markdown, but what the site leaves out."""
    found = (path.relative_to(DOCS).as_posix() for path in DOCS.rglob("*.md"))
    return [uri for uri in found if f"docs/{uri}" not in pages.LEFT_OUT]


def test_what_the_site_leaves_out_is_there_and_excluded(pages: ModuleType) -> None:
    settings = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    excluded = settings.split("exclude_docs: |\n")[1].split("\ntheme:")[0].split()
    for page in pages.LEFT_OUT:
        assert (ROOT / page).is_file()
        assert page.removeprefix("docs") in excluded


def test_every_page_is_in_the_navigation_once(pages: ModuleType) -> None:
    settings = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    named = re.findall(r"^ +- (?:[^:\n]+: )?([\w/-]+\.md)$", settings, re.MULTILINE)
    assert sorted(named) == sorted([*own_pages(pages), *pages.PAGES.values()])


def test_every_page_that_stands_elsewhere_is_there(pages: ModuleType) -> None:
    assert [source for source in pages.PAGES if not (ROOT / source).is_file()] == []


def test_a_steward_an_analyst_and_an_auditor_find_their_way_in_one_click(
    pages: ModuleType,
) -> None:
    text = (DOCS / "index.md").read_text(encoding="utf-8")
    shown = pages.for_site(text, "index.md")
    for way in WAYS:
        assert re.search(rf"\[{way.title()}: [^]]+\]\(notebooks/{way}\.ipynb\)", text)
        assert re.search(rf"\[{way.title()}: [^]]+\]\(notebooks/{way}\.md\)", shown)


@pytest.mark.parametrize(
    ("source", "uri", "link", "shown"),
    [
        ("README.md", "overview.md", "[m](docs/models.md#ms)", "[m](models.md#ms)"),
        ("README.md", "overview.md", "![p](docs/attack.svg)", "![p](attack.svg)"),
        ("README.md", "overview.md", "[a\nb](docs/models.md)", "[a\nb](models.md)"),
        ("README.md", "overview.md", "see [it](LICENSE)", "see it"),
        ("docs/decisions.md", "decisions.md", "the [archive](decisions/archive.md)", "the archive"),
        ("docs/guide.md", "guide.md", "[r](../README.md#a)", "[r](overview.md#a)"),
        ("docs/notebooks/a.ipynb", "notebooks/a.md", "[g](../guide.md)", "[g](../guide.md)"),
        ("integrations/dagster/README.md", "integrations/dagster.md", "[f](srsql_quarters.py)",
         "[f](dagster/srsql_quarters.py)"),
        ("README.md", "overview.md", "[s](https://example.org)", "[s](https://example.org)"),
        ("README.md", "overview.md", "[gone](nowhere.md)", "[gone](nowhere.md)"),
    ],
)  # fmt: skip
def test_links_of_the_project_become_links_of_the_site(
    pages: ModuleType, source: str, uri: str, link: str, shown: str
) -> None:
    assert pages.relinked(link, source, uri) == shown
    code = f"```text\n{link}\n```"
    assert pages.relinked(code, source, uri) == code


def test_lists_have_four_columns_a_level_and_a_blank_line_before(pages: ModuleType) -> None:
    given = (
        "Such as\n* one:\n\n      code = 1\n\n  more\n  * inner\n    goes on\n* two\n\n"
        "Text\n| a |\n| - |\n"
    )
    assert pages.indented(given) == (
        "Such as\n\n* one:\n\n        code = 1\n\n    more\n    * inner\n        goes on\n* two\n\n"
        "Text\n\n| a |\n| - |\n"
    )


def test_code_keeps_its_columns(pages: ModuleType) -> None:
    given = "Run\n\n    * srsql\n      - x\n\n```text\nno list:\n* x\n  y\n```\n"
    assert pages.indented(given) == given


def test_a_block_with_the_name_of_a_file_has_it_as_its_title(pages: ModuleType) -> None:
    shown = pages.for_site("```toml srsql.toml\nx = 1\n```\n", "guide.md")
    assert shown == '```toml title="srsql.toml"\nx = 1\n```'


@pytest.mark.parametrize("page", ["docs/guide.md", "docs/architecture.md"])
def test_the_flowcharts_of_the_pages_are_drawn(pages: ModuleType, page: str) -> None:
    (chart,) = MERMAID.findall((ROOT / page).read_text(encoding="utf-8"))
    root = ElementTree.fromstring(pages.drawn(chart))
    boxes = [
        [float(rect.attrib[name]) for name in ("x", "y", "width", "height")]
        for rect in root.iter("rect")
    ]
    texts, edges = sys.modules["flowchart"].parsed(chart)
    assert len(boxes) == len(texts)
    assert len(list(root.iter("path"))) == 2 * len(edges)
    for number, (x, y, wide, high) in enumerate(boxes):
        for left, top, broad, deep in boxes[number + 1 :]:
            apart = x + wide <= left or left + broad <= x or y + high <= top or top + deep <= y
            assert apart


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site") / "built"
    built = run(ROOT, "mkdocs", "build", "--strict", "--site-dir", str(folder))
    assert built.returncode == 0, built.stderr
    return folder


def run(place: Path, command: str, *words: str) -> subprocess.CompletedProcess[str]:
    tools = Path(sys.executable).parent
    own = {"NO_MKDOCS_2_WARNING": "1", "PATH": f"{tools}{os.pathsep}{os.environ['PATH']}"}
    return subprocess.run(
        [str(tools / command), *words],
        cwd=place,
        env=os.environ | own,
        capture_output=True,
        text=True,
        check=False,
    )


@with_mkdocs
def test_no_page_loads_anything_from_elsewhere(site: Path) -> None:
    found = list(site.rglob("*.html"))
    assert len(found) > 20
    for page in found:
        text = page.read_text(encoding="utf-8")
        assert [place for place in LOADED.findall(text) if re.match(r"(?:https?:)?//", place)] == []
        assert 'class="mermaid"' not in text
    styles = "".join(path.read_text(encoding="utf-8") for path in site.rglob("*.css"))
    assert re.findall(r"url\(\"?(?:https?:)?//[^)]*\)|@import[^;]*", styles) == []


@with_mkdocs
def test_lists_tables_and_code_are_taken_for_what_they_are(site: Path) -> None:
    for page in site.rglob("index.html"):
        text = page.read_text(encoding="utf-8")
        prose = re.sub(r"<(pre|code|td)\b.*?</\1>", "", text, flags=re.DOTALL)
        marks = re.findall(r"<p>(?:[^<]*\n)?(?:\* |\| |```)[^<]{0,60}", prose)
        assert marks == [], page


@with_mkdocs
def test_the_search_finds_every_page(site: Path, pages: ModuleType) -> None:
    documents = json.loads((site / "search" / "search_index.json").read_text())["docs"]
    places = {document["location"].partition("#")[0] for document in documents}
    named = [*own_pages(pages), *pages.PAGES.values()]
    assert places == {"" if uri == "index.md" else f"{uri.removesuffix('.md')}/" for uri in named}


@with_mkdocs
def test_recipes_and_notebooks_are_offered_as_files(site: Path) -> None:
    for file in ("integrations/dagster/srsql_quarters.py", "notebooks/steward.ipynb"):
        assert (site / file).is_file()


@with_mkdocs
def test_versions_stand_beside_each_other(tmp_path: Path) -> None:
    place = tmp_path / "project"
    unused = shutil.ignore_patterns(".*", "build", "*.egg-info", "__pycache__")
    shutil.copytree(ROOT, place, ignore=unused)
    for words in ("init -q", "add .", "-c user.name=a -c user.email=a@b commit -q -m all"):
        subprocess.run(["git", *words.split()], cwd=place, check=True)
    named = {"GIT_COMMITTER_NAME": "a", "GIT_COMMITTER_EMAIL": "a@b"}
    with pytest.MonkeyPatch.context() as patch:
        for name, value in named.items():
            patch.setenv(name, value)
        for version in ("0.1", "0.2"):
            made = run(place, "mike", "deploy", "--update-aliases", version, "latest")
            assert made.returncode == 0, made.stderr
    listed = subprocess.run(
        ["git", "show", "gh-pages:versions.json"], cwd=place, capture_output=True, check=True
    )
    versions = {found["version"]: found["aliases"] for found in json.loads(listed.stdout)}
    assert versions == {"0.2": ["latest"], "0.1": []}
