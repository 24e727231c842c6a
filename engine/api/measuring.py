"""What is asked of releases: risk and loss, attacks, signals, counts, comparisons, advice."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from pathlib import Path

from srsql.engine.api.session import Session
from srsql.engine.audit.attack import Attack, attack
from srsql.engine.audit.audit import SCOPES, Audit, audit
from srsql.engine.checks.series import measure_series
from srsql.engine.errors import AttackError, AuditError, SignalError
from srsql.engine.grouping.thresholds import parse_theta
from srsql.engine.measures import MeasureRow
from srsql.engine.query.answer import Answer, query
from srsql.engine.release.options import DEFAULTS
from srsql.engine.release.ranges import is_range, range_ends
from srsql.engine.risk.group_questions import GroupAnswer, answer_errors, group_answers
from srsql.engine.risk.linkage import measure_linkage, read_medical, shipped_medical
from srsql.engine.risk.metrics import measure
from srsql.engine.risk.term_counts import CombinationShare, TermCount
from srsql.engine.risk.term_metrics import count_term_sets, measure_terms, term_combinations
from srsql.engine.signals.results import Signals
from srsql.engine.signals.rules import Rule, make_condition, read_rules
from srsql.engine.signals.signals import signals
from srsql.engine.study.advise import advise
from srsql.engine.study.choice import make_bounds
from srsql.engine.study.compare import Compared, compare
from srsql.engine.study.grid import Grid, Rules
from srsql.engine.study.run import Workers
from srsql.engine.study.settings import Advice, Sweep
from srsql.engine.warehouse.releases import need_cases, over_lattice, released_id
from srsql.schemas import Dataset

Progress = Callable[[str], None]


class Measuring(Session):
    """Calls that change no release."""

    def metrics(
        self,
        quarter: str,
        *,
        medical: str | Path | None = None,
        dataset: str | Path | None = None,
        series: str = DEFAULTS.series,
    ) -> list[MeasureRow]:
        """Risk and loss of a released quarter; see ``srsql metrics``."""
        with self.warehouse.guarded():
            schema = self._dataset_of(quarter, dataset)
            known = read_medical(schema, Path(medical)) if medical else shipped_medical(schema)
            release_id = released_id(self.warehouse, schema, quarter, series)
            if over_lattice(self.warehouse, release_id):  # no row that could be linked
                answers = group_answers(self.warehouse, schema, release_id)
                return [
                    *measure(self.warehouse, release_id),
                    *answer_errors(release_id, answers),
                ]
            return [
                *measure(self.warehouse, release_id),
                *measure_linkage(self.warehouse, schema, release_id, known),
                *measure_series(self.warehouse, schema, series, release_id, quarter),
                *measure_terms(self.warehouse, schema, release_id),
            ]

    def age_groups(
        self,
        quarter: str,
        value: str | None = None,
        *,
        width: int = 5,
        dataset: str | Path | None = None,
        series: str = DEFAULTS.series,
    ) -> list[GroupAnswer]:
        """Q1 to Q4 of Lee 2020 of a release of ipa, full-domain or dp-histogram, and the truth.

        Cases of one informative value by age group (None: of the value that most cases hold).
        """
        with self.warehouse.guarded():
            schema, release_id = self._released(quarter, dataset, series)
            if not over_lattice(self.warehouse, release_id):
                return []
            return group_answers(self.warehouse, schema, release_id, value, width)

    def term_combinations(
        self,
        quarter: str,
        *,
        dataset: str | Path | None = None,
        series: str = DEFAULTS.series,
    ) -> list[CombinationShare]:
        """How many cases share a combination of terms (Loukides 2014, Fig. 12): the steward's.

        Of the originals of a release with disassociated or generalized terms.
        """
        with self.warehouse.guarded():
            schema, release_id = self._released(quarter, dataset, series)
            return term_combinations(self.warehouse, schema, release_id)

    def count_terms(
        self,
        quarter: str,
        sets: Sequence[Sequence[str]],
        *,
        dataset: str | Path | None = None,
        series: str = DEFAULTS.series,
    ) -> list[TermCount]:
        """How many records hold all terms of each set: lower, expected, upper.

        From the released tables of a quarter with disassociated terms alone.
        """
        with self.warehouse.guarded():
            _, release_id = self._released(quarter, dataset, series)
            return count_term_sets(self.warehouse, release_id, [tuple(s) for s in sets])

    def attack(
        self,
        quarter: str,
        qids: Mapping[str, str | int],
        *,
        new: bool = False,
        stopped: bool = False,
        dataset: str | Path | None = None,
        series: str = DEFAULTS.series,
    ) -> Attack:
        """Play one attacker against a release; see ``srsql attack``."""
        known = {name: str(value) for name, value in qids.items()}
        with self.warehouse.guarded():
            schema = self._with_regions(series, quarter, dataset, AttackError)
            return attack(
                self.warehouse, schema, quarter, known, new=new, stopped=stopped, series=series
            )

    def audit(
        self,
        *,
        quarter: str | None = None,
        attacks: Sequence[str] | None = None,
        scopes: Sequence[str] = SCOPES,
        k: int | None = None,
        theta: str | None = None,
        alpha: Fraction | None = None,
        evidence: int | None = None,
        dataset: str | Path | None = None,
        series: str = DEFAULTS.series,
    ) -> Audit:
        """Attack every case of a series; see ``srsql audit``."""
        with self.warehouse.guarded():
            schema = self._with_regions(series, quarter, dataset, AuditError)
            return audit(
                self.warehouse,
                schema,
                series,
                quarter=quarter,
                attacks=tuple(attacks) if attacks is not None else None,
                scopes=tuple(scopes),
                k=k,
                theta=parse_theta(theta) if theta is not None else None,
                alpha=alpha,
                evidence=evidence,
            )

    def signals(
        self,
        *,
        drug: str | None = None,
        reaction: str | None = None,
        rules: str | Path | None = None,
        every_pair: bool = False,
        quarter: str | None = None,
        min_age: float | str | None = None,
        max_age: float | str | None = None,
        sex: str | None = None,
        roles: Sequence[str] | None = None,
        released_only: bool = False,
        dataset: str | Path | None = None,
        series: str = DEFAULTS.series,
    ) -> Signals:
        """Signals of one pair, of a file of rules, or of every pair; see ``srsql signals``."""
        asked = [drug is not None and reaction is not None, rules is not None, every_pair]
        if sum(asked) != 1 or (drug is None) != (reaction is None):
            raise SignalError("give --drug and --reaction, or --rules, or --all")
        low, high = (None if limit is None else str(limit) for limit in (min_age, max_age))
        if rules is not None and any(text is not None for text in (low, high, sex)):
            raise SignalError(
                "--rules brings its own conditions: leave --min-age, --max-age, --sex out"
            )
        with self.warehouse.guarded():
            schema = self._told(series, quarter, dataset)
            need_cases(self.warehouse, schema.name, series, SignalError)
            condition = make_condition(schema, low, high, sex)
            chosen = (
                read_rules(schema, Path(rules))
                if rules is not None
                else condition
                if drug is None or reaction is None
                else [Rule(drug, reaction, condition)]
            )
            return signals(
                self.warehouse,
                schema,
                series,
                chosen,
                quarter=quarter,
                roles=roles,
                released_only=released_only,
            )

    def query(
        self,
        sql: str,
        *,
        quarter: str | None = None,
        include_withheld: bool = False,
        dataset: str | Path | None = None,
        series: str = DEFAULTS.series,
    ) -> Answer:
        """A question over the original tables, from released views; see ``srsql query``."""
        with self.warehouse.guarded():
            schema = self._told(series, quarter, dataset)
            return query(
                self.warehouse,
                schema,
                series,
                sql,
                quarter=quarter,
                include_withheld=include_withheld,
            )

    def compare(
        self,
        quarters: str,
        grid: Grid,
        out: str | Path,
        *,
        rules: Rules | None = None,
        jobs: int | None = None,
        dataset: str | Path | None = None,
        progress: Progress | None = None,
    ) -> Compared:
        """A grid of models and parameters over quarters, measured; see ``srsql compare``."""
        with self.warehouse.guarded():
            schema = self._dataset_of(
                range_ends(quarters)[0] if is_range(quarters) else quarters, dataset
            )
            workers = Workers("srsql.engine.api.cell_worker", Path(out), jobs, progress)
            return compare(self.warehouse, schema, quarters, grid, rules or Rules(), workers)

    def advise(
        self,
        quarter: str,
        out: str | Path,
        *,
        max_risk: str | None = None,
        max_loss: str | None = None,
        max_confidence: str | None = None,
        sweep: Sweep | None = None,
        jobs: int | None = None,
        dataset: str | Path | None = None,
        series: str = DEFAULTS.series,
        progress: Progress | None = None,
    ) -> Advice:
        """Which model, k, theta and epsilon for the next release; see ``srsql advise``."""
        bounds = make_bounds(max_risk, max_loss, max_confidence)
        with self.warehouse.guarded():
            return advise(
                self.warehouse,
                self._dataset_of(quarter, dataset),
                quarter,
                bounds,
                sweep or Sweep(),
                series=series,
                workers=Workers("srsql.engine.api.setting_worker", Path(out), jobs, progress),
            )

    def _released(
        self, quarter: str, dataset: str | Path | None, series: str
    ) -> tuple[Dataset, int]:
        """The dataset of a quarter, and its release in a series."""
        schema = self._dataset_of(quarter, dataset)
        return schema, released_id(self.warehouse, schema, quarter, series)
