"""Hostile sources: files as somebody publishes them, mutated by a seed.

Every mutation is of one level: bytes, lines, fields, the header, the types of columns, or the
container (a zip, a Parquet file).
"""

from __future__ import annotations

import io
import random
import struct
import warnings
import zipfile
from collections.abc import Callable, Sequence
from typing import Any

Contents = dict[str, bytes]
"""File name -> its content."""
NASTY = (
    "", " ", "'", '"', '""', '"open', "NULL", "nan", "-1", "1e9", "9" * 40, "0x10", "1/2", "٣",
    "\0", "\x1b[31m", "\u202e", "\ufeff", "\U0010ffff", "\u200b", "a,b", "a;b", "a\tb", "\r",
    "x" * 5000, "=cmd|' /C calc'!A0", "'; DROP TABLE t; --", "{}", "\\", "%s{0}$1", "ß" * 50,
)  # fmt: skip
BYTES = (b"\0", b"\xff\xfe", b'"', b"\r", b"\n", b",", b"\x80", b"\xc3", b"\xed\xa0\x80", b"PK\3\4")
TYPES = (
    "BIGINT", "HUGEINT", "DOUBLE", "DECIMAL(18, 3)", "DATE", "TIMESTAMP", "TIME", "BOOLEAN", "BLOB",
    "UUID", "INTERVAL", "VARCHAR[]", "STRUCT(a INTEGER)", "MAP(VARCHAR, INTEGER)", "BIT",
)  # fmt: skip


def mutated_bytes(rng: random.Random, content: bytes) -> bytes:
    """Some bytes changed, taken out, put in, or cut off."""
    data = bytearray(content)
    for _ in range(rng.choice((1, 1, 3, 20))):
        at = rng.randrange(len(data) + 1)
        way = rng.randrange(5)
        if way == 0 and at < len(data):
            data[at] ^= 1 << rng.randrange(8)
        elif way == 1:
            data[at:at] = rng.choice(BYTES)
        elif way == 2:
            del data[at : at + rng.randrange(1, 30)]
        elif way == 3:
            data[at:at] = data[max(0, at - rng.randrange(1, 200)) : at]
        else:
            del data[at:]
    return bytes(data)


def mutated_lines(rng: random.Random, content: bytes) -> bytes:
    """Lines taken out, doubled, moved, joined, emptied; other line ends."""
    lines = content.split(b"\n")
    for _ in range(rng.choice((1, 2, 5))):
        at, other = rng.randrange(len(lines)), rng.randrange(len(lines))
        way = rng.randrange(7)
        if way == 0 and len(lines) > 1:
            del lines[at]
        elif way == 1:
            lines.insert(at, lines[other])
        elif way == 2:
            lines[at], lines[other] = lines[other], lines[at]
        elif way == 3:
            lines[at] = lines[at] + lines[other]
        elif way == 4:
            lines.insert(at, rng.choice((b"", b"   ", b",,,,", b'"')))
        elif way == 5:
            lines[at] = lines[at][: rng.randrange(len(lines[at]) + 1)]
        else:
            return rng.choice((b"\r\n", b"\r", b"\n\n")).join(lines)
    return b"\n".join(lines)


def mutated_fields(rng: random.Random, content: bytes, *, header: bool = False) -> bytes:
    """Fields replaced, taken out or put in, below the header or in it."""
    lines = content.decode(errors="replace").split("\n")
    for _ in range(rng.choice((1, 2, 10))):
        at = 0 if header else rng.randrange(len(lines))
        fields = lines[at].split(",")
        place = rng.randrange(len(fields))
        way = rng.randrange(4)
        if way == 0:
            del fields[place]
        elif way == 1:
            fields.insert(place, rng.choice((*NASTY, *fields)))
        elif way == 2 and header:
            fields[place] = rng.choice((fields[place].upper(), f" {fields[place]} ", fields[0]))
        else:
            fields[place] = rng.choice(NASTY)
        lines[at] = ",".join(fields)
    return "\n".join(lines).encode("utf-8", "surrogatepass")


def mutated_header(rng: random.Random, content: bytes) -> bytes:
    """The names of columns changed."""
    return mutated_fields(rng, content, header=True)


TEXT: Sequence[Callable[[random.Random, bytes], bytes]] = (
    mutated_bytes,
    mutated_lines,
    mutated_fields,
    mutated_header,
)


def mutated_text(rng: random.Random, files: Contents) -> Contents:
    """One or two files with one mutation each."""
    made = dict(files)
    for name in rng.sample(sorted(made), rng.choice((1, min(2, len(made))))):
        made[name] = rng.choice(TEXT)(rng, made[name])
    return made


def packed(rng: random.Random, files: Contents) -> bytes:
    """A zip of the files, which may be a strange one: names, entries, sizes, methods."""
    way = rng.randrange(12)
    methods = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA)
    method = rng.choice(methods)
    target = io.BytesIO()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # a name twice
        with zipfile.ZipFile(target, "w", method) as archive:
            for name, content in files.items():
                shown = f"../../{name}" if way == 1 else f"/etc/{name}" if way == 2 else name
                shown = f"a\x1b[31m\n/{name}" if way == 3 else shown
                archive.writestr(zipfile.ZipInfo(shown), content, archive.compression)
            first = next(iter(files))
            if way == 4:
                archive.writestr(first, files[first])
            elif way == 5:
                archive.writestr("inner.zip", b"PK\3\4")
                archive.mkdir(f"{first}.d")
            elif way == 6:
                archive.comment = b"x" * 1000
    return _with_other_headers(rng, way, target.getvalue())


def _with_other_headers(rng: random.Random, way: int, data: bytes) -> bytes:
    """Bytes anywhere changed, or a field of the central directory: what it says is not so."""
    if way == 7:
        return mutated_bytes(rng, data)
    at = data.rfind(b"PK\1\2")
    if way < 8 or at < 0:
        return data
    places = {8: (8, "<H"), 9: (10, "<H"), 10: (24, "<I"), 11: (42, "<I")}  # flags, method, size
    place, form = places[way]
    changed = bytearray(data)
    value = rng.choice((0, 1, 0x41, 0xFF, 0xFFFF))
    struct.pack_into(form, changed, at + place, value)
    return bytes(changed)


def odd_value(rng: random.Random, kind: str) -> Any:
    """A value for a column of a type of DuckDB's, as text that it is cast from; or NULL."""
    if rng.random() < 0.2:
        return None
    return {
        "BIGINT": str(rng.randrange(-(2**62), 2**62)),
        "HUGEINT": str(2**100),
        "DOUBLE": rng.choice(("nan", "inf", "-inf", "1e300", "0.1")),
        "DECIMAL(18, 3)": "-12345.678",
        "DATE": rng.choice(("2022-10-01", "infinity", "0044-03-15 (BC)")),
        "TIMESTAMP": rng.choice(("2022-10-01 12:00:00", "-infinity")),
        "TIME": "23:59:59",
        "BOOLEAN": "true",
        "BLOB": "\\xAA\\x00",
        "UUID": "00000000-0000-0000-0000-000000000001",
        "INTERVAL": "3 days",
        "VARCHAR[]": "[a, b]",
        "STRUCT(a INTEGER)": "{'a': 1}",
        "MAP(VARCHAR, INTEGER)": "{a=1}",
        "BIT": "1010",
    }[kind]
