"""The best of K runs: what publishing only the run with the largest score costs, where the number K of runs is random.

Setting. One run, the candidate, draws hyper-parameters by a law that does not depend on the data, trains, and outputs a
model and a score; its guarantee covers both. K is drawn independently of the data and of the runs, the K runs are
independent copies, and the run with the largest score is published, and nothing else. Ties are broken at random, by the
order of running, or by an order of the outputs that is fixed beforehand; a run that fails counts as one with the lowest
score. Where K = 0, nothing is published. Laws of K, with m = E K: the truncated negative binomial law with shape h > −1
and 0 < g < 1, K >= 1, φ′(z) ∝ (1 − (1−g)z)^{−(1+h)} (h = 1 is geometric, h = 0 logarithmic); and the Poisson law.

Let Q and Q′ be the laws of the candidate on neighbouring data sets, δ(ε) its privacy profile, the larger one of both
directions, and φ the generating function of K.

Theorem. Let c = sup over events E of log[φ′(1 − Q(E))/φ′(1 − Q′(E))], over both orders. The selection has
(profile)  δ_A(ε) <= m·δ(ε − c), for the Poisson law where ε >= 0;
(Rényi)    ε_A(α) <= ε(α) + c + log(m)/(α−1), for the truncated negative binomial law;
(pure)     ε₀ + c, where the candidate is ε₀-DP.
For the truncated negative binomial law c = (1+h)·log r with the least r >= 1 for which (1−g)·δ(log r) <= g(r−1), and
any larger r is valid; for the Poisson law c = m·δ(0). Where the candidate is ε₀-DP and nothing else is known of it,
r = (e^{ε₀}+g)/(1+g·e^{ε₀}), and for the Poisson law c = m·tanh(ε₀/2).

Proof. Attach to each candidate an independent uniform number, and order by the score and then by this number. The runs
are independent and have the same law, so a rule that breaks ties by the order of running gives the same law of the
published output, and a fixed order of the outputs refines that of the scores. The numbers carry no data, and δ is
unchanged; an event of outputs and numbers is a randomised event of outputs, to which δ applies, too. The order is now
continuous: with F(y) = Q(below y), the published output has the density a = q·φ′(F), and a′ = q′·φ′(F′) on
the other data set, where 1 − F′ is the probability Q′ of the same event "above y". By definition of c, φ′(F′) >=
e^{−c}φ′(F). So (a − e^ε a′)₊ <= φ′(F)(q − e^{ε−c}q′)₊ <= φ′(1)(q − e^{ε−c}q′)₊, and φ′(1) = m: the profile. (K = 0 has
the same probability on both, and adds nothing where ε >= 0.) Likewise ∫a^α a′^{1−α} <= e^{(α−1)c}∫φ′(F)q^α q′^{1−α} <=
m·e^{(α−1)(c+ε(α))}: the Rényi form. And a/a′ <= e^{ε₀+c}: the pure one.
Truncated negative binomial: with x = Q(E) and x′ = Q′(E), φ′(1−x)/φ′(1−x′) = [(g+(1−g)x′)/(g+(1−g)x)]^{1+h} is at most
r^{1+h} for all events if and only if (1−g)(Q′(E) − r·Q(E)) <= (r−1)g for all events, which is the condition. Its left
side falls and its right side rises in r. Poisson: φ′(1−x) = m·e^{−mx}, so that c = m·sup(x′ − x). With the profile
(e^{ε₀} − r)/(e^{ε₀} + 1) of randomised response, the worst ε₀-DP mechanism, the condition is linear in r. ∎

Theorem (Poisson law, Rényi). ε_A(α) <= log[e^{−m} + m·exp((α−1)(ε(α) + m·δ(log(α/(α−1)))))]/(α−1).

Proof. The density of the published output is a = m·q·e^{−m(1−F)}, and a′ likewise. With x = 1 − F and x′ = 1 − F′ the
factor of q^α q′^{1−α} is m·e^{−αmx + (α−1)mx′}, and αx − (α−1)x′ >= −(α−1)·δ(log(α/(α−1))), as x′ − rx <= δ(log r). The
outcome K = 0 adds its own e^{−m}. ∎ (The published form leaves out e^{−m}, and is false where m < 1.)

Theorem (total variation). The total variation of the selection is at most 1 − φ(1 − t), where t is that of a candidate,
and at most (e^ε − 1 + 2δ_A(ε))/(e^ε + 1) for every ε >= 0.

Proof. Couple the candidates of both data sets in pairs that differ with probability t, independently, and use the same
K. The published outputs differ only if some pair differs, which has the probability 1 − E(1−t)^K. The other form holds
for every (ε, δ)-DP mechanism: with x = A(E) and x′ = A′(E), x − x′ <= (e^ε − 1)x′ + δ and, by the complement,
x − x′ <= (e^ε − 1)(1 − x) + δ; half their sum is (e^ε − 1)(1 − (x − x′))/2 + δ. ∎"""

from collections.abc import Callable
from functools import lru_cache
from math import exp, expm1, inf, log, log1p, nextafter, tanh
from typing import Any

from dpcalc.bounds.conversions.selection_laws import (
    RTOL,
    Candidate,
    Law,
    added_loss,
    exact_added_loss,
    log_r,
)
from dpcalc.core.bound import Choices, Params, PointBound, ProfileBound, RdpBound, Theorem
from dpcalc.core.errors import OutOfScope
from dpcalc.numerics.minimize import minimise
from dpcalc.numerics.rounding import sum_up, up


def search(candidate: Candidate, runs: Law, **at: float) -> dict[str, float]:
    """What c follows from: log r, or the total variation of the candidate."""
    return {"total_variation": candidate.tv()} if runs.shape is None else {"log_r": log_r(candidate, runs)}


# --- the privacy profile ---------------------------------------------------------------------------------------------


def value(epsilon: float, candidate: Candidate, runs: Law, **c_from: float) -> float:
    """log of m·δ(ε − c), at most 0."""
    return _value(epsilon, candidate.log_delta, runs, **c_from)


def rough_value(epsilon: float, candidate: Candidate, runs: Law) -> float:
    """An upper bound of the value that is cheap at many ε."""
    return _value(epsilon, candidate.rough_log_delta, runs, **search(candidate, runs))


def _value(epsilon: float, log_delta: Callable[[float], float], runs: Law, **c_from: float) -> float:
    left = nextafter(epsilon - added_loss(runs, **c_from), -inf)
    # δ(−y) = 1 − e^{−y} + e^{−y}·δ(y)
    one = log_delta(left) if left >= 0 else log(-expm1(left) + exp(left + log_delta(-left)))
    if one == -inf:
        return -inf
    return min(0.0, one + log(runs.mean) + RTOL * (1 + abs(one) + abs(log(runs.mean))))


def inverse(log_delta: float, candidate: Candidate, runs: Law, **c_from: float) -> float:
    """c + the ε of one candidate at δ/m."""
    share = log_delta - log(runs.mean)
    try:
        one = candidate.epsilon(min(share - RTOL * (1 + abs(share)), 0.0))
    except OutOfScope as reason:
        raise OutOfScope(reason.code, f"of the best of {runs.mean:.6g} expected runs this δ takes "
                         f"{exp(share):.6g} of one run: {reason.message}", "--delta") from None
    return sum_up((one, added_loss(runs, **c_from)))


def pure(candidate: Candidate, runs: Law) -> float:
    """ε₀ + c."""
    return sum_up((candidate.pure(), added_loss(runs, **search(candidate, runs))))


def exact(mp: Any, epsilon: float, candidate: Candidate, runs: Law, **c_from: float) -> Any:
    left = mp.mpf(epsilon) - exact_added_loss(mp, runs, **c_from)
    one = (candidate.exact_delta(mp, left) if float(left) >= 0 else
           -mp.expm1(left) + mp.exp(left) * candidate.exact_delta(mp, -left))
    return min(mp.mpf(1), runs.exact_mean(mp) * one)


# --- the Rényi curve -------------------------------------------------------------------------------------------------


def search_at_order(alpha: float, candidate: Candidate, runs: Law) -> dict[str, float]:
    """log r, or for a Poisson law δ(log(α/(α−1))) of the candidate."""
    if runs.shape is not None:
        return search(candidate, runs)
    log_delta = candidate.rough_log_delta(log1p(1 / (alpha - 1)) * (1 - RTOL))
    return {"delta_at_order": up(exp(log_delta), RTOL * (1 + min(abs(log_delta), 1e3)))}


def rdp(alpha: float, candidate: Candidate, runs: Law, log_r: float = 0.0, delta_at_order: float = 0.0) -> float:
    one, log_mean = candidate.rdp(alpha), log(runs.mean)
    if runs.shape is not None:
        return up(one + added_loss(runs, log_r) + log_mean / (alpha - 1), RTOL)
    if one == inf:
        return inf
    exponent = log_mean + (alpha - 1) * (one + runs.mean * delta_at_order)
    most = max(exponent, -runs.mean)
    whole = most + log(exp(exponent - most) + exp(-runs.mean - most))
    return max(0.0, whole + RTOL * (1 + abs(exponent) + abs(log_mean) + runs.mean)) / (alpha - 1) * (1 + RTOL)


def exact_rdp(mp: Any, alpha: float, candidate: Candidate, runs: Law, log_r: float = 0.0,
              delta_at_order: float = 0.0) -> Any:
    one, m, a = candidate.exact_rdp(mp, alpha), runs.exact_mean(mp), mp.mpf(alpha)
    if runs.shape is not None:
        return one + exact_added_loss(mp, runs, log_r) + mp.log(m) / (a - 1)
    return mp.log(mp.exp(-m) + m * mp.exp((a - 1) * (one + m * mp.mpf(delta_at_order)))) / (a - 1)


# --- pure differential privacy, and the total variation --------------------------------------------------------------


def of_pure(candidate: Candidate, runs: Law) -> dict[str, float]:
    e = candidate.pure()
    if runs.gamma is None or runs.shape is None:
        return {"epsilon": sum_up((e, up(runs.mean * tanh(e / 2), RTOL))), "delta": 0.0}
    g = runs.gamma
    # log[(e^ε₀ + g)/(1 + g·e^ε₀)], without a difference of nearly equal numbers
    far, rest = exp(-e), 1 - g
    log_r = (log1p(expm1(e) * rest / (1 + g * exp(e))) if e < 30 else
             log1p(g * far) - (log(g + far) if g < 0.5 else log1p(far - rest)))
    return {"epsilon": sum_up((e, up((1 + runs.shape) * log_r, RTOL))), "delta": 0.0}


def exact_of_pure(mp: Any, candidate: Candidate, runs: Law) -> dict[str, Any]:
    e = mp.mpf(candidate.pure())
    if runs.gamma is None or runs.shape is None:
        return {"epsilon": e + mp.mpf(runs.mean) * mp.tanh(e / 2), "delta": mp.mpf(0)}
    g = mp.mpf(runs.gamma)
    return {"epsilon": e + (1 + mp.mpf(runs.shape)) * mp.log((mp.exp(e) + g) / (1 + g * mp.exp(e))), "delta": mp.mpf(0)}


def of_tv(candidate: Candidate, runs: Law) -> dict[str, float]:
    epsilon = point_for_tv(candidate, runs)
    delta = exp(value(epsilon, candidate, runs, **search(candidate, runs)))
    by_point = up((expm1(epsilon) + 2 * delta) / (exp(epsilon) + 1) if epsilon < 30 else 1.0, 10 * RTOL)
    return {"tv": min(1.0, by_point, _tv_by_runs(candidate, runs))}


@lru_cache(maxsize=64)
def point_for_tv(candidate: Candidate, runs: Law) -> float:
    """An ε at which (ε, δ) gives about the least total variation."""
    c = added_loss(runs, **search(candidate, runs))

    def variation(u: float) -> float:
        epsilon = c + exp(u)
        delta = exp(value(epsilon, candidate, runs, **search(candidate, runs)))
        return (expm1(epsilon) + 2 * delta) / (exp(epsilon) + 1) if epsilon < 30 else 1.0

    return c + exp(minimise(variation, log(max(c, 1e-300)), -700.0, 3.5, 0.5, 1e-3))


def _tv_by_runs(candidate: Candidate, runs: Law) -> float:
    """1 − φ(1 − t), rounded up."""
    t = candidate.tv()
    if runs.gamma is None or runs.shape is None:
        found = -expm1(-runs.mean * t)
    elif runs.gamma == 1:
        found = t
    else:  # by u = log((g + (1−g)t)/g), from 0 to log(1/g)
        u, most = log1p((1 - runs.gamma) / runs.gamma * t), -log(runs.gamma)
        found = u / most if runs.shape == 0 else expm1(-runs.shape * u) / expm1(-runs.shape * most)
    return up(found, 10 * RTOL)


def exact_of_tv(mp: Any, candidate: Candidate, runs: Law) -> dict[str, Any]:
    point = mp.mpf(point_for_tv(candidate, runs))
    delta = exact(mp, point, candidate, runs, **search(candidate, runs))
    by_point = (mp.expm1(point) + 2 * delta) / (mp.exp(point) + 1)
    by_runs = exact_tv_by_runs(mp, candidate.tv(), runs)
    return {"tv": by_runs if float(by_runs) < float(by_point) else by_point}


def exact_tv_by_runs(mp: Any, tv: float, runs: Law) -> Any:
    """1 − φ(1 − t) of a total variation t of one run."""
    t = mp.mpf(tv)
    if runs.gamma is None or runs.shape is None:
        return -mp.expm1(-mp.mpf(runs.mean) * t)
    g, h = mp.mpf(runs.gamma), mp.mpf(runs.shape)
    if g == 1:
        return t
    reached = g + (1 - g) * t
    return mp.log(reached / g) / -mp.log(g) if h == 0 else (g**-h - reached**-h) / (g**-h - 1)


# --- the records -----------------------------------------------------------------------------------------------------


class _OfCandidate(ProfileBound):
    """A profile that is composed numerically where that of the candidate is."""

    def is_numerical(self, params: Params) -> bool:
        """`numerical` says it of parameters that are not complete."""
        return bool(params["candidate"].is_numerical if "candidate" in params else params.get("numerical", True))

    @property
    def is_closed_form(self) -> bool:
        return False


_SOURCE = "proof in dpcalc/bounds/conversions/selection.py"
_SHARPER = "sharper than Papernot & Steinke 2022, Theorem {}, arXiv:2110.03620v2; " + _SOURCE
_ASSUMES = ("the number K of runs is drawn independently of the data and of the runs, by the stated law",
            "the runs are independent copies of one mechanism, whose guarantee covers the score, too",
            "only the run with the largest score is published: not K, not the other runs, not their scores; equal "
            "scores are decided at random, by the order of running, or by an order of the outputs fixed beforehand")
_RUNS = "the best of K independent runs is published, K drawn from a truncated negative binomial or Poisson law with " \
        "mean m"


def _theorem(name: str, example: str, statement: str, in_words: str, source: str = _SOURCE) -> Theorem:
    return Theorem(name=name, example=example, statement=f"{_RUNS}: {statement}", in_words=in_words, source=source,
                   assumptions=_ASSUMES, released="the selected run only")


_PARAMS = ("candidate", "runs")
PROFILE: ProfileBound = _OfCandidate(
    _theorem("selection-profile", "convert --from gdp --mu 1 --tries 10 --delta 1e-5",
             "δ(ε) ≤ m·δ_run(ε − c), with c from the profile δ_run of one run",
             in_words="What publishing the best of K runs costs, such as a search over hyper-parameters, as a privacy "
                      "profile: K is drawn at random from the stated law, and only the best run is published. It is "
                      "false where the number of runs is fixed or shown, where other runs or their scores are shown, "
                      "or where the search used the data before.",
             source=f"{_SHARPER.format(2)}; of the kind of Koskela, Redberg & Wang 2024, arXiv:2402.06701"),
    params=_PARAMS, value=value, exact=exact, rtol=1e-12, pure=pure, inverse=inverse, choices=Choices(search=search))
RDP = RdpBound(
    _theorem("selection-rdp", "convert --from zcdp --rho 0.1 --tries 10 --alpha 8",
             "ε(α) ≤ ε_run(α) + c + log(m)/(α−1), with c from the profile of one run; for a Poisson law, log[e^(−m) + "
             "m·exp((α−1)(ε_run(α) + m·δ_run(log(α/(α−1)))))]/(α−1)",
             in_words="What publishing the best of K runs costs, such as a search over hyper-parameters, as a Rényi "
                      "divergence: K is drawn at random from the stated law, and only the best run is published. It is "
                      "false where the number of runs is fixed or shown, or where other runs or their scores are "
                      "shown; selection-profile may give a smaller ε.",
             source=_SHARPER.format("2 (for a Poisson law Theorem 6, with the outcome K = 0)")),
    params=_PARAMS, value=rdp, exact=exact_rdp, rtol=2e-8, choices=Choices(search=search_at_order))
PURE = PointBound(
    _theorem("selection-pure", "convert --from dp --epsilon 1 --delta 0 --tries 10 --target-delta 0",
             "ε = ε₀ + (1+h)·log((e^ε₀ + g)/(1 + g·e^ε₀)) where one run is ε₀-DP; for a Poisson law ε₀ + m·tanh(ε₀/2)",
             in_words="What publishing the best of K runs costs, where every run has pure ε₀-DP: K is drawn at random "
                      "from the stated law, and only the best run is published. It holds for every such run; one "
                      "whose privacy profile is known may cost less. It is false where the number of runs is fixed or "
                      "shown.",
             source=f"sharper than Liu & Talwar 2019, Theorem 3.2, arXiv:1811.07971; {_SOURCE}"),
    params=_PARAMS, value=of_pure, exact=exact_of_pure, rtol=1e-12, gives=("epsilon", "delta"))
TV = PointBound(
    _theorem("selection-tv", "convert --from gdp --mu 0.1 --tries 10 --to tv",
             "the total variation is at most 1 − φ(1 − t), with t that of one run and φ the generating function of K, "
             "and at most that of any (ε, δ) that holds for the best run",
             in_words="The total variation of publishing the best of K runs: K is drawn at random from the stated "
                      "law, and only the best run is published. It grows with the expected number of runs, but need "
                      "not approach 1: with pure ε₀-DP and a geometric number it stays below tanh(3ε₀/2). It is false "
                      "where the number of runs depends on the data, or where other runs or their scores are shown."),
    params=_PARAMS, value=of_tv, exact=exact_of_tv, rtol=1e-12, gives=("tv",))
BOUNDS = (PROFILE, RDP, PURE, TV)
