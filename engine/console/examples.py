"""What `--help` of each command shows as examples: lines that can be typed as they stand."""

from __future__ import annotations

from collections.abc import Mapping

EXAMPLES: Mapping[str, tuple[str, ...]] = {
    "": (
        "srsql demo",
        "srsql ingest faers/",
        "srsql release --quarter 2011Q4",
    ),
    "demo": ("srsql demo", "srsql demo my-first-run"),
    "synth": (
        "srsql synth --out faers --from 2011Q1 --to 2011Q4 --cases 3000 --seed 1",
        "srsql synth --out faers --like 2011Q4 --scale 0.1",
    ),
    "ingest": (
        "srsql ingest faers_ascii_2011q4.zip",
        "srsql ingest quarters/ --max-reject-rate 0.02",
        "srsql ingest reports.csv --dataset clinic.toml --period 2024",
    ),
    "release": (
        "srsql release --quarter 2011Q4",
        "srsql release --quarter 2011Q1:2011Q4 --model ppms++ --k 10 --theta 0.4",
        "srsql release --quarter 2011Q4 --draft",
        "srsql release --quarter 2011Q4 --confirm",
    ),
    "series": ("srsql series show", "srsql series create partners --k 10"),
    "series create": (
        "srsql series create partners --k 10 --theta 0.4",
        "srsql series create research --ids per-quarter",
    ),
    "series show": (
        "srsql series show",
        "srsql series show partners --format records",
    ),
    "series set": (
        "srsql series set partners --k 15",
        "srsql series set partners --unset knowledge",
    ),
    "correct": (
        "srsql correct --quarter 2011Q4 --dry-run",
        "srsql correct --quarter 2011Q4 --series partners",
    ),
    "lookup": (
        "srsql lookup 4503599627370497",
        "srsql lookup --case 8123456 --quarter 2011Q4",
    ),
    "explain": (
        "srsql explain --case 8123456 --quarter 2011Q4",
        "srsql explain --case 4503599627370497 --quarter 2011Q4 --series partners --json",
    ),
    "forget": (
        "srsql forget 8123456 --reason 'request of 3 May' --dry-run",
        "srsql forget --file ids.txt --reason 'withdrawn consent' --receipt receipt.json",
    ),
    "backup": ("srsql backup --to safe/srsql-2011Q4.duckdb",),
    "restore": ("srsql restore --from safe/srsql-2011Q4.duckdb",),
    "migrate": ("srsql migrate", "srsql migrate --db old.duckdb"),
    "status": ("srsql status", "srsql status --format records"),
    "metrics": (
        "srsql metrics --quarter 2011Q4",
        "srsql metrics --quarter 2011Q4 --format csv --out metrics.csv",
        "srsql metrics --quarter 2011Q4 --artifact out/2011Q4",
    ),
    "report": (
        "srsql report --quarter 2011Q4",
        "srsql report --quarter 2011Q4 --public --out report.html",
    ),
    "publish": (
        "srsql publish --quarter 2011Q4 --to out/2011Q4",
        "srsql publish --quarter 2011Q1:2011Q4 --to out/2011 --format duckdb",
    ),
    "verify": (
        "srsql verify out/2011Q4",
        "srsql verify out/2011Q3 out/2011Q4 --public-key key.pem",
    ),
    "import-release": (
        "srsql import-release released.csv --quarter 2011Q4 --dataset other.toml",
        "srsql import-release released.csv --quarter 2011Q4 --originals raw.csv --series other",
    ),
    "attack": (
        "srsql attack --quarter 2011Q4 --qid age=37 --qid sex=M",
        "srsql attack --quarter 2011Q4 --qid age=37 --new --format records",
    ),
    "audit": (
        "srsql audit",
        "srsql audit --quarter 2011Q4 --attacks b,f,l --k 10",
        "srsql audit --all-series",
    ),
    "signals": (
        "srsql signals --drug WARFARIN --reaction HAEMORRHAGE --min-age 65",
        "srsql signals --rules rules.csv --format csv --out signals.csv",
        "srsql signals --all --released-only",
    ),
    "query": (
        'srsql query "SELECT count(DISTINCT caseid) FROM demo WHERE age > 64"',
        'srsql query "SELECT sex, count(*) FROM demo GROUP BY sex" --format csv',
    ),
    "compare": (
        "srsql compare --quarters 2011Q1:2011Q4 --models ms,ppms,ppms++ --k 5,10",
        "srsql compare --quarters 2011Q4 --models ppms++,k-anonymity --theta 0.2,0.4",
    ),
    "advise": (
        "srsql advise --quarter 2011Q4",
        "srsql advise --quarter 2011Q4 --max-risk 0.1 --max-loss 0.3",
    ),
}
"""By the words of the command after ``srsql``; of ``srsql`` itself under the empty text."""
