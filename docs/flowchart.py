"""Draws the flowcharts of the pages as SVG, so that the site loads no library for it.

Of Mermaid it takes what the pages use: ``a["text"] --> b & c["text"]``, ``a -->|label| b``, and
chains of these. A node stands one row below the lowest of those that lead to it.
"""

from __future__ import annotations

import re
from collections import defaultdict
from html import escape
from itertools import pairwise

_NODE = re.compile(r"^(\w+)(?:\[\"(.*)\"\])?$")
_ARROW = re.compile(r"\s*-->(?:\|([^|]*)\|)?\s*")
LETTER, LINE, GAP, DOWN = 6.6, 16, 22, 46
"""Width of a letter, height of a line, and the space between nodes and between rows, in pixels."""
WIDEST = 26
"""Letters of a line of a node."""
Edge = tuple[str, str, str]


def drawn(chart: str) -> str:
    """The chart as a block of HTML, on one line so that Markdown leaves it alone."""
    texts, edges = parsed(chart)
    rows = rows_of(texts, edges)
    boxes, width, height = placed(rows, texts)
    parts = [path(boxes, edge) for edge in edges]
    for name, (x, y, wide, high) in boxes.items():
        parts.append(f'<rect x="{x:.0f}" y="{y:.0f}" width="{wide:.0f}" height="{high}" rx="4"/>')
        for number, line in enumerate(texts[name]):
            parts.append(label(x + wide / 2, y + 21 + LINE * number, line))
    parts += [middle(boxes, edge) for edge in edges if edge[2]]
    told = escape("; ".join(f"{' '.join(texts[a])} to {' '.join(texts[b])}" for a, b, _ in edges))
    return (
        f'<div><svg class="srsql-diagram" role="img" aria-label="{told}" width="{width:.0f}" '
        f'viewBox="0 0 {width:.0f} {height}">{"".join(parts)}</svg></div>'
    )


def parsed(chart: str) -> tuple[dict[str, list[str]], list[Edge]]:
    """Node -> its lines, in the order of the chart, and the arrows (from, to, label)."""
    texts: dict[str, list[str]] = {}
    edges: list[Edge] = []

    def nodes(words: str) -> list[str]:
        names = []
        for word in words.split(" & "):
            found = _NODE.match(word.strip())
            if found is None:
                raise ValueError(f"not a node of a flowchart: {word}")
            if found[2] or found[1] not in texts:
                texts[found[1]] = wrapped(found[2] or found[1])
            names.append(found[1])
        return names

    for line in chart.strip().splitlines()[1:]:
        first, *rest = _ARROW.split(line.strip())
        chain, labels = [nodes(first), *map(nodes, rest[1::2])], rest[::2]
        for (sources, targets), said in zip(pairwise(chain), labels, strict=True):
            edges += [(one, other, said or "") for one in sources for other in targets]
    return texts, edges


def wrapped(text: str) -> list[str]:
    """The text in lines of at most so many letters, where its words allow it."""
    lines: list[str] = []
    for given in text.split("<br/>"):
        lines.append("")
        for word in given.split():
            if lines[-1] and len(lines[-1]) + len(word) >= WIDEST:
                lines.append("")
            lines[-1] = f"{lines[-1]} {word}".strip()
    return lines


def rows_of(texts: dict[str, list[str]], edges: list[Edge]) -> list[list[str]]:
    """The nodes row by row: below all that lead to them, in the order of the chart."""
    depth = dict.fromkeys(texts, 0)
    for _ in texts:
        for one, other, _label in edges:
            depth[other] = max(depth[other], depth[one] + 1)
    rows: dict[int, list[str]] = defaultdict(list)
    for name in texts:
        rows[depth[name]].append(name)
    return [rows[number] for number in sorted(rows)]


def placed(
    rows: list[list[str]], texts: dict[str, list[str]]
) -> tuple[dict[str, tuple[float, float, float, int]], float, int]:
    """Node -> left, top, width and height, each row centred; and the size of the whole."""
    wide = {name: LETTER * max(map(len, lines)) + 24 for name, lines in texts.items()}
    widths = [sum(wide[name] for name in row) + GAP * (len(row) - 1) for row in rows]
    width, y = max(widths) + 4, 2
    boxes: dict[str, tuple[float, float, float, int]] = {}
    for row, taken in zip(rows, widths, strict=True):
        x = (width - taken) / 2
        high = max(LINE * len(texts[name]) + 16 for name in row)
        for name in row:
            boxes[name] = (x, y, wide[name], LINE * len(texts[name]) + 16)
            x += wide[name] + GAP
        y += high + DOWN
    return boxes, width, y - DOWN + 2


def path(boxes: dict[str, tuple[float, float, float, int]], edge: Edge) -> str:
    """The arrow from the bottom of one node to the top of another."""
    x, y, wide, high = boxes[edge[0]]
    to, top, broad, _ = boxes[edge[1]]
    x, y, to = x + wide / 2, y + high, to + broad / 2
    bend = y + (top - y) / 2
    return (
        f'<path d="M{x:.0f} {y} C{x:.0f} {bend:.0f} {to:.0f} {bend:.0f} {to:.0f} {top - 6}"/>'
        f'<path class="head" d="M{to - 4:.0f} {top - 7} h8 l-4 7 z"/>'
    )


def middle(boxes: dict[str, tuple[float, float, float, int]], edge: Edge) -> str:
    """The label of an arrow, half way."""
    x, y, wide, high = boxes[edge[0]]
    to, top, broad, _ = boxes[edge[1]]
    return label(
        (x + wide / 2 + to + broad / 2) / 2 + 8, (y + high + top) / 2 + 4, edge[2], "start"
    )


def label(x: float, y: float, text: str, anchor: str = "middle") -> str:
    """One line of text."""
    return f'<text x="{x:.0f}" y="{y:.0f}" text-anchor="{anchor}">{escape(text)}</text>'
