"""Claims about the best of a random number of runs: each follows from claims about one run, which are proven for
themselves, and from an inequality between numbers.

What the calculator knows of one run is computed again, not read from the record: its rows hold the free choices of the
theorems behind them, and the claims about these rows are decided like all others. """

from collections.abc import Callable
from fractions import Fraction
from math import exp, log, nextafter
from typing import Any, NamedTuple

from dpcalc.accounting.selection import OneRun
from dpcalc.bounds.conversions import selection
from dpcalc.bounds.conversions.selection_laws import Law, added_loss, exact_added_loss
from dpcalc.core.results import Answer, Question, Row
from dpcalc.numerics.rounding import difference_down
from dpcalc.verify.arb.context import Formula
from dpcalc.verify.claim import Claim, claim_always_true, require_same
from dpcalc.verify.decide import decide
from dpcalc.verify.unchecked import Unchecked

Claims = tuple[Claim, ...]


class Maker(NamedTuple):
    """The functions that make the claims of a row by other bounds: by the kind of the row's own, and of any row."""

    of_kind: Callable[[Row, Question], Claims]
    of_row: Callable[[Row, Answer], Claims]


def claims_of_selection(row: Row, answer: Answer, make: Maker) -> Claims:
    """Return the claims of a row by one of the bounds of bounds/conversions/selection.py, its own number first."""
    bound, question = row.route.bound, answer.question
    if bound is selection.PURE or (bound is selection.PROFILE and question.asks == "epsilon" and not question.delta):
        return _pure(row, answer, make)
    if bound is selection.TV:
        return _total_variation(row, answer, make)
    if bound is selection.RDP:
        return (*make.of_kind(row, question), *_of_added_loss(row, answer, make))
    if question.asks == "epsilon":
        return (*_epsilon(row, answer, make), *_of_added_loss(row, answer, make))
    return (*_delta(row, answer, make), *_of_added_loss(row, answer, make))


def _parts(row: Row) -> tuple[OneRun, Law]:
    one, law = row.params["candidate"], row.params["runs"]
    assert isinstance(one, OneRun)
    return one, law


def _c_from(row: Row) -> dict[str, float]:
    return {name: row.witness[name] for name in ("log_r", "total_variation") if name in row.witness}


def _claims_of_run(row: Row, answer: Answer, question: Question, make: Maker) -> Claims:
    return make.of_row(row, answer._replace(question=question))


def _compared(name: str, claimed: float, value: Formula) -> Claim:
    """Return the claim that a number is at most the claimed one."""
    return Claim(name, claimed, lambda mp: mp.mpf(claimed) - value(mp), value, name)


def _of_added_loss(row: Row, answer: Answer, make: Maker) -> Claims:
    """Return the claims that the numbers from which c follows are valid."""
    one, law = _parts(row)
    if law.shape is None or law.gamma is None:
        if "delta_at_order" in row.witness:
            return _delta_of_run(one, answer, log(row.witness["alpha"] / (row.witness["alpha"] - 1)) * (1 - 1e-14),
                                 row.witness["delta_at_order"], make)
        if "total_variation" not in row.witness:
            return ()
        return _delta_of_run(one, answer, 0.0, row.witness["total_variation"], make)
    x = float(row.witness["log_r"])
    if law.gamma == 1 or x >= -log(law.gamma) * (1 + 1e-15):  # the condition holds whatever one run does
        return ()
    gamma = law.gamma

    def most(mp: Any) -> Any:
        """Return the largest δ that the condition allows at log r."""
        return mp.mpf(gamma) * mp.expm1(mp.mpf(x)) / (1 - mp.mpf(gamma))

    own = one.at(x)
    condition = _compared("delta", own.result["delta"], lambda mp: mp.mpf(own.result["delta"]))
    return (condition._replace(slack=lambda mp: most(mp) - mp.mpf(own.result["delta"]), exact=most, gives="δ"),
            *_claims_of_run(own, answer, Question("delta", epsilon=x), make))


def _delta_of_run(one: OneRun, answer: Answer, epsilon: float, claimed: float, make: Maker) -> Claims:
    """Return the claims that δ of one run at ε is at most a number."""
    row = one.at(epsilon)
    value = row.result["delta"]
    return (_compared("delta", claimed, lambda mp: mp.mpf(value)),
            *_claims_of_run(row, answer, Question("delta", epsilon=epsilon), make))


def _epsilon(row: Row, answer: Answer, make: Maker) -> Claims:
    """Return the claims that one run has an ε at δ/m, and that c + this ε is at most the claimed one."""
    require_same(row, "delta", answer.question.delta)
    one, law = _parts(row)
    c, claimed, delta = added_loss(law, **_c_from(row)), row.result["epsilon"], answer.question.delta or 0.0
    share = log(delta) - log(law.mean)
    share -= 1e-14 * (1 + abs(share))
    of_run = one.row(Question("epsilon", delta=exp(share) * (1 - 1e-15 * (1 - share)), upper_only=True))
    left = of_run.result["epsilon"]
    if Fraction(left) + Fraction(c) > Fraction(claimed):  # by the rounding of another machine
        left = difference_down(claimed, c)
        of_run = of_run._replace(result={**of_run.result, "epsilon": left})
    at_most = of_run.result["delta"]
    return (Claim("epsilon", claimed, lambda mp: mp.mpf(claimed) - exact_added_loss(mp, law, **_c_from(row)) - left,
                  lambda mp: exact_added_loss(mp, law, **_c_from(row)) + left, "epsilon"),
            Claim("delta", delta, lambda mp: mp.mpf(delta) - law.exact_mean(mp) * at_most,
                  lambda mp: law.exact_mean(mp) * at_most, "δ"),
            *_claims_of_run(of_run, answer, Question("epsilon", delta=at_most), make))


def _delta(row: Row, answer: Answer, make: Maker) -> Claims:
    """Return the claims about δ, or about the total variation as δ at ε = 0, by δ of one run at ε − c."""
    one, law = _parts(row)
    name = answer.question.asks
    claimed, epsilon = row.result[name], 0.0 if name == "tv" else answer.question.epsilon or 0.0
    if claimed >= 1:
        return (claim_always_true(name, claimed, 1, name),)
    left = nextafter(epsilon - added_loss(law, **_c_from(row)), -1.0)
    if left < 0:
        raise Unchecked("at an ε below what the selection adds, only values of 1 are checked")
    of_run = one.at(left)
    log_delta = of_run.result["log_delta"]

    def value(mp: Any) -> Any:
        return law.exact_mean(mp) * mp.exp(mp.mpf(log_delta)) if log_delta > float("-inf") else mp.mpf(0)

    found = [_compared(name, claimed, value)]
    if name == "delta" and (claimed_log := row.result["log_delta"]) > float("-inf"):
        found.append(Claim("log_delta", claimed_log, lambda mp: mp.exp(mp.mpf(claimed_log)) - value(mp), value, "δ"))
    return (*found, *_claims_of_run(of_run, answer, Question("delta", epsilon=left), make))


def _pure(row: Row, answer: Answer, make: Maker) -> Claims:
    one, law = _parts(row)
    of_run = one.row(Question("epsilon", delta=0.0))
    claimed = row.result["epsilon"]

    def value(mp: Any) -> Any:
        if row.route.bound is selection.PURE:
            return selection.exact_of_pure(mp, one, law)["epsilon"]
        return mp.mpf(of_run.result["epsilon"]) + exact_added_loss(mp, law, **selection.search(one, law))

    known = row._replace(witness={**row.witness, **selection.search(one, law)})
    return (_compared("epsilon", claimed, value), *_claims_of_run(of_run, answer, Question("epsilon", delta=0.0), make),
            *(() if row.route.bound is selection.PURE else _of_added_loss(known, answer, make)))


def _total_variation(row: Row, answer: Answer, make: Maker) -> Claims:
    """Return the claims about the total variation: by that of one run, or by a pair (ε, δ) of the selection."""
    one, law = _parts(row)
    claimed, of_run = row.result["tv"], one.row(Question("tv", upper_only=True))
    t = of_run.result["tv"]
    by_runs = _compared("tv", claimed, lambda mp: selection.exact_tv_by_runs(mp, t, law))
    if decide(by_runs).holds:
        return (by_runs, *_claims_of_run(of_run, answer, Question("tv"), make))
    point = selection.point_for_tv(one, law)
    delta = exp(selection.value(point, one, law, **selection.search(one, law)))
    of_point = Row(row.route._replace(bound=selection.PROFILE), {"delta": delta, "log_delta": log(delta)},
                   selection.search(one, law), row.params)
    question = Question("delta", epsilon=point)

    def value(mp: Any) -> Any:
        return (mp.expm1(mp.mpf(point)) + 2 * mp.mpf(delta)) / (mp.exp(mp.mpf(point)) + 1)

    return (_compared("tv", claimed, value), *_delta(of_point, answer._replace(question=question), make),
            *_of_added_loss(of_point, answer, make))
