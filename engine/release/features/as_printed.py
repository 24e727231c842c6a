"""An algorithm as its paper prints it: every option that the paper chooses, in one word.

What no option can turn off stays: a group never breaks its bound, where Lin 2016 and Huang 2021 do
not say what becomes of a record that fits none; eta is of max(k, .), without which HA places no
first record; clusters of terms have k records, and the rule for empty item chunks holds, without
which Loukides 2014 does not keep its Guarantee 1.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from srsql.engine.parameters import Parameter, declared
from srsql.engine.release.features.feature import Asked, Feature, Refusal, Wanted, Words

AS_PRINTED = "as_printed"
_GREEDY: Mapping[str, Any] = {"missing": "drop", "refine": "off"}
_WHOLE = {**_GREEDY, "parts": "1"}
_CASES = {**_WHOLE, "count": "cases"}
_HA = {**_CASES, "ss_rule": "mean+sd"}
_NOISE = {**_WHOLE, "calibration": "printed"}
_SHARES = {  # the fourth is what is left
    "share_insertion": "3/10",
    "share_value": "3/10",
    "share_candidates": "3/10",
}
PAPERS: Mapping[str, Mapping[str, Mapping[str, Any]]] = {
    "lin2016": {
        "ms": _CASES,
        "k-anonymity": _WHOLE,
        "xy-anonymity": _WHOLE,
        "l-diversity": _GREEDY,
        "alpha-k": _WHOLE,
    },
    "huang2021": {"ppms-alpha": _HA, "ppms": _CASES, "ppms-ear": _CASES},
    "wu2022": {"ppms-dp-all": _NOISE, "ppms-dp-num": _NOISE, "ppms++": _CASES},
    "loukides2014": {
        "disassociation": {
            "partners": "neighbours",
            "pooled_by": "splits",
            "repeated_terms": False,
        },
        "cba": {"repeated_terms": False},
    },
    "lee2020": {
        "ipa": {"missing": "drop", "calibration": "printed", **_SHARES},
        "full-domain": {"missing": "drop"},
        "dp-histogram": {"missing": "drop"},
    },
}
"""By paper the models that it runs, its own first, and what it chooses of each by keyword. Lin
2016, section 6; Huang 2021, section 5; Wu 2022, section V; Loukides 2014, section 6.1; Lee 2020,
"Data utility"."""


def printed_options(given: Mapping[str, Any], of_series: str | None = None) -> dict[str, Any]:
    """What a paper chooses of a release, beside what is given.

    Args:
        given: options by keyword, ``as_printed`` among them or not.
        of_series: the model that a series has.

    Returns:
        Options by keyword, none of which is given.
    """
    models = PAPERS.get(given.get(AS_PRINTED) or "", {})
    if not models:
        return {}
    model = given.get("model") or of_series or next(iter(models))
    chosen = {"model": model, **models.get(model, {})}
    return {name: value for name, value in chosen.items() if given.get(name) is None}


def _otherwise(wanted: Wanted) -> Iterator[tuple[Parameter, Any]]:
    """What the request has otherwise than the paper: the option, and the paper's value."""
    owners = [of for of in (wanted.terms, wanted, wanted.model) if of is not None]
    for keyword, value in PAPERS[str(wanted.as_printed)][wanted.model.name].items():
        for owner in owners:
            told = declared(type(owner)).get(keyword)
            if told is None:
                continue
            if getattr(owner, told.field) != told.takes.read(value, told.option):
                yield told, value
            break


def _words(at: Asked) -> Words:
    models = PAPERS[str(at.wanted.as_printed)]
    words = {"paper": at.wanted.as_printed, "models": ", ".join(models)}
    if at.wanted.model.name not in models:
        return {**words, "model": at.wanted.model.name}
    told, value = next(_otherwise(at.wanted))
    return {**words, "option": told.option, "value": value}


def _of_another_paper(at: Asked) -> bool:
    paper = at.wanted.as_printed
    return paper is not None and at.wanted.model.name not in PAPERS[paper]


PRINTED = Feature(
    "algorithms as printed",
    "Every option is as a paper chooses it; what no release that leaves the house may be is an "
    "experiment.",
    options=(AS_PRINTED,),
    facts={AS_PRINTED: str},
    refusals=(
        Refusal(
            Asked,
            "--as-printed",
            "a model of another paper",
            _of_another_paper,
            "--as-printed {paper} runs {models}, and not {model}",
            "give one of these, or leave it out",
            _words,
        ),
        Refusal(
            Asked,
            "--as-printed",
            "another value of what it chooses",
            lambda at: at.wanted.as_printed is not None and any(_otherwise(at.wanted)),
            "--as-printed {paper} takes {option} {value}",
            "leave one of the two out",
            _words,
        ),
    ),
)
