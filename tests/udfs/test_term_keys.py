"""The key of a term: five derivations that share no line, against examples and a plain oracle."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles.term_key import term_key as oracle
from support.node import NODE
from support.term_keys import (
    EVERY_CHARACTER,
    by_checks,
    by_macro,
    by_maker,
    by_page,
    by_verification,
    examples,
)

from srsql.engine.artifact.verify.term_keys import key_of_term
from srsql.udfs.checks.term_key import checked_term_key
from srsql.udfs.term_key import APOSTROPHES, HYPHENS, term_key

DIGEST = "27198eb61eeaac312f4d6880c7dfd54086675539c08d7415393bc1643e0f1bcf"
"""SHA-256 over the keys of texts with each character alone, between letters, before a caret."""
EXAMPLES = examples()
SIGNS = sorted({sign for _, text, _ in EXAMPLES for sign in text})
TEXTS = st.one_of(st.text(SIGNS, max_size=12), st.text(max_size=8))
needs_node = pytest.mark.skipif(NODE is None, reason="no node on PATH")
Python = Callable[[str], str | None]


def wrong(keys: Sequence[str | None]) -> list[tuple[str, str, str]]:
    return [
        (what, ascii(text), ascii(found))
        for (what, text, due), found in zip(EXAMPLES, keys, strict=True)
        if found != due
    ]


def texts() -> list[str]:
    return [text for _, text, _ in EXAMPLES]


@pytest.mark.parametrize("keys", [by_maker, by_macro, by_checks, by_verification])
def test_every_example_has_its_key(
    keys: Callable[[Sequence[str]], list[str | None]],
) -> None:
    assert wrong(keys(texts())) == []


def test_every_example_has_its_key_by_the_definition() -> None:
    assert wrong([oracle(text) for text in texts()]) == []


@needs_node
def test_every_example_has_its_key_in_the_page(tmp_path: Path) -> None:
    assert wrong(by_page(tmp_path)(texts())) == []


def test_the_key_of_a_key_is_that_key() -> None:
    keys = [key for _, _, key in EXAMPLES if key is not None]
    assert by_macro(keys) == keys
    assert by_checks(keys) == keys
    assert by_verification(keys) == keys


def test_examples_have_every_sign_that_is_written_for_an_apostrophe_or_a_hyphen() -> None:
    assert set(APOSTROPHES + HYPHENS) <= set(SIGNS)


@given(TEXTS)
@settings(max_examples=400)
def test_all_derivations_give_random_text_one_key(text: str) -> None:
    due = oracle(text)
    derivations: tuple[Python, ...] = (term_key, checked_term_key, key_of_term)
    assert [derive(text) for derive in derivations] == [due] * len(derivations)
    if due is not None:
        assert [derive(due) for derive in derivations] == [due] * len(derivations)


@pytest.mark.thorough
@given(st.lists(TEXTS.filter(lambda text: text.isprintable()), max_size=40))
@settings(max_examples=20)
def test_the_macro_gives_random_text_the_key_of_the_definition(some: list[str]) -> None:
    assert by_macro(some) == [oracle(text) for text in some]


def in_places() -> list[str]:
    return [f"{c} A{c}B x{c}^s" for c in EVERY_CHARACTER]


@pytest.mark.thorough
def test_keys_of_all_characters_are_those_of_unicode_14() -> None:
    """An interpreter with a newer Unicode changes no key."""
    found = ascii(by_maker(in_places()))
    assert hashlib.sha256(found.encode()).hexdigest() == DIGEST


@pytest.mark.thorough
@pytest.mark.parametrize("keys", [by_checks, by_verification])
def test_keys_of_all_characters_are_the_same_in_every_derivation(
    keys: Callable[[Sequence[str]], list[str | None]],
) -> None:
    assert hashlib.sha256(ascii(keys(in_places())).encode()).hexdigest() == DIGEST


@pytest.mark.thorough
@needs_node
def test_keys_of_all_characters_are_the_same_in_the_page(tmp_path: Path) -> None:
    found = ascii(by_page(tmp_path)(in_places()))
    assert hashlib.sha256(found.encode()).hexdigest() == DIGEST
