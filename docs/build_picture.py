"""Draws docs/attack.svg: one synthetic patient, attacked by the originals and by the release.

``python docs/build_picture.py`` writes it anew; a test fails where it is stale. The quarter is the
first of ``srsql demo``. Its originals are registered as if somebody had released them as they are
(``srsql import-release``), so that both attacks are those of ``srsql attack``. The patient is the
first case, in the order of ids, whose age, weight and sex are known, belong to no other case, and
that has two to four terms.
"""

from __future__ import annotations

import sys
import tempfile
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from html import escape
from pathlib import Path

from srsql import Engine
from srsql.engine.audit.attack import Attack
from srsql.engine.extras.demo import CASES, FIRST, SEED, K
from srsql.engine.extras.synth import synthesize

PICTURE = Path(__file__).with_name("attack.svg")
ORIGINALS = """
COPY (
    SELECT d.caseid AS case_id, d.quarter,
        min(d.srsql_age) AS age_low, max(d.srsql_age) AS age_high,
        min(d.srsql_wt) AS wt_low, max(d.srsql_wt) AS wt_high,
        CASE WHEN count(DISTINCT d.srsql_sex) = 1 THEN min(d.srsql_sex) ELSE 'Any' END AS sex,
        any_value(t.terms) AS terms
    FROM raw_faers.demo AS d JOIN (
        SELECT caseid, string_agg(DISTINCT term, ';' ORDER BY term) AS terms FROM (
            SELECT primaryid, srsql_pt AS term FROM raw_faers.reac
            UNION ALL SELECT primaryid, srsql_indi_pt FROM raw_faers.indi
        ) JOIN raw_faers.demo USING (primaryid) WHERE term IS NOT NULL GROUP BY caseid
    ) AS t USING (caseid)
    GROUP BY ALL ORDER BY d.caseid
) TO '{file}' (HEADER)"""
TARGET = """
SELECT age_low, wt_low, sex, string_split(terms, ';') FROM read_csv('{file}')
WHERE age_low = age_high AND wt_low = wt_high AND sex IN ('F', 'M')
    AND len(string_split(terms, ';')) BETWEEN 2 AND 4
QUALIFY count(*) OVER (PARTITION BY age_low, wt_low, sex) = 1
ORDER BY case_id LIMIT 1"""
TERMS = """
SELECT case_id, unnest(string_split(terms, ';')) FROM read_csv('{file}')"""
WIDTH = 560
COLUMNS = (12, 96, 204)
"""Where age, weight and sex begin in a row of a panel."""
LINE = 21
"""From one line of small text to the next."""
STYLE = """
.card { fill: #ffffff; stroke: #c9d1d9 }
text { font: 16px system-ui, sans-serif; fill: #1f2328 }
.title { font-weight: 600; font-size: 18px }
.large { font-weight: 600; font-size: 21px }
.quiet { fill: #59636e; font-size: 15px }
.found { fill: #fbe3e4; stroke: #c93c37 }
.among { fill: #e3f1ef; stroke: #1b7f75 }
.bad { fill: #b42318 }
.good { fill: #14695f }
@media (prefers-color-scheme: dark) {
  .card { fill: #0d1117; stroke: #3d444d }
  text { fill: #e6edf3 }
  .quiet { fill: #a3adb8 }
  .found { fill: #43191b; stroke: #f47067 }
  .among { fill: #102f2c; stroke: #4fb8ab }
  .bad { fill: #ff938a }
  .good { fill: #63cfc1 }
}
"""


@dataclass(frozen=True)
class Attacked:
    """What the picture shows."""

    known: dict[str, str]
    before: list[tuple[str, ...]]
    """Region of each candidate that shows age, weight and sex: of the originals."""
    after: list[tuple[str, ...]]
    """The same of the release."""
    terms: list[str]
    """The patient's own."""
    likeliest: int
    """How many of the candidates of the release hold the term that most of them do."""
    alone: float
    """Share of cases that the region and two items leave alone, in the release."""


def attacked(folder: Path) -> Attacked:
    """Make the quarter in the folder, release it, and attack the patient twice."""
    (archive,) = synthesize(folder / "data", [FIRST], cases=CASES, seed=SEED)
    file = folder / "originals.csv"
    with Engine(folder / "house.duckdb") as house:
        house.ingest([archive])
        house.release.make(FIRST, k=K, seed=SEED)
        house.con.execute(ORIGINALS.format(file=file))
        age, weight, sex, terms = house.sql(TARGET.format(file=file))[0]
        known = {"age": str(age), "wt": str(weight), "sex": sex}
        after = house.audit.attack(FIRST, known)
        listed = house.sql(TERMS.format(file=file))  # published as they are
        held = Counter(term for case, term in listed if str(case) in complete(after))
        risks = {(row.measure, row.scope): row.ratio for row in house.audit.metrics(FIRST)}
    columns = {name: name for name in ("quarter", "age", "wt", "sex")}
    with Engine(folder / "outside.duckdb") as outside:
        columns |= {"case": "case_id", "term": "terms"}
        outside.audit.import_release(file, FIRST, columns=columns)
        before = outside.audit.attack(FIRST, known)
    alone = risks["one_candidate", "2 of the drugs or terms, worst"]
    assert alone is not None
    return Attacked(known, shown(before), shown(after), terms, max(held.values()), alone)


def complete(attack: Attack) -> dict[str, tuple[str, ...]]:
    """Those who remain and show all that is known -> their region in words."""
    found = {}
    for candidate in attack.candidates:
        values = [candidate.region[name] for name in ("age", "wt", "sex")]
        if candidate.case_id in attack.remaining and None not in values and values[2] != "Any":
            found[candidate.case_id] = tuple(map(in_words, values))
    return found


def shown(attack: Attack) -> list[tuple[str, ...]]:
    """The regions of those, in order."""
    return sorted(complete(attack).values())


def in_words(value: object) -> str:
    """An interval or a node of a region."""
    if not isinstance(value, dict):
        return str(value)
    low, high = value["low"], value["high"]
    return f"{low}" if low == high else f"{low} to {high}"


def drawn(found: Attacked) -> str:
    """The picture as SVG."""
    left, right, top = 20, WIDTH // 2 + 10, 98
    rows = max(len(found.before), len(found.after))
    bottom = top + 46 + 30 * rows
    known = f"age {found.known['age']}, {found.known['wt']} kg, {found.known['sex']}"
    parts = [
        text(left, 36, f"An attacker knows a patient: {known}.", "title"),
        text(left, 62, "Which cases can it be, and what do their rows tell?", "quiet"),
        *panel(left, top, "Before: the originals", found.before, "found"),
        *panel(right, top, "After: the release", found.after, "among"),
        text(left, bottom + 26, count(len(found.before)), "large bad"),
        text(right, bottom + 26, count(len(found.after)), "large good"),
        *lines(left, bottom + 50, ["All that it tells is certain:", *found.terms]),
    ]
    share = percent(found.likeliest / len(found.after))
    told = f"is right for {found.likeliest} of {len(found.after)} ({share})."
    parts += lines(right, bottom + 50, ["The likeliest of their values", told])
    notes = [
        "Not protected: drugs and terms are published as reported. Who",
        f"also knows two of them is left with one case for {percent(found.alone)} of the",
        "cases of this quarter (synthetic, 2011Q1 of srsql demo).",
        "Cases whose age, weight or sex is missing could be anybody:",
        "they are left out on both sides.",
    ]
    foot = bottom + 50 + LINE * (len(found.terms) + 1) + 12
    parts += lines(left, foot, notes)
    height = foot + LINE * (len(notes) - 1) + 18
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{height}" '
        f'viewBox="0 0 {WIDTH} {height}" role="img" '
        f'aria-label="{escape(known)}: {count(len(found.before))} before, '
        f'{count(len(found.after))} after">\n<style>{STYLE}</style>\n'
        f'<rect class="card" x="1" y="1" width="{WIDTH - 2}" height="{height - 2}" rx="8"/>\n'
        + "\n".join(parts)
        + "\n</svg>\n"
    )


def panel(x: int, y: int, title: str, regions: list[tuple[str, ...]], kind: str) -> list[str]:
    """One side: a row for each candidate."""
    parts = [text(x, y, title, "title")]
    for place, name in zip(COLUMNS, ("age", "weight, kg", "sex"), strict=True):
        parts.append(text(x + place, y + 26, name, "quiet"))
    for number, region in enumerate(regions):
        at = y + 36 + 30 * number
        parts.append(
            f'<rect class="{kind}" x="{x}" y="{at}" width="{WIDTH // 2 - 30}" height="26" rx="4"/>'
        )
        for place, value in zip(COLUMNS, region, strict=True):
            parts.append(text(x + place, at + 18, value))
    return parts


def count(cases: int) -> str:
    """How many are left."""
    return f"{cases} case{'' if cases == 1 else 's'} left"


def percent(share: float) -> str:
    """A share in whole percent."""
    return f"{100 * share:.0f} %"


def lines(x: int, y: int, texts: Iterable[str]) -> list[str]:
    """Small text, one line below the other."""
    return [text(x, y + LINE * number, line, "quiet") for number, line in enumerate(texts)]


def text(x: int, y: int, words: str, kind: str = "") -> str:
    """One line of text."""
    named = f' class="{kind}"' if kind else ""
    return f'<text{named} x="{x}" y="{y}">{escape(words)}</text>'


def main() -> int:
    """Write the picture."""
    with tempfile.TemporaryDirectory(prefix="srsql-picture-") as folder:
        PICTURE.write_text(drawn(attacked(Path(folder))), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
