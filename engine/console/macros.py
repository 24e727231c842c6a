"""What a terminal shows of the macros: `macros`."""

from __future__ import annotations

from srsql.engine.console import Parts, Table, forms, show
from srsql.engine.store.definitions import described
from srsql.engine.store.printed import public_file


def answer(*, public: bool, as_json: bool) -> None:
    """Print the file for auditors as it is, or the macros of a warehouse that people call."""
    if not public:
        found = {f"{m.schema}.{m.name}": m.what for m in described() if m.public and m.is_macro}
        show({"macros": found}, as_json, _parts(found))
    elif as_json:
        show({"sql": public_file()}, as_json, ())
    else:
        forms.asked().put([public_file()])


def _parts(found: dict[str, str]) -> Parts:
    """How to read the arguments, and the macros."""
    yield "in a DuckDB client on the warehouse: FROM srsql.help() tells the arguments, too"
    yield Table("macros that people call", ("macro", "what it gives"), list(found.items()))
