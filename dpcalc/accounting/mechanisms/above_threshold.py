"""The sparse vector technique (AboveThreshold): one run answers any number of queries with whether they are above a
threshold, and stops after a given number of answers above."""

from dataclasses import replace
from typing import Any

from dpcalc.accounting.mechanisms.record import THRESHOLD, Number, Part, of_bounds
from dpcalc.bounds.mechanisms import above_threshold
from dpcalc.bounds.sampling import poisson_replace_one_comonotone
from dpcalc.core.bound import Params
from dpcalc.numerics.rounding import ratio_down


def _pure(p: Params) -> float:
    return above_threshold.pure(**{name: p[name] for name in above_threshold.RDP.params}, steps=1)


def _pair(p: Params) -> Any:
    from dpcalc.pld.atoms import approximate_dp

    return replace(approximate_dp(_pure(p)), attained=False)  # no run has these two laws


def _as_fields(p: Params) -> dict[str, Any]:
    """The scales in units of the sensitivity. Monotone queries are like any queries with twice the noise."""
    twice = 2 if p["queries"] == "monotone" else 1
    return {"threshold_scale": ratio_down((p["threshold_scale"],), (p["sensitivity"],)),
            "scale": ratio_down((twice * p["scale"],), (p["sensitivity"],)), "hits": p["hits"]}


MECHANISM = of_bounds(
    above_threshold.EXACT, above_threshold.RDP, pair=_pair,
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
    part=Part({"threshold_scale": Number(), "scale": Number(description="of the noise on every query"),
               "hits": Number(least=1, description="answers above the threshold, after which a run ends")},
              _as_fields, read=lambda fields: {**fields, "queries": "any"}),
    replaced=lambda p, rate: poisson_replace_one_comonotone.of_pure(_pure(p), rate),
)
