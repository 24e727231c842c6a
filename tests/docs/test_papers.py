"""The page on the papers' figures has the commands that stand beside their claims."""

import importlib.util
from pathlib import Path

BUILDER = Path(__file__).parents[2] / "docs" / "build_papers.py"


def test_the_page_has_the_command_of_every_figure() -> None:
    spec = importlib.util.spec_from_file_location("build_papers", BUILDER)
    assert spec is not None
    assert spec.loader is not None
    builder = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(builder)
    text = builder.PAGE.read_text(encoding="utf-8")
    assert text.count(builder.BEGIN) == text.count(builder.END) == 1
    assert builder.page(text) == text
