"""Optimal selection of keys: those that occur in the data are published, without counts, each with a probability that
depends on the number of people who have it. One use is the decision on one key; a person changes at most k of them."""

from math import inf, log, nextafter
from typing import Any

from dpcalc.accounting.contributions import people_who_differ
from dpcalc.accounting.mechanisms.record import KEYS, Mechanism, Number, Part, TotalVariation
from dpcalc.accounting.routes import PURE_COMPOSITION
from dpcalc.bounds.conversions import composition_optimal
from dpcalc.bounds.conversions.composition_basic import Points
from dpcalc.bounds.profile import Profile
from dpcalc.bounds.total_variation import closed_forms
from dpcalc.core.bound import Params
from dpcalc.core.results import Route
from dpcalc.numerics.rounding import ratio_up


def _of_one_key(p: Params) -> dict[str, Any]:
    """The (ε, δ) of the decision on one key: a k-th of those of a selection, rounded up."""
    keys = float(p.get("max_keys") or 1)
    return {name: ratio_up((p[name],), (keys,)) for name in ("step_epsilon", "step_delta")}


def _points(options: Params) -> Points:
    return ((options["step_epsilon"], options["step_delta"], people_who_differ(options)),)


def _profile(p: Params) -> Profile:
    e, d = p["step_epsilon"], p["step_delta"]

    def pair() -> Any:
        from dpcalc.pld.atoms import approximate_dp

        return approximate_dp(e, min(0.0, nextafter(log(d), inf)))

    return Profile(lambda epsilon: composition_optimal.value(epsilon, e, d, 1),
                   lambda mp, epsilon: composition_optimal.exact(mp, epsilon, e, d, 1), pair)


_TV = (Route(composition_optimal.BOUND), Route(closed_forms.PRODUCT))

MECHANISM = Mechanism(
    name="key-selection",
    words="optimal selection of a key",
    sentence=lambda text: (
        "Keys are selected from those that occur in the data (Desfontaines et al. 2022, Theorem 1), and no counts are "
        "published: each key with the largest probability for the number of people who have it that ε = "
        f"{text('step_epsilon')} and δ = {text('step_delta')} allow for all keys of a person together. Each person "
        f"contributes to at most {text('max_keys') or 1} key{'' if (text('max_keys') or '1') == '1' else 's'}, "
        "enforced before counting."),
    query=KEYS,
    notes=("ε and δ of --step-epsilon and --step-delta are those of one selection; each of the at most --max-keys keys "
           "of a person has an equal part of them",),
    options=("step_epsilon", "step_delta"),
    optional=("max_keys",),
    once=PURE_COMPOSITION,
    often=PURE_COMPOSITION,
    curve=None,
    profile=_profile,
    pure=None,
    part=Part({"step_epsilon": Number(description="ε of the decision on one key"),
               "step_delta": Number(1.0, "δ of the decision on one key")}, _of_one_key),
    tv=TotalVariation(_TV, _TV, composition_optimal.BOUND),
    bound_params=_of_one_key,
    releases=lambda options: int(options.get("max_keys") or 1) * people_who_differ(options),
    points=_points,
    states_relation=True,
    questions=("people", "keep_probability"),
    ways_out={"sensitivity": "each person counts once at a key, and --max-keys bounds the number of keys",
              "threshold": "the probability that a key is published follows from the number of people who have it; "
                           "noisy counts with a threshold are --mechanism gaussian or laplace"},
)
