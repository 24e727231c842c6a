"""Signals: drugs and reactions that are reported together more often than expected."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from srsql.engine import errors
from srsql.engine.api.arguments import reads
from srsql.engine.api.context import CallableCalls
from srsql.engine.api.options import Counting, Name, Waivers, Word
from srsql.engine.api.releases import consent
from srsql.engine.parameters import DRAWS, MAIN, Form

if TYPE_CHECKING:
    from srsql.engine.signals import rules as counted
    from srsql.engine.signals.counted import Exported
    from srsql.engine.signals.interactions import Interaction
    from srsql.engine.signals.likelihood import LikelihoodTest
    from srsql.engine.signals.results import Signals
    from srsql.engine.signals.trends import Trend
    from srsql.schemas import Dataset

STRATA = ("strata", "age_bands")
"""Options of :class:`Counting` that some calls do not have."""


class SignalCalls(CallableCalls):
    """``engine.signals``: pairs of a drug and a reaction, by several ways to ask.

    >>> found = engine.signals.find(every_pair=True, released_only=True)
    >>> drug, reaction = found.signals[0].drug, found.signals[0].reaction
    >>> by_keyword = engine.signals.trend(drug, reaction, released_only=True)
    >>> engine.signals.trend(drug, reaction, Counting(released_only=True)) == by_keyword
    True
    """

    NAME, CALL = "signals", "find"

    @reads(errors.SignalError, called="signals")
    def find(
        self,
        *,
        drug: Word = None,
        reaction: Word = None,
        rules: Name = None,
        every_pair: bool = False,
        counting: Counting = Counting(),
        dataset: Name = None,
        series: str = MAIN,
        **fields: Any,
    ) -> Signals:
        """Signals of one pair, of a file of rules, or of every pair; see ``srsql signals``."""
        from srsql.engine.catalog.levels import names_dropped
        from srsql.engine.signals.signals import signals

        with self.warehouse.guarded(), names_dropped(self.warehouse):
            schema = self._schema(counting, dataset, series)
            pairs = _pairs(schema, drug, reaction, rules, counting, every=every_pair)
            return signals(
                self.warehouse,
                schema,
                series,
                pairs,
                quarter=counting.quarter,
                released_only=self._context.released_only(counting.released_only),
                counting=_counting(schema, counting),
            )

    @reads(errors.SignalError, without=STRATA)
    def trend(
        self,
        drug: str,
        reaction: str,
        counting: Counting = Counting(),
        *,
        figure: str | Path | None = None,
        dataset: Name = None,
        series: str = MAIN,
        **fields: Any,
    ) -> Trend:
        """A pair by period and of all periods up to each; see ``srsql signals --trend``."""
        from srsql.engine.catalog.levels import names_dropped
        from srsql.engine.signals.trends import trend

        with self.warehouse.guarded(), names_dropped(self.warehouse):
            schema = self._schema(counting, dataset, series)
            found = trend(
                self.warehouse,
                schema,
                series,
                _pair(schema, drug, reaction, counting),
                quarter=counting.quarter,
                released_only=self._context.released_only(counting.released_only),
                counting=_counting(schema, counting),
            )
        if figure is not None:
            from srsql.engine.report.signal_figures import write_trend  # brings matplotlib

            write_trend(found, Path(figure))
        return found

    @reads(errors.SignalError, without=STRATA)
    def interaction(
        self,
        drug: str,
        with_drug: str,
        reaction: str,
        counting: Counting = Counting(),
        *,
        dataset: Name = None,
        series: str = MAIN,
        **fields: Any,
    ) -> Interaction:
        """Two drugs together with a reaction; see ``srsql signals --with-drug``."""
        from srsql.engine.catalog.levels import names_dropped
        from srsql.engine.signals.interactions import interaction

        with self.warehouse.guarded(), names_dropped(self.warehouse):
            schema = self._schema(counting, dataset, series)
            pair = _pair(schema, drug, reaction, counting)
            return interaction(
                self.warehouse,
                schema,
                series,
                (drug, _named("drug", with_drug), reaction, pair.condition),
                quarter=counting.quarter,
                released_only=self._context.released_only(counting.released_only),
                counting=_counting(schema, counting),
            )

    @reads(errors.SignalError, without=(*STRATA, "missing"))
    def likelihood(
        self,
        drug: str,
        counting: Counting = Counting(),
        *,
        draws: int = DRAWS,
        seed: int = 1,
        dataset: Name = None,
        series: str = MAIN,
        **fields: Any,
    ) -> LikelihoodTest:
        """A drug tested over all reactions; see ``srsql signals --likelihood``."""
        from srsql.engine.catalog.levels import names_dropped
        from srsql.engine.signals.likelihood import likelihood

        with self.warehouse.guarded(), names_dropped(self.warehouse):
            schema = self._schema(counting, dataset, series)
            return likelihood(
                self.warehouse,
                schema,
                series,
                _pair(schema, drug, None, counting),
                (draws, seed),
                asking=(counting.quarter, self._context.released_only(counting.released_only)),
                counting=_counting(schema, counting),
            )

    @reads(errors.SignalError, without=("released_only", "missing", "weaker", "change"))
    def export(
        self,
        form: Form,
        to: str | Path,
        counting: Counting = Counting(),
        waivers: Waivers = Waivers(),
        *,
        drug: Word = None,
        tree: Name = None,
        dataset: Name = None,
        series: str = MAIN,
        **fields: Any,
    ) -> Exported:
        """What is released, for another tool; see ``srsql signals --export``."""
        from srsql.engine.catalog.levels import names_dropped
        from srsql.engine.store import doors

        with self.warehouse.guarded(), names_dropped(self.warehouse):
            schema = self._schema(counting, dataset, series)
            where = (Path(to), None if tree is None else Path(tree))
            writing = doors.opened("exports")(form, *where, consent(waivers))
            pair = _pair(schema, drug, None, counting)
            how = _counting(schema, counting)
            made: Exported = writing.export(
                self.warehouse, schema, series, pair, quarter=counting.quarter, counting=how
            )
            return made

    def _schema(self, counting: Counting, dataset: Name, series: str) -> Dataset:
        """The dataset as the series releases it, which has to have cases."""
        from srsql.engine.shapes import need_cases

        schema = self._context.visible(series, counting.quarter, dataset)
        need_cases(self.warehouse, schema, series, errors.SignalError)
        return schema


def _pairs(
    dataset: Dataset,
    drug: str | None,
    reaction: str | None,
    rules: str | Path | None,
    counting: Counting,
    *,
    every: bool,
) -> list[counted.Rule] | counted.Condition:
    """The pairs whose signals are asked for: one, those of a file, or under a condition all.

    Raises:
        SignalError: none of the three is asked for, or several.
    """
    from srsql.engine.signals.rules import read_rules

    if sum((drug is not None and reaction is not None, rules is not None, every)) != 1 or (
        drug is None
    ) != (reaction is None):
        raise errors.SignalError("give --drug and --reaction, or --rules, or --all")
    if rules is not None:
        if any(text is not None for text in (counting.min_age, counting.max_age, counting.sex)):
            raise errors.SignalError(
                "--rules brings its own conditions: leave --min-age, --max-age, --sex out"
            )
        return read_rules(dataset, Path(rules))
    pair = _pair(dataset, drug, reaction, counting)
    return pair.condition if every else [pair]


def _pair(
    dataset: Dataset, drug: str | None, reaction: str | None, counting: Counting
) -> counted.Rule:
    """A pair under a condition; None: any drug, any reaction.

    Raises:
        SignalError: the condition makes no sense, or a name is empty.
    """
    from srsql.engine.signals.rules import Rule, make_condition

    limits = (counting.min_age, counting.max_age, counting.sex)
    low, high, sex = (None if each is None else str(each) for each in limits)
    condition = make_condition(dataset, low, high, sex)
    return Rule(_named("drug", drug), _named("reaction", reaction), condition)


def _named(what: str, name: str | None) -> str:
    """The name of a drug or a reaction as rules have it, where None, any of them, is empty.

    Raises:
        SignalError: it is empty itself.
    """
    if name == "":
        raise errors.SignalError(f"'' is no name of a {what}: give one")
    return name or ""


def _counting(dataset: Dataset, counting: Counting) -> counted.Counting:
    """How cases are counted, a preset of the field read.

    Raises:
        SignalError: a preset beside roles, or of roles that there are none of; no such strata.
    """
    from srsql.engine.catalog.levels import read_levels
    from srsql.engine.signals import rules
    from srsql.engine.signals.strata import read_strata

    levels, roles = read_levels(dataset, counting.level or ()), counting.roles
    declared = dataset.signals
    usual = counting.preset == "usual"
    if counting.preset is not None and roles is not None:
        raise errors.SignalError("--preset says which roles count: leave --roles out")
    if counting.preset == "primary":
        if declared is None or declared.role is None:
            raise errors.SignalError(
                f"dataset {dataset.name} has no roles of drugs: leave --preset out"
            )
        roles = declared.suspect[:1]
    every = roles is not None and [role.lower() for role in roles] == ["all"]
    strata, bands = read_strata(counting.strata, counting.age_bands)
    return rules.Counting(
        () if every else roles,
        missing="exclude" if usual else counting.missing,
        allow_unknown=counting.allow_unknown,
        levels=levels,
        strata=strata,
        bands=bands,
        without_drug=counting.without_drug,
        without_reaction=counting.without_reaction,
        without_indications=usual or counting.without_indications,
    )
