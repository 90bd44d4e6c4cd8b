"""One-shot top-k: noise is added to every score once, and the candidates with the k largest sums are published."""

from dataclasses import replace
from typing import Any

from dpcalc.accounting.mechanisms.record import Number, Part, of_bounds
from dpcalc.accounting.mechanisms.report_noisy_max import SCORES, changes, read_scale, relative_scale
from dpcalc.bounds.mechanisms import one_shot_top_k
from dpcalc.bounds.sampling import poisson_replace_one_comonotone
from dpcalc.core.bound import Params


def _pure(p: Params) -> float:
    return one_shot_top_k.pure(**{name: p[name] for name in one_shot_top_k.RDP.params}, steps=1)


def _pair(p: Params) -> Any:
    from dpcalc.pld.atoms import approximate_dp

    return replace(approximate_dp(_pure(p)), attained=False)  # no two data sets have these two laws


MECHANISM = of_bounds(
    one_shot_top_k.EXACT, one_shot_top_k.RDP, pair=_pair,
    name="one-shot-top-k",
    words="one-shot top-k",
    sentence=lambda text: (f"Exponential, Laplace or Gumbel noise of scale {text('scale')} is added once to the scores "
                           f"of several candidates, and only the {text('top_k')} candidates with the largest noisy "
                           f"scores are released, in their order. {changes(text)}"),
    query=SCORES,
    notes=("with Gumbel noise it is the same as k selections one after the other, each without the winners before it "
           "(peeling), which lose less at δ > 0: --mechanism noisy-max-gumbel --steps k in place of --top-k k",),
    options=("scale", "top_k"),
    optional=("sensitivity", "queries"),
    part=Part({"scale": Number(description="of the noise on every score"),
               "top_k": Number(least=1, description="candidates that are published")},
              lambda p: {**relative_scale(p), "top_k": p["top_k"]}, read=read_scale),
    replaced=lambda p, rate: poisson_replace_one_comonotone.of_pure(_pure(p), rate),
)
