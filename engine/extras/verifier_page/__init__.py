"""The page that checks an artifact in a browser, and counts in it.

Its sources are the files of ``page/``: one page, one style, and JavaScript without a framework.
They are an implementation of their own of what ``verify`` checks and ``query`` counts, from the
format as ``format`` describes it: nothing of theirs is computed here. What comes from Python are
facts alone: the version, what models and the datasets that ship declare, and the characters that
Unicode 14.0 leaves unassigned, at which the key of a term is pinned. A reader of Parquet is given
when the page is written.

The page is one file that loads nothing. Its Content-Security-Policy names its script and its style
by their hashes, so that no other script runs, whatever an artifact has in its names, and allows no
connection. The work is done by a worker made of the text of the page, so that it can be stopped.
"""

from srsql.engine.extras.verifier_page.written import (
    WORK,
    declared_facts,
    verifier_page,
    write_verifier_page,
)

__all__ = ["WORK", "declared_facts", "verifier_page", "write_verifier_page"]
