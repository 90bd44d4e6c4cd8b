"""The exact privacy profile of one selection by a mechanism of bounded range, such as the exponential mechanism.

A mechanism has range η if for any two neighbouring data sets its privacy loss ℓ = log(P/Q) lies in an interval of
length η, which may depend on the two data sets. The exponential mechanism, which selects y with probability
proportional to e^{εu(y)/(2Δ)} for scores u that change by at most Δ, has range η = ε: every probability is e^{εu/(2Δ)}
over a sum that is the same for all y, and the first factor changes by e^{±ε/2}. Adding Gumbel noise to the scores and
taking the largest is the same mechanism. Where one data set has no score below those of the other, as for counts when
a record is added, the first factor changes by at most e^{ε/2} in one direction, and the range is ε/2.

Proof. Let ℓ lie in [t − η, t] and x = e^ℓ, so that E_Q[x] = 1, and let γ = e^ε with |ε| <= η. δ(ε) = E_Q[(x − γ)₊] is
largest, for a convex function of x on an interval with a given mean, for the law on both ends (Jensen, in the form of
the chord): x = e^t with probability p = (1 − e^{t−η})/(e^t − e^{t−η}) under Q, and x = e^{t−η} else. If γ <= e^{t−η}
or γ >= e^t this is (1 − γ)₊, which is at most what follows at the t of the maximum. Between them it is p(e^t − γ). With
u = e^t and κ = e^{−η} it is (1 − κu)(u − γ)/(u(1 − κ)) = (1 + κγ − κu − γ/u)/(1 − κ), which is largest at u = √(γ/κ),
that is at t = (ε + η)/2 in [0, η], and is then (1 − √(κγ))²/(1 − κ). This is the δ(ε) below, and two outcomes with
these probabilities are a mechanism of range η that reaches it.

The profile as a function of γ is that of the pair (P, Q) whose loss has the density e^{ℓ/2}·e^{η/2}/(2(e^η − 1)) under
P on [−η, η], as ∫(1 − e^{ε−ℓ})₊ of it shows. This pair dominates every mechanism of range η, whichever t it has, and so
every adaptive composition is dominated by that of the pair (Zhu, Dong & Wang 2022, Theorem 10). The pair is no
mechanism of range η itself: at different ε other mechanisms are the worst ones.
"""

from math import inf, nextafter
from typing import Any

from dpcalc.core.bound import ProfileBound, Theorem
from dpcalc.numerics.elementary import log1mexp
from dpcalc.numerics.rounding import up

RANGE = ("the privacy loss of one selection lies in an interval of length η: the exponential mechanism with Pr[y] "
         "proportional to e^(εu(y)/(2Δ)), for scores u that change by at most Δ, has η = ε, and η = ε/2 where all "
         "scores change in the same direction; so has the largest of the scores with Gumbel noise of scale 2Δ/ε; the "
         "set of candidates and any base weights do not depend on the data")


def value(epsilon: float, step_epsilon: float) -> float:
    """log δ(ε) = 2 log(1 − e^{(ε−η)/2}) − log(1 − e^{−η}), rounded up; −inf from ε = η on."""
    difference = epsilon - step_epsilon
    if difference >= 0:
        return -inf
    # Near δ = 1 log δ is −2e^{difference/2}, so that the rounding of the difference decides: it goes down.
    return min(0.0, up(2 * log1mexp(nextafter(difference, -inf) / 2) - log1mexp(-step_epsilon), 2e-15))


def inverse(log_delta: float, step_epsilon: float) -> float:
    """ε = (η + 2 log(1 − √(δ(1 − e^{−η}))))₊, rounded up."""
    if log_delta == -inf:
        return step_epsilon
    log_root = (log_delta + log1mexp(-step_epsilon)) / 2
    below = 2 * log1mexp(log_root)  # ε − η; its relative error is that of e^{log_root}, a few ulp of log_root
    return min(step_epsilon, max(0.0, step_epsilon + below - 1e-15 * (3 - log_root) * below + 4e-16 * step_epsilon))


def exact(mp: Any, epsilon: float, step_epsilon: float) -> Any:
    e, eta = mp.mpf(epsilon), mp.mpf(step_epsilon)
    if e >= eta:
        return mp.mpf(0)
    return (mp.exp(eta / 2) - mp.exp(e / 2)) ** 2 / mp.expm1(eta)


BOUND = ProfileBound(
    Theorem(
        name="exponential-exact",
        example="rdp --mechanism exponential --step-epsilon 1 --epsilon 0.2",
        statement="δ(ε) = (e^(η/2) − e^(ε/2))²/(e^η − 1) for ε ≤ η, the largest of all mechanisms whose privacy loss "
                  "has a range of length η; pure ε = η, and total variation δ(0) = tanh(η/4)",
        source="Dong, Durfee & Rogers 2020, arXiv:1909.13830 (bounded range, and the worst case with two outcomes); "
               "proof in dpcalc/bounds/mechanisms/exponential_exact.py",
        assumptions=(RANGE, "one selection"),
    ),
    params=("step_epsilon",),
    value=value,
    exact=exact,
    rtol=2e-14,
    pure=lambda step_epsilon: step_epsilon,
    inverse=inverse,
)
