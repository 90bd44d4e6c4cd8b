"""Optimised unary encoding (OUE): unary encoding of which the option is ε₀, with p = 1/2 and q = 1/(e^ε₀ + 1)."""

from dpcalc.accounting.mechanisms import unary
from dpcalc.accounting.mechanisms.record import Number, Part

MECHANISM = unary.MECHANISM._replace(
    name="optimized-unary",
    words="optimised unary encoding",
    sentence=lambda text: (
        "Every respondent reports one bit for every category. The bit of the true category is reported as 1 with "
        "probability 1/2, and every other bit with probability 1/(e^ε₀ + 1), all of them independently, with ε₀ = "
        f"{text('step_epsilon')}."),
    options=("step_epsilon",),
    optional=(),
    part=Part({"step_epsilon": Number()}),
)
