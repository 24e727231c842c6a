"""Small invented dictionaries in the layouts of MedDRA, ATC and OMOP: no name or code is theirs."""

from __future__ import annotations

from pathlib import Path

HIERARCHY = (
    # pt, hlt, hlgt, soc, and whether that is the primary path
    ("Pain", "Aches", "Feelings", "Body as a whole", "Y"),
    ("Rash", "Spots", "Surfaces", "Skin matters", "Y"),
    ("Rash", "Swellings", "Feelings", "Body as a whole", "N"),
    ("Cough", "Noises of breath", "Airways", "Breath", "Y"),
    ("Fever", "Warmth", "Feelings", "Body as a whole", "Y"),
)
LOWEST = (("Ache", "Pain"), ("Pain", "Pain"), ("Red spots", "Rash"), ("Pyrexia-like", "Fever"))
QUERIES = {
    # query: (term, its level, scope, status); 2 is narrow, 1 broad, 0 a query below
    "Feeling unwell": (("Pain", 4, 1, "A"), ("Heat", 0, 0, "A"), ("Cough", 4, 2, "I")),
    "Heat": (("Fever", 4, 2, "A"), ("Red spots", 5, 1, "A"), ("Feeling unwell", 0, 0, "A")),
}
CODES: dict[str, int] = {}


def code(name: str) -> str:
    """A number for a name, the same in all files."""
    return str(CODES.setdefault(name, 90_000_001 + len(CODES)))


def write_meddra(folder: Path) -> Path:
    """``MedAscii`` with the four files, each row ending in the separator as MedDRA's do."""
    place = folder / "MedAscii"
    place.mkdir(parents=True, exist_ok=True)
    rows: dict[str, list[list[str]]] = {
        "mdhier.asc": [
            [*(code(n) for n in names), *names, "Abbr", "", code(names[3]), primary]
            for *names, primary in HIERARCHY
        ],
        "llt.asc": [
            [code(f"{lowest} (lowest)") if lowest != pt else code(pt), lowest, code(pt),
             *[""] * 6, "Y", ""]
            for lowest, pt in LOWEST
        ],
        "smq_list.asc": [
            [code(name), name, "1", "what; it is $-free", "ours", "", "99.0", "A", "N"]
            for name in QUERIES
        ],
        "smq_content.asc": [
            [code(name), code(f"{term} (lowest)" if level == 5 else term), str(level), str(scope),
             "A", "0", status, "99.0", "99.0"]
            for name, listed in QUERIES.items()
            for term, level, scope, status in listed
        ],
    }  # fmt: skip
    for name, lines in rows.items():
        text = "".join("$".join(line) + "$\n" for line in lines)
        (place / name).write_text(text.replace("$-free", "-free"), encoding="utf-8")
    return place


ATC = (
    ("X", "Invented organs"), ("X01", "Invented parts"), ("X01A", "Doers"), ("X01AB", "Slow doers"),
    ("X01AB01", "paracilline"), ("X01AB02", "Ibuforin"), ("Y", "Other organs"), ("Y02", "Others"),
    ("Y02C", "Shiny doers"), ("Y02CC", "Very shiny doers"), ("Y02CC07", "Paracilline"),
)  # fmt: skip


def write_atc(file: Path) -> Path:
    """An index of codes and names, as tables of the ATC are passed on."""
    lines = ["ATC code,ATC name,ddd", *(f"{c},{n},1" for c, n in ATC), "X01AB01,paracilline,2"]
    file.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return file


CONCEPTS = (
    (1, "Paracilline", "Ingredient"), (2, "Ibuforin", "Ingredient"),
    (3, "Paracilline 500 MG Oral Tablet", "Clinical Drug"),
    (4, "Paracilline / Ibuforin Oral Tablet", "Clinical Drug"),
    (5, "Slow doers", "ATC 4th"), (6, "Throbbing head", "Clinical Finding"), (7, "Pain", "PT"),
    (8, "Unrelated", "Clinical Finding"),
)  # fmt: skip
ANCESTORS = ((1, 1), (2, 2), (1, 3), (1, 4), (2, 4), (5, 1), (5, 3), (5, 4), (7, 6), (7, 7), (8, 8))


def write_omop(folder: Path) -> Path:
    """``CONCEPT.csv`` and ``CONCEPT_ANCESTOR.csv``, separated by tabs as Athena's are."""
    folder.mkdir(parents=True, exist_ok=True)
    concept = ["concept_id\tconcept_name\tdomain_id\tvocabulary_id\tconcept_class_id"]
    concept += [f"{number}\t{name}\tAny\tOurs\t{kind}" for number, name, kind in CONCEPTS]
    above = ["ancestor_concept_id\tdescendant_concept_id\tmin_levels_of_separation"]
    above += [f"{upper}\t{lower}\t1" for upper, lower in ANCESTORS]
    (folder / "CONCEPT.csv").write_text("\n".join(concept) + "\n", encoding="utf-8")
    (folder / "CONCEPT_ANCESTOR.csv").write_text("\n".join(above) + "\n", encoding="utf-8")
    return folder
