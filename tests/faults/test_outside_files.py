"""Files of others: pipes, devices, links, files as large as a disk and documents nested deep are
refused in one line, before anybody waits for them; and nothing opens a file around the reader."""

from __future__ import annotations

import ast
import os
import shutil
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from types import FrameType
from typing import Any

import pytest
from support.amount import some_of
from support.artifacts import make
from support.quarters import crowd, write_quarter

from srsql import Engine
from srsql.engine.artifact.format import private_key
from srsql.engine.artifact.publish import read_or_make_key
from srsql.engine.artifact.verify.verify import verify
from srsql.engine.console.upkeep import listed_ids
from srsql.engine.errors import SrsqlError
from srsql.engine.extras.study.results import read_cell
from srsql.engine.grouping.cases import load_knowledge
from srsql.engine.grouping.thresholds import parse_theta
from srsql.engine.ingest.sources import find_sources
from srsql.engine.risk.linkage import read_medical
from srsql.engine.signals.rules import read_rules
from srsql.engine.store.lake_files import read_marker
from srsql.engine.terms.parameters import read_terms
from srsql.engine.terms.policies import load_policy, load_tree
from srsql.schemas import SchemaError, load_dataset
from srsql.schemas.dictionary import DictionaryError
from srsql.schemas.outside import MOST_DEPTH, json_of, open_plain, read_bytes, toml_of
from srsql.schemas.vocabularies import load_dictionary

ROOT = Path(__file__).parents[2]
FAERS = load_dataset("faers")
READERS: dict[str, Callable[[Path], Any]] = {
    "knowledge": load_knowledge,
    "levels": lambda path: parse_theta(f"levels:{path}"),
    "rules": lambda path: read_rules(FAERS, path),
    "sensitive terms": lambda path: read_terms(str(path)),
    "policy": load_policy,
    "hierarchy": load_tree,
    "medical": lambda path: read_medical(FAERS, path),
    "dictionary": load_dictionary,
    "dataset": load_dataset,
    "ids to forget": listed_ids,
    "key to sign with": private_key,
    "key of pseudonyms": read_or_make_key,
    "source": lambda path: find_sources([path], FAERS, None),
    "database": lambda path: Engine(path, read_only=True).close(),
}
REFUSED = (SrsqlError, SchemaError, DictionaryError)


@contextmanager
def in_time(seconds: int = 20) -> Iterator[None]:
    """A test that waits for a pipe fails."""

    def late(number: int, frame: FrameType | None) -> None:
        raise TimeoutError("it waits")

    before = signal.signal(signal.SIGALRM, late)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def pipe(path: Path) -> None:
    os.mkfifo(path)


def device(path: Path) -> None:
    path.symlink_to("/dev/zero")


def of_the_kernel(path: Path) -> None:
    path.symlink_to("/dev/tty")


def linked_pipe(path: Path) -> None:
    os.mkfifo(path.with_name("behind"))
    path.symlink_to("behind")


KINDS = [pipe, device, of_the_kernel, linked_pipe]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("reader", READERS)
def test_what_is_no_plain_file_is_refused_at_once(
    tmp_path: Path, reader: str, kind: Callable[[Path], None]
) -> None:
    for name in ("file.csv", "file.toml", "file.zip"):
        folder = tmp_path / name
        folder.mkdir()
        kind(folder / name)
        with in_time(), pytest.raises(REFUSED) as error:
            READERS[reader](folder / name)
        assert "\n" not in str(error.value)


@pytest.mark.parametrize("kind", KINDS)
def test_what_finished_work_left_is_done_anew_where_it_is_no_plain_file(
    tmp_path: Path, kind: Callable[[Path], None]
) -> None:
    kind(tmp_path / "srsql-lake.json")
    with in_time():
        assert read_cell(tmp_path / "srsql-lake.json") is None
        assert read_marker(tmp_path) is None


LARGE = sorted(READERS.keys() - {"source", "database"})


@pytest.mark.parametrize("reader", LARGE)
def test_a_text_as_large_as_a_disk_is_refused_without_being_read(
    tmp_path: Path, reader: str
) -> None:
    for name in ("file.csv", "file.toml"):
        with (tmp_path / name).open("wb") as file:
            file.truncate(32 << 30)
        with in_time(), pytest.raises(REFUSED, match=r"has more than [\d,]+ bytes"):
            READERS[reader](tmp_path / name)


@pytest.mark.parametrize("reader", ["levels", "hierarchy", "dataset"])
@pytest.mark.parametrize(
    "text",
    [
        "x = " + "[" * 100_000,
        "x = " + "[" * 40 + "]" * 40,
        "x = " + "{a=" * 100_000,
        ".".join("a" * 100_000) + " = 1",
        "[" + ".".join("a" * 100_000) + "]",
        ".".join(['"b"'] * 50) + " = 1",
    ],
)
def test_toml_that_is_nested_too_deep_is_refused_in_one_line(
    tmp_path: Path, reader: str, text: str
) -> None:
    (tmp_path / "file.toml").write_text(text)
    with in_time(), pytest.raises(REFUSED) as error:
        READERS[reader](tmp_path / "file.toml")
    assert f"nested more than {MOST_DEPTH} deep" in str(error.value)


def test_documents_of_a_usual_depth_are_read() -> None:
    text = ".".join("abcdefgh") + ' = "1.2.3.4.5.6"'
    assert toml_of(text)["a"]["b"]["c"]["d"]["e"]["f"]["g"]["h"] == "1.2.3.4.5.6"
    assert json_of('{"a": [[[1]]]}') == {"a": [[[1]]]}
    for deep in ("[" * 100_000, "[" * 40 + "]" * 40, '{"a":' * 100_000):
        with pytest.raises(ValueError):
            json_of(deep)


def test_a_file_that_grows_while_it_is_read_is_not_read_on(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"12345")
    with pytest.raises(OSError, match="more than 4 bytes"):
        read_bytes(path, 4)
    assert read_bytes(path, 5) == b"12345"
    (tmp_path / "link").symlink_to(path)
    assert read_bytes(tmp_path / "link") == b"12345"
    with pytest.raises(OSError, match="it is a link"):
        open_plain(tmp_path / "link", links=False)


def test_links_that_lead_out_of_a_folder_of_sources_are_not_followed(tmp_path: Path) -> None:
    zipped = write_quarter(tmp_path / "elsewhere", "2011Q3", crowd(4))
    sources = tmp_path / "sources"
    sources.mkdir()
    (sources / zipped.name).symlink_to(zipped)
    with pytest.raises(SrsqlError, match=r"a link that leads out of .*: put the file itself there"):
        find_sources([sources], FAERS, None)
    assert find_sources([sources / zipped.name], FAERS, None)  # named by its user
    (sources / zipped.name).unlink()
    shutil.unpack_archive(zipped, tmp_path / "unpacked")
    whole = tmp_path / "whole"
    shutil.copytree(tmp_path / "unpacked", whole)
    assert find_sources([whole], FAERS, None)
    (victim,) = (path for path in whole.rglob("*") if path.name.lower().startswith("demo"))
    victim.rename(tmp_path / victim.name)
    victim.symlink_to(tmp_path / victim.name)
    with pytest.raises(SrsqlError, match="a link that leads out of"):
        find_sources([whole], FAERS, None)
    victim.unlink()
    (victim.parent / "kept").mkdir()
    (tmp_path / victim.name).rename(victim.parent / "kept" / victim.name)
    victim.symlink_to(victim.parent / "kept" / victim.name)  # stays within: two files of one table
    with pytest.raises(SrsqlError, match="both fit table"):
        find_sources([whole], FAERS, None)


@pytest.fixture(scope="module")
def artifact(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("artifact")
    with Engine(folder / "w.duckdb") as engine:
        engine.ingest([write_quarter(folder, "2011Q3", crowd(12))])
        engine.release("2011Q3", k=3, theta="1", seed=1)
    return make(folder / "w.duckdb", folder / "out", "2011Q3", format="csv")


def hole(path: Path) -> None:
    with path.open("wb") as file:
        file.truncate(1 << 40)


@pytest.mark.slow
@pytest.mark.parametrize("kind", [pipe, device, hole])
def test_no_document_of_an_artifact_keeps_its_reader_waiting(
    artifact: Path, tmp_path: Path, kind: Callable[[Path], None]
) -> None:
    names = sorted(path.name for path in artifact.iterdir())
    for name in names if kind is pipe else names[:: len(names) // some_of(len(names))]:
        folder = tmp_path / name
        shutil.copytree(artifact, folder)
        (folder / name).unlink()
        kind(folder / name)
        with in_time():
            assert not verify(folder).passed


SHIPPED = "its own package ships it"
OWN = "this process made it, in its private folder"
SYSTEM = "the kernel tells it"
WRITTEN = "it is written, not read"
ELSEWHERE = {
    ("engine/artifact/documents.py", "read_text"): SHIPPED,
    ("engine/artifact/explained.py", "read_text"): SHIPPED,
    ("engine/extras/catalogues/methods.py", "read_text"): SHIPPED,
    ("engine/extras/verifier_page/written.py", "read_text"): SHIPPED,
    ("engine/artifact/verify/term_keys.py", "read_text"): SHIPPED,
    ("engine/audit/imports/foreign_table.py", "open"): OWN,
    ("engine/console/forms.py", "open"): WRITTEN,
    ("engine/console/later.py", "read_text"): SHIPPED,
    ("engine/console/sections.py", "read_text"): SHIPPED,
    ("engine/console/session.py", "open"): WRITTEN,
    ("engine/ingest/completeness.py", "read_text"): SHIPPED,
    ("engine/ingest/records.py", "open"): "what it reads is a Member, which opens it as below",
    ("engine/ingest/sources.py", "open"): "what is inside a zip that open_plain has opened",
    ("engine/report/page.py", "read_text"): SHIPPED,
    ("engine/risk/linkage.py", "read_text"): SHIPPED,
    ("engine/extras/exports/exports.py", "open"): WRITTEN,
    ("engine/extras/study/figures.py", "read_text"): SHIPPED,
    ("engine/extras/first_dataset/samples.py", "open"): "what it reads is a Member, as for records",
    ("engine/extras/study/results.py", "open"): WRITTEN,
    ("engine/extras/study/run.py", "read_text"): SYSTEM,
    ("engine/extras/synth/archives.py", "open"): OWN,
    ("engine/extras/synth/archives.py", "ZipFile"): WRITTEN,
    ("engine/extras/synth/quarters.py", "read_text"): SHIPPED,
    ("engine/workers/carriers.py", "fdopen"): SYSTEM,
    ("engine/store/database_file.py", "read_bytes"): SYSTEM,
    ("engine/catalog/levels.py", "open"): WRITTEN,
    ("engine/store/scratch.py", "open"): "folders, and files that are made",
    ("engine/extras/spark/address.py", "open"): SYSTEM,
    ("engine/store/statements.py", "read_text"): SHIPPED,
    ("schemas/glossary.py", "read_text"): SHIPPED,
    ("schemas/persons.py", "read_text"): SHIPPED,
    ("udfs/checks/term_key.py", "read_text"): SHIPPED,
    ("udfs/caches.py", "read_bytes"): SHIPPED,
    ("udfs/term_key.py", "read_text"): SHIPPED,
}
"""Where a module opens files around the reader, and why that is no file of others."""
OPENING = {"open", "fdopen", "read_text", "read_bytes", "ZipFile", "is_zipfile", "TarFile"}
READER = "schemas/outside.py"


@cache
def calls() -> list[tuple[str, ast.Call, frozenset[str]]]:
    """Every call of the package: the module, and the names that this has from the reader."""
    found = []
    for folder in ("cli.py", "engine", "schemas", "udfs"):
        place = ROOT / folder
        for path in [place] if place.is_file() else place.rglob("*.py"):
            nodes = list(ast.walk(ast.parse(path.read_text(encoding="utf-8"))))
            names = frozenset(
                each.name
                for node in nodes
                if isinstance(node, ast.ImportFrom) and node.module == "srsql.schemas.outside"
                for each in node.names
            )
            name = path.relative_to(ROOT).as_posix()
            found += [(name, node, names) for node in nodes if isinstance(node, ast.Call)]
    return found


def test_no_module_opens_files_around_the_reader_but_those_that_are_listed() -> None:
    found = set()
    for module, call, from_reader in calls():
        if isinstance(call.func, ast.Attribute):
            name = call.func.attr
        else:
            name = call.func.id if isinstance(call.func, ast.Name) else ""
            name = "" if name in from_reader else name
        given = [each.id for each in call.args[:1] if isinstance(each, ast.Name)]
        opened = name in ("ZipFile", "is_zipfile") and given == ["file"]  # by open_plain
        if name in OPENING and not opened and module != READER:
            found.add((module, name))
    assert found == set(ELSEWHERE)


def test_no_module_reads_toml_or_json_of_others_without_a_bound_on_its_depth() -> None:
    known = {
        ("engine/extras/study/worker.py", "json.loads"),  # of the process that started it
        ("engine/extras/study/figures.py", "tomllib.loads"),
        ("engine/store/comments.py", "tomllib.loads"),
        ("engine/store/scratch.py", "json.loads"),  # names of folders, by this account
        ("engine/console/later.py", "json.loads"),  # the options, which ship
        ("engine/console/sections.py", "tomllib.loads"),
        ("schemas/glossary.py", "tomllib.loads"),
        ("schemas/persons.py", "tomllib.loads"),
    }
    parsers = {"json.loads", "json.load", "tomllib.loads", "tomllib.load"}
    found = {(module, ast.unparse(call.func)) for module, call, _ in calls()
             if isinstance(call.func, ast.Attribute) and call.func.attr in ("load", "loads")
             and module != READER}  # fmt: skip
    assert {each for each in found if each[1] in parsers} == known
