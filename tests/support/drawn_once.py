"""A public page is drawn once for the same released rows, be it published or verified, or again.

Drawing takes longer than all that is looked at beside it. Which rows and which manifest a page is
of is all that decides it; other rows are another key. ``tests/report`` draws every page.
"""

from __future__ import annotations

import hashlib
from collections import OrderedDict
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest

from srsql.engine.report.page import Page
from srsql.engine.report.public_edition import PublicDatabase, public_quarter

Draw = Callable[[PublicDatabase, str], Page]
DRAWN: OrderedDict[str, Page] = OrderedDict()
MOST = 24
"""Pages that are kept, with their figures."""
PLACES = ("srsql.engine.report.report", "srsql.engine.report.public_edition")


def once(released: PublicDatabase, quarter: str) -> Page:
    key = _key(released, quarter)
    if key not in DRAWN:
        DRAWN[key] = public_quarter(released, quarter)
    DRAWN.move_to_end(key)
    while len(DRAWN) > MOST:
        DRAWN.popitem(last=False)
    return DRAWN[key]


def _key(released: PublicDatabase, quarter: str) -> str:
    """A digest of all that the page can be made of: every row of every view, in its order."""
    schema, con = released.schemas[quarter], released.warehouse.con
    told = hashlib.sha256()
    for part in (released.dataset.fingerprint, released.series, quarter, schema, released.ids,
                 released.dataset.model_dump_json(), released.dataset.rows,
                 released.dataset.cluster_columns, released.dataset.term_key):  # fmt: skip
        told.update(repr(part).encode())
    views = con.execute(
        "SELECT v.view_name FROM duckdb_views() AS v WHERE v.schema_name = ? ORDER BY ALL", [schema]
    ).fetchall()
    assert views
    for (view,) in views:
        found = con.execute(f'SELECT * FROM "{schema}"."{view}"')
        told.update(repr((view, found.description, found.fetchall())).encode())
    return told.hexdigest()


@contextmanager
def drawing(draw: Draw) -> Iterator[None]:
    """Pages are drawn by another function while this lasts."""
    with pytest.MonkeyPatch.context() as patch:
        for place in PLACES:
            patch.setattr(f"{place}.public_quarter", draw)
        yield


@pytest.fixture(scope="session", autouse=True)
def each_page_once() -> Iterator[None]:
    with drawing(once):
        yield


@pytest.fixture(scope="module")
def every_page() -> Iterator[None]:
    """For those who look at how pages are drawn."""
    with drawing(public_quarter):
        yield
