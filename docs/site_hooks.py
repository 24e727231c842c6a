"""What mkdocs calls when it builds the site (``mkdocs.yml`` names this file)."""

from __future__ import annotations

import sys
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

sys.path.insert(0, str(Path(__file__).parent))
from site_pages import PAGES, ROOT, for_site, page_of

OFFERED = (".ipynb", ".py", ".qmd")
"""Files of recipes that their pages link to."""


def on_files(files: Files, *, config: MkDocsConfig) -> Files:
    """Add the pages that stand elsewhere, and the files of recipes."""
    for source, uri in PAGES.items():
        files.append(File.generated(config, uri, content=page_of(source)))
    for path in sorted((ROOT / "integrations").rglob("*")):
        if path.suffix in OFFERED:
            uri = path.relative_to(ROOT).as_posix()
            files.append(File.generated(config, uri, content=path.read_bytes()))
    return files


def on_page_markdown(markdown: str, *, page: Page, config: MkDocsConfig, files: Files) -> str:
    """The text of a page as the site's Markdown takes it."""
    return for_site(markdown, page.file.src_uri)
