"""HTML pages as a reader's program sees them: tables, figures, links; nothing of the engine."""

from __future__ import annotations

from dataclasses import dataclass, field
from html.parser import HTMLParser

VOID = frozenset(
    ("area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "wbr")
)


@dataclass
class Table:
    caption: str = ""
    columns: list[str] = field(default_factory=list)
    rows: list[list[float | str]] = field(default_factory=list)
    """Cells: the number in ``data-value``, else the text."""

    def column(self, name: str) -> list[float | str]:
        place = self.columns.index(name)
        return [row[place] for row in self.rows]

    def by(self, *names: str) -> dict[tuple[float | str, ...], dict[str, float | str]]:
        """Rows by the values of some columns, which must tell them apart."""
        found = {}
        for row in self.rows:
            cells = dict(zip(self.columns, row, strict=True))
            found[tuple(cells[name] for name in names)] = cells
        assert len(found) == len(self.rows)
        return found


class Page(HTMLParser):
    """A parsed page; every element must be closed where HTML wants it."""

    def __init__(self, html: str) -> None:
        super().__init__(convert_charrefs=True)
        self.tables: dict[str, Table] = {}
        self.facts: dict[str, float] = {}
        self.elements: list[tuple[str, dict[str, str]]] = []
        self.text: list[str] = []
        self.of: dict[str, list[str]] = {}
        """Id of an element -> the texts within it."""
        self._open: list[tuple[str, str | None]] = []
        self._table: Table | None = None
        self._cell: list[str] | None = None
        self._value: str | None = None
        self.feed(html)
        self.close()
        assert self._open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = {name: value or "" for name, value in attrs}
        assert len(found) == len(attrs), f"an attribute of {tag} is given twice"
        self.elements.append((tag, found))
        if tag not in VOID:
            self._open.append((tag, found.get("id")))
        if found.get("id", "").startswith("fact-") and "data-value" in found:
            self.facts[found["id"].removeprefix("fact-")] = float(found["data-value"])
        if tag == "table":
            self._table = self.tables[found["id"]] = Table()
        elif tag == "tr" and self._table is not None:
            self._table.rows.append([])
        elif tag in ("td", "th", "caption"):
            self._cell, self._value = [], found.get("data-value")

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        if tag not in VOID:
            self.handle_endtag(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self._open, f"</{tag}> closes nothing"
        opened, _ = self._open.pop()
        assert opened == tag, f"</{tag}> closes <{opened}>"
        if self._table is None:
            return
        if tag == "table":
            self._table = None
        elif tag in ("td", "th", "caption"):
            text = "".join(self._cell or []).strip()
            self._cell = None
            if tag == "caption":
                self._table.caption = text
            elif tag == "th":
                self._table.columns.append(text)
            else:
                self._table.rows[-1].append(text if self._value is None else float(self._value))
        elif tag == "thead":
            self._table.rows.clear()

    def handle_data(self, data: str) -> None:
        self.text.append(data)
        if self._cell is not None:
            self._cell.append(data)
        for _, name in self._open:
            if name:
                self.of.setdefault(name, []).append(data)

    def within(self, name: str) -> str:
        """The text within the element of that id, blanks folded."""
        return " ".join("".join(self.of.get(name, [])).split())

    def all(self, tag: str) -> list[dict[str, str]]:
        return [attributes for name, attributes in self.elements if name == tag]
