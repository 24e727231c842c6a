"""The generated page says what the code says."""

import importlib.util
from pathlib import Path

BUILDER = Path(__file__).parents[2] / "docs" / "build_reference.py"


def test_the_reference_page_is_the_one_that_the_code_generates() -> None:
    spec = importlib.util.spec_from_file_location("build_reference", BUILDER)
    assert spec is not None
    assert spec.loader is not None
    builder = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(builder)
    assert builder.PAGE.read_text(encoding="utf-8") == builder.page()
