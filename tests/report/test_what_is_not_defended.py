"""What a report says that a release does not withstand follows its manifest."""

from __future__ import annotations

from typing import Any

import pytest

from srsql.engine.report.glossary import undefended


@pytest.mark.parametrize(
    ("attacks", "left"),
    [
        ("none", ["B", "F", "L", "MD", "SS", "P", "U", "G"]),
        ("b,f,l", ["MD", "SS", "P", "U", "G"]),
        ("b,f,l,md,ss", ["P", "U", "G"]),
        ("b,f,l,md,p", ["SS", "U", "G"]),
    ],
)
def test_attacks_that_are_withstood_are_not_among_them(attacks: str, left: list[str]) -> None:
    told = undefended({"attacks": attacks})
    assert [line.partition(",")[0] for line in told[: len(left)]] == left
    assert "knows some of a patient's drugs or terms" in told[len(left)]


def test_who_knows_items_is_withstood_up_to_m_where_no_row_shows_any() -> None:
    manifest: dict[str, Any] = {"attacks": "none", "term_cases": 10, "m": 2}
    told = undefended(manifest)
    assert not [line for line in told if "some of a patient's drugs" in line]
    assert "an attacker who knows more than 2 of a patient's drugs and terms" in told
