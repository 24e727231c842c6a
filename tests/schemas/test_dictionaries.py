"""Dictionaries of each layout say what they say, and what is none is refused in one line."""

from __future__ import annotations

import os
from itertools import pairwise
from pathlib import Path

import pytest
from support.dictionaries import write_atc, write_meddra, write_omop

from srsql.schemas.dictionary import Dictionary, DictionaryError, of_table, read_rows, spelling
from srsql.schemas.hierarchy import load_hierarchy
from srsql.schemas.vocabularies import load_dictionaries, load_dictionary


def written(file: Path, text: str) -> Path:
    file.write_text(text, encoding="utf-8")
    return file


def at(dictionary: Dictionary, level: str) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for term, name in dictionary.pairs(level):
        found.setdefault(term, set()).add(name)
    return found


def test_a_plain_table_names_terms_and_a_name_is_a_term(tmp_path: Path) -> None:
    file = written(
        tmp_path / "drugs.csv",
        "name,ingredient,class\nTylenol,Acetaminophen,Analgesic\nCo-Both,Acetaminophen,Analgesic\n"
        "Co-Both,Ibuprofen,Analgesic\nOdd,,Other\n,Nobody,None\n",
    )
    made = load_dictionary(file)
    assert made.levels == ("ingredient", "class")
    assert at(made, "INGREDIENT") == {
        "Tylenol": {"Acetaminophen"},
        "Co-Both": {"Acetaminophen", "Ibuprofen"},
        "Acetaminophen": {"Acetaminophen"},
        "Ibuprofen": {"Ibuprofen"},
    }
    assert at(made, "class") == {
        "Tylenol": {"Analgesic"}, "Co-Both": {"Analgesic"}, "Odd": {"Other"},
        "Acetaminophen": {"Analgesic"}, "Ibuprofen": {"Analgesic"}, "Analgesic": {"Analgesic"},
        "Other": {"Other"},
    }  # fmt: skip


def test_what_is_said_of_a_term_counts_before_what_follows_from_its_being_a_name() -> None:
    made = of_table("t", [("term", "hlt"), ("Itch", "Skin"), ("Skin", "Surface")])
    assert at(made, "hlt") == {
        "Itch": {"Skin"}, "Skin": {"Surface"}, "Surface": {"Surface"}
    }  # fmt: skip


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Co-trimoxazole", "CO TRIMOXAZOLE."), ("ASPIRIN /00002701/", "aspirin"),
        ("tylenol (acetaminophen)", "Tylenol, Acetaminophen"), ("VITAMIN  B-12", "Vitamin B 12"),
        ("St. John's wort", "ST JOHN S WORT"), ("re\u0301nal", "R\u00c9NAL"),
    ],
)  # fmt: skip
def test_spellings_of_a_name_are_one(one: str, other: str) -> None:
    assert spelling(one) == spelling(other)


@pytest.mark.parametrize(
    ("one", "other"), [("Rh+", "Rh-"), ("B12", "B 12"), ("1.5", "15"), ("!", "?"), ("-", "")]
)
def test_other_names_stay_other_names(one: str, other: str) -> None:
    assert spelling(one) != spelling(other)


def test_meddra_is_read_along_its_primary_path_with_its_queries(tmp_path: Path) -> None:
    folder = write_meddra(tmp_path)
    made = load_dictionary(folder)
    assert load_dictionary(folder / "mdhier.asc") == made
    for name in ("llt.asc", "x.asc"):
        (folder / name).touch()
        with pytest.raises(DictionaryError, match=r"has no levels: give mdhier\.asc or its"):
            load_dictionary(folder / name)
    assert load_dictionary(tmp_path).names == made.names
    assert made.levels == ("PT", "HLT", "HLGT", "SOC", "SMQ", "SMQ-narrow")
    soc = at(made, "soc")
    assert soc["Rash"] == soc["Red spots"] == {"Skin matters"}
    assert soc["Ache"] == soc["Aches"] == soc["Feelings"] == {"Body as a whole"}
    assert at(made, "pt")["Pyrexia-like"] == {"Fever"}
    smq = at(made, "SMQ")
    # each query is below the other, and neither is read for ever
    both = {"Feeling unwell", "Heat"}
    assert [smq[term] for term in ("Pain", "Ache", "Fever", "Red spots")] == [both] * 4
    assert "Cough" not in smq  # it is inactive there
    assert "Rash" not in smq  # of which only one term below is in the query
    narrow = at(made, "SMQ-narrow")
    assert narrow["Fever"] == narrow["Pyrexia-like"] == {"Feeling unwell", "Heat"}
    assert "Pain" not in narrow


def test_a_substance_under_several_codes_of_atc_is_in_the_classes_of_each(tmp_path: Path) -> None:
    made = load_dictionary(write_atc(tmp_path / "atc.csv"))
    assert made.levels == ("ATC5", "ATC4", "ATC3", "ATC2", "ATC1")
    assert at(made, "atc4")["paracilline"] == {"X01AB Slow doers", "Y02CC Very shiny doers"}
    assert at(made, "ATC1")["Ibuforin"] == {"X Invented organs"}
    assert at(made, "ATC1")["X01A Doers"] == {"X Invented organs"}


def test_concepts_of_omop_are_found_by_name_and_by_number(tmp_path: Path) -> None:
    made = load_dictionary(write_omop(tmp_path / "vocabulary"))
    assert made.levels == ("Concept", "Ingredient", "ATC 4th", "PT")
    assert at(made, "Concept")["8"] == {"Unrelated"}
    ingredient = at(made, "Ingredient")
    assert ingredient["4"] == ingredient["Paracilline / Ibuforin Oral Tablet"] == {
        "Paracilline", "Ibuforin"
    }  # fmt: skip
    assert at(made, "ATC 4th")["3"] == {"Slow doers"}
    assert at(made, "PT")["Throbbing head"] == {"Pain"}
    assert "Unrelated" not in at(made, "PT")


def test_a_hierarchy_has_the_levels_that_policies_count_by(tmp_path: Path) -> None:
    file = written(
        tmp_path / "tree.csv", "node,parent\nAny,\nA,Any\nAB,A\nx,AB\ny,AB\nz,A\nw,Any\n"
    )
    made = load_dictionary(file)
    tree = load_hierarchy(file)
    assert made.levels == ("1", "2")
    assert at(made, "1") == {"AB": {"AB"}, "x": {"AB"}, "y": {"AB"}}
    assert at(made, "2") == {name: {"A"} for name in ("A", "AB", "x", "y", "z")}
    assert tree.height[0] == 3
    for separator in ";\t|":
        other = written(tmp_path / "other.csv", file.read_text().replace(",", separator))
        assert load_dictionary(other).names == made.names
    assert set(load_dictionary(None).levels) == {"1", "2", "3"}


def test_names_of_the_first_are_looked_up_in_the_next(tmp_path: Path) -> None:
    names = written(
        tmp_path / "names.csv", "name,ingredient\nParax,Paracilline\nBoth,Paracilline\n"
        "Both,Ibuforin\nNew,Nobody knows\n",
    )  # fmt: skip
    made = load_dictionaries([names, write_atc(tmp_path / "atc.csv")])
    assert made.levels == ("ingredient", "ATC5", "ATC4", "ATC3", "ATC2", "ATC1")
    assert at(made, "ATC1")["Parax"] == {"X Invented organs", "Y Other organs"}
    assert at(made, "ATC5")["Both"] == {"paracilline", "Ibuforin"}
    assert "New" not in at(made, "ATC5")
    with pytest.raises(DictionaryError, match="both have a level 'INGREDIENT'"):
        load_dictionaries([names, names])


def test_what_is_written_as_a_table_is_read_as_the_same(tmp_path: Path) -> None:
    for made in (
        load_dictionary(write_meddra(tmp_path)),
        load_dictionary(write_atc(tmp_path / "atc.csv")),
        load_dictionary(write_omop(tmp_path / "vocabulary")),
    ):
        again = of_table(made.origin, made.table())
        assert again.levels == made.levels
        for level in made.levels:
            assert at(again, level) == at(made, level)


@pytest.mark.parametrize(
    ("name", "text", "told"),
    [
        ("a.csv", "", "no inner node|header such as name,ingredient"),
        ("a.csv", "name\nx\n", "header such as name,ingredient"),
        ("a.csv", "name,a,A\nx,y,z\n", "two levels have the same name"),
        ("a.csv", "name,a\nx,y,z\n", "row 2 has more fields than the header"),
        ("a.csv", "name,a\nx,\n", "no term has a name on any level"),
        ("a.csv", "name,a\nx,y\0\n", "no name of a term"),
        ("a.csv", "name,a\nx," + "y" * 1001 + "\n", "more than 1,000 characters"),
        ("a.csv", "node,parent\nA,B\n", "nodes have no parent"),
        ("a.csv", "node,parent\nA,\nB,A\n", "no inner node except its root"),
        ("a.csv", "atc_code,ddd\nA,1\n", "beside atc_code there must be atc_name"),
        ("a.toml", "nodes = ['a']", "key nodes must be"),
        ("a.toml", "nodes = 1", "key nodes must be"),
        ("a.toml", "nodes = " + "[" * 5000 + "]" * 5000, "nested more than 32 deep"),
        ("mdhier.asc", "1$2$3\n", "row 1 has 3 fields, the layout of MedDRA has 12"),
        ("concept_ancestor.csv/x", "", "CONCEPT.csv is not beside"),
    ],
)
def test_what_is_no_dictionary_is_refused_in_one_line(
    tmp_path: Path, name: str, text: str, told: str
) -> None:
    file = tmp_path / name.partition("/")[0]
    file.write_text(text, encoding="utf-8")
    with pytest.raises(DictionaryError, match=told) as refused:
        load_dictionary(tmp_path if "/" in name else file)
    assert len(str(refused.value).splitlines()) == 1


def test_an_empty_folder_a_missing_file_and_another_encoding_are_refused(tmp_path: Path) -> None:
    with pytest.raises(DictionaryError, match="has no dictionary: give a CSV"):
        load_dictionary(tmp_path)
    with pytest.raises(DictionaryError, match=r"there is no .*none\.csv: give a CSV"):
        load_dictionary(tmp_path / "none.csv")
    for path in (Path("x" * 5000), Path("a\0b")):
        with pytest.raises(DictionaryError, match=r"cannot be read|is no path") as refused:
            load_dictionary(path)
        assert len(str(refused.value)) < 400
        assert len(str(refused.value).splitlines()) == 1
    file = tmp_path / "latin.csv"
    file.write_bytes("name,ingredient\nGel\xe9e,x\n".encode("latin-1"))
    with pytest.raises(DictionaryError, match="is not UTF-8: convert it"):
        load_dictionary(file)
    assert next(read_rows(written(tmp_path / "tabs.tsv", "a\tb\n"))) == ["a", "b"]


def test_queries_below_queries_are_walked_once_each(tmp_path: Path) -> None:
    """A ladder whose every rung lists the next one twice: 2 to the power of 299 ways down."""
    folder = write_meddra(tmp_path)
    names = [f"q{n}" for n in range(300)]
    written(folder / "smq_list.asc", "".join(f"{n}${n}$\n" for n in names))
    rows = [f"{a}${b}$0$0$A$0$A$\n" for a, b in pairwise(names)] * 2
    pain = (folder / "mdhier.asc").read_text().partition("$")[0]
    written(folder / "smq_content.asc", "".join(rows) + f"{names[-1]}${pain}$4$2$A$0$A$\n")
    made = load_dictionary(folder)
    assert at(made, "SMQ")["Pain"] == at(made, "SMQ-narrow")["Pain"] == set(names)


def test_pipes_and_devices_are_refused_and_endless_lines_are_not_read(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.csv")
    for path in (tmp_path / "pipe.csv", Path("/dev/zero")):
        with pytest.raises(DictionaryError, match="is a pipe, a device or the like: give a CSV"):
            load_dictionary(path)
    with (tmp_path / "long.csv").open("wb") as file:
        file.truncate(1 << 32)  # a sparse file: one line of four gibibytes
    with pytest.raises(DictionaryError, match=r"long\.csv: cannot be read \(a line has 1,000,000"):
        load_dictionary(tmp_path / "long.csv")
