"""Suspected duplicates: pairs of cases that may be one person, by probabilistic record linkage.

Fellegi & Sunter 1969: of every pair that is compared, each comparison (event date, age, drugs ...)
has a level; m and u are how often matches and others have that level, and the product of their
ratios with the prior gives the probability that the pair is one person. u is counted on a random
sample of pairs, m estimated by expectation maximization. Norén et al. 2007 find duplicates among
reports of adverse drug reactions that way: rare terms and dates in common weigh most.

`splink <https://moj-analytical-services.github.io/splink/>`_ does it, in a DuckDB of its own in
memory, with one thread, so that sums of floats come out alike each time. Pairs are compared only if
they share one of the keys of :func:`_keys`; a key that more than ``MOST_IN_BLOCK`` cases have tells
nobody apart and is none. So the number of pairs grows as that of cases.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import duckdb
from sqlglot import exp

from srsql.engine.errors import DuplicatesError
from srsql.engine.extras.persons.person_records import names_of_qids, person_records
from srsql.engine.grouping.persons import LEAST, ClustersAt, Duplicates
from srsql.engine.lake.lake import need_periods
from srsql.engine.store.doors import need
from srsql.engine.store.statements import column, create, query, table
from srsql.engine.store.warehouse import Warehouse
from srsql.schemas import Dataset
from srsql.schemas.persons import COLUMNS, shipped_person_columns

TOPIC = "grouping/duplicates"
THRESHOLDS = (0.9, 0.99)
"""Probabilities at which clusters are counted and told."""
MOST_IN_BLOCK = 60
RARE = 500
"""A term is rare if at most one case in so many has it (and never below two cases)."""
FEW_CASES = 20
SAMPLED_PAIRS = 1_000_000
RECALL = 0.6
"""Which share of the pairs of one person the strict rule behind the prior is thought to find."""
MOST_LIKELY = 0.5
"""The prior is never more: of few cases the strict rule may find more pairs than there are."""
DIGITS = 9


def find_duplicates(
    warehouse: Warehouse,
    dataset: Dataset,
    columns: Mapping[str, str],
    seed: int,
    progress: Callable[[str], None] | None = None,
) -> Duplicates:
    """Search all cases of a dataset for suspected duplicates; the pairs replace those before.

    Args:
        warehouse: with the quarters ingested.
        dataset: whose cases.
        columns: role -> column of the report table, in the place of the usual ones.
        seed: of the sample of pairs.
        progress: told the name of each stage.

    Raises:
        DuplicatesError: splink is not installed, there are too few cases, or a column is unknown.
        DamagedError: a file of the lake has other bytes than were written.

    Source:
        Fellegi & Sunter 1969; Norén, Orre, Bate & Edwards 2007 (Data Min Knowl Discov 14).
    """
    need("splink", "srsql duplicates", DuplicatesError)
    told = progress or (lambda _: None)
    taken = _columns(dataset, columns)
    there = dict(warehouse.rows(query(TOPIC, "ingestions"), {"dataset": dataset.name}))
    need_periods(warehouse, dataset, *there.values())
    told("records")
    records = warehouse.con.sql(person_records(dataset, taken).sql("duckdb")).to_arrow_table()
    if records.num_rows < FEW_CASES:
        raise DuplicatesError(
            f"{dataset.name} has {records.num_rows} cases, of which nothing can be estimated: "
            f"ingest at least {FEW_CASES} first"
        )
    with warehouse.beside_another():
        pairs, model, library = _linked(warehouse, dataset, taken, records, seed, told)
    told("clusters")
    cases = records.num_rows
    with warehouse.transaction():
        own = {"dataset": dataset.name}
        warehouse.run(query(TOPIC, "forget_pairs"), own)
        warehouse.run(query(TOPIC, "forget_search"), own)
        warehouse.run(
            query(TOPIC, "store_pairs"),
            {
                **own,
                "cases": [pair[0] for pair in pairs],
                "others": [pair[1] for pair in pairs],
                "probabilities": [pair[2] for pair in pairs],
            },
        )
        warehouse.run(
            query(TOPIC, "store_search"),
            {
                **own, "ingestions": list(there), "cases": cases, "least": LEAST, "seed": seed,
                "library": library, "model": json.dumps({"columns": taken, "levels": model}),
            },
        )  # fmt: skip
    compared = {qid.name: qid.column for qid in dataset.qid} | taken
    at = [clusters_at(warehouse, dataset, threshold) for threshold in THRESHOLDS]
    return Duplicates(dataset.name, cases, compared, len(pairs), LEAST, seed, library, at)


def clusters_at(warehouse: Warehouse, dataset: Dataset, threshold: float) -> ClustersAt:
    """How many clusters the pairs of the last search make at a threshold."""
    asked = {"dataset": dataset.name, "at_least": threshold}
    return ClustersAt(threshold, *warehouse.rows(query(TOPIC, "clusters"), asked)[0])


def _columns(dataset: Dataset, given: Mapping[str, str]) -> dict[str, str]:
    """The columns that are compared beside quasi-identifiers and terms.

    Raises:
        DuplicatesError: the report table declares no such column.
    """
    known = {each.name for each in dataset.table(dataset.report_table).columns}
    for role, name in given.items():
        if name not in known:
            raise DuplicatesError(
                f"--{role.replace('_', '-')} {name!r}: the table {dataset.report_table} of "
                f"{dataset.name} has no such column; it has {', '.join(sorted(known))}"
            )
    usual = {
        role: name
        for role, name in shipped_person_columns().get(dataset.name, {}).items()
        if name in known
    }
    both = usual | dict(given)
    return {role: both[role] for role in COLUMNS if role in both}


Pair = tuple[str, str, float]


def _linked(
    warehouse: Warehouse,
    dataset: Dataset,
    taken: Mapping[str, str],
    records: Any,
    seed: int,
    told: Callable[[str], None],
) -> tuple[list[Pair], Any, str]:
    """The pairs of at least ``LEAST``, what was estimated, and by what."""
    con = duckdb.connect(
        config={
            "threads": 1,
            "autoinstall_known_extensions": False,
            "autoload_known_extensions": False,
            "python_enable_replacements": False,
        }
    )
    try:
        share = warehouse.limits.settings().get("memory_limit")
        if share is not None:
            con.execute("SET memory_limit = ?", [f"{int(share[:-1]) // 2}B"])
        if warehouse.scratch is not None:
            con.execute("SET temp_directory = ?", [str(warehouse.scratch / "duplicates")])
        con.register("arrived", records)
        con.execute("CREATE TABLE memory.main.found AS SELECT a.* FROM arrived AS a")
        con.execute(f"CREATE TABLE record AS {query(TOPIC, 'rare_terms')}", {"rare": RARE})
        con.execute(create(exp.to_table("keyed"), _keyed(dataset, taken)))
        with _silent():
            return _estimated(con, dataset, taken, seed, told)
    finally:
        con.close()


def _keys(dataset: Dataset, taken: Mapping[str, str]) -> dict[str, list[str]]:
    """What pairs must share to be compared at all, by the name of the key."""
    names = names_of_qids(dataset)
    first = [
        next((n for n in names if n.startswith(kind)), None) for kind in ("numeric", "category")
    ]
    some = [name for name in first if name is not None]
    country = [role for role in ("country",) if role in taken]
    keys = {
        "key_terms": ["reactions"],
        "key_reaction": ["rarest_reaction", *some, *country],
        "key_drug": ["rarest_drug", *some, *country],
        "key_known": [*names, *country],
    }
    if "event_date" in taken:
        keys |= {
            "key_date": ["event_date", *some],
            "key_date_drug": ["event_date", "rarest_drug"],
            "key_date_reaction": ["event_date", "rarest_reaction"],
        }
    return keys


PART = "training_part"
MANY_TERMS = 3
"""So many reactions in common are a key by themselves."""


def _keyed(dataset: Dataset, taken: Mapping[str, str]) -> exp.Query:
    """The records with their keys; NULL where part of one is unknown, or too many cases have it."""
    keyed = exp.select("r.*").from_(table("record", alias="r"))
    for name, parts in _keys(dataset, taken).items():
        values = [column(part, "r") for part in parts]
        known: list[exp.Expr] = [exp.not_(value.copy().is_(exp.null())) for value in values]
        if name == "key_terms":
            terms = exp.func("len", column("reactions", "r"))
            known.append(exp.GTE(this=terms, expression=exp.Literal.number(MANY_TERMS)))
        window = exp.Window(
            this=exp.Count(this=exp.Star()), partition_by=[value.copy() for value in values]
        )
        known.append(exp.LTE(this=window, expression=exp.Literal.number(MOST_IN_BLOCK)))
        text = exp.func(
            "concat_ws", exp.Literal.string("|"), *[exp.cast(v, "VARCHAR") for v in values]
        )
        keyed = keyed.select(exp.Case().when(exp.and_(*known), text).as_(name))
    return keyed.select(_part(dataset, taken).as_(PART)).order_by(column("case_id", "r"))


def _part(dataset: Dataset, taken: Mapping[str, str]) -> exp.Expr:
    """Cuts cases that share what m is estimated on into parts of ``MOST_IN_BLOCK``, in no order of
    theirs: without a date most would share it, and their pairs would be as many as their square."""
    case_id = column("case_id", "r")
    place = exp.Window(
        this=exp.Anonymous(this="row_number"),
        partition_by=[column(name, "r") for name in _shared(dataset, taken)],
        order=exp.Order(expressions=[exp.func("md5", case_id), case_id.copy()]),
    )
    before = exp.paren(exp.Sub(this=place, expression=exp.Literal.number(1)))
    return exp.IntDiv(this=before, expression=exp.Literal.number(MOST_IN_BLOCK))


@contextmanager
def _silent() -> Iterator[None]:
    """While this lasts, splink says nothing: what matters is in what it estimates."""
    logger = logging.getLogger("splink")
    before = logger.level
    logger.setLevel(logging.CRITICAL)
    try:
        yield
    finally:
        logger.setLevel(before)


def _estimated(
    con: duckdb.DuckDBPyConnection,
    dataset: Dataset,
    taken: Mapping[str, str],
    seed: int,
    told: Callable[[str], None],
) -> tuple[list[Pair], Any, str]:
    """Estimate the model on ``keyed`` and score its pairs."""
    import splink
    from splink.internals.exceptions import EMTrainingException

    keys = _keys(dataset, taken)
    settings = splink.SettingsCreator(
        link_type="dedupe_only",
        unique_id_column_name="case_id",
        probability_two_random_records_match=_prior(con, list(keys)),
        comparisons=_comparisons(dataset, taken),
        blocking_rules_to_generate_predictions=[splink.block_on(key) for key in keys],
        retain_matching_columns=False,
        linker_uid="srsql",
    )
    interface = splink.DuckDBAPI(con)
    linker = splink.Linker(interface.register("keyed"), settings, log_level=None)
    told("u (random pairs)")
    linker.training.estimate_u_using_random_sampling(max_pairs=SAMPLED_PAIRS - 1, seed=seed)
    told("m (expectation maximization)")
    for rule in _training_rules(dataset, taken):
        try:
            linker.training.estimate_parameters_using_expectation_maximisation(rule)
        except EMTrainingException:  # no pair meets the rule: what it would tell stays as it is
            continue
    told("pairs")
    scored = linker.inference.predict(threshold_match_probability=LEAST, warning_mode="never")
    rows = con.execute(
        exp.select("p.case_id_l", "p.case_id_r", f"round(p.match_probability, {DIGITS})")
        .from_(table(scored.physical_name, alias="p"))
        .order_by("p.case_id_l", "p.case_id_r")
        .sql("duckdb")
    ).fetchall()
    model = linker.misc.save_model_to_json()
    levels = {
        each["output_column_name"]: [
            {
                "level": level["label_for_charts"],
                "m": level.get("m_probability"),
                "u": level.get("u_probability"),
            }
            for level in each["comparison_levels"]
            if not level.get("is_null_level")
        ]
        for each in model["comparisons"]
    }
    return rows, levels, f"splink {splink.__version__}"


def _prior(con: duckdb.DuckDBPyConnection, keys: list[str]) -> float:
    """How probable it is that two cases taken at random are one person: pairs that share a key of
    known values and a rare reaction are taken for such, and for ``RECALL`` of all of them."""
    strict = next(key for key in ("key_date", "key_known") if key in keys)
    same = column(strict, "a").eq(column(strict, "b"))
    rare = exp.func("list_has_any", column("rare_reactions", "a"), column("rare_reactions", "b"))
    found = (
        exp.select(exp.Count(this=exp.Star()))
        .from_(table("keyed", alias="a"))
        .join(
            table("keyed", alias="b"),
            on=exp.and_(
                same, exp.LT(this=column("case_id", "a"), expression=column("case_id", "b"))
            ),
        )
        .where(rare)
    )
    pairs, cases = (
        con.execute(text).fetchall()[0][0]
        for text in (found.sql("duckdb"), "SELECT count(*) FROM keyed")
    )
    return min(MOST_LIKELY, float(max(1, pairs) / RECALL / (cases * (cases - 1) / 2)))


def _training_rules(dataset: Dataset, taken: Mapping[str, str]) -> list[str]:
    """Pairs on which m is estimated, by what they do not share: the rest is known to agree."""
    same = [*_shared(dataset, taken), PART]
    known = " AND ".join(f"l.{name} = r.{name}" for name in same)
    return [known, "l.reactions = r.reactions AND l.key_terms = r.key_terms"]


def _shared(dataset: Dataset, taken: Mapping[str, str]) -> list[str]:
    """What the first training rule takes for agreed."""
    names = names_of_qids(dataset)
    date = [role for role in ("event_date",) if role in taken]
    return list(dict.fromkeys([*date, *names[:1], *names[-1:]]))


def _comparisons(dataset: Dataset, taken: Mapping[str, str]) -> list[Any]:
    """What is compared, each with its levels from the strictest on."""
    from splink import comparison_level_library as levels
    from splink import comparison_library as library

    def compared(name: str, *between: tuple[str, str], exact: bool = True) -> Any:
        middle = [levels.CustomLevel(condition, label) for condition, label in between]
        first = [levels.ExactMatchLevel(name)] if exact else []
        return library.CustomComparison(
            output_column_name=name,
            comparison_levels=[levels.NullLevel(name), *first, *middle, levels.ElseLevel()],
        )

    made = []
    if "event_date" in taken:
        days = "abs(event_date_l - event_date_r) <= 31"
        made.append(compared("event_date", (days, "within a month")))
    for name in names_of_qids(dataset):
        if name.startswith("numeric"):
            near = f"abs({name}_l - {name}_r) <= greatest(1, least({name}_l, {name}_r) // 20)"
            made.append(compared(name, (near, "near")))
        else:
            made.append(compared(name))
    if "country" in taken:
        exact = library.ExactMatch("country").configure(term_frequency_adjustments=True)
        made.append(exact)
    for name in _term_lists(dataset):
        common = f"len(list_filter({name}_l, LAMBDA x: list_contains({name}_r, x)))"
        either = f"(len({name}_l) + len({name}_r) - {common})"
        rare = f"coalesce(list_has_any(rare_{name}_l, rare_{name}_r), false)"
        made.append(
            compared(
                name,
                (f"{rare} AND 4 * {common} >= 3 * {either}", "three quarters, a rare one"),
                (f"{rare} AND 2 * {common} >= {either}", "half, a rare one"),
                (f"4 * {common} >= 3 * {either}", "three quarters"),
                (rare, "a rare one"),
                (f"list_has_any({name}_l, {name}_r)", "one"),
                exact=False,
            )
        )
    return made


def _term_lists(dataset: Dataset) -> list[str]:
    return [*(["drugs"] if dataset.quasi_sensitive else []), "reactions"]
