"""A claim about one number, as an inequality that arithmetic can decide, and the functions that make claims."""

from fractions import Fraction
from math import inf
from typing import Any, NamedTuple

from dpcalc.bounds.conversions import rdp_improved, rdp_optimal
from dpcalc.core.results import Row
from dpcalc.numerics.rounding import decimal
from dpcalc.verify.arb.context import Formula, compute_once, is_ball_context
from dpcalc.verify.unchecked import OtherQuestion


class Claim(NamedTuple):
    """A claimed number, which is proven where `slack` >= 0.

    `exact` is the value of the theorem for the quantity that `gives` names: the claimed quantity itself, or another one
    evaluated at the claimed number, such as δ at a claimed ε. A claim with `is_lower` must not be above the value of
    the theorem; every other claim must not be below it.
    """

    quantity: str
    claimed: float
    slack: Formula
    exact: Formula
    gives: str
    is_lower: bool = False


def claim_upper_bound(quantity: str, claimed: float, exact: Formula) -> Claim:
    """Return the claim that the formula's value is at most the claimed number."""
    exact = compute_once(exact)
    return Claim(quantity, claimed, lambda mp: mp.mpf(claimed) - exact(mp), exact, quantity)


def claim_decimal(quantity: str, claimed: float, value: Fraction) -> Claim:
    """Return the claim that a sum of decimals is at most the claimed number, which is a decimal, too."""
    difference = decimal(claimed) - value
    return Claim(quantity, claimed, lambda mp: mp.mpf(difference.numerator) / difference.denominator,
                 lambda mp: mp.mpf(value.numerator) / value.denominator, quantity)


def claim_probability(quantity: str, claimed: float, exact: Formula) -> Claim:
    """Return the claim about a probability, which is at most 1 whatever the formula gives."""
    if claimed >= 1:
        return claim_always_true(quantity, claimed, 1, quantity)
    return claim_upper_bound(quantity, claimed, exact)


def claim_always_true(quantity: str, claimed: float, value: float, gives: str) -> Claim:
    """Return a claim that holds without a proof, such as δ <= 1; `value` is reported as the theorem's number."""
    return Claim(quantity, claimed, lambda mp: mp.mpf(0), lambda mp: mp.mpf(value), gives)


def require_same(row: Row, name: str, value: float | None) -> None:
    """Raise OtherQuestion where the row answers for another value of a quantity that the question fixes."""
    if row.result.get(name) != value:
        raise OtherQuestion(f"its {name} is {row.result.get(name)}, the question's {value}")


def claim_by_conversion(row: Row, quantity: str, claimed: float, alpha: float, rdp: Formula, epsilon: float,
                        delta: Formula) -> Claim:
    """Return the claim that (ε, δ)-DP follows from the RDP at order α by the row's conversion. `claimed` is the value
    of `quantity`: ε, δ, or log δ."""
    conversion = row.route.conversion
    assert conversion is not None
    is_optimal, is_log = conversion.name == rdp_optimal.BOUND.name, quantity == "log_delta"
    if quantity != "epsilon" and claimed >= (0 if is_log else 1):
        return claim_always_true(quantity, claimed, claimed, quantity)
    # δ = 0 follows from the RDP at one order only where that is 0.
    if quantity != "epsilon" and claimed <= (-inf if is_log else 0):
        return Claim(quantity, claimed, lambda mp: -rdp(mp), rdp, "ε(α)")

    def closed_form_epsilon(mp: Any) -> Any:
        exact = rdp_improved.exact if is_optimal else conversion.exact
        return exact(mp, alpha, rdp(mp), delta(mp))

    def slack(mp: Any) -> Any:
        by_closed_form = mp.mpf(epsilon) - closed_form_epsilon(mp)
        if not is_optimal or float(by_closed_form) >= 0:  # the improved conversion is never below the optimal one
            return by_closed_form
        return optimal_slack(mp, alpha, rdp(mp), delta(mp), epsilon)

    return Claim(quantity, claimed, slack, closed_form_epsilon,
                 "ε by the improved conversion" if is_optimal else "epsilon")


# --- the optimal conversion of one Rényi order ------------------------------------------------------------------------

# (ε, δ)-DP follows where (α−1)(ε − ε(α)) + log min_p h(p) >= 0, with h(p) = p^α(p−δ)^{1−α} + (1−p)^α(e^ε−p+δ)^{1−α}
# on (δ, 1). As h is convex (see bounds/conversions/rdp_optimal.py) and the interval is shorter than 1, every point p
# proves min h >= h(p) − |h′(p)|; a point near the minimum proves a tight bound, however it was found. If h decreases
# at p and the minimum is at a distance of at most w, min h >= h(p) − |h′(p)|·w. This is needed for α near 1, where the
# minimum may be close to 1 and h is steep there.


def optimal_slack(mp: Any, alpha: float, rdp: Any, delta: Any, epsilon: Any) -> Any:
    """Return a lower bound of (α−1)(ε − ε(α)) + log min h; (ε, δ) follows where it is >= 0."""
    if not is_ball_context(mp):
        return rdp_optimal.condition(mp, alpha, rdp, delta, epsilon)
    a, d, e = mp.mpf(alpha), mp.mpf(delta), mp.mpf(epsilon)
    if a * d >= 1:
        return (a - 1) * (e - mp.log1p(-d) - rdp)
    e_to_epsilon = mp.exp(e)
    x, width = _point_near_minimum(mp, a, d, e_to_epsilon)
    height, slope = _h_and_slope(mp, a, d, e_to_epsilon, x)
    return mp.log(height - abs(slope) * width) + (a - 1) * (e - rdp)


def _h_and_slope(mp: Any, a: Any, d: Any, e_to_epsilon: Any, x: Any) -> tuple[Any, Any]:
    """Return h and h′ at p = δ + x."""
    p, rest, y = d + x, 1 - d - x, e_to_epsilon - x
    first, second = mp.exp(a * mp.log(p) - (a - 1) * mp.log(x)), mp.exp(a * mp.log(rest) - (a - 1) * mp.log(y))
    return first + second, first * (a / p - (a - 1) / x) - second * (a / rest - (a - 1) / y)


def _point_near_minimum(mp: Any, a: Any, d: Any, e_to_epsilon: Any) -> tuple[Any, Any]:
    """Return an x near the root of h′ in ((α−1)δ, 1−δ), by bisection in log x and then in x; and a bound on its
    distance from the minimum."""
    low, high = (a - 1) * d, 1 - d
    falls_at_low = False  # whether h surely decreases at `low`: then the minimum is between `low` and `high`
    for _ in range(2 * mp.prec):
        x = mp.midpoint(mp.sqrt(low * high) if float(high) > 2 * float(low) else (low + high) / 2)
        slope = _h_and_slope(mp, a, d, e_to_epsilon, x)[1]
        if slope.x < 0:
            low, falls_at_low = x, True
        elif slope.x > 0:
            high = x
        else:
            return x, 1
    return (low, high - low) if falls_at_low else (x, 1)
