"""The guides run from top to bottom and show what comes out."""

from __future__ import annotations

import shutil
from pathlib import Path
from types import ModuleType

import pytest
from support.scripts import DOCS, load

from srsql.cli import cli

pytestmark = pytest.mark.thorough


@pytest.fixture(scope="module")
def guides() -> ModuleType:
    return load(DOCS / "run_guides.py")


def test_every_guide_runs_from_top_to_bottom_and_shows_its_real_outputs(
    guides: ModuleType, tmp_path: Path
) -> None:
    guides.make_demo(tmp_path)  # once for all pages
    wrong = []
    for name in guides.PAGES:
        with guides.prepared(tmp_path) as folder:
            wrong += guides.run_page(DOCS / name, folder).wrong
    assert not wrong, "\n\n".join([*wrong, "python docs/run_guides.py --update writes them anew"])


@pytest.mark.skipif(shutil.which("Rscript") is None, reason="Rscript is not installed")
def test_the_text_in_r_is_run_where_r_is(guides: ModuleType, tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("```r\nprint(1 + 1)\n```\n\n```text\n[1] 2\n```\n")
    assert not guides.run_page(page, tmp_path).wrong


def test_every_command_has_an_example_with_its_output(guides: ModuleType) -> None:
    assert guides.commands_of(DOCS / "commands.md") == set(cli.commands)


PAGE = """
```console
$ export WHO=you
$ echo "hello $WHO"; exit 3
hello you
[exit 3]
$ srsql status --db none.duckdb
```

```toml some.toml
x = 1
```

```python
import pathlib
print(pathlib.Path("some.toml").read_text())
```

```text
x = 2
```

```python
1 / 0
```
"""


def test_a_page_that_shows_something_else_is_found_and_mended(
    guides: ModuleType, tmp_path: Path
) -> None:
    page = tmp_path / "page.md"
    page.write_text(PAGE)
    found = guides.run_page(page, tmp_path)
    assert len(found.wrong) == 3
    for text, part in zip(
        found.wrong, ("no warehouse at none", "x = 1", "ZeroDivisionError"), strict=True
    ):
        assert part in text
    page.write_text(found.text)
    assert "no warehouse at none.duckdb" in found.text
    (left,) = guides.run_page(page, tmp_path).wrong
    assert "ZeroDivisionError" in left


def test_only_what_legitimately_varies_may_differ(guides: ModuleType) -> None:
    same = [
        ("w.duckdb: 16.3 MiB", "w.duckdb: 2,003.1 MiB"),
        ("released in 0.4 s", "released in 12 s"),
        ("  seconds: cases 0.05, views 1.20", "  seconds: cases 1.00, views 0.01"),
        ("2012Q2   351    331  0.0488  0.7", "2012Q2   351    331  0.0488  12.1"),
    ]
    for one, other in same:
        assert guides._normal(one) == guides._normal(other)
    for one, other in (("351 cases", "352 cases"), ("2012Q2 0.7 x", "2012Q2 0.8 x")):
        assert guides._normal(one) != guides._normal(other)
