"""One run of a world with a mutation or without: who refuses what, and what came of it."""

from __future__ import annotations

import hashlib
import json
import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from unittest.mock import patch

import numpy as np

from benchmarks.mutations.data import report_of, write
from benchmarks.mutations.records import Mutation, applied
from benchmarks.mutations.worlds import WORLDS, World
from srsql.engine.api.engine import Engine
from srsql.engine.artifact.verify.verify import verify
from srsql.engine.errors import CheckFailedError, SrsqlError
from srsql.engine.report.page import Page
from srsql.udfs import mechanisms

RELEASE, AUDIT, PUBLISH, VERIFY = "release", "audit", "publish", "verify"
UNCAUGHT, BROKEN, SAME = "UNCAUGHT", "BROKEN", "NO EFFECT"
KEPT = (
    "member", "region", "case_flag", "case_qid", "case_term", "threshold", "withheld", "waiting",
    "perturbation", "perturbed", "budget_ledger", "suppressed", "lattice_node", "id_pseudonym",
    "series", "release", "counted_person", "external_knowledge", "defended_attack", "measure",
)  # fmt: skip
"""Tables of the catalog by which two runs are compared."""


@dataclass(frozen=True)
class Ran:
    """What came of a run."""

    by: str
    """Who refused it first, or nobody (empty)."""
    why: str
    digest: str
    """Of all that was released, kept and published, where nobody refused it."""


class Worlds:
    """Warehouses in which the quarters of a world are ingested, each made once."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._made: dict[str, Path] = {}

    def copy(self, name: str, to: Path) -> None:
        """A warehouse of its own with the quarters."""
        if name not in self._made:
            path = self._folder / f"{len(self._made)}.duckdb"
            with Engine(path) as engine:
                _ingest(engine, WORLDS[name], self._folder)
            self._made[name] = path
        shutil.copyfile(self._made[name], to)


def _ingest(engine: Engine, world: World, folder: Path) -> None:
    files = [write(folder, label, reports) for label, reports in world.quarters.items()]
    engine.ingest(files, allow_incomplete=True)
    if world.before is not None:
        world.before(engine)


def run(worlds: Worlds, name: str, mutation: Mutation | None, *, publishes: bool = True) -> Ran:
    """Release, audit, publish and verify a world; or (``publishes`` false) release it alone.

    The mutation is in what the house runs, which ends with publishing. Whoever verifies has a
    program of their own, without it.
    """
    world = WORLDS[name]
    with TemporaryDirectory() as place:
        folder = Path(place)
        db = folder / "world.duckdb"
        if not world.ingests:
            worlds.copy(name, db)
        with _repeatable(), applied(mutation), Engine(db) as engine:
            if world.ingests:
                _ingest(engine, world, folder)
            by, why = _released(engine, world)
            artifacts: dict[str, list[Path]] = {}
            if not by and publishes:
                by, why, artifacts = _published(engine, world, folder)
            digest = "" if by or not publishes else _digest(engine, world)
        if not by:
            with _plain_pages():
                by, why = _verified(artifacts)
        if not by:
            digest += "".join(_files(path) for found in artifacts.values() for path in found)
    return Ran(by, why, digest)


def _released(engine: Engine, world: World) -> tuple[str, str]:
    for quarter, options in world.releases:
        try:
            engine.release.make(quarter, **options)
        except CheckFailedError as error:
            return RELEASE, str(error)
        except SrsqlError as error:
            return BROKEN, f"{type(error).__name__}: {error}"
    for quarter, cases in world.left.items():
        engine.con.executemany(
            "INSERT INTO srsql.deleted_case VALUES ('faers', ?, 1)",
            [[report_of(case).case] for case in cases],
        )
        try:
            engine.release.correct(quarter)
        except CheckFailedError as error:
            return RELEASE, str(error)
    return "", ""


def _published(
    engine: Engine, world: World, folder: Path
) -> tuple[str, str, dict[str, list[Path]]]:
    artifacts: dict[str, list[Path]] = {}
    for series in world.series if world.audits else ():
        try:
            found = engine.audit.run(series=series)
        except SrsqlError as error:
            return BROKEN, f"{type(error).__name__}: {error}", artifacts
        if not found.safe:
            return AUDIT, found.verdict, artifacts
    for number, (quarter, series) in enumerate(world.published):
        to = folder / f"artifact {number}"
        options = dict(world.publish)
        if "key_file" in options:
            options["key_file"] = folder / str(options["key_file"])
        try:
            with _plain_pages():
                engine.artifact.publish(quarter, to, series=series, allow_linkable=True, **options)
        except SrsqlError as error:
            return PUBLISH, str(error), artifacts
        artifacts.setdefault(series, []).append(to)
    return "", "", artifacts


def _verified(artifacts: dict[str, list[Path]]) -> tuple[str, str]:
    for folders in artifacts.values():
        try:
            found = verify(folders)
        except SrsqlError as error:
            return VERIFY, str(error)
        if not found.passed:
            return VERIFY, "; ".join(found.failures)
    return "", ""


@contextmanager
def _plain_pages() -> Iterator[None]:
    """Reports of one line: drawing takes longer than all that is compared."""

    def page(_: Any, quarter: str) -> Page:
        return Page(f"<p>{quarter}</p>\n", ())

    with (
        patch("srsql.engine.report.report.public_quarter", page),
        patch("srsql.engine.report.public_edition.public_quarter", page),
    ):
        yield


@contextmanager
def _repeatable() -> Iterator[None]:
    """Keys and secure draws that are the same in every run, so that two runs can be compared.

    They come of a generator that nobody else starts so, and follow what was drawn before.
    """
    drawn: dict[str, int] = {}

    def generator(*what: object) -> np.random.Generator:
        text = "/".join(map(str, what))
        drawn[text] = drawn.get(text, 0) + 1
        digest = hashlib.sha512(f"a benchmark of mutations/{text}/{drawn[text]}".encode()).digest()
        return np.random.Generator(np.random.PCG64(list(digest)))

    def laplace(scale: float, count: int) -> Any:
        chance = -np.expm1(-1 / scale)
        own = generator("laplace", scale, count)
        return own.geometric(chance, count) - own.geometric(chance, count)

    def words(count: int) -> Any:
        return generator("words").integers(0, 2**64, count, dtype=np.uint64)

    with (
        patch.object(secrets, "token_bytes", lambda count: generator("key").bytes(count)),
        patch.object(mechanisms, "_secure_laplace", laplace),
        patch.object(mechanisms, "_secure_words", words),
    ):
        yield


def _digest(engine: Engine, world: World) -> str:
    """Of the views, row by row as they stand, and of the catalog."""
    text = hashlib.sha256()
    releases = engine.sql(
        "SELECT r.release_id, r.schema_name, r.private_manifest FROM srsql.release AS r "
        "ORDER BY r.release_id"
    )
    for _, schema, manifest in releases:
        text.update(json.dumps(json.loads(manifest or "{}"), sort_keys=True).encode())
        names = engine.sql(
            "SELECT v.view_name FROM duckdb_views() AS v WHERE v.schema_name = ? ORDER BY ALL",
            [schema],
        )
        for (view,) in names:
            text.update(repr(engine.sql(f'SELECT * FROM "{schema}"."{view}"')).encode())
    for table in KEPT:
        text.update(repr(engine.sql(f"SELECT * FROM srsql.{table} ORDER BY ALL")).encode())
    return text.hexdigest()


def _files(folder: Path) -> str:
    """Of an artifact: its tables and what its manifest tells."""
    parts = [path for path in sorted(folder.iterdir()) if path.suffix == ".parquet"]
    told = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
    kept = {name: told.get(name) for name in ("parameters", "counts", "guarantee", "k")}
    text = json.dumps(kept, sort_keys=True, default=str).encode()
    return hashlib.sha256(text + b"".join(path.read_bytes() for path in parts)).hexdigest()
