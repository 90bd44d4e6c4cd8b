"""k-ary randomised response: the true category out of K with probability e^ε₀/(e^ε₀ + K − 1), and else another one."""

from dpcalc.accounting.mechanisms.record import REPORT, Number, Part, of_bounds
from dpcalc.bounds.mechanisms import k_randomized_response

MECHANISM = of_bounds(
    k_randomized_response.EXACT, k_randomized_response.RDP,
    name="k-randomized-response",
    words="k-ary randomised response",
    sentence=lambda text: (f"Every respondent reports one of {text('categories')} categories, the true one e^ε₀ times "
                           f"as likely as each other one, with ε₀ = {text('step_epsilon')}."),
    query=REPORT,
    options=("step_epsilon", "categories"),
    part=Part({"step_epsilon": Number(), "categories": Number(least=2)}),
)
