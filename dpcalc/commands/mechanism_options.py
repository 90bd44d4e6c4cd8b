"""The options that describe a mechanism and its noise, which several commands share."""

from dpcalc.core import quantities as q
from dpcalc.core.command import MECHANISM, Option, options

_DEFAULTS = {"hits": 1, "queries": "any"}


def mechanism_options(sigma: str) -> tuple[Option, ...]:
    """The options; `sigma` is the help of --sigma, which says what the noise is added to."""
    return (
        Option(q.MECHANISM, MECHANISM, default="gaussian"),
        *(Option(o._replace(help=sigma) if o is q.SIGMA else o, MECHANISM, default=_DEFAULTS.get(o.name))
          for o in q.MECHANISM_OPTIONS),
        Option(q.SENSITIVITY, MECHANISM, default=1.0),
        *options(MECHANISM, q.NOISE_MULTIPLIER, q.CLIPPING_NORM),
    )
