"""What a terminal shows of the macros: `macros`."""

from __future__ import annotations

from srsql.engine.console import Parts, Table


def public_macros() -> dict[str, list[dict[str, str]]]:
    """The macros of a warehouse that people call."""
    from srsql.engine.store.definitions import described

    found = [each for each in described() if each.public and each.kind.startswith("MACRO")]
    return {
        "macros": [{"macro": f"{each.schema}.{each.name}", "what": each.what} for each in found]
    }


def macro_parts(found: dict[str, list[dict[str, str]]]) -> Parts:
    """How to read the arguments, and the macros."""
    yield "in a DuckDB client on the warehouse: FROM srsql.help() tells the arguments, too"
    rows = [[each["macro"], each["what"]] for each in found["macros"]]
    yield Table("macros that people call", ("macro", "what it gives"), rows)
