"""What no maker is believed: pseudonyms, keys, orders, the law of draws; against plain Python."""

from __future__ import annotations

import hashlib
import math
import re
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from oracles import laws
from oracles.dp import paper_chances
from oracles.trees import Tree as LabelTree
from support.quarters import crowd, write_quarter

from srsql.engine.api.engine import Engine
from srsql.engine.artifact.verify.rows import _too_alike
from srsql.engine.catalog import series as warehouse_series
from srsql.engine.checks import noise, secrets
from srsql.engine.checks.noise import Margin, Tree
from srsql.engine.checks.secrets import weakness
from srsql.engine.errors import CheckFailedError
from srsql.engine.grouping.thresholds import ThetaPolicy
from srsql.engine.release import ids
from srsql.engine.steward import correct
from srsql.udfs.mechanisms import laplace_noise

SCALES = st.floats(0.3, 30)


@given(st.integers(-40, 40), SCALES)
@settings(max_examples=60)
def test_the_law_of_noise_is_the_sum_of_its_masses(value: int, scale: float) -> None:
    due = sum(laws.laplace_mass(z, scale) for z in range(-2000, value + 1))
    found = noise.laplace_below(np.array([value]), np.array([scale]))[0]
    assert math.isclose(found, due, rel_tol=1e-9, abs_tol=1e-12)


@given(st.lists(st.integers(-3, 13), min_size=1, max_size=4), SCALES)
@settings(max_examples=40)
def test_the_chance_of_a_margin_allows_for_what_the_domain_cuts(
    values: list[int], scale: float
) -> None:
    domain = (0, 10)
    scales = np.full(len(values), scale)
    middle = np.array(values)
    drawn = np.clip(middle, *domain)
    for part, margin in zip(
        noise.MARGINS, noise.margins_of_numbers(middle, drawn, scales, domain), strict=True
    ):
        due = sum(laws.near(value, int(scale * part), scale, domain) for value in values)
        assert math.isclose(margin.expected, due, rel_tol=1e-6, abs_tol=1e-9)


@given(st.lists(st.floats(0.02, 0.98), min_size=1, max_size=12), st.data())
@settings(max_examples=60)
def test_no_law_is_refused_more_often_than_is_said(chances: list[float], data: Any) -> None:
    hits = data.draw(st.integers(0, len(chances)))
    found = math.exp(-noise.nats(len(chances), hits, sum(chances)))
    more = laws.at_least(chances, hits)
    fewer = laws.at_least([1 - chance for chance in chances], len(chances) - hits)
    assert min(more, fewer) <= found + 1e-9


@pytest.mark.parametrize("times", [1, 10])
def test_a_tenth_of_the_noise_is_refused_and_the_noise_itself_is_not(times: int) -> None:
    count, scale = 600, 120
    middle = np.arange(count) % 120
    ones = np.ones(count, np.int64)
    drawn = middle + laplace_noise(ones * (scale // times), ones, None)
    margins = noise.margins_of_numbers(
        middle, np.clip(drawn, 0, 400), np.full(count, float(scale)), (0, 400)
    )
    assert (noise.refused(margins) > 0) == (times > 1)


def test_the_chances_of_nodes_are_those_that_the_paper_gives() -> None:
    # Any; AB with A and B; C: preorder 0, 1, 2, 3, 4
    tree = Tree([(0, 4, 0), (1, 3, 1), (2, 2, 2), (3, 3, 2), (4, 4, 1)])
    labels = LabelTree({"Any": "", "AB": "Any", "A": "AB", "B": "AB", "C": "Any"})
    names = ["Any", "AB", "A", "B", "C"]
    for dom in (["A"], ["A", "B"], ["A", "C"], ["A", "B", "C"]):
        chances, _ = tree.chances([names.index(name) for name in dom], 2.0, paper=True)
        due = paper_chances(labels, dom, Fraction(2))
        assert {names[node]: pytest.approx(each) for node, each in chances.items()} == due


@pytest.mark.parametrize(
    ("key", "why"),
    [
        (None, "there is none"), (b"", "it has 0 bytes, not 64"), (bytes(64), "few bytes"),
        (bytes(range(0, 256, 4)), "its bytes count"), (b"secret " * 9 + b"x", "few bytes"),
        (bytes(range(64)), "it is text"), (hashlib.sha512(b"1").digest() * 2, "128 bytes"),
        (hashlib.sha256(b"2").digest() * 2, "few bytes|one half"),
        (hashlib.sha256(b"1").hexdigest().encode(), "few bytes"),
        (hashlib.sha512(b"1").digest()[:8].ljust(64, b"\0"), "few bytes"),
    ],
)  # fmt: skip
def test_a_key_that_nobody_would_draw_is_weak(key: bytes | None, why: str) -> None:
    assert re.search(why, weakness(key))


def test_a_key_that_was_drawn_is_refused_once_in_ten_million_million_million() -> None:
    """The chances of the four kinds, added up, in fractions; steps between bytes are independent
    and uniform as the bytes are."""
    distinct = [Fraction(0)] * 65
    distinct[0] = Fraction(1)
    for _ in range(64):
        distinct = [
            distinct[n] * n / 256 + (distinct[n - 1] * (257 - n) / 256 if n else 0)
            for n in range(65)
        ]
    assert sum(distinct) == 1
    few = sum(distinct[: secrets.LEAST_DISTINCT])
    alike = 256 * sum(
        math.comb(63, n) * Fraction(1, 256) ** n * Fraction(255, 256) ** (63 - n)
        for n in range(secrets.MOST_ALIKE + 1, 64)
    )
    text = Fraction(secrets.LEAST_OF_TEXT, 256) ** 64
    assert few + alike + text + Fraction(1, 256) ** 32 < Fraction(1, 10**19)


@given(st.integers(0, 2**64))
def test_a_key_that_was_drawn_is_not_weak(seed: int) -> None:
    assert not weakness(hashlib.sha512(str(seed).encode()).digest())


@given(st.integers(1, 400), st.data())
@settings(max_examples=60)
def test_ids_are_refused_where_their_bits_are_less_likely_than_one_in_a_billion(
    total: int, data: Any
) -> None:
    most = data.draw(st.integers(1, total))
    if _too_alike(most, total):
        assert 32 * laws.at_least([1 / 16] * total, most) < 1e-9


@pytest.fixture
def engine(tmp_path: Path) -> Any:
    with Engine(tmp_path / "w.duckdb") as opened:
        opened.ingest([write_quarter(tmp_path, "2011Q3", crowd(30))])
        yield opened


OPTIONS: dict[str, Any] = {
    "model": "ms", "k": 3, "theta": "0.5", "seed": 1, "ids": "pseudonym", "refine": "off",
}  # fmt: skip


def test_ids_are_those_of_the_standard_library_also_where_a_first_attempt_is_taken(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`srsql.check_ids` takes an id of a later attempt where the pseudonyms before it are others'.

    One is made so: the first attempt of a case is given to another id before.
    """
    made = engine.release("2011Q3", **OPTIONS, draft=True)
    (key,) = engine.sql("SELECT pseudonym_key FROM srsql.series")[0]
    shown = {row[0] for row in engine.sql(f'SELECT caseid FROM "{made.schema}".demo')}
    assert shown == {laws.pseudonym(key, "case", str(case)) for case in range(1, 31)}
    taken = laws.pseudonym(key, "case", "7")
    engine.con.execute("DELETE FROM srsql.id_pseudonym")
    engine.con.execute(
        "INSERT INTO srsql.id_pseudonym VALUES ('faers', 'main', NULL, 'case', '999', '999', ?)",
        [taken],
    )
    made = engine.release("2011Q3", **OPTIONS)
    shown = {row[0] for row in engine.sql(f'SELECT caseid FROM "{made.schema}".demo')}
    assert laws.pseudonym(key, "case", "7", attempt=1) in shown
    assert taken not in shown


def test_a_release_under_another_key_is_refused(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    pads = ids.hmac_pads
    monkeypatch.setattr(ids, "hmac_pads", lambda key: pads(bytes(64)))
    with pytest.raises(CheckFailedError, match="check_ids: 60 of 60"):
        engine.release("2011Q3", **OPTIONS)
    assert not engine.sql("SELECT 1 FROM srsql.release")


def test_a_release_under_the_key_of_another_series_is_refused_and_it_is_said_why(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine.release("2011Q3", **OPTIONS)
    (key,) = engine.sql("SELECT pseudonym_key FROM srsql.series")[0]
    monkeypatch.setattr(warehouse_series.secrets, "token_bytes", lambda count: key)
    with pytest.raises(CheckFailedError, match=r"series: it is that of another series\)"):
        engine.release("2011Q3", **OPTIONS, series="other", allow_linkable=True)


def test_a_correction_keeps_the_thresholds_of_the_version_before_whatever_the_policy_was(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of a file of levels the manifest tells nothing: the catalog of the version before does."""
    levels = ThetaPolicy("levels", Fraction(1, 2), {"Reaction 1": Fraction(1, 3)}, "a test")
    engine.release("2011Q3", **OPTIONS | {"theta": levels})
    engine.con.execute("INSERT INTO srsql.deleted_case VALUES ('faers', '1', 1)")
    add = correct._add_thresholds

    def higher(current: Any, *given: Any) -> None:
        add(current, *given)
        current.warehouse.run(
            "UPDATE srsql.threshold SET theta_num = theta_den WHERE release_id = ?",
            [current.release_id],
        )

    with monkeypatch.context() as patch:
        patch.setattr(correct, "_add_thresholds", higher)
        with pytest.raises(CheckFailedError, match=r"check_asked: .* \(the version before\)"):
            engine.correct("2011Q3")
    assert engine.correct("2011Q3").version == 2


def test_a_margin_that_no_draw_has_proves_nothing() -> None:
    assert Margin(0, 0, 0.0).nats == 0
    assert noise.refused([Margin(0, 0, 0.0)]) == 0


@given(name=st.text(max_size=8), quarter=st.sampled_from(["", "2011Q3"]), attempt=st.integers(0, 9))
@settings(max_examples=30, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_the_macro_of_pseudonyms_is_hmac(
    own_sql: Any, name: str, quarter: str, attempt: int
) -> None:
    key = hashlib.sha512(name.encode()).digest()
    pads = [bytes(byte ^ pad for byte in key) for pad in (0x36, 0x5C)]
    text = f"case:{attempt}:{len(quarter)}:{quarter}:{name}"
    ((found,),) = own_sql.rows(
        "SELECT srsql.checked_pseudonym(?::BLOB, ?::BLOB, ?, 53)", [*pads, text]
    )
    assert found == laws.pseudonym(key, "case", name, quarter, attempt)


@pytest.mark.parametrize(("rising", "wrong"), [(40, 1), (0, 1), (20, 0), (27, 0)])
def test_an_order_that_is_much_like_another_one_is_refused(
    sql: Any, rising: int, wrong: int
) -> None:
    rows = [("row", number < rising, 0.5) for number in range(40)]
    paired = sql.table("paired", "scope VARCHAR, rising BOOLEAN, chance DOUBLE", rows)
    ((found,),) = sql.rows(f"SELECT c.violating FROM srsql.check_order({paired}, 16.8, 1) AS c")
    assert found == wrong
    more = min(laws.at_least([0.5] * 40, rising), laws.at_least([0.5] * 40, 40 - rising))
    assert (more < 1e-7) >= bool(wrong)
