"""The page on the papers' figures has the commands that stand beside their claims."""

from support.benchmark import load


def test_the_page_has_the_command_of_every_figure() -> None:
    builder = load("papers.table")
    text = builder.PAGE.read_text(encoding="utf-8")
    assert text.count(builder.BEGIN) == text.count(builder.END) == 1
    assert builder.page(text) == text
