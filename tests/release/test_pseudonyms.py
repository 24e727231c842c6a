"""Pseudonyms are HMAC-SHA-256, whatever the user's own macros are called."""

from __future__ import annotations

import hashlib
import hmac
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from oracles.examples import REPEATABLE

CALL = "SELECT srsql.pseudonym(?::BLOB, ?::BLOB, ?::VARCHAR, ?::VARCHAR)"


def pseudonym(sql: Any, key: bytes, kind: str, identity: str) -> int:
    pads = [bytes(b ^ pad for b in key.ljust(64, b"\0")) for pad in (0x36, 0x5C)]
    ((found,),) = sql.rows(CALL, [*pads, kind, identity])
    return found


def expected(key: bytes, kind: str, identity: str) -> int:
    digest = hmac.new(key, f"{kind}:{identity}".encode(), hashlib.sha256)
    return int(digest.hexdigest()[:15], 16)


@REPEATABLE
@given(
    key=st.binary(min_size=1, max_size=64),
    kind=st.sampled_from(["case", "report"]),
    identity=st.one_of(st.integers(0, 10**12).map(str), st.text(max_size=12)),
)
def test_a_pseudonym_is_the_first_60_bits_of_hmac_sha_256(
    sql: Any, key: bytes, kind: str, identity: str
) -> None:
    assert pseudonym(sql, key, kind, identity) == expected(key, kind, identity)


def test_a_case_and_a_report_of_the_same_id_get_different_pseudonyms(sql: Any) -> None:
    key = bytes(range(64))
    assert pseudonym(sql, key, "case", "7") != pseudonym(sql, key, "report", "7")


def test_a_macro_of_the_user_named_sha256_does_not_change_a_pseudonym(own_sql: Any) -> None:
    own_sql.rows("CREATE MACRO main.sha256(x) AS 'ffffffffffffffffffffffff'")
    key = bytes(range(64))
    assert pseudonym(own_sql, key, "case", "4711") == expected(key, "case", "4711")
