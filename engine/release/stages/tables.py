"""The released tables are filled."""

from __future__ import annotations

from srsql.engine.catalog.layout import SHAPES
from srsql.engine.lattice.rows import build_rows
from srsql.engine.release.request import Request
from srsql.engine.release.stages.stage import Made, Stage, Tables, handed_on
from srsql.engine.release.views import build_tables
from srsql.engine.terms.baskets import build_term_tables


def fill_rows(request: Request, made: Made) -> Tables:
    """Fill those of rows of cases."""
    made.built = build_tables(
        made.current, perturbed=request.model.perturbs_values, keyed=bool(made.series.key)
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
