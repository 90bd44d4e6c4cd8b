"""The verdict on a record: on every claim of every row, and on everything else in it."""

from collections.abc import Callable
from math import inf, isnan
from typing import NamedTuple

from dpcalc.accounting import older_records
from dpcalc.bounds import replacement_message
from dpcalc.core.errors import DpcalcError, OutOfScope
from dpcalc.core.quantities import symbol
from dpcalc.core.results import Answer, Row
from dpcalc.output.values import row_label
from dpcalc.verify.budget import SECONDS, Budget
from dpcalc.verify.claim import Claim
from dpcalc.verify.claims import claims_of_lower_ends, claims_of_row
from dpcalc.verify.decide import Decision, decide
from dpcalc.verify.differences import agree, differences
from dpcalc.verify.recomputed import expected_record
from dpcalc.verify.records import SAME_DOUBLES, SAME_NUMBERS, Record, is_error, is_number, to_float
from dpcalc.verify.replay import replay
from dpcalc.verify.stated_numbers import claim_of_keep_probability, claim_of_mu, claim_of_sensitivity
from dpcalc.verify.unchecked import INVALID_WITNESS_ERRORS, MissingEntry, OtherQuestion, Unchecked

VERIFIED, REFUTED, OPEN = "verified", "not verified", "unchecked"
RECOMPUTED, NOTHING, NO_ANSWER = "computed again, and equal", "nothing claimed", "no answer"

# Status of a bound → why its number is no guarantee, although the formula was evaluated correctly.
_CAVEATS = {"limit": " a limit: no claim about a finite n", "conjecture": " a conjecture: no guarantee",
            "as-published": " a formula as published: no guarantee", "model": " if its model holds: no guarantee"}


class Finding(NamedTuple):
    """The verdict on a claim, a row, or the record, with its reason in `text`. `path` is the place in the record that
    an OPEN finding leaves unchecked."""

    verdict: str
    bound: str
    text: str
    decision: Decision | None = None
    claim: Claim | None = None
    path: str = ""
    caveat: str = ""  # why a VERIFIED number is no guarantee


class Verdict(NamedTuple):
    """The findings about a record."""

    head: tuple[Finding, ...]  # about the headline
    others: tuple[Finding, ...]
    record: tuple[Finding, ...]  # about the record as a whole
    word: str  # the verdict in a word, which -q prints
    caveat: str = ""  # why the headline is no guarantee although its formula was evaluated correctly

    @property
    def holds(self) -> bool:
        """Whether the headline is proven, every other number is proven or equal to a recomputed one, and nothing else
        is wrong."""
        return self.word == VERIFIED

    @property
    def unchecked(self) -> tuple[str, ...]:
        """The paths of the values that were not checked."""
        return tuple(dict.fromkeys(f.path for f in (*self.head, *self.others, *self.record) if f.verdict == OPEN))


def verify(record: Record, seconds: float = SECONDS) -> Verdict:
    """Check a record within this many seconds of processor time. Raises DpcalcError where the options of the record are
    invalid."""
    if is_error(record):
        message = f"{record['error']['message']}".replace("\n", " ")
        return Verdict((), (), (Finding(NO_ANSWER, "", f"the result is an error: {message}"),), NO_ANSWER)
    budget, original, record = Budget(seconds), record, older_records.as_today(record)
    if reason := next(filter(None, (replacement_message(row["name"]) for row in record["bounds"])), ""):
        return _nothing_checked(f"the whole result: {reason}")
    when_late: Callable[[str], Answer | str] = str
    try:
        older_records.refuse_uncovered(original, "the result")
        answer = budget.run(lambda: replay(record), when_late)
    except OutOfScope as error:
        raise DpcalcError(error.code, f"the result's parameters: {error.message}", error.option) from None
    except DpcalcError as error:
        if error.code != "refused":
            raise
        return Verdict((), (), (Finding(REFUTED, "", f"no theorem covers this result: {error.message}"),), REFUTED)
    except MissingEntry as error:
        return Verdict((), (), (Finding(REFUTED, "", f"{error}"),), REFUTED)
    except INVALID_WITNESS_ERRORS as error:
        answer = f"its bounds are incomplete or out of range ({error})"
    if isinstance(answer, str):
        return _nothing_checked(f"the whole result, because {answer}")
    return _judge(answer, record, budget)


def _nothing_checked(text: str) -> Verdict:
    return Verdict((Finding(OPEN, "", text, path="the whole result"),), (), (), REFUTED)


def _judge(answer: Answer, record: Record, budget: Budget) -> Verdict:
    """Check the headline first, then recompute the record, then check the other rows, as far as the budget allows."""
    head = [_check_row(0, row, answer, budget) for row in answer.rows[:1]]
    expected = expected_record(record, answer, budget)
    rows = head + [_check_row(k, row, answer, budget) for k, row in enumerate(answer.rows[1:], 1)]
    guarantee = _check_stated("guarantee.mu", "the μ handed on by {}", claim_of_mu(answer, record), budget)
    if guarantee and guarantee[0].verdict == VERIFIED and expected.record["guarantee"].get("kind") == "gdp":
        ours, theirs = expected.record["guarantee"], record["guarantee"]["mu"]
        if agree(ours["mu"], theirs, SAME_DOUBLES):  # what is proven and differs only by rounding is expected
            expected.record["guarantee"] = {**ours, "mu": theirs}
    sensitivity = _check_stated("result.sensitivity", "the sensitivity", claim_of_sensitivity(answer, record), budget)
    keep = _check_stated("result.keep_probability", "the keep probability", claim_of_keep_probability(answer, record),
                         budget)
    found = list(differences(expected, record, _proven_numbers(answer, rows, record)))
    wrong = {d.path for d in found if d.refuted or d.matters}
    rows = [_accept_recomputed(findings, f"bounds[{k}]", wrong, k == 0) for k, findings in enumerate(rows)]
    guarantee = _accept_recomputed(guarantee, "guarantee", wrong, False)
    guarantee += _accept_recomputed(sensitivity, "result.sensitivity", wrong, False)
    guarantee += _accept_recomputed(keep, "result.keep_probability", wrong, False)
    others = tuple(f for findings in rows[1:] for f in findings)
    # at most five refuted values, and all unchecked ones
    whole = (*[Finding(REFUTED, "", d.text) for d in found if d.refuted][:5],
             *(Finding(OPEN, "", d.text, path=d.path) for d in found if not d.refuted))
    first, over_budget = rows[0] if rows else (), _check_budget(answer)
    refuted = any(f.verdict == REFUTED for f in (*first, *over_budget, *others, *guarantee, *whole))
    if not rows and not refuted:
        whole = (*whole, Finding(NOTHING, "", "the result describes a mechanism, and answers no question"))
        return Verdict((), guarantee, whole, NOTHING)
    word = REFUTED if refuted or wrong or first[0].verdict != VERIFIED else VERIFIED
    caveat = _CAVEATS.get(answer.rows[0].route.bound.status, "") if answer.rows else ""
    return Verdict(first + over_budget, others + guarantee, whole, word, caveat)


def _proven_numbers(answer: Answer, rows: list[tuple[Finding, ...]], record: Record) -> frozenset[tuple[int, str]]:
    """Return (index of the bound, name) of each recorded number that a claim proves, or that the question fixes."""
    question, found = answer.question, set[tuple[int, str]]()
    unknown = question.unknown.name if question.unknown else None
    for k, (row, findings, bound) in enumerate(zip(answer.rows, rows, record["bounds"], strict=False)):
        proven = {f.claim.quantity: f.claim.claimed for f in findings if f.verdict == VERIFIED and f.claim}
        if unknown and unknown in row.result and question.asks in proven:
            proven[unknown] = row.result[unknown]
        given = {name: getattr(question, name, None) for name in row.result if name not in (question.asks, unknown)}
        found |= {(k, name) for name, x in {**given, **proven}.items()
                  if is_number(bound.get(name)) and to_float(bound[name]) == x}
    return frozenset(found)


def _accept_recomputed(findings: tuple[Finding, ...], path: str, wrong: set[str],
                       is_head: bool) -> tuple[Finding, ...]:
    """Accept open findings about values that equal the recomputed ones. Only the headline itself needs a proof."""
    if any(p == path or p.startswith(f"{path}.") for p in wrong):
        return findings
    return tuple(f if f.verdict != OPEN or (is_head and k == 0) else
                 f._replace(verdict=RECOMPUTED, text=f.text.replace(", because ", "; not proven, because ", 1))
                 for k, f in enumerate(findings))


# --- findings of rows ------------------------------------------------------------------------------------------------


def _check_stated(path: str, about: str, found: tuple[Row, Claim] | None, budget: Budget) -> tuple[Finding, ...]:
    """Return the finding about a number that the record states beside its bounds, if it states one."""
    if found is None:
        return ()
    row, claim = found
    name = row_label(row)
    return _check(name, path, about.format(name), lambda: (_decide_claim(name, path, claim, row),), budget)


def _check_row(k: int, row: Row, answer: Answer, budget: Budget) -> tuple[Finding, ...]:
    quantity = answer.quantity if answer.quantity in row.result else answer.question.asks
    name, path = row_label(row), f"bounds[{k}].{quantity}"
    about = f"{symbol(answer.question.asks)} of {name}"
    findings = _check(name, path, about, lambda: tuple(
        _decide_claim(name, f"bounds[{k}].{claim.quantity}", claim, row)
        for claim in claims_of_row(row, answer)), budget)
    lower_ends = [end for end in row.result if end.endswith("_lower")]
    if findings[0].verdict == OPEN or not lower_ends:
        return findings
    path = f"bounds[{k}].{lower_ends[0]}"
    return findings + _check(name, path, f"the lower end of {about}", lambda: tuple(
        _decide_lower_end(name, f"bounds[{k}].{claim.quantity}", claim, row)
        for claim in claims_of_lower_ends(row, answer)), budget)


def _check(name: str, path: str, about: str, decide_all: Callable[[], tuple[Finding, ...]],
           budget: Budget) -> tuple[Finding, ...]:
    """Return the findings about claims, or a single one that says why the claims cannot be made or decided."""
    def one_finding(verdict: str, reason: str) -> tuple[Finding, ...]:
        return (Finding(verdict, name, f"{about}, because {reason}", path=path),)

    try:
        return budget.run(decide_all, lambda why: one_finding(OPEN, why))
    except (OtherQuestion, MissingEntry) as reason:
        return one_finding(REFUTED, f"{reason}")
    except (Unchecked, DpcalcError) as reason:
        return one_finding(OPEN, f"of this: {reason}")
    except INVALID_WITNESS_ERRORS as reason:
        return one_finding(OPEN, f"its witness is incomplete or out of range ({reason})")


def _decide_lower_end(name: str, path: str, claim: Claim, row: Row) -> Finding:
    """Refute a lower end that is above the upper end, which was checked before. Leave it open where the lower bound
    that is computed here is below it."""
    quantity = claim.quantity.removesuffix("_lower")
    if claim.claimed > row.result[quantity]:
        return Finding(REFUTED, name,
                       f"the lower end {symbol(quantity)} ≥ {claim.claimed!r} is above the upper end "
                       f"{row.result[quantity]!r} ({name})", None, claim)
    decision = decide(claim)
    shown = f"{symbol(quantity)} ≥ {claim.claimed!r} (lower end, {name}"
    if decision.holds:
        return Finding(VERIFIED, name, f"{shown}, {decision.how})", decision, claim)
    return Finding(OPEN, name, f"{shown}), because the lower bound that is computed here is smaller",
                   decision, claim, path)


def _decide_claim(name: str, path: str, claim: Claim, row: Row) -> Finding:
    decision = decide(claim)
    shown = f"{symbol(claim.quantity.removesuffix('_lower'))} {'≥' if claim.is_lower else '≤'} {claim.claimed!r}"
    if decision.holds:
        caveat = _CAVEATS.get(row.route.bound.status, "")
        # the theorem's value at the witness, where it is noticeably below the claim: that is normal for a composition,
        # for example, whose accuracy is 1e-3 of log δ
        high, is_upper = decision.ends[1], claim.gives == claim.quantity and not claim.is_lower
        smaller = f"; {high!r} at its witness" if is_upper and 0 < high * (1 + SAME_NUMBERS) < claim.claimed else ""
        text = f"{shown} ({name}, {decision.how}{f',{caveat}' if caveat else ''}{smaller})"
        return Finding(VERIFIED, name, text, decision, claim, caveat=caveat)
    if decision.holds is None:
        return Finding(OPEN, name, f"{shown} ({name}), because {decision.how} do not decide it", decision, claim, path)
    return Finding(REFUTED, name,
                   f"claimed {symbol(claim.quantity)} = {claim.claimed!r}, but the theorem gives "
                   f"{_theorem_gives(claim, decision)} at its witness ({name}, {decision.how})", decision, claim)


def _theorem_gives(claim: Claim, decision: Decision) -> str:
    low, high = decision.ends
    number = high if low == high or high == inf else low + (high - low) / 2
    value = "no finite number" if isnan(high) else f"{number!r}"
    return value if claim.gives == claim.quantity else f"{claim.gives} = {value}"


def _check_budget(answer: Answer) -> tuple[Finding, ...]:
    """Refute the rows with a solution that exceed its budget. Other rows beside it need not meet it."""
    question = answer.question
    if question.unknown is None or question.target is None:
        return ()
    asks, target, unknown = question.asks, question.target, question.unknown.name
    return tuple(Finding(REFUTED, row.route.label,
                         f"{symbol(asks)} = {row.result[asks]!r} exceeds its budget {target!r}")
                 for row in answer.rows if {asks, unknown} <= row.result.keys() and not row.result[asks] <= target)
