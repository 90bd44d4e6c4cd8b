"""--digits N: the same answer from the formula as published, in N-digit arithmetic."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from dpcalc.errors import DpcalcError, OutOfScope
from dpcalc.numerics.mproot import root
from dpcalc.orders import Params, own_params
from dpcalc.rows import Answer, Row


def with_digits(answer: Answer, digits: int) -> Answer:
    """Each row with its asked quantity recomputed at the row's witness (α) from the printed formula."""
    import mpmath

    mp = mpmath.mp.clone()
    mp.dps = digits + 15
    return answer._replace(rows=tuple(row._replace(digits=_row(mp, row, answer, digits)) for row in answer.rows))


def _row(mp: Any, row: Row, answer: Answer, digits: int) -> dict[str, str]:
    asks, steps = answer.question.asks, row.params.get("steps", 1)
    if steps > row.route.bound.exact_steps:
        raise DpcalcError("out-of-range", f"the published sum has {steps} terms; use at most {row.route.bound.exact_steps:g} steps "
                          "with --digits", "--digits")
    if row.params.get("n", 0) > row.route.bound.exact_n:
        return {}  # a sum over the records
    if row.route.bound.pair is not None and steps > 1:
        return {}  # composed numerically
    if asks == "epsilon" and not row.result["delta"]:
        return {}  # pure ε: a closed form, rounded up exactly
    how = _HOW.get((row.route.bound.kind, asks))
    try:
        value = how(mp, row, answer, row.params) if how else None
    except OutOfScope:  # no closed form here
        value = None
    if value is None:
        return {}
    return {asks: mp.nstr(value, digits, strip_zeros=False)}


def _own(row: Row, params: Params) -> dict[str, Any]:
    """The arguments of `exact`: the parameters, and the theorem's free choices as the row made them."""
    free = {k: v for k, v in row.witness.items() if k not in ("alpha", "rdp")} if row.route.bound.search else {}
    return {**own_params(row.route.bound, params), **free}


def _rdp(mp: Any, row: Row, answer: Answer, params: Params) -> Any:
    return params.get("steps", 1) * row.route.bound.exact(mp, row.witness["alpha"], **_own(row, params))


def _rdp_epsilon(mp: Any, row: Row, answer: Answer, params: Params) -> Any:
    assert row.route.conversion is not None
    return row.route.conversion.exact(mp, row.witness["alpha"], _rdp(mp, row, answer, params), row.result["delta"])


def _rdp_delta(mp: Any, row: Row, answer: Answer, params: Params) -> Any:
    """The δ at which the printed conversion gives the ε asked for, as a root in log δ."""
    conversion, rdp = row.route.conversion, _rdp(mp, row, answer, params)
    assert conversion is not None
    alpha, epsilon = row.witness["alpha"], mp.mpf(answer.question.epsilon or 0)
    if (condition := conversion.condition) is not None:
        return _falling(mp, lambda x: -condition(mp, alpha, rdp, mp.exp(x), epsilon), row)
    return _falling(mp, lambda x: conversion.exact(mp, alpha, rdp, mp.exp(x)) - epsilon, row)


def _falling(mp: Any, gap: Callable[[Any], Any], row: Row) -> Any:
    near = row.result.get("log_delta", -1.0)
    low, high = mp.mpf(near) * mp.mpf("1.001") - mp.mpf("1e-3"), mp.mpf(near) * mp.mpf("0.999")
    return mp.exp(root(mp, lambda x: -gap(x), low, high))


def _profile_delta(mp: Any, row: Row, answer: Answer, params: Params) -> Any:
    return row.route.bound.exact(mp, answer.question.epsilon or 0.0, **_own(row, params))


def _profile_epsilon(mp: Any, row: Row, answer: Answer, params: Params) -> Any:
    """The ε at which the printed δ(ε) is the δ asked for, next to the double."""
    bound, own = row.route.bound, _own(row, params)
    target, near = mp.mpf(row.result["delta"]), mp.mpf(row.result["epsilon"])
    if near == 0:
        return near
    return root(mp, lambda e: mp.log(target) - mp.log(bound.exact(mp, e, **own)), near * mp.mpf("0.999999"), near)


def _point(mp: Any, row: Row, answer: Answer, params: Params) -> Any:
    return row.route.bound.exact(mp, **_own(row, params))[answer.question.asks]


_HOW: dict[tuple[str, str], Callable[[Any, Row, Answer, Params], Any]] = {
    ("rdp", "rdp"): _rdp,
    ("rdp", "epsilon"): _rdp_epsilon,
    ("rdp", "delta"): _rdp_delta,
    ("rdp", "tv"): _rdp_delta,
    ("profile", "epsilon"): _profile_epsilon,
    ("profile", "delta"): _profile_delta,
    ("profile", "tv"): _profile_delta,
    ("point", "epsilon"): _point,
    ("point", "delta"): _point,
    ("point", "tv"): _point,
    ("point", "mu"): _point,
}
