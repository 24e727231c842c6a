"""The work of the verifier's page in Node, where no browser is: its script as the page has it."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

from srsql.engine.extras.verifier_page import verifier_page

NODE = shutil.which("node")
PARQUET_READER = (
    Path(os.environ["SRSQL_PARQUET_READER"]) if "SRSQL_PARQUET_READER" in os.environ else None
)
"""The script of ``integrations/parquet-reader``, which ``.ci/integrations`` builds."""
NO_PARQUET_READER = "no SRSQL_PARQUET_READER, which integrations/parquet-reader builds"
RUN = """
{
  const fs = require("fs"), path = require("path"), vm = require("vm");
  const [work, ...folders] = process.argv.slice(1);
  let handler;
  globalThis.addEventListener = (name, taken) => { handler = taken; };
  globalThis.postMessage = told => {
    if (!("progress" in told)) process.stdout.write(JSON.stringify(told));
  };
  vm.runInThisContext(fs.readFileSync(work, "utf8"), {filename: "work.js"});
  const read = file => new Blob([fs.readFileSync(file)]);
  const entries = folders.flatMap(folder => fs.readdirSync(folder).map(name =>
    ({path: `${path.basename(folder)}/${name}`, file: read(path.join(folder, name))})));
  handler({data: {open: entries}});
}
"""


ASK = """
  const asked = JSON.parse(process.env.QUESTION);
  if (asked) setTimeout(async function again() {
    if (!globalThis.wasOpened) return setTimeout(again, 20);
    await handler({data: {ask: asked}});
  }, 20);
}
"""


def answered_in_node(scratch: Path, folder: Path, question: dict[str, Any]) -> dict[str, Any]:
    """What the page answers to a question about an artifact.

    Args:
        scratch: where the script is written.
        folder: of the artifact.
        question: as the page sends it to its work.
    """
    run = RUN.replace(
        'if (!("progress" in told)) process.stdout.write(JSON.stringify(told));',
        'if ("opened" in told) globalThis.wasOpened = true;\n'
        '    else if (!("progress" in told)) process.stdout.write(JSON.stringify(told));',
    )
    found = re.search(
        r'<script type="text/plain" id="work">(.*?)</script>', verifier_page(None), re.DOTALL
    )
    assert found is not None
    assert NODE is not None
    (scratch / "work.js").write_text(found[1], encoding="utf-8")
    asked = {"ranges": [], "nodes": [], "terms": [], "group": None, "most": 50, "quarter": "",
             "ratio": False, "withheld": False} | question  # fmt: skip
    done = subprocess.run(
        [NODE, "-e", run.rstrip()[:-1] + ASK, str(scratch / "work.js"), str(folder)],
        capture_output=True, text=True, check=True, timeout=300,
        env={**os.environ, "QUESTION": json.dumps(asked)},
    )  # fmt: skip
    answer: dict[str, Any] = json.loads(done.stdout)
    return answer


def opened_in_node(
    scratch: Path, *folders: Path, parquet_reader: Path | None = None
) -> dict[str, Any]:
    """What the page is told of artifacts when they are opened together.

    Args:
        scratch: where the script is written.
        folders: of the artifacts.
        parquet_reader: what the page is written with.
    """
    page = verifier_page(None if parquet_reader is None else parquet_reader.read_bytes())
    found = re.search(r'<script type="text/plain" id="work">(.*?)</script>', page, re.DOTALL)
    assert found is not None
    assert NODE is not None
    script = scratch / "work.js"
    script.write_text(found[1], encoding="utf-8")
    done = subprocess.run(
        [NODE, "-e", RUN, str(script), *map(str, folders)],
        capture_output=True, text=True, check=True, timeout=300,
    )  # fmt: skip
    answer: dict[str, Any] = json.loads(done.stdout)
    assert "opened" in answer, answer
    told: dict[str, Any] = answer["opened"]
    return told
