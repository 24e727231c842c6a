"""Tables of comparisons made up at random: each decides most claims of one paper."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from random import Random
from typing import Any

Row = dict[str, Any]
THETAS = ("0.2", "0.4", "2/5", "1/3", "frequency", "levels:a.csv", "levels:b.csv")
SIZES = (0.0, 0.0005, 0.003, 0.01, 0.1, 0.104, 0.12, 0.2, 0.5, 0.91, 0.97, 1.0, 3.0)
POLICIES = ("level:1", "level:2", "level:3", "sim:5", "sim:10", "sup:0.625", "sup:2.5")
COMMON = (
    ("il", "chosen"),
    ("il", "expected"),
    ("nil", "release"),
    ("nil_star", "release"),
    ("dr", "with E"),
)


class Made:
    """Values that depend on the model and, in a direction that a table draws, on parameters."""

    def __init__(self, seed: int) -> None:
        self.rng = Random(seed)
        self.slopes: dict[str, int] = {}
        self.bases: dict[tuple[str, str], float] = {}
        self.flat = self.rng.random() < 0.2
        self.still = self.rng.random() < 0.4
        self.steep = self.rng.randrange(1, 4)

    def some(self, values: Sequence[Any], most: int) -> list[Any]:
        """Up to ``most`` of the values, in their order."""
        found = [v for v in values if self.rng.random() < most / len(values)]
        return found or [values[self.rng.randrange(len(values))]]

    def value(self, model: str, measure: str, **parameters: Any) -> float | None:
        """The value of one measure; seldom none."""
        if self.rng.random() < 0.02:
            return None
        if (model, measure) not in self.bases:
            size = SIZES[self.rng.randrange(len(SIZES))] * (0 if self.flat else 1)
            size *= 4 if measure == "signal_a_change" else 1
            sign = -1 if self.rng.random() < 0.3 and "change" in measure else 1
            self.bases[model, measure] = sign * size
        found = self.bases[model, measure]
        for name, value in parameters.items():
            if isinstance(value, (int, float)) and name not in ("seed", "l"):
                slope = self.slopes.setdefault(f"{name} {measure}", self.rng.randrange(-1, 2))
                found *= float(value) ** (slope / 4)
        if not self.still:
            found *= 1 + (self.rng.random() - 0.5) / 3
        return float(f"{found:.6g}")


def table(paper: str, seed: int) -> list[Row]:
    """The rows of one table for the claims of a paper; the same seed makes the same ones."""
    made = Made(seed)
    rows = list({"Lin 2016": _lin, "Huang 2021": _huang, "Wu 2022": _wu,
                 "Loukides 2014": _loukides, "Lee 2020": _lee}[paper](made))  # fmt: skip
    return [row for row in rows if made.rng.random() < 0.98]


def _row(made: Made, model: str, measure: str, scope: str, **parameters: Any) -> Row:
    value = made.value(model, measure, **parameters)
    return {
        "quarter": "2011Q3", "model": model, "seed": 0, "measure": measure, "scope": scope,
        "ratio": value, "violating": value, "total": 1.0,
    } | parameters  # fmt: skip


def _lin(made: Made) -> Iterator[Row]:
    thetas, ks = made.some(THETAS, 4), made.some((3, 5, 10), 2)
    quarters = made.some(("2011Q3", "2011Q4", "2011Q3:2011Q4"), 2)
    for model in ("ms", "k-anonymity", "xy-anonymity", "l-diversity", "alpha-k", "ppms"):
        alphas = made.some((0.2, 0.3, 0.4), 2) if model == "alpha-k" else [None]
        for theta, k, alpha, quarter in itertools.product(thetas, ks, alphas, quarters):
            more: Row = {"theta": theta, "k": k, "alpha": alpha, "quarter": quarter}
            if model == "l-diversity":
                more["l"] = k if made.rng.random() < 0.7 else 2
            for measure, scope in (
                ("nil", "release"), ("dr", "without E"), ("dr", "with E"),
                ("signal_prr_change", "A => B"), ("signal_a_change", "A => B"),
            ):  # fmt: skip
                yield _row(made, model, measure, scope, **more)


def _huang(made: Made) -> Iterator[Row]:
    for model, k, quarter in itertools.product(
        ("ppms-ear", "ppms-alpha", "ms"), (3, 5), ("2011Q3", "2011Q4")
    ):
        attacks = "b,f,l,md,ss" if quarter == "2011Q3" else "b,f,l,ss"
        for measure in ("audit_dir", "audit_dsr", "audit_ssgr"):
            yield _row(made, model, measure, attacks, k=k, theta="0.4", quarter=quarter)
        yield _row(made, model, "nil", "release", k=k, theta="0.4", quarter=quarter)


def _wu(made: Made) -> Iterator[Row]:
    for model in ("ppms++", "ppms-dp-num", "ppms-dp-all"):
        noisy = model != "ppms++"
        for k, seed in itertools.product((3, 5), (0, 1) if noisy else (0,)):
            for epsilon in made.some((0.1, 1.0, 10.0), 2) if noisy else [None]:
                more: Row = {"theta": "0.4", "k": k, "epsilon": epsilon, "seed": seed}
                more["calibration"] = "paper" if noisy else None
                for measure in ("nil_star", "rr", "ar_rev", "rr_bias", "ar_bias"):
                    yield _row(made, model, measure, "release", **more)
                for scope in ("A => B", "A, sex F => C"):
                    yield _row(made, model, "signal_prr_change", scope, **more)


def _loukides(made: Made) -> Iterator[Row]:
    policies = made.some(POLICIES, 5)
    ks, ms = made.some((2, 5, 25), 2), made.some((2, 3, 5), 2)
    sizes = made.some((None, 1000, 10000), 2)
    scopes = [*(f"W1, {s} %" for s in ("5", "2.5", "0.625")), "W2, all",
              *(f"W2, {n} of them" for n in (1, 2, 3)), "W2 held, all",
              *(f"W2 held, {n} of them" for n in (1, 2, 3))]  # fmt: skip
    for model in ("disassociation", "cba"):
        for policy, k, m, cases in itertools.product(policies, ks, ms, sizes):
            if made.rng.random() < 0.6:
                continue
            more = {"k": k, "m": m, "policy": policy, "cases": cases, "term_attributes": "pt"}
            for scope in made.some(scopes, 6):
                for measure in ("are",) if model == "disassociation" else ("are", "are_released"):
                    error = made.value(model, f"{measure} {scope[:5]}", **more)
                    yield _row(made, model, measure, scope, **more) | {"ratio": error}
                    yield _row(made, model, f"{measure}_deviation", scope, **more) | {
                        "ratio": 0.2 * (error or 1.0), "total": 40.0
                    }  # fmt: skip
            yield _row(made, model, "suppressed_terms", "distinct term", **more)
            within = made.value(model, "mre_within_5")
            yield _row(made, model, "mre_within_5", "constraint", **more) | {
                "ratio": within if within is None else min(1.0, 0.3 + 7 * within)
            }
            yield _row(made, model, "mre", made.some(("0", "[2.5, 5)"), 1)[0], **more)
            for terms, holders in ((2, "1"), (5, "1"), (5, "> 10")):
                scope = f"{terms} terms, held by {holders}"
                share = made.value(model, f"combinations {terms}")
                yield _row(made, model, "combinations", scope, **more) | {
                    "ratio": share if share is None else min(1.0, share * terms)
                }
            seconds = made.value(model, "stage", **more)
            steep = (cases or 1) ** made.steep
            yield _row(made, model, "stage", "terms", **more) | {
                "ratio": None, "seconds": None if seconds is None else seconds * steep
            }  # fmt: skip


def _lee(made: Made) -> Iterator[Row]:
    for model in ("ipa", "full-domain", "dp-histogram"):
        epsilons = [None] if model == "full-domain" else [*made.some((0.1, 10.0), 2), 1.0]
        for k, epsilon, seed in itertools.product((5, 10), epsilons, (1, 2)):
            more: Row = {"k": k, "epsilon": epsilon, "seed": seed, "suppress_below": 2}
            more["calibration"] = "paper" if epsilon else None
            for measure, scope in (
                ("group_count_error", "STROKE, M"), ("group_mean_error", "STROKE, F"),
                ("group_count", "STROKE, M, 5"), ("group_count", "STROKE, M, 10"),
                ("group_mean", "STROKE, F, 5"), *COMMON,
            ):  # fmt: skip
                yield _row(made, model, measure, scope, **more)
            for measure in ("il", "ncp", "emd", "rate") if model == "ipa" else ():
                for height in (1, 2):
                    yield _row(made, model, measure, f"height {height}", **more)
