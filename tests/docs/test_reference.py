"""The generated page says what the code says."""

from support.scripts import DOCS, load


def test_the_reference_page_is_the_one_that_the_code_generates() -> None:
    builder = load(DOCS / "build_reference.py")
    assert builder.PAGE.read_text(encoding="utf-8") == builder.page()
