"""Names and codes that files of reports use, by which columns are recognized.

A name is compared word by word, in lower case; of scripts without blanks a part of it counts.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

PATIENT: Mapping[str, frozenset[str]] = {
    "age": frozenset({"age", "alter", "edad", "âge", "onsetage", "年齢"}),
    "sex": frozenset({"sex", "gender", "gndr", "geschlecht", "sexo", "sexe", "性別"}),
    "weight": frozenset({"weight", "wt", "gewicht", "peso", "poids", "体重"}),
    "height": frozenset({"height", "größe", "talla", "taille", "身長"}),
    "birth_year": frozenset({"birth", "yob", "birthyear"}),
    "country": frozenset({"country", "land", "pais", "pays", "国"}),
    "state": frozenset({"state", "province", "region", "zip", "postcode"}),
    "race": frozenset({"race", "ethnicity", "ethnic"}),
}
"""What attackers may know of a patient -> words of columns that tell it."""
RANGES: Mapping[str, tuple[int, int, str, str]] = {
    "age": (0, 120, "years", "floor"),
    "weight": (0, 400, "kg", "half_up"),
    "height": (0, 250, "cm", "half_up"),
    "birth_year": (1880, 2039, "year", "floor"),
}
"""Of a number: its possible values, its unit, how it is rounded."""
_MONTH, _WEEK, _DAY, _HOUR = "1/12", "28/1461", "4/1461", "1/8766"
UNITS: Mapping[str, Mapping[str, int | str]] = {
    "age": {
        "DEC": 10, "DECADE": 10, "Y": 1, "YR": 1, "YRS": 1, "YEAR": 1, "YEARS": 1, "A": 1,
        "MO": _MONTH, "MON": _MONTH, "MONTH": _MONTH, "MONTHS": _MONTH, "WK": _WEEK, "WEEK": _WEEK,
        "WEEKS": _WEEK, "D": _DAY, "DA": _DAY, "DY": _DAY, "DAY": _DAY, "DAYS": _DAY, "H": _HOUR,
        "HR": _HOUR, "HOUR": _HOUR, "HOURS": _HOUR,
    },
    "weight": {
        "KG": 1, "KGS": 1, "KILOGRAM": 1, "KILOGRAMS": 1, "LB": "0.45359237", "LBS": "0.45359237",
        "POUND": "0.45359237", "POUNDS": "0.45359237", "G": "1/1000", "GM": "1/1000",
        "GMS": "1/1000", "GRAM": "1/1000",
    },
    "height": {"CM": 1, "M": 100, "IN": "2.54", "FT": "30.48"},
}  # fmt: skip
"""Codes of units -> factor to the unit of ``RANGES``."""
UNIT_WORDS = frozenset({"cod", "code", "unit", "units", "u"})
MALE = frozenset(
    {"M", "MALE", "MAN", "MASCULIN", "MASCULINO", "HOMBRE", "MÄNNLICH", "MANN", "男性", "男"}
)
FEMALE = frozenset(
    {"F", "FEMALE", "WOMAN", "FÉMININ", "FEMENINO", "MUJER", "WEIBLICH", "FRAU", "女性", "女"}
)
RECEIVED = frozenset(
    {"recv", "recvdate", "received", "receipt", "receive", "receivedate", "datreceived",
     "datereceived", "fda", "eingang", "eingangsdatum", "recepción", "réception"}
)  # fmt: skip
"""Words of the date on which a report came."""
IDS = frozenset(
    {"id", "key", "no", "nr", "num", "number", "case", "caseid", "primaryid", "isr",
     "safetyreportid", "report", "番号", "fall", "fallnummer", "fallnr", "meldung", "nummer",
     "caso", "cas", "número", "numéro"}
)  # fmt: skip
CASE = frozenset({"case", "caseid", "fall", "fallnummer", "fallnr", "caso", "cas"})
"""Words of the id of a case, where a report has another one."""
REACTION, INDICATION, DRUG = "reaction", "indication", "drug"
KINDS = (INDICATION, REACTION, DRUG)
"""Kinds of terms, in the order in which a column is asked for them."""
STRONG: Mapping[str, re.Pattern[str]] = {
    INDICATION: re.compile(
        r"indi(cation)?(_|$).*(pt|llt|term)|^indi(cation)?s?$|diagn[oó]s|"
        r"^indi(kation|cación)(en|es)?$|原疾患"
    ),
    REACTION: re.compile(
        r"^(pt|llt)$|^pt_name|^(adverse_)?reactions?(_list)?|^symptoms?\d*$|preferred_term|"
        r"problem_code|有害事象$|^adverse_events?$|^reaktion(en)?$|^nebenwirkung(en)?$|"
        r"^reacci(ón|ones)$|^réactions?$|^effets?_indésirables?$"
    ),
    DRUG: re.compile(
        r"drug_?name|medicinal_?product|vax_name|vaccine_name|product_name|brand_name|"
        r"generic_name|substance_?name|active_?substance|一般名|drug_list|"
        r"^(arznei)?mittel$|^(arzneimittel|wirkstoff|medikament|präparat)(e|en|name)?$|"
        r"^medicamentos?$|^médicaments?$"
    ),
}
WEAK: Mapping[str, re.Pattern[str]] = {
    INDICATION: re.compile(r"indi|disease|condition|used_for"),
    REACTION: re.compile(r"reac|adverse|symptom|event|problem|(^|_)term"),
    DRUG: re.compile(r"drug|product|substance|vaccine|vax|medic|device|医薬品|prod_ai"),
}
NO_TERM = re.compile(
    r"seq|(^|_)(id|no|nr|key|dt|date|dose|route|lot|role|char|type|manu|form|freq|unit|dur|soc|cod|"
    r"version|flag|text|narrative|comment|desc|outcome|time)(_|$)|version\d*$|rec_act|dechal|"
    r"rechal|連番|関与|発現日|転帰|販売名"
)
"""What is told of a drug or a reaction, and is not its name."""
NEVER = re.compile("連番|関与|発現日|転帰|_(id|key|seq|dt|date)$")
"""The same where the rest of the name is that of terms."""
ROLES = frozenset(
    {"PS", "SS", "SUSPECT", "PRIMARY SUSPECT", "SECONDARY SUSPECT", "INTERACTING", "被疑薬"}
)
"""Roles of drugs that are suspected."""


def plain(header: str) -> str:
    """A name in lower case, its words with ``_`` between them; without what stands in brackets."""
    apart = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", header.partition("(")[0].strip()).lower()
    return re.sub(r"[\W_]+", "_", apart).strip("_")


def words_of(header: str) -> set[str]:
    """The words of a name; digits at their ends are left out."""
    return {word.rstrip("0123456789") for word in plain(header).split("_")} - {""}


def tells(header: str, words: frozenset[str]) -> bool:
    """Whether a name has one of some words."""
    if words_of(header) & words:
        return True
    return any(not word.isascii() and word in header for word in words if len(word) > 1)


def concept_of(header: str) -> str | None:
    """What of a patient a column tells by its name; None: nothing that is known."""
    for concept, words in PATIENT.items():
        if tells(header, words):
            return concept
    return None
