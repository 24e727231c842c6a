"""One run of one peer, in the interpreter that has it: ``theirs.py TASK`` with the task as JSON.

Nothing of srsql is imported here, and k-member clustering is the only one that is written for this
benchmark (kmember.py). Every other peer is called as its own documentation calls it, and its
answer is written as rows (row, age_low, age_high, wt_low, wt_high, sex, term); NULL means "any".
"""

from __future__ import annotations

import contextlib
import json
import resource
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
import pandas as pd

NUMBERS, CATEGORY, TERM = ("age", "wt"), "sex", "term"
QIDS = [*NUMBERS, CATEGORY]
STEPS = {"age": (5, 10, 20, 40), "wt": (5, 10, 20, 40, 80, 160)}
"""Widths of the intervals that anjana generalizes to, each level within the next; then ``*``."""
Frame = pd.DataFrame


def main(task: dict[str, Any]) -> dict[str, Any]:
    warnings.simplefilter("ignore")
    limit = task["memory_mib"] * 2**20
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    run = RUNS[task["tool"]]
    with contextlib.redirect_stdout(sys.stderr):
        return run(task)


def anonymized(
    make: Callable[[dict[str, Any]], tuple[Callable[[Frame], Any], Callable[[Frame, Any], Frame]]],
) -> Callable[[dict[str, Any]], dict[str, Any]]:
    """A run that times ``read`` and ``anonymize``; reading the answer is not the peer's time."""

    def run(task: dict[str, Any]) -> dict[str, Any]:
        anonymize, as_rows = make(task)
        before = peak_mib()
        began = perf_counter()
        people = pd.read_csv(task["people"])
        if task["complete"]:
            people = people.dropna(subset=QIDS).reset_index(drop=True)
        answer = anonymize(people)
        seconds, peak = perf_counter() - began, peak_mib()
        as_rows(people, answer).to_csv(task["released"], index=False)
        return {"seconds": seconds, "peak_mib": peak, "import_mib": before}

    return run


def peak_mib() -> float:
    """Peak memory of this process; ru_maxrss counts that of who started it, too."""
    try:
        told = Path("/proc/self/status").read_text()
        return int(told.split("VmHWM:")[1].split()[0]) / 1024
    except OSError:
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def _anonypyx(task: dict[str, Any]) -> Any:
    from anonypyx import Anonymiser, microaggregation, mondrian

    options = {"k": task["k"], "algorithm": task["algorithm"], "sensitive_column": TERM}
    if task.get("l"):
        options["l"] = task["l"]
    # "machine-readable", its default, stops at a missing category; intervals are the same
    options |= {"feature_columns": QIDS, "generalisation_strategy": "human-readable"}
    parts = [_noted(mondrian.Mondrian), _noted(microaggregation.MDAVGeneric)]

    def anonymize(people: Frame) -> Frame:
        return Anonymiser(_typed(people)[[*QIDS, TERM]], **options).anonymise()

    return anonymize, lambda people, answer: rows_of_groups(people, parts[0] + parts[1], answer)


def _anonypy(task: dict[str, Any]) -> Any:
    from anonypy import Preserver, mondrian

    parts = _noted(mondrian.Mondrian)

    def anonymize(people: Frame) -> Any:
        preserver = Preserver(_typed(people)[[*QIDS, TERM]], QIDS, TERM)
        if task.get("l"):
            return preserver.anonymize_l_diversity(k=task["k"], l=task["l"])
        return preserver.anonymize_k_anonymity(k=task["k"])

    return anonymize, lambda people, answer: rows_of_groups(people, parts, Frame(answer))


def _typed(people: Frame) -> Frame:
    """Text as a category: what both take for one."""
    return people.astype({CATEGORY: "category"})


def _noted(algorithm: type) -> list[Any]:
    """The list of groups that the algorithm makes, which the answer alone does not tell."""
    groups: list[Any] = []
    partition = algorithm.partition

    def noted(self: Any, *arguments: Any, **named: Any) -> Any:
        made = partition(self, *arguments, **named)
        groups.extend(made)
        return made

    algorithm.partition = noted
    return groups


def rows_of_groups(people: Frame, groups: list[Any], answer: Frame) -> Frame:
    """Rows with the region that their group has in the answer.

    The answer counts the terms of one group after the other; a group ends where its size is
    reached.

    Raises:
        ValueError: the answer does not publish the groups that were made.
    """
    counted = answer["count"].astype(int).tolist()
    regions = [
        tuple(_plain(value) for value in row) for row in answer[QIDS].itertuples(index=False)
    ]
    parts, at = [], 0
    for group in groups:
        first, left = at, len(group)
        while left > 0 and at < len(counted):
            left -= counted[at]
            at += 1
        if left or len(set(regions[first:at])) > 1:
            raise ValueError("the answer does not follow the groups")
        if len(group):
            parts.append(_in_region(people.loc[group], regions[first]))
    if at != len(counted):
        raise ValueError("the answer has more groups than were made")
    return pd.concat(parts, ignore_index=True) if parts else _in_region(people.head(0), ("",) * 3)


def _plain(value: Any) -> str:
    return str(value[0] if isinstance(value, list) else value)


def _in_region(members: Frame, region: tuple[str, ...]) -> Frame:
    made = {"row": members["row"].to_numpy()}
    for name, text in zip(NUMBERS, region, strict=False):
        made[f"{name}_low"], made[f"{name}_high"] = ends(text)
    made[CATEGORY] = leaf(region[-1])
    return Frame({**made, TERM: members[TERM].to_numpy()})


def ends(text: str) -> tuple[float | None, float | None]:
    """Inclusive ends of ``30.0-44.0``, ``30.0``, ``[30, 35)`` or, as None, of ``nan`` and ``*``."""
    if text.startswith("["):
        low, high = (float(end) for end in text[1:-1].split(","))
        return low, high - 1
    low, _, high = text.partition("-")
    if low in ("nan", "*", ""):
        return None, None
    return float(low), float(high or low)


def leaf(text: str) -> str | None:
    """The only category of a set; None for a set of several, which is their common ancestor."""
    return None if text in ("nan", "*", "") or "," in text else text


def _kmember(task: dict[str, Any]) -> Any:
    from judge import SPANS
    from kmember import greedy_k_member

    def anonymize(people: Frame) -> np.ndarray:
        values = [people[name].to_numpy(float) / SPANS[name] for name in NUMBERS]
        codes = pd.factorize(people[CATEGORY])[0].astype(float)
        values.append(np.where(codes < 0, np.nan, codes))
        return greedy_k_member(np.column_stack(values), task["k"])

    return anonymize, rows_of_numbers


def rows_of_numbers(people: Frame, groups: np.ndarray) -> Frame:
    """Rows with the hull of their group, which is "any" where one of its members misses a value."""
    made: dict[str, Any] = {"row": people["row"]}
    for name in NUMBERS:
        by = people[name].groupby(groups)
        whole = by.transform("count") == by.transform("size")
        made[f"{name}_low"] = by.transform("min").where(whole)
        made[f"{name}_high"] = by.transform("max").where(whole)
    categories = people[CATEGORY].groupby(groups).transform("nunique", dropna=False)
    made[CATEGORY] = people[CATEGORY].where(categories == 1)
    return Frame({**made, TERM: people[TERM]})


def _anjana(task: dict[str, Any]) -> Any:
    from anjana import anonymity

    most = task["suppress"]

    def anonymize(people: Frame) -> Frame:
        trees = {name: hierarchy(people[name], STEPS[name]) for name in NUMBERS}
        trees[CATEGORY] = hierarchy(people[CATEGORY], ())
        data = people[[*QIDS, TERM]]
        if task.get("l"):
            return anonymity.l_diversity(data, [], QIDS, TERM, task["k"], task["l"], most, trees)
        if task.get("alpha"):
            alpha = task["alpha"]
            return anonymity.alpha_k_anonymity(data, [], QIDS, TERM, task["k"], alpha, most, trees)
        return anonymity.k_anonymity(data, [], QIDS, task["k"], most, trees)

    return anonymize, rows_of_table


def hierarchy(values: pd.Series, steps: tuple[int, ...]) -> dict[int, np.ndarray]:
    """Level → its node for each distinct value, as anjana reads them off a file."""
    known = np.sort(values.unique())
    made: dict[int, np.ndarray] = {0: known}
    for level, step in enumerate(steps, 1):
        low = (known // step * step).astype(int)
        made[level] = np.array([f"[{start}, {start + step})" for start in low], dtype=object)
    made[len(steps) + 1] = np.full(len(known), "*", dtype=object)
    return made


def rows_of_table(people: Frame, answer: Frame) -> Frame:
    """anjana's table; where it left rows out, the column ``index`` says which are there."""
    if answer.empty:
        return _in_region(people.head(0), ("", "", ""))
    kept = answer.get("index", answer.index.to_series())
    made: dict[str, Any] = {"row": people["row"].to_numpy()[kept.to_numpy()]}
    for name in NUMBERS:
        both = [ends(str(value)) for value in answer[name]]
        made[f"{name}_low"], made[f"{name}_high"] = zip(*both, strict=True)
    made[CATEGORY] = [leaf(str(value)) for value in answer[CATEGORY]]
    return Frame({**made, TERM: answer[TERM].to_numpy()})


def _pycanon(task: dict[str, Any]) -> dict[str, Any]:
    """k, l and alpha of a released table, with NULL as it is and with NULL as a value."""
    from pycanon import anonymity

    released = pd.read_csv(task["released"], dtype=str)
    columns = [column for column in released if column not in ("row", TERM)]
    told: dict[str, Any] = {}
    for name, table in (("as_null", released), ("as_value", released.fillna("any"))):
        began = perf_counter()
        told[name] = {
            "k": int(anonymity.k_anonymity(table, columns)),
            "l": int(anonymity.l_diversity(table, columns, [TERM])),
            "alpha": float(anonymity.alpha_k_anonymity(table, columns, [TERM])[0]),
        }
        seconds = perf_counter() - began
    rows = int(released[columns].notna().all(axis=1).sum())
    return {"seconds": seconds, "peak_mib": peak_mib(), "null_seen": rows, **told}


RUNS: dict[str, Callable[[dict[str, Any]], dict[str, Any]]] = {
    "anonypyx": anonymized(_anonypyx),
    "anonypy": anonymized(_anonypy),
    "anjana": anonymized(_anjana),
    "k-member": anonymized(_kmember),
    "pycanon": _pycanon,
}

if __name__ == "__main__":
    print(json.dumps(main(json.loads(sys.argv[1]))))
