"""The words of a synthetic quarter, and how frequent each of them is.

MedDRA is licensed and is not shipped. Terms are invented roots with medical endings; the only
real names are those of the rules a synthetic series is meant to show (``RULE_DRUGS`` and
``RULE_REACTIONS``). The vocabulary is the same for every seed.

The share of the word of rank r follows a rank-frequency curve, log-log linear between anchors:
those measured on the 2022Q4 sample (8,905 reports: 94,620 REAC, 47,423 known INDI, 15,278 DRUG
rows) and a tail beyond that keeps its counts of distinct terms and of terms seen once. Words are
drawn near a latent profile or from all of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

from srsql.engine.extras.synth.draws import Bools, Floats, Ints

Words = NDArray[np.object_]

CELLS = 200
"""Number of latent profiles; a case belongs to one, and its terms lean towards it."""

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

COUNTRY_NAMES = {
    "US": "UNITED STATES", "CA": "CANADA", "DE": "GERMANY", "JP": "JAPAN", "GB": "UNITED KINGDOM",
    "FR": "FRANCE", "BR": "BRAZIL", "IT": "ITALY", "ES": "SPAIN", "CO": "COLOMBIA",
    "AU": "AUSTRALIA", "PL": "POLAND", "PT": "PORTUGAL", "IN": "INDIA", "NL": "NETHERLANDS",
    "CN": "CHINA", "SE": "SWEDEN", "AR": "ARGENTINA", "MX": "MEXICO", "CH": "SWITZERLAND",
}  # fmt: skip
COUNTRIES = list(COUNTRY_NAMES)
COUNTRY_SHARES = [
    *(0.56, 0.10, 0.055, 0.05, 0.05, 0.04, 0.02, 0.018, 0.015, 0.01, 0.01),
    *[0.008] * 9,
]

REACTION_CURVE = [
    (1, 0.0219), (3, 0.0124), (5, 0.0110), (10, 0.0087), (20, 0.00675), (50, 0.0033),
    (100, 0.0020), (200, 0.00094), (500, 0.00036), (1000, 0.000127), (2000, 0.000042),
    (3000, 0.0000190), (6000, 0.0000036), (14000, 0.0000005),
]  # fmt: skip
INDICATION_CURVE = [
    (1, 0.140), (2, 0.0567), (3, 0.0340), (5, 0.0264), (10, 0.0172), (20, 0.0072), (50, 0.0031),
    (100, 0.00183), (200, 0.00074), (500, 0.00019), (1000, 0.000063), (2000, 0.000014),
    (10000, 0.0000005),
]  # fmt: skip
DRUG_CURVE = [
    (1, 0.0230), (2, 0.0190), (5, 0.0130), (10, 0.0100), (20, 0.0070), (50, 0.0029),
    (100, 0.0017), (200, 0.00085), (500, 0.00026), (1000, 0.000115), (5000, 0.0000150),
    (40000, 0.0000012),
]  # fmt: skip


@dataclass(frozen=True)
class Vocabulary:
    """Words by falling frequency, drawn from the whole or from near a profile.

    The words beyond the ``head`` most frequent stand on a line in random order, each as long as
    its frequency; a profile owns 1/``CELLS`` of the line. Drawing from the line with probability
    ``lean`` and from the rest of the frequencies otherwise leaves every word its frequency.
    """

    words: Words
    lean: float
    _all: Floats
    _line: Floats
    _order: Ints

    def positions(self, words: Sequence[str]) -> Ints:
        """Return the rank of each of some words."""
        return np.array([int(np.flatnonzero(self.words == word)[0]) for word in words])

    def anywhere(self, u: Floats) -> Ints:
        """Return words drawn without regard to profile."""
        return np.searchsorted(self._all, u, side="right").astype(np.int64)

    def at(self, place: Floats) -> Ints:
        """Return the words at places of [0, 1) on the line."""
        return self._order[np.searchsorted(self._line, place, side="right")]

    def near(self, cell: Ints, u: Floats) -> Ints:
        """Return words drawn from the stretch of the line each profile owns."""
        return self.at((cell + u) / CELLS)

    def draw(self, cell: Ints, local: Bools, u: Floats) -> Ints:
        """Return one word for each row.

        Args:
            cell: the profile of the row.
            local: where the word is drawn near the profile, and not from all words.
            u: uniform numbers.
        """
        return np.where(local, self.near(cell, u), self.anywhere(u))


def with_tail(words: Words, curve: list[tuple[int, float]], head: int, lean: float) -> Vocabulary:
    """Return words with the frequencies of a rank-frequency curve.

    Args:
        words: by falling frequency.
        curve: (rank, share of all draws), the ranks rising; log-log linear between them.
        head: how many of the first words no profile leans towards.
        lean: the share of draws near the profile.
    """
    ranks, shares = np.log(np.array(curve, dtype=np.float64)).T
    p = np.exp(np.interp(np.log(np.arange(1, len(words) + 1)), ranks, shares))
    p /= p.sum()
    line = p.copy()
    line[:head] = 0
    line /= line.sum()
    rest = np.maximum(p - lean * line, 0)
    order = np.random.default_rng(len(words)).permutation(len(words))
    return Vocabulary(words, lean, _cumulative(rest), _cumulative(line[order]), order)


def _cumulative(p: Floats) -> Floats:
    total = np.cumsum(p)
    total /= total[-1]
    total[np.flatnonzero(p)[-1] :] = 1.0
    return np.asarray(total)


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
    chosen = np.array(sorted(first.values()))[:size]
    assert len(chosen) == size, "the syllables do not make enough drug names"
    words = np.array(names, dtype=object)[chosen]
    words[list(_RULE_DRUG_RANKS)] = RULE_DRUGS
    return Drugs(
        with_tail(words, DRUG_CURVE, head=30, lean=0.4),
        ingredients,
        bases[chosen],
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
