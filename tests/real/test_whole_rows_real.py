"""Whole rows of real quarters and years that are taken apart: brute force finds nobody below k."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from statistics import median

import pytest
from oracles.region_caps import Cluster, by_counting
from oracles.whole_rows import Candidates
from support.real_data import needs
from support.released import rows
from support.whole_rows import FAERS, VAERS, Source, released

from srsql.engine.api.engine import Engine
from srsql.engine.artifact.verify.verify import verify

pytestmark = pytest.mark.thorough

Real = Callable[[str, Path], Path]
SAMPLE = 500
"""Targets of which every set of three items is looked at."""
QUARTER = needs("faers/faers_ascii_2022Q4.zip")
YEARS = needs("vaers")
SENSITIVE = {"faers": ("pt", "indi_pt"), "vaers": ("symptom",)}
"""Dataset -> the attributes of which the items have thresholds."""
ALL = [
    *(pytest.param(FAERS, "2022Q4", k, marks=QUARTER, id=f"2022Q4-{k}") for k in (3, 5, 10)),
    *(
        pytest.param(VAERS, year, k, marks=YEARS, id=f"vaers{year}-{k}")
        for year in ("2004", "2005", "2006")
        for k in (3, 5, 10)
    ),
]


@pytest.mark.parametrize(("source", "period", "k"), ALL)
def test_brute_force_over_every_target_and_two_of_its_items_leaves_k_candidates(
    source: Source, period: str, k: int, tmp_path: Path, real: Real
) -> None:
    with Engine(opened(source, tmp_path, real), dataset=source.name) as engine:
        shown, clusters, targets = released(engine, source, period, k, 2)
        items = [*(t for own in clusters.chunks.values() for s in own for r in s for t in r),
                 *(t for alone in clusters.items.values() for t in alone)]  # fmt: skip
        assert {item.partition(":")[0] for item in items} == source.terms.keys()
        assert len(targets) > 1000
        left = Candidates(shown, clusters).left(targets, 2, k)
        assert left.fewest >= k
        assert not left.lost
        engine.publish(period, to=tmp_path / "out")
    assert verify(tmp_path / "out").passed


@pytest.mark.parametrize(("source", "period", "k"), ALL)
def test_every_set_of_three_items_of_a_sample_of_targets_leaves_k_candidates(
    source: Source, period: str, k: int, tmp_path: Path, real: Real
) -> None:
    with Engine(opened(source, tmp_path, real), dataset=source.name) as engine:
        shown, clusters, targets = released(engine, source, period, k, 3)
    drawn = random.Random(k).sample(sorted(targets, key=str), SAMPLE)
    left = Candidates(shown, clusters).left({each: targets[each] for each in drawn}, 3, k)
    assert left.fewest >= k
    assert not left.lost


@pytest.mark.parametrize("theta", [None, "0.4", "0.2"])
@pytest.mark.parametrize(("source", "period", "k"), ALL)
def test_no_value_is_likelier_in_a_region_than_its_threshold_within_the_caps(
    source: Source, period: str, k: int, theta: str | None, tmp_path: Path, real: Real
) -> None:
    with Engine(opened(source, tmp_path, real), dataset=source.name) as engine:
        shown, clusters, _ = released(engine, source, period, k, 2, theta)
        thresholds = {
            value: Fraction(num, den)
            for value, num, den in engine.con.execute(
                "SELECT t.term, t.theta_num, t.theta_den FROM srsql.threshold AS t"
            ).fetchall()
        }
        (told,) = rows(engine.con, f"FROM release_{period.lower()}.manifest")
    assert told["item_cases"] == k - 1
    regions = Counter((row.cluster, row.region) for row in shown)
    sensitive = SENSITIVE[source.name]
    looked_at = 0
    for cluster in clusters.records:
        sizes = tuple(sorted(n for (c, _), n in regions.items() if c == cluster))
        chunks = tuple(tuple(chunk) for chunk in clusters.chunks[cluster])
        items = frozenset(clusters.items[cluster])
        terms = {term for chunk in chunks for held in chunk for term in held} | items
        values = {t: t.partition(":")[2] for t in terms if t.partition(":")[0] in sensitive}
        published = Cluster(sizes, chunks, items)
        for place in by_counting(published, values, thresholds, k - 1, 2):
            looked_at += 1
            assert place.worst() <= thresholds[place.value], (cluster, place)
    assert looked_at > 1000


@YEARS
def test_bounds_of_pairs_hold_the_truth_and_counts_of_two_items_are_bounded_alike(
    tmp_path: Path, real: Real
) -> None:
    with Engine(opened(VAERS, tmp_path, real), dataset="vaers") as engine:
        released(engine, VAERS, "2004", 5, 2)
        pairs = engine.signals(every_pair=True, quarter="2004").signals
        told = {
            term.lower(): term
            for (term,) in engine.con.execute(
                "SELECT i.term FROM release_2004.item_chunk AS i "
                "UNION SELECT r.term FROM release_2004.record_chunk AS r"
            ).fetchall()
        }
        names = [(f"vax_name:{s.drug}".lower(), f"symptom:{s.reaction}".lower()) for s in pairs]
        counts = engine.count_terms("2004", [[told.get(n, n) for n in pair] for pair in names])
    assert len(pairs) > 1000
    for pair, count in zip(pairs, counts, strict=True):
        assert pair.original is not None
        assert count.lower <= pair.original.a <= count.upper
        assert pair.released.a_lower <= pair.original.a <= pair.released.a_upper == count.upper
    signals = [p for p in pairs if p.original and (p.original.prr or 0) >= 2
               and (p.original.chi2 or 0) >= 4]  # fmt: skip
    assert median(p.released.a_upper / p.original.a for p in signals if p.original) < 20


def opened(source: Source, folder: Path, real: Real) -> Path:
    return real("vaers" if source is VAERS else "2022Q4", folder / "w.duckdb")
