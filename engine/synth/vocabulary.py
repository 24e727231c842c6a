"""The words of a synthetic quarter: invented reactions, indications, drugs and makers.

MedDRA is licensed and is not shipped. Terms are invented roots with medical endings; the only
real names are those of the rules a synthetic series is meant to show (``RULE_DRUGS`` and
``RULE_REACTIONS``). The vocabulary is the same for every seed.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np

from srsql.engine.synth.draws import Ints
from srsql.engine.synth.tails import (
    DRUG_CURVE,
    INDICATION_CURVE,
    REACTION_CURVE,
    Vocabulary,
    Words,
    with_tail,
)

RULE_DRUGS = ("AVANDIA", "TYSABRI", "ZELNORM", "WARFARIN", "REVATIO")
RULE_REACTIONS = (
    "Myocardial infarction",
    "Death",
    "Cerebrovascular accident",
    "Progressive multifocal leukoencephalopathy",
)
DEATH = 1
"""Position of Death in ``RULE_REACTIONS``."""

_RULE_REACTION_RANKS = (35, 12, 70, 1800)
_RULE_DRUG_RANKS = (600, 700, 900, 260, 800)


def _list(text: str) -> list[str]:
    return text.split()


_ONSETS = _list("b br c cr d dr f fl g gl h k l m n p pl qu r s st t tr v z")
_VOWELS = _list("a e i o u ae y")
_CODAS = _list("l r n m x lt rb nd st v sk th")
_ENDINGS = _list(
    "itis osis algia aemia pathy oma plegia uria ectasis oedema penia rrhoea spasm sclerosis "
    "trophy phagia lysis stenosis"
)
_QUALIFIERS = _list(
    "acute chronic increased decreased recurrent abnormal neonatal postoperative congenital "
    "diffuse focal severe toxic allergic bilateral unilateral transient localised"
)
_SITES = _list("upper lower site region wall margin tract sheath node crest fold duct")
_BRAND_ENDS = _list("vex tra zol nyl cor dia max ris tiq lor pan viq sta mib xel gra")
_STEMS = _list("mab nib pril olol statin azole cillin idine amide oxin ophen etine ivir ast ran")
_SALTS = _list("HYDROCHLORIDE SODIUM SULFATE MALEATE ACETATE CITRATE PHOSPHATE BESYLATE")
_FORMS = _list("TABLET CAPSULE INJECTION SOLUTION CREAM FILM-COATED TABLET")


def _distinct(words: list[str], size: int) -> list[str]:
    found = list(dict.fromkeys(words))
    assert len(found) >= size, "the syllables do not make enough words"
    return found[:size]


def _roots(rng: np.random.Generator, count: int, syllables: int) -> list[str]:
    parts = [rng.choice(kind, (count, syllables)) for kind in (_ONSETS, _VOWELS)]
    codas = rng.choice(_CODAS, count)
    return [
        "".join(o + v for o, v in zip(*pair, strict=True)) + coda
        for *pair, coda in zip(*parts, codas, strict=True)
    ]


@cache
def _conditions() -> Words:
    """Return the invented conditions from which reactions and indications are both taken."""
    rng = np.random.default_rng(20040101)
    count = 26_000
    stems = [
        root.capitalize() + end
        for root, end in zip(_roots(rng, count, 1), rng.choice(_ENDINGS, count), strict=True)
    ]
    qualifiers, sites = rng.choice(_QUALIFIERS, count), rng.choice(_SITES, count)
    shape = rng.random(count)
    terms = [
        stem if s < 0.1 else f"{stem} {word}" if s < 0.75 else f"{stem} {site} {word}"
        for stem, word, site, s in zip(stems, qualifiers, sites, shape, strict=True)
    ]
    return np.array(_distinct(terms, 22_000), dtype=object)


@cache
def reactions() -> Vocabulary:
    """Return the 14,000 reaction terms, in sentence case."""
    words = _conditions()[:14_000].copy()
    words[list(_RULE_REACTION_RANKS)] = RULE_REACTIONS
    return with_tail(words, REACTION_CURVE, head=60, lean=0.4)


@cache
def indications() -> Vocabulary:
    """Return the 10,000 indication terms; two in five are reaction terms too."""
    pool = _conditions()
    rng = np.random.default_rng(20040102)
    shared = rng.choice(np.arange(2000), 400, replace=False)
    rare = rng.choice(np.arange(2000, 14_000), 3600, replace=False)
    rare_only = rng.permutation(np.arange(14_000, 20_000))
    common = np.concatenate([shared, rare_only[:600]])
    words = np.concatenate(
        [pool[rng.permutation(common)], pool[rng.permutation([*rare, *rare_only[600:]])]]
    )
    return with_tail(words, INDICATION_CURVE, head=0, lean=0.5)


@dataclass(frozen=True)
class Drugs:
    """Drug names (upper case) and what goes with each of them."""

    names: Vocabulary
    ingredients: Words
    ingredient: Ints
    """Index of each name's active ingredient."""
    rules: Ints
    """Index of each of ``RULE_DRUGS``."""
    spellings: Words
    """The names as they are, then in title case, then with a full stop."""
    approvals: Words
    """An application number for each name."""


@cache
def drugs() -> Drugs:
    """Return the 40,000 drug names: brands, ingredients, salts and verbatim spellings."""
    rng = np.random.default_rng(20040103)
    count, size = 50_000, 40_000
    bases = rng.integers(0, 9000, count)
    stems = zip(_roots(rng, 9000, 2), rng.choice(_STEMS, 9000), strict=True)
    ingredients = np.array([(root + stem).upper() for root, stem in stems], dtype=object)
    ends = rng.choice(_BRAND_ENDS, count)
    brands = [(r + e).upper() for r, e in zip(_roots(rng, count, 2), ends, strict=True)]
    salts, forms = rng.choice(_SALTS, count), rng.choice(_FORMS, count)
    doses = rng.choice([5, 10, 20, 25, 50, 100, 250, 500], count)
    kinds = rng.random(count)
    kinds[:3000] *= 0.8  # the frequent names are brands and ingredients, not verbatim text
    names = [
        _spelling(float(kind), brand, str(base), salt, form, int(dose))
        for kind, brand, base, salt, form, dose in zip(
            kinds, brands, ingredients[bases], salts, forms, doses, strict=True
        )
    ]
    first = {name: i for i, name in reversed(list(enumerate(names)))}
    kept = np.array(sorted(first.values()))[:size]
    assert len(kept) == size, "the syllables do not make enough drug names"
    words = np.array(names, dtype=object)[kept]
    words[list(_RULE_DRUG_RANKS)] = RULE_DRUGS
    return Drugs(
        with_tail(words, DRUG_CURVE, head=30, lean=0.4),
        ingredients,
        bases[kept],
        np.array(_RULE_DRUG_RANKS),
        np.array([*words, *(w.capitalize() for w in words), *(f"{w}." for w in words)], object),
        np.array([f"{number:06d}" for number in rng.integers(10_000, 220_000, size)], object),
    )


def _spelling(kind: float, brand: str, base: str, salt: str, form: str, dose: int) -> str:
    if kind < 0.40:
        return brand
    if kind < 0.62:
        return base
    if kind < 0.80:
        return f"{base} {salt}"
    if kind < 0.92:
        return f"{brand} ({base})"
    return f"{brand} ({base}) {form}, {dose} MG"


@cache
def makers() -> Words:
    """Return 300 invented manufacturers."""
    rng = np.random.default_rng(20040104)
    roots = [root.upper() for root in _roots(rng, 400, 2)]
    kinds = rng.choice(["PHARMA", "LABORATORIES", "BIOSCIENCES", "AND SONS", "THERAPEUTICS"], 400)
    return np.array(
        _distinct([f"{r} {k}" for r, k in zip(roots, kinds, strict=True)], 300), dtype=object
    )
