"""Spellings and names on a level, against plain Python."""

from __future__ import annotations

import random

import pytest
from support.sql import Sql

from srsql.schemas.dictionary import spelling


def spelled(term: str) -> str:
    """One character after the other, with no regular expression."""
    text, at = "", 0
    while at < len(term):
        end = at + 1
        while term[at] == "/" and end < len(term) and term[end] in "0123456789":
            end += 1
        if term[at] == "/" and end - at > 5 and term[end : end + 1] == "/":
            text, at = f"{text} ", end + 1
            continue
        text += " " if term[at] in " \t\n\xa0-‐‑‒–—.,;:'’\"/\\()[]{}*_" else term[at]
        at += 1
    return " ".join(word for word in text.split(" ") if word) or term


TERMS = [
    "CO-TRIMOXAZOLE", "ASPIRIN /00002701/", "A/1234/B", "A/12345/B", "A/12345/67890/B", "A\xa0B",
    "(X) [Y]{Z}",
    "RH+", "RH-", "5 %", "...", "/", "ST. JOHN’S", "A\tB\nC", "Ä-Ö", "頭-痛", "A_B*C", "/00001/",
]  # fmt: skip


@pytest.mark.parametrize("term", TERMS)
def test_the_spelling_of_a_term_is_what_its_definition_says(sql: Sql, term: str) -> None:
    ((found,),) = sql.rows("SELECT srsql.term_spelling(?)", [term])
    assert found == spelled(term) == spelling(term)


def test_spellings_in_sql_and_in_python_are_the_same(sql: Sql) -> None:
    rng = random.Random(1)
    terms = ["".join(rng.choices("AB12/-. ()+%", k=rng.randint(1, 14))).strip() for _ in range(400)]
    terms = [term for term in terms if term]
    found = sql.rows(
        "SELECT u.term, srsql.term_spelling(u.term) "
        "FROM (SELECT unnest(?::VARCHAR[]) AS term) AS u",
        [terms],
    )
    assert len(found) == len(terms)
    assert all(own == spelled(term) == spelling(term) for term, own in found)


def test_values_have_the_names_of_their_terms_or_are_called_as_they_are(sql: Sql) -> None:
    entries = [("ALPHA-1", "A"), ("ALPHA 1", "A"), ("BOTH", "A"), ("BOTH", "B"), ("NONE", None),
               (None, "C")]  # fmt: skip
    values = [("alpha 1", "ALPHA 1"), (" Alpha-1.", "ALPHA-1."), ("both", "BOTH"),
              ("none", "NONE"), ("odd", "ODD"), ("  ", None)]  # fmt: skip
    terms = sql.table("level_value", "value VARCHAR, term VARCHAR", values)
    listed = sql.table("level_entry", "term VARCHAR, name VARCHAR", entries)
    found = sql.rows(
        f"SELECT n.value, n.name, n.listed FROM srsql.names_on_level({terms}, {listed}) AS n"
    )
    named: dict[str, set[str]] = {}
    for term, name in entries:
        if term is not None and name is not None:
            named.setdefault(spelled(term), set()).add(name)
    wanted = {
        (value, name, spelled(term) in named)
        for value, term in values
        if term is not None
        for name in named.get(spelled(term), {term})
    }
    assert set(found) == wanted
    assert len(found) == len(wanted)
