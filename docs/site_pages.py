"""Pages of the project as the site's Markdown takes them: links, lists, notebooks, diagrams.

They are written for people who read them where the code is. Here links to files of the project
become links to pages of the site, and what Python-Markdown reads otherwise than code hosts do is
written the way that both take.
"""

from __future__ import annotations

import json
import posixpath
import re
from itertools import groupby
from pathlib import Path
from typing import Any

from flowchart import drawn

ROOT = Path(__file__).parents[1]
PAGES = {
    "README.md": "overview.md",
    "CHANGELOG.md": "changelog.md",
    "CONTRIBUTING.md": "contributing.md",
    "SECURITY.md": "security.md",
    "integrations/airflow/README.md": "integrations/airflow.md",
    "integrations/dagster/README.md": "integrations/dagster.md",
    "integrations/dbt/README.md": "integrations/dbt.md",
    "integrations/jupysql/artifact.ipynb": "integrations/jupysql.md",
    "integrations/parquet-reader/README.md": "integrations/parquet-reader.md",
    "integrations/quarto/artifact.qmd": "integrations/quarto.md",
    "docs/notebooks/analyst.ipynb": "notebooks/analyst.md",
    "docs/notebooks/auditor.ipynb": "notebooks/auditor.md",
    "docs/notebooks/steward.ipynb": "notebooks/steward.md",
}
"""Pages that docs/ does not hold as Markdown -> where they are on the site."""
LEFT_OUT = (
    "docs/decisions/archive.md",
    "docs/examples/demo-2011Q4/README.md",
    "docs/examples/demo-2011Q4/methods.md",
)
"""Pages of the project that the site does not have (``exclude_docs`` of mkdocs.yml)."""
OFFERED = (".ipynb", ".qmd")
"""Kinds of files that such a page offers as they are."""
SOURCES = {uri: source for source, uri in PAGES.items()}
_FENCE = re.compile(r"^ *(```+|~~~+)")
_LINK = re.compile(r"(!?)\[([^\]]*)\]\(([^)\s#]+)(#[^)\s]*)?\)")
_ITEM = re.compile(r"(?:[*+-]|\d+\.) +")
_NAMED = re.compile(r"^( *```\w+) (\S+)$", re.MULTILINE)
"""The first line of a block that has the name of a file."""
_MERMAID = re.compile(r"^```mermaid\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def page_of(source: str) -> str:
    """The Markdown of a page that stands elsewhere, made of a notebook where it is one."""
    text = (ROOT / source).read_text(encoding="utf-8")
    if source.endswith(".ipynb"):
        return notebook_page(json.loads(text))
    return quarto_page(text) if source.endswith(".qmd") else text


def for_site(markdown: str, uri: str) -> str:
    """A page as the site's Markdown takes it.

    Args:
        markdown: the page.
        uri: its path on the site.
    """
    source = SOURCES.get(uri, f"docs/{uri}")
    drawings = _MERMAID.sub(lambda block: drawn(block[1]), markdown)
    titled = _NAMED.sub(r'\1 title="\2"', drawings)
    page = relinked(indented(titled), source, uri)
    if not source.endswith(OFFERED):
        return page
    file = posixpath.relpath(source.removeprefix("docs/"), posixpath.dirname(uri))
    title, rest = page.split("\n\n", 1)
    return f"{title}\n\n[{posixpath.basename(file)}]({file}) is this page to run.\n\n{rest}"


def relinked(markdown: str, source: str, uri: str) -> str:
    """Links to files of the project as links of the site; those to other files lose their target.

    Args:
        markdown: a page.
        source: its path in the project, which its links start from.
        uri: its path on the site.
    """

    def link(found: re.Match[str]) -> str:
        image, text, target, anchor = found[1], found[2], found[3], found[4] or ""
        if "://" in target or target.startswith("mailto:"):
            return found[0]
        path = posixpath.normpath(posixpath.join(posixpath.dirname(source), target))
        if path in PAGES:
            place = PAGES[path]
        elif path.startswith("docs/") and path not in LEFT_OUT:
            place = path.removeprefix("docs/")
        elif path.startswith("integrations/"):
            place = path
        else:
            return text if (ROOT / path).is_file() else found[0]
        shown = posixpath.relpath(place, posixpath.dirname(uri) or ".")
        return f"{image}[{text}]({shown}{anchor})"

    parts = groupby(lines_of(markdown), key=lambda line: line[1])
    texts = [("\n".join(line for line, _ in lines), in_code) for in_code, lines in parts]
    return "\n".join(text if in_code else _LINK.sub(link, text) for text, in_code in texts)


def indented(markdown: str) -> str:
    """Lists as Python-Markdown takes them: four columns a level, and a blank line before.

    Tables get the blank line as well. What stands in a list keeps its place below its item.
    """
    written: list[str] = []
    levels: list[int] = []  # where the text of each open item begins
    before = ""
    for line, in_code in lines_of(markdown):
        text = line.lstrip(" ")
        column = len(line) - len(text)
        in_list = bool(levels)
        if text and not in_code:
            while levels and column < levels[-1]:
                levels.pop()
        start = levels[-1] if levels else 0
        item = None if in_code or column - start >= 4 else _ITEM.match(text)
        table = not in_code and text[:1] == "|" and before.lstrip(" ")[:1] != "|"
        if before.strip() and (table or (item and not in_list)):
            written.append("")
        written.append(" " * (4 * len(levels) + max(column - start, 0)) + text if text else "")
        if item:
            levels.append(column + item.end())
        before = line
    return "\n".join(written) + "\n"


def lines_of(markdown: str) -> list[tuple[str, bool]]:
    """Each line, and whether it is in a block of code between fences, or one of these."""
    lines, fence = [], ""
    for line in markdown.splitlines():
        mark = _FENCE.match(line)
        in_code = bool(fence or mark)
        if mark and not fence:
            fence = mark[1]
        elif mark and mark[1].startswith(fence) and line.strip() == mark[1]:
            fence = ""
        lines.append((line, in_code))
    return lines


def notebook_page(notebook: dict[str, Any]) -> str:
    """A notebook as a page: its text, its code, and what it printed."""
    parts = []
    for cell in notebook["cells"]:
        text = "".join(cell["source"])
        if cell["cell_type"] == "markdown":
            parts.append(text)
            continue
        parts.append(f"```python\n{text}\n```")
        parts += [f"```text\n{printed.rstrip()}\n```" for printed in outputs_of(cell)]
    return "\n\n".join(parts) + "\n"


def outputs_of(cell: dict[str, Any]) -> list[str]:
    """What a cell of code printed and returned, as text."""
    found = []
    for output in cell["outputs"]:
        told = output["text"] if "text" in output else output.get("data", {}).get("text/plain", "")
        found.append("".join(told))
    return ["".join(found)] if any(found) else []


def quarto_page(text: str) -> str:
    """A page of Quarto as Markdown: the title from its head, cells as code, without options."""
    head, body = text.removeprefix("---\n").split("---\n", 1)
    title = re.search(r"^title: \"?(.*?)\"?$", head, re.MULTILINE)
    body = re.sub(r"^#\| .*\n", "", body.replace("```{python}", "```python"), flags=re.MULTILINE)
    return f"# {title[1] if title else ''}\n\n{body.lstrip()}"
