"""The catalog keeps what a release is made of, and the released tables are filled."""

from __future__ import annotations

from srsql.engine.catalog.layout import SHAPES
from srsql.engine.grouping.perturbation import check_limit
from srsql.engine.lattice.rows import build_rows
from srsql.engine.release.features.hold_back import wait
from srsql.engine.release.request import Request
from srsql.engine.release.series import set_figures
from srsql.engine.release.stages.stage import Made, Stage, Tables, handed_on
from srsql.engine.release.terms import release_thresholds
from srsql.engine.release.views import build_tables
from srsql.engine.store.statements import query
from srsql.engine.terms.baskets import build_term_tables


def fill_rows(request: Request, made: Made) -> Tables:
    """Fill those of rows of cases."""
    made.built = build_tables(
        made.current, perturbed=request.model.claimed_bounds.drawn, keyed=bool(made.series.key)
    )
    return handed_on(ROWS.writes)


def fill_terms(request: Request, made: Made) -> Tables:
    """Fill those of terms that are told apart from rows."""
    current, model = made.current, request.model
    made.built += build_term_tables(
        current.warehouse,
        current.dataset,
        current.release_id,
        grouped=request.shape.clusters_in_groups,
        shape=SHAPES[model.term_format],
    )
    return {}


def fill_lattice(request: Request, made: Made) -> Tables:
    """Fill that of rows of the model's own making."""
    current = made.current
    made.built += build_rows(current.warehouse, current.dataset, current.release_id)
    return {}


ROWS = Stage(
    "tables",
    "The tables of rows of cases are filled.",
    fill_rows,
    reads="basket_case case_report cluster drawn grouped identity node region suppressed term",
    writes="public_region",
)
TERM_TABLES = Stage(
    "tables",
    "The tables of terms that are told apart from rows are filled.",
    fill_terms,
    reads="basket_case cluster pub_clusters pub_generalized_terms pub_item_chunk "
    "pub_joint_clusters pub_reconstructed pub_record_chunk pub_shared_chunk "
    "pub_term_nodes public_region",
    applies=lambda request: request.terms is not None,
)
LATTICE_ROWS = Stage(
    "tables",
    "The table of rows over a lattice is filled.",
    fill_lattice,
    reads="pub_released_rows",
    applies=lambda request: request.model.shape.of_no_case(True, False),
)


def keep(request: Request, made: Made) -> Tables:
    """Write members, regions, terms and thresholds."""
    current = made.current
    set_figures(current, request.model, made.grouping.k, made.weight_scale)
    tables = {name: made.tables[name] for name in CATALOG.reads.split()}
    current.warehouse.run_step("release/catalog", {"release_id": current.release_id}, **tables)
    made.pool = wait(current, request.max_delay)
    return {}


def tell_thresholds(request: Request, made: Made) -> Tables:
    """Keep those of values that items tell of."""
    release_thresholds(made.current)
    return {}


def keep_asked(request: Request, made: Made) -> Tables:
    """Keep what the public is told of values that patients lowered the thresholds of."""
    own = {"release_id": made.current.release_id}
    made.current.warehouse.run(query("grouping/own_thresholds", "keep"), own)
    return {}


def spend(request: Request, made: Made) -> Tables:
    """Refuse draws that no case has the budget for."""
    if budget := request.model.budget():
        check_limit(made.current, budget.limit, budget.scope)
    return {}


CATALOG = Stage(
    "catalog",
    "The catalog keeps what is released of whom, and who is withheld or waits.",
    keep,
    reads="attribute box case case_term deleted grouped region role suppressed term theta withheld",
)
ITEM_THRESHOLDS = Stage(
    "catalog",
    "The thresholds are kept of what items of whole rows tell.",
    tell_thresholds,
    reads="term_bound",
    applies=lambda request: request.takes_rows_apart,
)
ASKED_THRESHOLDS = Stage(
    "catalog",
    "Thresholds by the policy are kept beside those that patients lowered, and alone are told.",
    keep_asked,
    reads="asked_theta term",
    applies=lambda request: request.own_theta is not None,
)
BUDGET = Stage(
    "catalog",
    "No case has spent more of its privacy budget than it may.",
    spend,
    applies=lambda request: request.model.budget() is not None,
)
