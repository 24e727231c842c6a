"""Questions, signals and metrics on artifacts: the answers of the warehouse that published them."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from artifact.conftest import OPTIONS, Artifacts
from artifact.conftest import quarters as reports
from support.artifacts import make, manifest_of, rehash
from support.command import srsql
from support.quarters import write_quarter

from srsql import Engine, SrsqlError, open_artifact

pytestmark = pytest.mark.thorough

FORMS = ("parquet", "csv", "duckdb")
QUESTIONS = (
    "SELECT count(DISTINCT caseid) FROM demo WHERE age >= 40",
    "SELECT sex, count(DISTINCT caseid) FROM demo JOIN reac USING (primaryid, caseid) "
    "WHERE wt BETWEEN 50 AND 80 GROUP BY sex ORDER BY sex",
    "SELECT count(*) FROM demo JOIN drug USING (primaryid, caseid) WHERE role_cod = 'PS'",
)
ALL, LAST = "2011Q3:2011Q4", "2011Q4"


@pytest.fixture(scope="module")
def db(plain_pages: None, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Series that differ in their ids and one with noise, of the same quarters."""
    folder = tmp_path_factory.mktemp("opened")
    with Engine(folder / "w.duckdb") as engine:
        engine.ingest([write_quarter(folder, q, r) for q, r in reports().items()])
        for quarter in reports():
            engine.release(quarter, model="ppms++", **OPTIONS, ids="original")
            for ids in ("pseudonym", "per-quarter"):
                engine.release(quarter, model="ppms++", **OPTIONS, series=ids, ids=ids,
                               allow_linkable=True)  # fmt: skip
        noise = OPTIONS | {"seed": None, "model": "msdp-all"}
        engine.release(LAST, **noise, series="noise", allow_linkable=True)
    return folder / "w.duckdb"


@pytest.fixture(scope="module")
def made(db: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[tuple[str, str], Path]:
    """(what, format) -> artifacts of main; not to be changed."""
    folder = tmp_path_factory.mktemp("made")
    found = {("all", form): make(db, folder / f"all-{form}", ALL, format=form) for form in FORMS}
    for quarter in reports():
        found[quarter, "csv"] = make(db, folder / quarter, quarter, format="csv")
    return found


@pytest.mark.parametrize("form", FORMS)
def test_the_answers_are_those_of_the_warehouse(
    db: Path, made: dict[tuple[str, str], Path], form: str
) -> None:
    with Engine(db, read_only=True) as engine, open_artifact(made["all", form]) as artifact:
        for question in QUESTIONS:
            assert artifact.query(question) == engine.query(question)
            one = engine.query(question, quarter=LAST)
            assert artifact.query(question, quarter=LAST) == one
        withheld = engine.query(QUESTIONS[0], include_withheld=True)
        assert artifact.query(QUESTIONS[0], include_withheld=True) == withheld
        assert artifact.signals(every_pair=True) == engine.signals(
            every_pair=True, released_only=True
        )
        assert artifact.metrics(LAST) == [
            type(row)(**{**vars(row), "release": 2}) for row in engine.metrics(LAST, public=True)
        ]
        for table in ("demo", "reac", "case_latest"):
            statement = f"FROM released.{table} ORDER BY ALL"
            assert artifact.sql(statement) == engine.sql(statement)


def test_several_artifacts_are_asked_together_in_any_order(
    db: Path, made: dict[tuple[str, str], Path]
) -> None:
    folders = [made[quarter, "csv"] for quarter in ("2011Q4", "2011Q3")]
    with Engine(db, read_only=True) as engine, open_artifact(*folders) as artifact:
        assert artifact.quarters == ("2011Q3", "2011Q4")
        for question in QUESTIONS:
            assert artifact.query(question) == engine.query(question)


def test_a_series_with_pseudonyms_answers_as_in_the_warehouse(db: Path, tmp_path: Path) -> None:
    folder = make(db, tmp_path / "out", ALL, series="pseudonym")
    question = "SELECT count(*) FROM drug WHERE drug_seq = 1"
    with Engine(db, read_only=True) as engine, open_artifact(folder) as artifact:
        for text in QUESTIONS:
            assert artifact.query(text) == engine.query(text, series="pseudonym")
        with pytest.raises(SrsqlError) as theirs:
            engine.query(question, series="pseudonym")
        with pytest.raises(SrsqlError) as ours:
            artifact.query(question)
        assert str(ours.value) == str(theirs.value)


def test_cases_are_not_joined_over_quarters_where_each_has_other_ids(
    db: Path, tmp_path: Path
) -> None:
    folder = make(db, tmp_path / "out", ALL, series="per-quarter")
    with Engine(db, read_only=True) as engine, open_artifact(folder) as artifact:
        for ask in (
            lambda: artifact.query(QUESTIONS[0]),
            lambda: artifact.signals(every_pair=True),
        ):
            with pytest.raises(SrsqlError, match=r"other ids in every quarter.*give --quarter"):
                ask()
        one = engine.query(QUESTIONS[0], quarter=LAST, series="per-quarter")
        assert artifact.query(QUESTIONS[0], quarter=LAST) == one


def test_values_that_were_drawn_give_no_bounds_and_are_named(db: Path, tmp_path: Path) -> None:
    folder = make(db, tmp_path / "out", LAST, series="noise")
    with Engine(db, read_only=True) as engine, open_artifact(folder) as artifact:
        with pytest.raises(SrsqlError, match="no bounds can be given"):
            artifact.query(QUESTIONS[0])
        found = artifact.signals(every_pair=True)
        assert found.perturbed == (LAST,)
        assert found == engine.signals(every_pair=True, series="noise", released_only=True)
        assert not [row for row in artifact.metrics() if row.measure == "confidence"]


def test_artifacts_that_do_not_go_together_are_refused_in_one_line(
    db: Path, made: dict[tuple[str, str], Path], tmp_path: Path
) -> None:
    other = make(db, tmp_path / "other", "2011Q3", series="pseudonym")
    keyed = make(db, tmp_path / "keyed", "2011Q3", case_ids="pseudonym", key_file=tmp_path / "key")
    last = made[LAST, "csv"]
    for folders, why in (
        ((last, other), "another series"),
        ((last, keyed), "another ids"),
        ((last, made["all", "csv"]), "is in two of the artifacts"),
        ((), "give the folder of an artifact"),
        ((tmp_path / "nowhere",), "cannot be read"),
        ((tmp_path,), "is not an artifact"),
    ):
        with pytest.raises(SrsqlError, match=why) as refused:
            open_artifact(*folders)
        assert "\n" not in str(refused.value)


def test_what_an_artifact_does_not_take_is_refused_in_one_line(
    made: dict[tuple[str, str], Path],
) -> None:
    with pytest.raises(SrsqlError, match="takes no option datset"):
        open_artifact(made[LAST, "csv"], datset="faers")
    with open_artifact(made[LAST, "csv"]) as artifact:
        for ask, why in (
            (lambda: artifact.query(QUESTIONS[0], quater=LAST), "did you mean quarter"),
            (lambda: artifact.query(QUESTIONS[0], dataset="vaers"), "when artifacts are opened"),
            (lambda: artifact.metrics(medical="x.csv"), "needs the originals"),
            (lambda: artifact.metrics("2011Q3"), "2011Q3 is not in the artifacts"),
            (lambda: artifact.signals(every_pair=True, series="other"), "not 'other'"),
        ):
            with pytest.raises(SrsqlError, match=why):
                ask()


def test_an_artifact_that_was_changed_is_not_asked(
    made: dict[tuple[str, str], Path], tmp_path: Path
) -> None:
    for name in ("demo.csv", "README.md", "value-thresholds.csv", "manifest.json"):
        folder = shutil.copytree(made[LAST, "csv"], tmp_path / name)
        with (folder / name).open("ab") as file:
            file.write(b" \n")
        with pytest.raises(SrsqlError, match="is not as it was published"):
            open_artifact(folder)


def test_a_dataset_that_does_not_ship_needs_its_file_and_has_to_agree(
    kept_artifacts: Artifacts, tmp_path: Path
) -> None:
    folder = shutil.copytree(kept_artifacts["ms", "csv"], tmp_path / "out")
    told = manifest_of(folder)
    told["dataset"] = "clinic"
    (folder / "manifest.json").write_text(json.dumps(told))
    rehash(folder, series="main")
    with pytest.raises(SrsqlError, match="'clinic', version 1, does not ship"):
        open_artifact(folder)
    schema = Path(__file__).parents[2] / "schemas" / "faers.toml"
    own = tmp_path / "clinic.toml"
    own.write_text(schema.read_text().replace('name = "faers"', 'name = "clinic"', 1))
    with open_artifact(folder, dataset=own) as artifact:
        assert artifact.query(QUESTIONS[0]).dataset == "clinic"
    own.write_text(own.read_text().replace("[0, 400]", "[0, 410]"))
    with pytest.raises(SrsqlError, match="not as dataset 'clinic' declares: wt has another kind"):
        open_artifact(folder, dataset=own)
    with pytest.raises(SrsqlError, match="of dataset 'clinic', not of 'faers'"):
        open_artifact(folder, dataset="faers")


def test_the_connection_of_an_analyst_reads_no_file(
    made: dict[tuple[str, str], Path], tmp_path: Path
) -> None:
    secret = tmp_path / "secret.csv"
    secret.write_text("a\nCANARY\n")
    with open_artifact(made[LAST, "csv"]) as artifact, pytest.raises(Exception, match="disabled"):
        artifact.sql(f"FROM read_csv('{secret}')")


def test_the_commands_take_artifacts_instead_of_a_warehouse(
    db: Path, made: dict[tuple[str, str], Path]
) -> None:
    one = ["--artifact", str(made["all", "parquet"])]
    several = [w for q in reports() for w in ("--artifact", str(made[q, "csv"]))]
    for chosen in (one, several):
        ours = srsql("query", QUESTIONS[0], *chosen, "--json")
        assert ours.code == 0, ours
        assert ours.out == srsql("query", QUESTIONS[0], "--db", db, "--json").out
        ours = srsql("signals", "--all", *chosen, "--json")
        theirs = srsql("signals", "--all", "--released-only", "--db", db, "--json")
        assert ours.out == theirs.out
    ours = srsql("metrics", "--quarter", LAST, "--public", *one)
    assert ours.code == 0
    assert "region_size" in ours.out
    refused = srsql("query", QUESTIONS[0], *one, "--db", db)
    assert refused.code == 2
    assert "takes the place of --db" in refused.err
    refused = srsql("query", QUESTIONS[0], *one, "--series", "other")
    assert refused.code == 2
    assert "are of series 'main', not 'other'" in refused.err
