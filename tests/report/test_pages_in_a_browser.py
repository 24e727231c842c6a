"""The pages in a real browser: drawn, as wide as the window, no request, no complaint."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest
from matplotlib.image import imread
from report.conftest import QUARTERS, Pages

BROWSER = next(
    (
        path
        for name in ("chromium", "chromium-browser", "google-chrome")
        if (path := shutil.which(name))
    ),
    None,
)
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(BROWSER is None, reason="no Chromium on PATH"),
]
EVERY = [
    f"{edition} {what}" for edition in ("internal", "public") for what in (QUARTERS[1], "series")
]
MEASURE = """<script>
const seen = {wide: document.documentElement.scrollWidth - innerWidth, out: [], loads:
  performance.getEntriesByType("resource").map(entry => entry.name)};
for (const drawing of document.querySelectorAll("svg")) {
  const frame = drawing.getBoundingClientRect();
  for (const text of drawing.querySelectorAll("text")) {
    const box = text.getBoundingClientRect();
    if (box.left < frame.left - 3 || box.right > frame.right + 3
        || box.top < frame.top - 3 || box.bottom > frame.bottom + 3)
      seen.out.push(text.textContent);
  }
}
document.title = "measured " + JSON.stringify(seen);
</script>"""


def browse(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    assert BROWSER is not None
    command = [
        BROWSER, "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
        "--disable-background-networking", "--disable-component-update", "--disable-sync",
        "--hide-scrollbars", "--enable-logging=stderr", f"--user-data-dir={folder / 'profile'}",
        *arguments,
    ]  # fmt: skip
    return subprocess.run(command, capture_output=True, text=True, timeout=120, check=True)


@pytest.mark.parametrize("name", EVERY)
def test_a_page_is_drawn_without_a_complaint(pages: Pages, tmp_path: Path, name: str) -> None:
    file = tmp_path / "page.html"
    file.write_text(pages.html[name], encoding="utf-8")
    shot = tmp_path / "page.png"
    done = browse(tmp_path, f"--screenshot={shot}", "--window-size=1200,4000", file.as_uri())
    assert "CONSOLE" not in done.stderr
    image = imread(shot)[:, :, :3]
    dark = (image.min(axis=2) < 0.9).mean()
    assert 0.005 < dark < 0.5
    upper, lower = image[:2000], image[2000:3500]
    assert (upper.min(axis=2) < 0.5).any()
    assert (lower.min(axis=2) < 0.5).any()


@pytest.mark.parametrize("name", EVERY)
def test_a_page_never_scrolls_sideways_and_no_label_is_cut_off(
    pages: Pages, tmp_path: Path, name: str
) -> None:
    """Measured by a script in a copy, which has no policy against scripts."""
    html = pages.html[name]
    copy = re.sub(r'<meta http-equiv="Content-Security-Policy"[^>]*>', "", html)
    file = tmp_path / "copy.html"
    file.write_text(copy.replace("</body>", MEASURE + "</body>"), encoding="utf-8")
    done = browse(tmp_path, "--dump-dom", "--window-size=500,2000", file.as_uri())
    found = re.search(r"<title>measured (.*?)</title>", done.stdout)
    assert found is not None
    assert found[1] == '{"wide":0,"out":[],"loads":[]}'
    assert "CONSOLE" not in done.stderr
