"""Alpha-bounding: the share of cases with substantial symptoms (Huang 2021, procedures 2 and 3).

A group is seen in four views: 1 its new cases that stop, 2 its new cases, 3 those that stop, 4 all.
For each the state of a group holds MSAVR, the cases with substantial symptoms in the view, and N, a
lower bound of what remains of the view whatever an attacker excludes: the k carriers, for which
places are reserved, and the cases counted in MSAVR beside them. Cases without substantial symptoms
never raise N, since other releases may exclude them; so MSAVR / N <= alpha holds for what remains
after any exclusion that spares the carriers (Lemma 2 and its analogues).
"""

from __future__ import annotations

import numpy as np
from numba import njit

from srsql.udfs.problem import Ints

VIEWS = 4
ANY_KIND = 1
"""Bit of kind 0 in a mask of kinds."""


@njit(cache=True)
def in_view(kind: int, view: int) -> bool:
    """Whether a case of that kind (1-4, see ``Bounding``) is in the view (0-3)."""
    return (
        view == 3
        or kind == 1
        or (kind == 2 and view == 1)
        or (kind == 3 and view == 2)
    )  # fmt: skip


@njit(cache=True)
def update_group(state: Ints, kind: int, remaining: bool) -> None:
    """Count a case of ``kind`` in (Update_Group); ``state`` [2, 4] holds MSAVR and N per view.

    ``remaining``: it joins a completed group, where no place is reserved for it.
    """
    if kind == 0:
        return
    for view in range(VIEWS):
        if in_view(kind, view):
            state[0, view] += 1
            if kind != 1 or remaining:
                state[1, view] += 1


@njit(cache=True)
def judge(state: Ints, kind: int, remaining: bool, alpha_num: int, alpha_den: int) -> bool:
    """Whether a group keeps alpha with one more case of ``kind`` (Judge_alpha_bounding)."""
    if kind == 0:
        return True
    for view in range(VIEWS):
        if in_view(kind, view):
            symptoms = state[0, view] + 1
            room = state[1, view] + (1 if kind != 1 or remaining else 0)
            if symptoms * alpha_den > room * alpha_num:
                return False
    return True


@njit(cache=True)
def allowed_kinds(state: Ints, remaining: bool, alpha_num: int, alpha_den: int) -> int:
    """The kinds a group can still take, as a bit mask."""
    mask = ANY_KIND
    for kind in range(1, VIEWS + 1):
        if judge(state, kind, remaining, alpha_num, alpha_den):
            mask |= 1 << kind
    return mask


@njit(cache=True)
def new_state(k: int) -> Ints:
    """A group without records: MSAVR = 0 and N = k in every view."""
    state = np.zeros((2, VIEWS), np.int64)
    state[1] = k
    return state
