"""Report noisy max: exponential, Laplace or Gumbel noise is added to the score of every candidate, and the candidate
with the largest sum is published. Options and parameters that selections by noisy scores share."""

from collections.abc import Callable
from typing import Any

from dpcalc.accounting.mechanisms.record import Number, Part, Query, of_bounds
from dpcalc.bounds.mechanisms import report_noisy_max
from dpcalc.bounds.profile import Profile
from dpcalc.bounds.sampling import poisson_replace_one_comonotone
from dpcalc.core.bound import Params
from dpcalc.numerics.rounding import ratio_down, ratio_up

SCORES = Query("the sensitivity of the scores")
PEELING = ("--steps k is peeling: select, remove the winner, and select again with new noise")
MONOTONE = "counts that only grow when a person is added are monotone scores: --queries monotone halves ε"
BY_GUMBEL = ("with Gumbel noise it is the exponential mechanism, which loses less at δ > 0: --mechanism "
             "noisy-max-gumbel")


def ratio(p: Params) -> dict[str, Any]:
    """ε₀ = 2Δ/b, or Δ/b for monotone scores, rounded up, from the options or from the parameters of the bounds."""
    if p.get("scale") is None:
        return {"step_epsilon": p["step_epsilon"]}
    each = 1.0 if p["queries"] == "monotone" else 2.0
    return {"step_epsilon": ratio_up((each, p["sensitivity"]), (p["scale"],))}


def relative_scale(p: Params) -> dict[str, Any]:
    """The scale in units of the sensitivity. Monotone scores are like any scores with twice the noise."""
    twice = 2.0 if p["queries"] == "monotone" else 1.0
    return {"scale": ratio_down((twice, p["scale"]), (p["sensitivity"],))}


def read_scale(fields: Params) -> dict[str, Any]:
    """The parameters of one use from the fields of a part."""
    return {**fields, "queries": "any"}


def changes(text: Callable[[str], str]) -> str:
    """How the scores change, in a sentence for a statement."""
    together = ", and all scores in the same direction" if text("queries") == "monotone" else ""
    return f"Between neighbouring data sets a score changes by at most {text('sensitivity')}{together}."


def replaced(p: Params, rate: float) -> Profile:
    """The profile of a step in which a record is replaced, by the trade-off function of Laplace noise."""
    found = poisson_replace_one_comonotone.of_laplace(1.0, ratio(p)["step_epsilon"], rate)

    def pair() -> Any:
        from dpcalc.pld.pair import not_attained

        return not_attained(found.pair())  # no two data sets have these two laws

    return found._replace(pair=pair)


MECHANISM = of_bounds(
    report_noisy_max.PROFILE, report_noisy_max.RDP, bound_params=ratio,
    name="report-noisy-max",
    words="report noisy max",
    sentence=lambda text: (f"Exponential, Laplace or Gumbel noise of scale {text('scale')} is added to the scores of "
                           "several candidates, and only the candidate with the largest noisy score is released. "
                           + changes(text)),
    query=SCORES,
    notes=(MONOTONE, BY_GUMBEL, PEELING),
    ways_out={"step_epsilon": "give --scale and --sensitivity, or use --mechanism permute-and-flip, the same by its ε"},
    options=("scale",),
    optional=("sensitivity", "queries"),
    part=Part({"scale": Number(description="of the noise on every score")}, relative_scale, read=read_scale),
    replaced=replaced,
)
