"""Two installed versions of srsql on the same scenarios: what stays equal, and what differs.

    python -m benchmarks same_release --before PYTHON --after PYTHON --real-data DIR
        [--only NAME ...] [--keep DIR] [--before-dumps DIR] [--after-dumps DIR]

``PYTHON`` is a command that starts a Python which can import srsql; an environment may stand in
front of it, as in ``'env PYTHONPATH=/somewhere /venv/bin/python'``. Each version makes every
scenario on its own through its command line, and each writes a dump of what came out. The dumps
are then compared:

* every table and view of the schemas ``release_*`` and ``released*``: names and types of the
  columns, and the rows byte for byte in the order in which they are stored;
* the public manifest of each release, the private one that ``release --json`` prints, and the
  documents and exit codes of ``metrics``, ``audit``, ``signals``, ``query``, ``status``,
  ``publish`` and ``verify``;
* the published artifacts, file by file.

A value (a number, a truth value, a word, or any string that is data) that differs is a failure,
and the exit code is 1. A phrase, a document or a message that differs is listed as a unified diff
and is no failure. The version of the software, hashes of definitions, sizes of files and seconds
are masked. What a version draws securely, so that even two runs of one version differ, is
compared without its order or its numbers, and the output says so with the reason.

``--keep DIR`` keeps the dumps under ``DIR/before`` and ``DIR/after``; ``--before-dumps DIR/before``
takes
them from there another time, and ``--after-dumps`` those of the second version. Without
``--after`` only the dumps of the first version are made. ``--small`` stands for ``--only demo``,
which needs no real data. ``DIR`` of ``--real-data`` holds the folders ``faers``, ``faers_als`` and
``vaers``.
"""

from benchmarks.same_release.command import command

__all__ = ["command"]
