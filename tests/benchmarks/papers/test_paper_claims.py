"""Claims judged on tables made by hand."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from support.benchmark import load

from srsql.engine.extras.study.compare_page import page
from srsql.engine.extras.study.figures import OWN, PaperFigure, draw, panels
from srsql.engine.extras.study.results import FIRST, LAST, write_table
from srsql.engine.models import MODELS
from srsql.schemas import load_dataset

claims = load("papers.claims")
CLAIMS = claims.CLAIMS
PairsClaim = claims.PairsClaim
TrendClaim = claims.TrendClaim
ValuesClaim = claims.ValuesClaim
FIGURES = claims.FIGURES

Row = dict[str, Any]
COLUMNS: Row = dict.fromkeys((*FIRST, *LAST))
TEXTS = {"id": "c", "paper": "P", "place": "Fig. 1", "sentence": "s", "rule": "r"}
LESS = {"is": "less_than"}


def side(model: str, measure: str) -> Row:
    return {"models": (model,), "measure": measure}


def row(model: str, measure: str, ratio: float | None, **more: Any) -> Row:
    return {
        "quarter": "2011Q1", "model": model, "theta": "0.2", "k": 5, "measure": measure,
        "scope": "release", "ratio": ratio,
    } | more  # fmt: skip


def outcome(words: str, rows: list[Row]) -> tuple[str, int, int]:
    (claim,) = [claim for claim in CLAIMS if claim.sentence == words]
    found = claim.judge(rows)
    return found.outcome, found.agreeing, found.comparisons


def test_without_rows_no_claim_can_be_told() -> None:
    assert {claim.judge([]).outcome for claim in CLAIMS} == {"cannot be told"}


def test_claims_and_figures_name_models_that_exist() -> None:
    assert {name for figure in FIGURES for name in figure.models} <= set(MODELS)


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"relation": {"is": "similar_to"}}, "relation.is"),
        ({"side": side("ms", "nil") | {"where": {"thetas": "0.4"}}}, "no column 'thetas'"),
        ({"side": side("ms", "nil") | {"where": {"k": {"known": True, "more_than": 2}}}}, "one"),
        ({"along": "seed"}, "along"),
    ],
)
def test_a_claim_that_says_what_nothing_reads_is_refused(wrong: Row, words: str) -> None:
    entry = {"compare": "every", "side": side("ms", "nil"), "relation": LESS} | TEXTS
    ValuesClaim.model_validate(entry)
    with pytest.raises(ValueError, match=words):
        ValuesClaim.model_validate(entry | wrong)


def test_a_figure_whose_text_names_no_column_is_refused() -> None:
    figure = {"paper": "P", "place": "Fig. 1", "name": "NIL", "measure": "nil", "scope": "*"}
    PaperFigure.model_validate(figure | {"line": "{model} (m {m})"})
    with pytest.raises(ValueError, match="no column 'mode'"):
        PaperFigure.model_validate(figure | {"line": "{mode}"})


def test_a_claim_holds_where_every_comparison_agrees_and_not_otherwise() -> None:
    words = "k-anonymity and (X, Y)-anonymity lose less than MS-bounding"
    rows = [row("k-anonymity", "nil", 0.1), row("ms", "nil", 0.2)]
    assert outcome(words, rows) == ("holds", 1, 1)
    rows += [row("k-anonymity", "nil", 0.3, quarter="2011Q2")]
    assert outcome(words, rows) == ("holds", 1, 1)  # ms has no such quarter
    rows += [row("ms", "nil", 0.2, quarter="2011Q2")]
    assert outcome(words, rows) == ("does not hold", 1, 2)


def test_values_that_could_not_be_measured_are_not_compared() -> None:
    words = "MS-bounding has no dangerous groups"
    rows = [row("ms", "dr", None, scope="without E"), row("ms", "dr", 0.5, scope="with E")]
    assert outcome(words, rows) == ("cannot be told", 0, 0)
    assert outcome(words, [row("ms", "dr", 0.0, scope="without E")]) == ("holds", 1, 1)
    assert outcome(words, [row("ms", "dr", 0.1, scope="without E")])[0] == "does not hold"


def test_alpha_k_is_compared_where_alpha_is_the_threshold() -> None:
    words = "(α, k)-anonymity and MS-bounding with θ = α have similar NIL"
    rows = [
        row("ms", "nil", 0.2),
        row("alpha-k", "nil", 0.9, alpha=0.4),
        row("alpha-k", "nil", 0.21, alpha=0.2),
    ]
    assert outcome(words, rows) == ("holds", 1, 1)


def test_times_the_loss_of_k_anonymity_are_told_of_the_larger_threshold_alone() -> None:
    words = "With θ = 0.4 MS-bounding loses 5 to 40 times k-anonymity"
    rows = [row(m, "nil", y, theta=x) for m, x, y in (
        ("k-anonymity", "0.4", 0.01), ("ms", "0.4", 0.1), ("k-anonymity", "0.2", 0.01),
        ("ms", "0.2", 0.9))]  # fmt: skip
    assert outcome(words, rows) == ("holds", 1, 1)


def test_the_danger_of_samples_is_compared_within_samples_of_one_size() -> None:
    words = "By frequency every model has less DR than level-wise"
    rows = [row("alpha-k", "dr", y, theta=theta, cases=n, alpha=0.4, scope="without E")
            for theta, n, y in (("frequency", 50, 0.3), ("levels:f", 50, 0.1),
                                ("frequency", 500, 0.0), ("levels:f", 500, 0.4))]  # fmt: skip
    assert outcome(words, rows) == ("does not hold", 1, 2)


def test_l_diversity_is_compared_where_l_is_k() -> None:
    words = "Multi-sensitive l-diversity loses much more than the others"
    rows = [
        row("ms", "nil", 0.2),
        row("alpha-k", "nil", 0.3, alpha=0.2),
        row("alpha-k", "nil", 0.5, alpha=0.4),
        row("l-diversity", "nil", 0.1, l=2),
        row("l-diversity", "nil", 0.4, l=5),
    ]
    assert outcome(words, rows) == ("does not hold", 2, 3)


def test_a_trend_compares_the_least_with_the_greatest_value_of_a_parameter() -> None:
    words = "The loss decreases as ε increases"
    rows = [row("ppms-dp-all", "nil_star", y, epsilon=x) for x, y in ((10.0, 0.1), (0.1, 0.3))]
    assert outcome(words, rows[:1]) == ("cannot be told", 0, 0)
    assert outcome(words, rows) == ("holds", 1, 1)
    other = [row("ppms-dp-num", "nil_star", 0.2, epsilon=x) for x in (0.1, 10.0)]
    assert outcome(words, rows + other) == ("does not hold", 1, 2)


def test_thresholds_are_ordered_as_numbers_not_as_texts() -> None:
    rows = [row("ms", "nil", y, theta=x) for x, y in (("1/3", 0.1), ("0.4", 0.05), ("0.2", 0.3))]
    claim = TrendClaim.model_validate(
        {"compare": "trend", "side": side("ms", "nil"), "along": "theta", "relation": LESS} | TEXTS
    )
    found = claim.judge(rows)
    assert found.outcome == "holds"
    assert found.measured == "at the least theta 0.3, at the greatest 0.05"


def test_a_model_without_a_parameter_is_compared_with_every_value_of_it() -> None:
    words = "RR of PPMS++ is worse than that of both with noise"
    rows = [row("ppms++", "rr", 0.02)]
    rows += [row("ppms-dp-all", "rr", y, epsilon=x) for x, y in ((0.1, 0.01), (10.0, 0.03))]
    assert outcome(words, rows) == ("does not hold", 1, 2)


def test_a_release_whose_next_quarter_is_unknown_has_no_part_in_the_claims_of_huang() -> None:
    words = "HA leaves no groups with too many substantial symptoms (SSGR)"
    newest = row("ppms-alpha", "audit_ssgr", 0.5, scope="b,f,l,ss")
    assert outcome(words, [newest]) == ("cannot be told", 0, 0)
    known = row("ppms-alpha", "audit_ssgr", 0.0, scope="b,f,l,md,ss")
    assert outcome(words, [newest, known]) == ("holds", 1, 1)


def test_in_general_means_the_share_that_the_rule_names() -> None:
    rows = [row("a", "x", 1.0, k=k) for k in (1, 2)] + [
        row("b", "x", float(k), k=k) for k in (1, 2)
    ]
    pairs = {"compare": "pairs", "left": side("a", "x"), "right": side("b", "x")}
    pairs |= {"relation": {"is": "near", "absolute": 0}} | TEXTS
    assert PairsClaim.model_validate(pairs).judge(rows).outcome == "does not hold"
    assert PairsClaim.model_validate(pairs | {"need": 0.5}).judge(rows).outcome == "holds"


@pytest.mark.parametrize(("values", "some", "every"), [
    ((0.0, 0.0), "does not hold", "does not hold"),
    ((0.0, 0.1), "holds", "does not hold"),
    ((0.1, 0.1), "holds", "holds"),
])  # fmt: skip
def test_some_and_all(values: tuple[float, ...], some: str, every: str) -> None:
    rows = [row("a", "x", value, k=k) for k, value in enumerate(values)]
    for compare, expected in (("some", some), ("every", every)):
        claim = ValuesClaim.model_validate(
            {"compare": compare, "side": side("a", "x"), "relation": {"is": "more_than"}} | TEXTS
        )
        assert claim.judge(rows).outcome == expected


def test_a_figure_has_a_panel_per_setting_and_a_line_per_model() -> None:
    rows = [
        row(model, "nil", 0.1, quarter=quarter, k=k)
        for model in ("ms", "k-anonymity", "unknown")
        for quarter in ("2011Q1", "2011Q2", "2011Q1:2011Q2")
        for k in (5, 20)
    ]
    figure = PaperFigure.model_validate(
        {"paper": "P", "place": "Fig. 1", "name": "NIL", "models": ("ms", "k-anonymity"),
         "measure": "nil", "scope": "release", "where": {"threshold_policy": ["", "uniform"]}}
    )  # fmt: skip
    found = panels(figure, rows)
    assert list(found) == ["k = 5, theta = 0.2", "k = 20, theta = 0.2"]
    assert set(found["k = 5, theta = 0.2"]) == {"ms", "k-anonymity"}
    drawn = draw(figure, rows, "f")
    assert drawn is not None
    assert drawn[0].svg.startswith("<svg")
    assert draw(figure, [row("ms", "dr", 0.1)], "f") is None


def test_every_figure_says_what_both_axes_show_and_in_which_unit() -> None:
    for one in (*FIGURES, *OWN):
        assert one.places_label
        assert one.values_label
        assert "_" not in one.places_label + one.values_label, one
    rows = [row(m, "dr", 0.1, k=5, quarter=q) for m in ("ms", "l-diversity") for q in ("A", "B")]
    figure = next(f for f in OWN if f.measure == "dr")
    for chosen in (rows, [r for r in rows if r["quarter"] == "A"]):
        drawn = draw(figure, [r | {"scope": "without E"} for r in chosen], "f")
        assert drawn is not None
        assert ">groups (share, 0 to 1)<" in drawn[0].svg
    assert ">period<" in draw(figure, [r | {"scope": "without E"} for r in rows], "f")[0].svg  # type: ignore[index]


def test_settings_that_differ_in_any_parameter_but_the_seed_are_apart_on_the_page() -> None:
    rows = [
        row("disassociation", "stage", None, scope="terms", seconds=y, seed=seed, peak_mib=9.0)
        | {name: x}
        for name, pair in (("cases", (50, 200)), ("m", (2, 3)), ("policy", ("sup:1", "sim:5")))
        for x, y in zip(pair, (1.5, 4.0), strict=True)
        for seed in (1, 2)
    ]
    html = page(load_dataset("faers"), "2011Q1", rows)
    table = html[html.index('id="summary"') :].partition("</table>")[0]
    assert table.count("<tr") == 1 + 6
    for name in ("cases", "m", "policy"):
        assert f">{name}</th>" in table


def test_a_line_of_its_own_kind_tells_samples_apart_all_the_same() -> None:
    rows = [row("disassociation", "are", y, scope="W1, 5 %", m=2, policy="sup:1", cases=x)
            for x, y in ((50, 0.9), (200, 0.1))]  # fmt: skip
    (figure,) = [s for s in FIGURES if (s.paper, s.place) == ("Loukides 2014", "Fig. 13(c)")]
    ((_, lines),) = panels(figure, rows).items()
    assert lines == {
        "disassociation (m 2), cases 50": {5.0: 0.9},
        "disassociation (m 2), cases 200": {5.0: 0.1},
    }


def test_the_page_shows_every_claim_and_loads_nothing() -> None:
    rows = [row("ms", "nil", 0.2), row("k-anonymity", "nil", 0.1)]
    html = load("papers.page").page(load_dataset("faers"), "2011Q1", rows)
    assert html.count("cannot be told") >= len(CLAIMS) - 6
    assert "k-anonymity and (X, Y)-anonymity lose less" in html
    assert html.count("<script") == 1, "the one that the page's policy names"
    assert "default-src 'none'" in html
    assert "http://" not in html.replace("http://www.w3.org", "")


def test_the_page_of_a_comparison_shows_what_was_refused_and_loads_nothing() -> None:
    rows = [row("ms", "nil", 0.2), row("k-anonymity", "nil", 0.1)]
    rows.append(row("ppms", "release", None, error="<script>it is refused</script>"))
    html = page(load_dataset("faers"), "2011Q1", rows)
    assert "&lt;script&gt;it is refused" in html
    assert html.count("<script") == 1, "the one that the page's policy names"
    assert "default-src 'none'" in html
    assert "http://" not in html.replace("http://www.w3.org", "")


def test_the_command_judges_the_table_of_a_comparison(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = [row("ms", "nil", 0.2), row("k-anonymity", "nil", 0.1)]
    write_table([COLUMNS | each for each in rows], tmp_path, safe=False)
    load("papers").command([str(tmp_path)])
    told = capsys.readouterr().out.splitlines()
    judged = [claim.judge(rows).outcome for claim in CLAIMS]
    counts = [judged.count(name) for name in ("holds", "does not hold", "cannot be told")]
    assert counts[0] > 0
    assert told[0] == "claims of papers: {} holds, {} does not hold, {} cannot be told".format(
        *counts
    )
    assert "k-anonymity and (X, Y)-anonymity" in (tmp_path / "papers.html").read_text()
