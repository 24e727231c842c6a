"""The generated pages say what the code says."""

import pytest
from support.scripts import DOCS, load

BUILDER = load(DOCS / "build_reference.py")


@pytest.mark.parametrize("file", BUILDER.PAGES)
def test_a_page_of_the_reference_is_the_one_that_the_code_generates(file: str) -> None:
    assert (DOCS / file).read_text(encoding="utf-8") == BUILDER.PAGES[file]()
