"""--digits N: the same answer from the formula as published, in N-digit arithmetic."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from math import inf
from typing import Any

from dpcalc.accounting.orders import own_params
from dpcalc.core.bound import Params
from dpcalc.core.errors import DpcalcError, OutOfScope
from dpcalc.core.results import Answer, Row
from dpcalc.numerics.mp.root import root, root_near
from dpcalc.numerics.mp.sums import TooRough

_GUARD = 15  # digits that are computed and not shown: a sum may be ten short (mpsum), a root three
_DEEPEST = -1e40  # of log δ
_OUTSIDE = "what it takes is outside the range of that arithmetic"
_APART, _CLOSELY = 1e-4, 1e-7  # of ε: two for a slope; a step after which there is no other one
_STEPS = 6
_CLOSE = ("1e-9", "1e-6")  # of ε: so far below it δ is not 0 any more


def with_digits(answer: Answer, digits: int) -> Answer:
    """Each row with its asked quantity recomputed at the row's witness (α) from the printed formula."""
    from dpcalc.numerics.mp.context import context

    mp = context()
    # levels of noise serve all rows
    mp.dps = digits + _GUARD + max((_of_exponent(row, answer) for row in answer.rows), default=0)
    rows: list[Row] = []
    without: dict[str, list[str]] = {}  # why → the bounds
    for row in answer.rows:
        try:
            rows.append(row._replace(digits=_row(mp, row, answer, digits)))
        except _NoDigits as reason:
            rows.append(row)
            without.setdefault(str(reason), []).append(row.route.label)
    notes = tuple(f"no digits by {', '.join(dict.fromkeys(names))}: {reason}" for reason, names in without.items())
    blocked = ", ".join(row.route.label for row in rows if row.digits and in_blocks(row))
    if blocked:
        notes += (f"the digits by {blocked}: of the formula in blocks from above, as the number beside them is (dpcalc "
                  f"explain NAME)",)
    return answer._replace(rows=tuple(rows), notes=answer.notes + notes)


class _NoDigits(Exception):
    """Why there is no formula to evaluate; a sentence."""


def in_blocks(row: Row) -> bool:
    """Whether what `exact` evaluates is an upper sum, in blocks, over the formula as printed."""
    bound, n = row.route.bound, row.params.get("n") or 0
    return bool(n - (row.params["index"] - 1 if "index" in bound.params else 0) > bound.in_blocks_beyond)


def shown(row: Row) -> str:
    """The digits for people: what they are of, where that is not the formula as printed."""
    text = next(iter(row.digits.values()), "")
    return f"{text} (in blocks from above)" if text and in_blocks(row) else text


def _row(mp: Any, row: Row, answer: Answer, digits: int) -> dict[str, str]:
    asks, steps = answer.question.asks, row.params.get("steps", 1)
    if steps > row.route.bound.exact_steps:
        raise DpcalcError("out-of-range",
                          f"the published sum has {steps} terms; use at most {row.route.bound.exact_steps:g} steps "
                          "with --digits", "--digits")
    if "n" in row.route.bound.params and row.params["n"] == inf:
        raise _NoDigits("it has infinitely many factors")
    if row.route.bound.one is not None or (row.route.bound.pair is not None and steps > 1):
        raise _NoDigits("it is composed numerically")
    if -inf < _log_delta(row, answer) < _DEEPEST:
        raise _NoDigits(_OUTSIDE)
    if asks == "epsilon" and not row.result["delta"]:
        raise _NoDigits("at δ = 0 its ε is a closed form, which the double is to its last digit or two")
    how = _HOW.get((row.route.bound.kind, asks))
    try:
        value = how(mp, row, answer, row.params) if how else None
    except OutOfScope as reason:
        raise _NoDigits(f"it has no closed form here ({reason.message})") from None
    except TooRough:
        raise _NoDigits("its sum changes too much from term to term to be taken in so few values") from None
    except OverflowError:
        raise _NoDigits(_OUTSIDE) from None
    if value is None:
        raise _NoDigits("it has no closed form")
    return {asks: mp.nstr(value, digits, strip_zeros=False)}


def _of_exponent(row: Row, answer: Answer) -> int:
    """Digits that the logarithm of δ takes from those of δ."""
    return len(f"{-x:.0f}") if (x := _log_delta(row, answer)) >= _DEEPEST else 0


def _log_delta(row: Row, answer: Answer) -> float:
    return float(row.result.get("log_delta", answer.question.log_delta))


def _own(row: Row, params: Params) -> dict[str, Any]:
    """The arguments of `exact`: the parameters, and the theorem's free choices as the row made them."""
    return {**_of_value(row, params), **_way(row)}


def _of_value(row: Row, params: Params) -> dict[str, Any]:
    """Those of `value`."""
    bound = row.route.bound
    free = {k: v for k, v in row.witness.items() if k not in ("alpha", "rdp")} if bound.search else {}
    return {**own_params(bound, params), **free}


def _way(row: Row) -> dict[str, Any]:
    """The blocks that a hybrid took, not others at every ε that a root is looked for at."""
    if row.more is None:
        return {}
    from dpcalc.accounting import breakpoints

    return breakpoints.of_row(row)


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
    near = mp.mpf(row.result.get("log_delta", -1.0))
    found = root_near(mp, gap, near, mp.dps - _GUARD) if near else None
    if found is None and gap(near) == 0:
        raise _NoDigits("the formula gives this ε at every larger δ, too")
    if found is None:
        found = root(mp, lambda x: -gap(x), near * mp.mpf("1.001") - mp.mpf("1e-3"), near * mp.mpf("0.999"))
    return min(mp.exp(found), mp.mpf(1))


def _profile_delta(mp: Any, row: Row, answer: Answer, params: Params) -> Any:
    return row.route.bound.exact(mp, answer.question.epsilon or 0.0, **_own(row, params))


def _profile_epsilon(mp: Any, row: Row, answer: Answer, params: Params) -> Any:
    """The ε at which the printed δ(ε) is the δ asked for, next to the double."""
    bound, own = row.route.bound, _own(row, params)
    target, near = mp.mpf(row.result["delta"]), mp.mpf(row.result["epsilon"])
    if near == 0:
        return near

    def gap(epsilon: Any) -> Any:
        """asinh, as log δ may fall like e^ε."""
        return mp.asinh(mp.log(target) - mp.log(bound.exact(mp, epsilon, **own)))

    def share(epsilon: Any) -> Any:
        """The same where δ falls to 0, as that of Laplace noise does: a straight line there."""
        return 1 - bound.exact(mp, epsilon, **own) / target

    start, fall = row.result["epsilon"], 0.0
    if bound.trace is None:  # others are composed, and their rows tell the grid
        start, fall = _nearer(partial(bound.value, **_of_value(row, params)), start, _log_delta(row, answer))
    found = root_near(mp, gap, mp.mpf(start), mp.dps - _GUARD, slope=fall)
    if found is not None:
        return found
    for close in _CLOSE if share(near) == 1 else ():
        if (found := root_near(mp, share, near * (1 - mp.mpf(close)), mp.dps - _GUARD, below=True)) is not None:
            return found
    # a budget that any value of an unknown meets
    return mp.mpf(0) if gap(mp.mpf(0)) >= 0 else root(mp, gap, mp.mpf(0), near)


def _nearer(log_at: Callable[[float], float], epsilon: float, log_delta: float) -> tuple[float, float]:
    """An ε nearer to where log δ is that, by Newton's method, and about how much log δ falls there where ε grows by 1;
    in doubles. The same ε, and 0, where that leads nowhere."""
    near = epsilon
    for _ in range(_STEPS):
        try:
            less, here, more = (float(log_at(near * x)) for x in (1 - _APART, 1.0, 1 + _APART))
        except (OutOfScope, OverflowError):
            break
        if not -inf < more < less < 0:
            break
        fall = (less - more) / (2 * _APART * near)
        by = (here - log_delta) / fall
        if abs(by) <= _CLOSELY * near:
            return near + by, fall
        if not abs(by) < near / 2:
            break
        near += by
    return epsilon, 0.0


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
    ("point", "rho"): _point,
}
