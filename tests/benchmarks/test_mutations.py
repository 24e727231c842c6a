"""The benchmark of mutations: records that name what is there, and in full somebody for each."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.benchmark import load

mutations = load("mutations")
records = load("mutations.records")


def test_there_are_sixty_mutations_of_all_families_and_none_twice() -> None:
    names = [each.name for each in mutations.MUTATIONS]
    assert len(names) >= 60
    assert len(set(names)) == len(names)
    assert len({each.family for each in mutations.MUTATIONS}) == 18


@pytest.mark.parametrize("mutation", mutations.MUTATIONS, ids=lambda each: each.name)
def test_what_a_mutation_changes_is_where_its_record_says(mutation: object) -> None:
    with records.applied(mutation):
        pass


def test_a_text_that_is_not_there_is_told() -> None:
    gone = records.Text("release/pseudonym.sql", "no such text", "")
    with (
        pytest.raises(records.NotApplicableError, match="0 times, not once"),
        records.applied(records.Mutation("gone", "ids", "nothing", "series", (gone,))),
    ):
        pass


@pytest.mark.thorough
def test_every_mutation_is_caught(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    found = mutations.outcomes(mutations.MUTATIONS)
    assert not {name: who for name, who in found.items() if who in mutations.FAILED}
