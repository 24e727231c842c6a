"""Makes the artifact that ships as an example: docs/examples/demo-2011Q4.

``python docs/build_example.py`` writes it anew: 400 new cases of a synthetic quarter, released at
k = 5 and published as CSV. Pseudonyms are drawn with a secret of their own each time. No patient is
in it.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path

from srsql.engine.api.engine import Engine
from srsql.engine.extras.synth import synthesize

EXAMPLE = Path(__file__).parent / "examples" / "demo-2011Q4"
QUARTER = "2011Q4"
CASES = 400
SEED = 2011
DAY = 1_795_824_000
"""Of the release, in seconds since 1970 (SOURCE_DATE_EPOCH)."""


def main() -> None:
    """Replace the example."""
    os.environ["SOURCE_DATE_EPOCH"] = str(DAY)
    with tempfile.TemporaryDirectory() as folder, Engine(Path(folder) / "w.duckdb") as engine:
        files = synthesize(Path(folder) / "data", [QUARTER], cases=CASES, seed=SEED)
        engine.ingest(files)
        engine.release.make(QUARTER, k=5, seed=SEED)
        shutil.rmtree(EXAMPLE, ignore_errors=True)
        EXAMPLE.parent.mkdir(exist_ok=True)
        engine.artifact.publish(QUARTER, EXAMPLE, format="csv")


if __name__ == "__main__":
    main()
