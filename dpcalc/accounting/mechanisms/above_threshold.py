"""The sparse vector technique (AboveThreshold): one run answers any number of queries with whether they are above a
threshold, and stops after a given number of answers above."""

from __future__ import annotations

from typing import Any

from dpcalc.accounting.mechanisms.record import (
    THRESHOLD,
    Mechanism,
    Number,
    Part,
    TotalVariation,
    of_larger_sensitivity,
)
from dpcalc.accounting.routes import converted
from dpcalc.bounds import curve
from dpcalc.bounds.mechanisms import above_threshold_exact, above_threshold_rdp
from dpcalc.bounds.profile import Profile
from dpcalc.bounds.sampling import poisson_replace_one_comonotone
from dpcalc.bounds.total_variation import product
from dpcalc.core.bound import Params
from dpcalc.core.results import Route
from dpcalc.numerics.rounding import ratio_down

_OWN = ("threshold_scale", "scale", "sensitivity", "hits", "queries")


def _own(p: Params) -> dict[str, Any]:
    return {name: p[name] for name in _OWN}


def _pure(p: Params) -> float:
    return above_threshold_exact.pure(**_own(p), steps=1)


def _profile(p: Params) -> Profile:
    def pair() -> Any:
        from dataclasses import replace

        from dpcalc.pld.atoms import approximate_dp

        return replace(approximate_dp(_pure(p)), attained=False)  # no run has these two laws

    own = {**_own(p), "steps": 1}
    return Profile(lambda e: above_threshold_exact.value(e, **own),
                   lambda mp, e: above_threshold_exact.exact(mp, e, **own), pair)


def _as_fields(p: Params) -> dict[str, Any]:
    """The scales in units of the sensitivity. Monotone queries are like any queries with twice the noise."""
    twice = 2 if p["queries"] == "monotone" else 1
    return {"threshold_scale": ratio_down((p["threshold_scale"],), (p["sensitivity"],)),
            "scale": ratio_down((twice * p["scale"],), (p["sensitivity"],)), "hits": p["hits"]}


_ROUTES = (Route(above_threshold_exact.BOUND), *converted(above_threshold_rdp.BOUND))

MECHANISM = Mechanism(
    name="above-threshold",
    words="sparse vector technique",
    sentence=lambda text: (
        f"The sparse vector technique answers whether queries are above a threshold; at most {text('hits')} of the "
        f"answers are above. Laplace noise of scale {text('threshold_scale')} is added to the threshold, and of scale "
        f"{text('scale')} to {'monotone' if text('queries') == 'monotone' else 'all'} queries whose sensitivity is "
        f"{text('sensitivity')}."),
    query=THRESHOLD,
    notes=("one run ends after --hits answers above the threshold, and any number of answers below it adds nothing to "
           "ε; --steps counts runs, each with new noise on its threshold",),
    options=("scale", "threshold_scale"),
    optional=("sensitivity", "hits", "queries"),
    once=_ROUTES,
    often=_ROUTES,
    curve=lambda p: curve.of_bound(above_threshold_rdp.BOUND, _pure(p), **_own(p)),
    profile=_profile,
    pure=_pure,
    part=Part(fields={"threshold_scale": Number(), "scale": Number(description="of the noise on every query"),
                      "hits": Number(least=1, description="answers above the threshold, after which a run ends")},
              write=_as_fields,
              read=lambda fields: {**fields, "queries": "any"}),
    group=of_larger_sensitivity,
    tv=TotalVariation(
        once=(Route(above_threshold_exact.BOUND),),
        often=(Route(above_threshold_exact.BOUND), Route(product.BOUND)),
        profile=above_threshold_exact.BOUND,
    ),
    replaced=lambda p, rate: poisson_replace_one_comonotone.of_pure(_pure(p), rate),
)
