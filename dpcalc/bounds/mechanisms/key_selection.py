"""The probability with which optimal selection keeps a key (Desfontaines, Voss, Gipson & Mandayam 2022, Theorem 1).

The keys that occur in the data are published, without their counts. A key that n people have is kept with probability
π_n, independently of all other keys, where π_0 = 0 and

    π_{n+1} = min(e^e·π_n + d, 1 − e^{−e}(1 − π_n − d), 1),  e = ε₀/k, d = δ₀/k.

The theorem. A person who is added or removed changes n by 1 at each of at most k keys. Whether one key is published is
(e, d)-DP if π_{n+1} <= e^e·π_n + d and 1 − π_n <= e^e(1 − π_{n+1}) + d, which are the two terms of the minimum; the two
inequalities in the other direction hold since π_n rises. No rule that is (e, d)-DP for each key keeps any n more often,
by induction over n, since both terms rise in π_n. The keys of a person are k such decisions, which compose.

Closed form. The first term is the smaller one where π_n <= (1 − d)/(e^e + 1). As π_n rises, it is the first m steps
that use it, m = 1 + ⌊log(1 + (1 − d)·tanh(e/2)/d)/e⌋: for n <= m,

    π_n = d(e^{ne} − 1)/(e^e − 1).

Then 1 − π_{n+1} = e^{−e}(1 − π_n − d), so that with j steps more, until this is below 0 and π_n is 1,

    1 − π_{m+j} = e^{−je}(1 − π_m) − d(1 − e^{−je})/(e^e − 1).

The last formula is a difference of numbers that may be nearly equal. It is evaluated in decimals, with as many digits
as that takes."""

from bisect import bisect_left
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from decimal import MAX_EMAX, MIN_EMIN, Context, Decimal, localcontext
from typing import Any, NamedTuple

from dpcalc.core.bound import PointBound, Theorem
from dpcalc.core.quantities import LARGEST_COUNT
from dpcalc.numerics.rounding import up

_DIGITS = 60  # of decimals; with half as many, a few numbers more are computed twice
_USED = 25  # digits that a result has at least: more than the 17 of a double
_LARGEST = 1000  # of ε₀/k: from there on e^{−e} is below the doubles, and π_n is 0, d or 1 up to that
_LEAST = 5e-324  # the least positive double


class _Functions(NamedTuple):
    """What the closed form needs of an arithmetic."""

    exp: Callable[[Any], Any]
    expm1: Callable[[Any], Any]


def _keep_and_drop(f: _Functions, e: Any, share: Any, people: int, growing: int) -> tuple[Any, Any]:
    """π_n and 1 − π_n, where the first term of the minimum is the smaller one in the first m steps, and
    share = d/(e^e − 1)."""
    if people <= growing:
        keep = share * f.expm1(people * e)
        return keep, 1 - keep
    j = people - growing
    drop = max(f.exp(-j * e) * (1 - share * f.expm1(growing * e)) + share * f.expm1(-j * e), 0 * share)
    return 1 - drop, drop


@contextmanager
def _decimals(step_epsilon: float, max_keys: int, digits: int = _DIGITS) -> Iterator[tuple[_Functions, Decimal]]:
    """The functions of decimals, and e = ε₀/k, with as many digits beside those that e^e − 1 cancels where e is small,
    and 1 − π_m, which is of the size of e^{−e}."""
    least = Decimal(step_epsilon).adjusted() - len(str(max_keys))
    cancelled = max(0, -least) + int(min(step_epsilon / max_keys, _LARGEST))
    with localcontext(Context(prec=digits + cancelled, Emin=MIN_EMIN, Emax=MAX_EMAX)):
        e = min(Decimal(step_epsilon) / max_keys, Decimal(_LARGEST))
        yield _Functions(Decimal.exp, lambda x: x.exp() - 1), e


def growing_steps(step_epsilon: float, step_delta: float, max_keys: int) -> int:
    """m, the number of steps that use the first term of the minimum."""
    with _decimals(step_epsilon, max_keys) as (f, e):
        d = Decimal(step_delta) / max_keys
        tanh = f.expm1(e) / (2 + f.expm1(e))
        return 1 + int((1 + (1 - d) * tanh / d).ln() / e)


def value(step_epsilon: float, step_delta: float, max_keys: int, people: int) -> dict[str, float]:
    """π_n and 1 − π_n, each rounded up."""
    growing, digits = growing_steps(step_epsilon, step_delta, max_keys), _DIGITS
    while True:
        with _decimals(step_epsilon, max_keys, digits) as (f, e):
            share = Decimal(step_delta) / max_keys / f.expm1(e)
            keep, drop = _keep_and_drop(f, e, share, people, growing)
            # a difference of two numbers, the smaller one of them at most `share`
            if drop == 0 or drop.adjusted() - share.adjusted() > _USED - digits:
                return {"keep_probability": _up(keep), "drop_probability": _up(drop)}
        digits *= 2


def _up(x: Decimal) -> float:
    """The double above a number between 0 and 1."""
    return min(1.0, up(float(x)) or _LEAST) if x else 0.0


def exact(mp: Any, step_epsilon: float, step_delta: float, max_keys: int, people: int) -> dict[str, Any]:
    e, d = mp.mpf(step_epsilon) / max_keys, mp.mpf(step_delta) / max_keys
    keep, drop = _keep_and_drop(_Functions(mp.exp, mp.expm1), e, d / mp.expm1(e), people,
                                growing_steps(step_epsilon, step_delta, max_keys))
    return {"keep_probability": keep, "drop_probability": drop}


def least_people(drop: float, step_epsilon: float, step_delta: float, max_keys: int) -> int | None:
    """The least n with 1 − π_n <= drop; None where no n below 2^53 has that."""
    most = int(LARGEST_COUNT)
    found = bisect_left(range(1, most + 1), -drop, key=lambda n: -value(step_epsilon, step_delta, max_keys, n)[
        "drop_probability"])
    return found + 1 if found < most else None


BOUND = PointBound(
    Theorem(
        name="key-selection",
        example="rdp --mechanism key-selection --step-epsilon 1 --step-delta 1e-5 --people 12",
        statement="a key of n people is kept with probability π_n, π_0 = 0, π_(n+1) = min(e^e·π_n + d, 1 − e^(−e)(1 − "
                  "π_n − d), 1), with e = ε₀/k and d = δ₀/k for people with at most k keys each; no rule that is "
                  "(e, d)-DP for each key keeps any key more often",
        source="Desfontaines, Voss, Gipson & Mandayam 2022, Theorem 1, arXiv:2006.03684",
        assumptions=("a person has at most k keys, which is enforced before people are counted, as by a random choice "
                     "of k of the person's keys, and not only observed",
                     "whether a key is published depends on the number of people who have it alone, is decided "
                     "independently of all other keys, and nothing else is published of a key"),
        in_words="Which keys found in the data, such as words, may be published: the largest probability, for a key "
                 "that n people have, under which each key is (ε₀/k, δ₀/k)-DP, and so all keys of a person together "
                 "(ε₀, δ₀)-DP, where people are added or removed. Keys of few people are published rarely, and keys of "
                 "many surely. It is false where a person counts for more than k keys, or where counts are published, "
                 "too.",
        released="the selected keys",
    ),
    params=("step_epsilon", "step_delta", "max_keys", "people"), gives=("keep_probability", "drop_probability"),
    value=value, exact=exact, rtol=5e-16)

BOUNDS = (BOUND,)
