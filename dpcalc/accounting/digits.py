"""--digits N: the answer recomputed from the published formula in N-digit arithmetic. No I/O."""

from __future__ import annotations

from collections.abc import Callable
from math import inf
from typing import Any

from dpcalc.accounting.orders import own_params
from dpcalc.core.bound import Params, PointBound, ProfileBound
from dpcalc.core.errors import DpcalcError, OutOfScope
from dpcalc.core.results import Answer, Row
from dpcalc.numerics.mp.root import root, root_near
from dpcalc.numerics.mp.sums import TooRough

_GUARD = 15  # digits that are computed and not shown: a sum may lose ten (numerics/mp/sums.py), a root three
_LEAST_LOG_DELTA = -1e40  # a smaller log δ takes more digits than the arithmetic has
_OUTSIDE = "its numbers are outside the range of that arithmetic"
_LARGER = "1e-6"  # relative: where the residual is 0 at log δ and at one so much larger, it has no single root
_BELOW = ("1e-9", "1e-6")  # parts of ε: where δ(ε) = 0, a search starts that little below ε


def with_digits(answer: Answer, digits: int) -> Answer:
    """The answer with the asked quantity of every row recomputed from the published formula, at the row's witness.

    A row without such a formula keeps its value, and a note says why.
    """
    from dpcalc.numerics.mp.context import context

    mp = context()
    mp.dps = digits + _GUARD + max((_of_exponent(row, answer) for row in answer.rows), default=0)
    rows: list[Row] = []
    without: dict[str, list[str]] = {}  # why → the bounds
    for row in answer.rows:
        try:
            rows.append(row._replace(digits=_recomputed(mp, row, answer, digits)))
        except _NoDigits as reason:
            rows.append(row)
            without.setdefault(str(reason), []).append(row.route.label)
    notes = tuple(f"no digits for {', '.join(dict.fromkeys(names))}: {reason}" for reason, names in without.items())
    blocked = ", ".join(row.route.label for row in rows if row.digits and in_blocks(row))
    if blocked:
        notes += (f"the digits for {blocked} are of the sum in blocks from above (dpcalc explain NAME)",)
    return answer._replace(rows=tuple(rows), notes=answer.notes + notes)


class _NoDigits(Exception):
    """Raised with the reason, a sentence, where there is no formula to evaluate."""


def in_blocks(row: Row) -> bool:
    """Whether `exact` evaluates the published sum in blocks, from above."""
    bound, n = row.route.bound, row.params.get("n") or 0
    if not isinstance(bound, ProfileBound) or bound.blocks is None:
        return False
    return bool(n - (row.params["index"] - 1 if "index" in bound.params else 0) > bound.blocks.beyond)


def shown(row: Row) -> str:
    """The digits as they are printed, marked where they are not those of the published formula."""
    text = next(iter(row.digits.values()), "")
    return f"{text} (in blocks from above)" if text and in_blocks(row) else text


def _recomputed(mp: Any, row: Row, answer: Answer, digits: int) -> dict[str, str]:
    """The asked quantity of a row as a text of so many digits. Raises _NoDigits."""
    asks, steps, bound = answer.question.asks, row.params.get("steps", 1), row.route.bound
    if isinstance(bound, ProfileBound) and steps > bound.exact_steps:
        raise DpcalcError("out-of-range",
                          f"the formula has {steps} terms; at most {bound.exact_steps:g} steps are allowed with "
                          "--digits",
                          "--digits")
    if "n" in bound.params and row.params["n"] == inf:
        raise _NoDigits("the formula has infinitely many factors")
    if bound.is_numerical(row.params):
        raise _NoDigits("it is composed numerically")
    if -inf < _log_delta(row, answer) < _LEAST_LOG_DELTA:
        raise _NoDigits(_OUTSIDE)
    if asks == "epsilon" and not row.result["delta"]:
        raise _NoDigits("at δ = 0 the number is a closed form, exact to a digit or two")
    how = _HOW.get((row.route.bound.kind, asks))
    try:
        value = how(mp, row, answer, row.params) if how else None
    except OutOfScope as reason:
        raise _NoDigits(f"there is no closed form here ({reason.message})") from None
    except TooRough:
        raise _NoDigits("the terms of its sum differ too much for a short sum") from None
    except OverflowError:
        raise _NoDigits(_OUTSIDE) from None
    if value is None:
        raise _NoDigits("there is no closed form")
    return {asks: mp.nstr(value, digits, strip_zeros=False)}


def _of_exponent(row: Row, answer: Answer) -> int:
    """How many digits of δ are lost to the size of its logarithm."""
    return len(f"{-x:.0f}") if (x := _log_delta(row, answer)) >= _LEAST_LOG_DELTA else 0


def _log_delta(row: Row, answer: Answer) -> float:
    return float(row.result.get("log_delta", answer.question.log_delta))


def _own(row: Row, params: Params) -> dict[str, Any]:
    """The arguments of `exact`: the parameters, and the free choices that the witness holds."""
    return {**_of_value(row, params), **_way(row)}


def _of_value(row: Row, params: Params) -> dict[str, Any]:
    """The arguments of `value`."""
    bound = row.route.bound
    free = {k: v for k, v in row.witness.items() if k not in ("alpha", "rdp")} if bound.choices.search else {}
    return {**own_params(bound, params), **free}


def _way(row: Row) -> dict[str, Any]:
    """The blocks that the row's value was computed with, so that a root search uses the same ones at every ε."""
    if row.more is None:
        return {}
    from dpcalc.accounting import breakpoints

    return breakpoints.choices_of_row(row)


def _rdp(mp: Any, row: Row, answer: Answer, params: Params) -> Any:
    return params.get("steps", 1) * row.route.bound.exact(mp, row.witness["alpha"], **_own(row, params))


def _rdp_epsilon(mp: Any, row: Row, answer: Answer, params: Params) -> Any:
    assert row.route.conversion is not None
    return row.route.conversion.exact(mp, row.witness["alpha"], _rdp(mp, row, answer, params), row.result["delta"])


def _rdp_tv(mp: Any, row: Row, answer: Answer, params: Params) -> Any:
    if not isinstance(row.route.conversion, PointBound):
        return _rdp_delta(mp, row, answer, params)
    return row.route.conversion.exact(mp, row.witness["alpha"], _rdp(mp, row, answer, params))["tv"]


def _rdp_delta(mp: Any, row: Row, answer: Answer, params: Params) -> Any:
    """The δ at which the published conversion gives the asked ε, found as a root in log δ."""
    conversion, rdp = row.route.conversion, _rdp(mp, row, answer, params)
    assert conversion is not None
    alpha, epsilon = row.witness["alpha"], mp.mpf(answer.question.epsilon or 0)
    if (condition := conversion.condition) is not None:
        return _falling(mp, lambda x: -condition(mp, alpha, rdp, mp.exp(x), epsilon), row)
    return _falling(mp, lambda x: conversion.exact(mp, alpha, rdp, mp.exp(x)) - epsilon, row)


def _falling(mp: Any, residual: Callable[[Any], Any], row: Row) -> Any:
    """The δ at the root of a residual that falls with log δ, near the δ of the row."""
    near = mp.mpf(row.result.get("log_delta", -1.0))
    if residual(near) == 0 == residual(near * (1 - mp.mpf(_LARGER))):
        raise _NoDigits("the formula gives this ε at every larger δ, too")
    found = root_near(mp, residual, near, mp.dps - _GUARD) if near else None
    if found is None:
        found = root(mp, lambda x: -residual(x), near * mp.mpf("1.001") - mp.mpf("1e-3"), near * mp.mpf("0.999"))
    return min(mp.exp(found), mp.mpf(1))


def _profile_delta(mp: Any, row: Row, answer: Answer, params: Params) -> Any:
    return row.route.bound.exact(mp, answer.question.epsilon or 0.0, **_own(row, params))


def _profile_epsilon(mp: Any, row: Row, answer: Answer, params: Params) -> Any:
    """The ε at which the published δ(ε) is the asked δ, found as a root next to the row's ε."""
    bound, own = row.route.bound, _own(row, params)
    target, near = mp.mpf(row.result["delta"]), mp.mpf(row.result["epsilon"])
    if near == 0:
        return near

    def residual(epsilon: Any) -> Any:
        """Nearly straight in ε also where log δ falls like e^ε."""
        return mp.asinh(mp.log(target) - mp.log(bound.exact(mp, epsilon, **own)))

    def share(epsilon: Any) -> Any:
        """Nearly straight where δ falls to 0, as that of Laplace noise does."""
        return 1 - bound.exact(mp, epsilon, **own) / target

    found = root_near(mp, residual, near, mp.dps - _GUARD)
    if found is not None:
        return found
    for close in _BELOW if share(near) == 1 else ():
        if (found := root_near(mp, share, near * (1 - mp.mpf(close)), mp.dps - _GUARD)) is not None:
            return found
    return mp.mpf(0) if residual(mp.mpf(0)) >= 0 else root(mp, residual, mp.mpf(0), near)


def _point(mp: Any, row: Row, answer: Answer, params: Params) -> Any:
    return row.route.bound.exact(mp, **_own(row, params))[answer.question.asks]


_HOW: dict[tuple[str, str], Callable[[Any, Row, Answer, Params], Any]] = {
    ("rdp", "rdp"): _rdp,
    ("rdp", "epsilon"): _rdp_epsilon,
    ("rdp", "delta"): _rdp_delta,
    ("rdp", "tv"): _rdp_tv,
    ("profile", "epsilon"): _profile_epsilon,
    ("profile", "delta"): _profile_delta,
    ("profile", "tv"): _profile_delta,
    ("point", "epsilon"): _point,
    ("point", "delta"): _point,
    ("point", "tv"): _point,
    ("point", "mu"): _point,
    ("point", "rho"): _point,
    ("point", "feedback"): _point,
}
