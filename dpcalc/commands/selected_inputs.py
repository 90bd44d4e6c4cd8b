"""The best of a random number of runs as one of several guarantees that are composed: its Rényi curve, and its privacy
profile at points, from what is proven about one run."""

from functools import lru_cache
from math import exp, inf, log

from dpcalc.accounting.guarantee import Dp, OfOneRun, Sampled, Selected
from dpcalc.accounting.selection import OneRun
from dpcalc.bounds.conversions import selection
from dpcalc.bounds.conversions.selection_laws import Law, added_loss, poisson, truncated
from dpcalc.bounds.curve import Curve
from dpcalc.core.command import Given
from dpcalc.core.errors import DpcalcError, OutOfScope
from dpcalc.core.results import Question
from dpcalc.core.run import Run
from dpcalc.numerics.rounding import sum_up, up

_POINTS = 200  # of a profile; with twice as many, the ε of a composition is 3e-4 smaller, relative
_LEAST_DELTAS = (1e-30, 1e-15, 1e-8)  # of one run at the last point: the first that its guarantee reaches
_LEAST_STEP = 1e-9  # ε of the last point, where nothing is lost


def law_of(selected: Selected) -> Law:
    """The law of the number of runs."""
    tries = selected.law
    if tries.shape is None or tries.gamma is None:
        assert tries.mean is not None
        return poisson(tries.mean)
    return truncated(tries.shape, tries.gamma)


def one_run(selected: Selected) -> OneRun:
    """What is proven about one run."""
    return _one_run(selected.of_one_run)


@lru_cache(maxsize=64)
def _one_run(guarantees: tuple[OfOneRun, ...]) -> OneRun:
    from dpcalc.commands.convert import COMMAND
    from dpcalc.commands.convert_answer import SOURCES
    from dpcalc.commands.convert_inputs import with_inputs

    given = with_inputs(Given({"steps": 1}, frozenset(), guarantees))
    source = SOURCES[given["from"]]
    run = Run(COMMAND, given, Question("epsilon"), source.params)
    return OneRun(lambda question: source.routes(run.asking(question)), run.params)


def point_or_profile(selected: Selected) -> Dp | Sampled:
    """Its pure ε, or where it has none its profile at points."""
    try:
        epsilon = selection.pure(one_run(selected), law_of(selected))
    except DpcalcError:
        return profile(selected)
    return Dp(kind="dp", epsilon=epsilon, delta=0.0)


def profile(selected: Selected) -> Sampled:
    """Its privacy profile at points."""
    one, law = one_run(selected), law_of(selected)
    least = added_loss(law, **selection.search(one, law))
    points = [(sum_up((least, x)), log_delta + log(law.mean)) for x, log_delta in _samples(one)]
    deltas = [min(1.0, up(exp(y), 1e-13 * (1 + abs(y)))) if y > -inf else 0.0 for _, y in points]
    return Sampled(kind="profile", epsilon=tuple(x for x, _ in points), delta=tuple(deltas))


@lru_cache(maxsize=64)
def _samples(one: OneRun) -> tuple[tuple[float, float], ...]:
    """(ε, log δ) of one run at points, up to where δ is negligible or the least that is reached."""
    largest = 1.0
    for delta in _LEAST_DELTAS:
        try:
            largest = max(one.epsilon(log(delta)), _LEAST_STEP)
            break
        except OutOfScope:
            continue
    epsilons = [largest * (k / _POINTS) ** 2 for k in range(_POINTS + 1)]
    log_delta = one.profile_up_to(largest)
    return tuple((x, log_delta(x)) for x in epsilons)


def curve(selected: Selected) -> Curve:
    """Its Rényi curve. Raises DpcalcError where one run has none."""
    one, law = one_run(selected), law_of(selected)
    one.routes(Question("rdp", alpha=2.0))  # raises where there is none
    own = [part for part, _ in one.params.get("parts", ())]
    orders = tuple(sorted({alpha for part in own for alpha in part.orders}))

    def rdp(alpha: float) -> float:
        return selection.rdp(alpha, one, law, **selection.search_at_order(alpha, one, law))

    def exact(mp: object, alpha: float) -> object:
        return selection.exact_rdp(mp, alpha, one, law, **selection.search_at_order(alpha, one, law))

    return Curve(rdp, exact, source=selection.RDP.source, orders=orders, whole=any(part.whole for part in own))
