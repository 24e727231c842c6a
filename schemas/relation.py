"""Names of tables as SQL writes them: one to three words, quoted where they must be."""

from __future__ import annotations

import re
from typing import Annotated

from pydantic import BeforeValidator

_WORD = r'(?:"(?:[^"]|"")+"|[^\W\d]\w*)'


def parse_relation(value: object) -> object:
    """``[[database.]schema.]table`` as its words, unquoted; anything but text is left alone.

    Raises:
        ValueError: the text does not name a table.
    """
    if not isinstance(value, str):
        return value
    if not re.fullmatch(rf"{_WORD}(?:\.{_WORD}){{0,2}}", value):
        raise ValueError(
            f"{value!r} does not name a table: write table, schema.table or database.schema.table, "
            'with double quotes around what is not a plain word, such as clinic."adverse events"'
        )
    words = re.findall(_WORD, value)
    return tuple(w[1:-1].replace('""', '"') if w.startswith('"') else w for w in words)


Relation = Annotated[tuple[str, ...], BeforeValidator(parse_relation)]
