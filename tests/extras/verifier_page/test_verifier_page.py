"""The page that checks artifacts in a browser: one file, its policy, what Python puts into it.

What it does is looked at in a browser: ``test_verifier_in_a_browser.py``.
"""

from __future__ import annotations

import json
import re
from base64 import b64encode
from hashlib import sha256
from pathlib import Path

import pytest
from support.command import srsql

from srsql.engine.artifact.format import CATALOGUES, TERM_TABLES, VERSION, Column
from srsql.engine.artifact.verify import CHECKS
from srsql.engine.artifact.verify.declarations import expected_columns
from srsql.engine.extras import verifier_page
from srsql.engine.models import MODELS
from srsql.schemas import builtin_names, load_dataset

SOURCES = Path(verifier_page.__file__).parent / "page"
PAGE = verifier_page.verifier_page()
SCRIPT = re.compile(r"<script(?P<kind>[^>]*)>(?P<text>.*?)</script>", re.DOTALL)


def scripts() -> dict[str, str]:
    return {found["kind"]: found["text"] for found in SCRIPT.finditer(PAGE)}


def test_the_page_has_every_source_and_no_address() -> None:
    work, view = scripts()[' type="text/plain" id="work"'], scripts()[""]
    for name in verifier_page.WORK:
        assert (SOURCES / name).read_text(encoding="utf-8") in work
    assert (SOURCES / "view.js").read_text(encoding="utf-8") in view
    known = {*verifier_page.WORK, "view.js", "page.html", "page.css"}
    assert {path.name for path in SOURCES.iterdir()} == known
    assert re.findall(r"https?:|//[a-z]|@import|url\(|\bsrc=|\bimport\(|fetch\(", PAGE) == []
    assert verifier_page.verifier_page() == PAGE


def test_the_policy_lets_the_script_and_the_style_of_the_page_run_and_nothing_else() -> None:
    found = re.search(r'Content-Security-Policy" content="([^"]*)"', PAGE)
    assert found is not None
    policy = dict(part.strip().split(" ", 1) for part in found[1].split(";"))
    style = PAGE.split("<style>")[1].split("</style>")[0]
    named = {
        kind: f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'"
        for kind, text in (("script-src", scripts()[""]), ("style-src", style))
    }
    assert policy == {
        "default-src": "'none'", "base-uri": "'none'", "form-action": "'none'",
        "worker-src": "blob:", **named,
    }  # fmt: skip
    assert "style=" not in PAGE.split("<script")[0]
    runs_text = r"innerHTML|outerHTML|insertAdjacent|document\.write|eval\(|Function\("
    assert not re.search(runs_text, PAGE)


def test_sources_cannot_end_the_script_that_they_stand_in() -> None:
    for path in SOURCES.glob("*.js"):
        text = path.read_text(encoding="utf-8")
        assert "</" not in text, path.name
        assert "<!--" not in text, path.name
        assert all(len(line) <= 110 for line in text.splitlines()), path.name


def test_a_reader_of_parquet_stands_before_the_sources_and_its_sha_256_on_the_page(
    tmp_path: Path,
) -> None:
    """``SHA256SUMS`` of the reader, taken by the reader of the page, gives the same figure."""
    script = b"// of others\r\nvar parquetFiles = {};\n"
    (tmp_path / "reader.js").write_bytes(script)
    made = srsql(
        "verify", "--page", tmp_path / "page.html", "--parquet-reader", tmp_path / "reader.js"
    )
    assert (made.code, made.err) == (0, "")
    written = (tmp_path / "page.html").read_bytes().decode()
    assert script.decode() in written
    assert written.index("var parquetFiles") < written.index("const SHIPPED")
    for page, says in ((PAGE, False), (written, True)):
        shown = page.split('id="work"')[0].split("<body>")[1] + page.split("<footer>")[1]
        assert (sha256(script).hexdigest() in shown) == says
        assert ("--parquet-reader" in page.split("<footer>")[1].split("</footer>")[0]) != says
        assert ("(Parquet or CSV)" in shown) == says


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (None, "cannot be read (No such file or directory)"),
        (b"\xff", "is no text in UTF-8"),
        (b"export const parquetRead = 1;", "declares no parquetFiles"),
        (b"var parquetFiles = '</script>';", "has </ or <! in it"),
        (b"var parquetFiles = '<!--';", "has </ or <! in it"),
    ],
)
def test_what_is_no_reader_of_parquet_is_refused_and_no_page_written(
    content: bytes | None, why: str, tmp_path: Path
) -> None:
    reader, page = tmp_path / "reader.js", tmp_path / "page.html"
    if content is not None:
        reader.write_bytes(content)
    refused = srsql("verify", "--page", page, "--parquet-reader", reader)
    assert (refused.code, refused.out) == (2, "")
    assert why in refused.err
    assert refused.err.endswith("give the script that integrations/parquet-reader builds\n")
    assert refused.err.count("\n") == 1
    assert not page.exists()


def test_what_ships_is_told_as_it_is_declared() -> None:
    told = re.search(r"^const SHIPPED = (.*);$", PAGE, re.MULTILINE)
    assert told is not None
    facts = {each["name"]: each for each in json.loads(told[1])}
    assert set(facts) == set(builtin_names())
    for name, fact in facts.items():
        dataset = load_dataset(name)
        due = {
            f"{table.name}.{column}": role
            for table in dataset.row_tables
            for column, (_, role, _) in expected_columns(dataset, table).items()
        }
        due |= {
            f"{t.name}.{name}": "published as it is" for t in dataset.tables for name in t.optional
        }
        assert dict(fact["columns"]) == due
        assert fact["version"] == dataset.version
        assert [each["name"] for each in fact["attributes"]] == [qid.name for qid in dataset.qid]


def test_the_page_knows_the_models_the_roles_and_the_files_of_this_version() -> None:
    """Roles and files are written down a second time; a new one has to be told to the page."""
    checks = (SOURCES / "checks.js").read_text(encoding="utf-8")
    table = re.search(r"^const BOUNDS_OF_MODELS = new Map\((.*)\);$", PAGE, re.MULTILINE)
    assert table is not None
    known = dict(json.loads(table.group(1)))
    assert list(known) == list(MODELS)
    ms = {"bounds": ["k", "theta"], "unit": "case", "perturbed": False, "rows": True}
    assert known["ms"] == ms
    assert known["msdp-all"] == ms | {"perturbed": True}
    assert known["alpha-k"] == ms | {"bounds": [], "unit": "report"}
    assert known["xy-anonymity"] == ms | {"bounds": ["k"]}
    assert known["cba"] == known["dp-histogram"] == ms | {"bounds": [], "rows": False}
    manifest = (SOURCES / "manifest.js").read_text(encoding="utf-8")
    roles = Column.model_json_schema()["properties"]["role"]["enum"]
    for text in (*roles, *TERM_TABLES, *CATALOGUES):
        assert f'"{text}"' in manifest
    assert f"const VERSION = {VERSION}," in manifest
    listed = checks.split("const CHECKS")[1].split("]);")[0]
    names = re.findall(r'^  \["([a-z ]+)", "', listed, re.MULTILINE)
    assert len(names) == 28
    assert set(names) <= set(CHECKS)


def test_the_command_writes_the_page_once(tmp_path: Path) -> None:
    file = tmp_path / "page.html"
    made = srsql("verify", "--page", file)
    assert (made.code, made.err) == (0, "")
    assert made.out.startswith(f"{file}: open it in a browser")
    assert file.read_bytes() == PAGE.encode()
    again = srsql("verify", "--page", file)
    assert (again.code, again.out) == (2, "")
    assert again.err == f"srsql: --page {file} is there already: give another name\n"
    assert json.loads(srsql("verify", "--page", tmp_path / "b.html", "--json").out) == {
        "file": str(tmp_path / "b.html")
    }


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--page", "p.html", "out"), "--page writes a page and checks nothing: give it alone"),
        ((), "give the folders of artifacts, --counts FILE, or --page FILE"),
        (("--parquet-reader", "r.js", "out"), "--parquet-reader belongs to --page FILE: give both"),
        (("--page", "no/p.html"), "--page no/p.html cannot be written (No such file or directory)"),
    ],
)
def test_what_the_command_does_not_take_is_refused_in_one_line(
    arguments: tuple[str, ...], message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    refused = srsql("verify", *arguments)
    assert (refused.code, refused.out) == (2, "")
    assert message in refused.err
    assert refused.err.count("\n") == 1
    assert list(tmp_path.iterdir()) == []
