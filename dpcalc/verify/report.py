"""The verdict on a record: every claim of every row, and all else that it says."""

from __future__ import annotations

from collections.abc import Callable
from math import inf, isnan
from typing import Any, NamedTuple

from dpcalc.bounds import replaced
from dpcalc.core.errors import DpcalcError, OutOfScope
from dpcalc.core.quantities import symbol
from dpcalc.core.results import Answer, Row
from dpcalc.output.values import row_label
from dpcalc.verify import handed_on, lower_ends
from dpcalc.verify.budget import SECONDS, Budget
from dpcalc.verify.claims import Claim, of
from dpcalc.verify.decide import Decision, decide
from dpcalc.verify.differences import agree, differences
from dpcalc.verify.fresh import expected
from dpcalc.verify.records import Record, is_error, is_number
from dpcalc.verify.replay import number, replay
from dpcalc.verify.unchecked import BROKEN, OtherQuestion, Unchecked

VERIFIED, REFUTED, OPEN = "verified", "not verified", "unchecked"
RECOMPUTED, NOTHING = "computed again, and equal", "nothing claimed"
_TOLD = 1e-6  # relative
_ROUNDED = 1e-9  # relative
_SHOWN = 5  # differences of a record


# By status: what a number that is evaluated without an error still is not.
_CAVEATS = {"limit": ", a limit: no claim about a finite n", "conjecture": ", a conjecture: no guarantee",
            "as-published": ", a formula as published: no guarantee"}


class Finding(NamedTuple):
    """About one claim (or row, or the record): `text` is what is said of it, `path` what is not checked by it."""

    verdict: str
    bound: str
    text: str
    decision: Decision | None = None
    claim: Claim | None = None
    path: str = ""


class Verdict(NamedTuple):
    """On one record; `head` findings are those of its headline. `word` is what -q says."""

    head: tuple[Finding, ...]
    others: tuple[Finding, ...]
    record: tuple[Finding, ...]  # of the record as a whole
    word: str

    @property
    def holds(self) -> bool:
        """The number in the headline is proven, every other one is proven or computed again, and nothing else is
        wrong."""
        return self.word == VERIFIED

    @property
    def unchecked(self) -> tuple[str, ...]:
        """The paths of what was not checked."""
        return tuple(dict.fromkeys(f.path for f in (*self.head, *self.others, *self.record) if f.verdict == OPEN))


def verify(record: Record, seconds: float = SECONDS) -> Verdict:
    """Check a record within so many seconds of the processor. Raises DpcalcError where it is no result that can be
    asked again."""
    if is_error(record):
        message = f"{record['error']['message']}".replace("\n", " ")
        return Verdict((), (), (Finding("no answer", "", f"the record is an error: {message}"),), "no answer")
    budget = Budget(seconds)
    if gone := next(filter(None, (replaced(row["name"]) for row in record["bounds"])), ""):
        return Verdict((Finding(OPEN, "", f"the whole record: {gone}", path="the whole record"),), (), (), REFUTED)
    late: Callable[[str], Answer | str] = str
    try:
        answer = budget.within(lambda: replay(record), late)
    except OutOfScope as reason:
        raise DpcalcError(reason.code, f"the result's parameters: {reason.message}", reason.option) from None
    except BROKEN as reason:
        answer = f"its bounds are incomplete or out of range ({reason})"
    if isinstance(answer, str):
        return Verdict((Finding(OPEN, "", f"the whole record, because {answer}", path="the whole record"),), (), (),
                       REFUTED)
    return judged(answer, record, budget)


def judged(answer: Answer, record: Record, budget: Budget) -> Verdict:
    """The headline first, then what the question gives again, then the other rows: as long as there is time."""
    head = [_row(0, row, answer, budget) for row in answer.rows[:1]]
    said = expected(record, answer, budget)
    rows = head + [_row(k, row, answer, budget) for k, row in enumerate(answer.rows[1:], 1)]
    on = _handed_on(answer, record, budget)
    _other_rounding(said.record, record, on)
    found = list(differences(said, record, _proven(answer, rows, record)))
    wrong = {d.path for d in found if d.refuted or d.matters}
    rows = [_computed_again(findings, f"bounds[{k}]", wrong, k == 0) for k, findings in enumerate(rows)]
    on = _computed_again(on, "guarantee", wrong, False)
    others = tuple(f for findings in rows[1:] for f in findings)
    whole = [Finding(REFUTED, "", d.text) for d in found if d.refuted][:_SHOWN]
    whole += [Finding(OPEN, "", d.text, path=d.path) for d in found if not d.refuted]
    first, unmet = rows[0] if rows else (), _unmet(answer)
    refuted = any(f.verdict == REFUTED for f in (*first, *unmet, *others, *on, *whole))
    if not rows and not refuted:
        whole.append(Finding(NOTHING, "", "the record describes, and answers no question"))
        return Verdict((), on, tuple(whole), NOTHING)
    word = REFUTED if refuted or wrong or first[0].verdict != VERIFIED else VERIFIED
    return Verdict(first + unmet, others + on, tuple(whole), word)


def _proven(answer: Answer, rows: list[tuple[Finding, ...]], record: Record) -> frozenset[tuple[int, str]]:
    """The recorded numbers of bounds that claims prove, or that are the question's own: place and name."""
    question, found = answer.question, set[tuple[int, str]]()
    unknown = question.unknown.name if question.unknown else None
    for k, (row, findings, bound) in enumerate(zip(answer.rows, rows, record["bounds"], strict=False)):
        proven = {f.claim.quantity: f.claim.claimed for f in findings if f.verdict == VERIFIED and f.claim}
        if unknown and unknown in row.result and question.asks in proven:
            proven[unknown] = row.result[unknown]
        given = {name: getattr(question, name, None) for name in row.result if name not in (question.asks, unknown)}
        found |= {(k, name) for name, x in {**given, **proven}.items() if is_number(bound.get(name))
                  and number(bound[name]) == x}
    return frozenset(found)


def _computed_again(findings: tuple[Finding, ...], path: str, wrong: set[str], head: bool) -> tuple[Finding, ...]:
    """What is not proven, but is what the question gives again: good enough beside a headline."""
    if any(p == path or p.startswith(f"{path}.") for p in wrong):
        return findings
    same = [f._replace(verdict=RECOMPUTED, text=f.text.replace(", because ", "; not proven, because ", 1))
            for f in findings]
    return tuple(f if f.verdict != OPEN or (head and k == 0) else same[k] for k, f in enumerate(findings))


def _other_rounding(ours: dict[str, Any], record: Record, on: tuple[Finding, ...]) -> None:
    """A μ that is proven may have another one."""
    if on and on[0].verdict == VERIFIED and ours["guarantee"].get("kind") == "gdp":
        theirs = record["guarantee"]["mu"]
        if agree(ours["guarantee"]["mu"], theirs, _ROUNDED):
            ours["guarantee"] = {**ours["guarantee"], "mu": theirs}


def _handed_on(answer: Answer, record: Record, budget: Budget) -> tuple[Finding, ...]:
    """The μ of the guarantee, where a bound tells it."""
    found = handed_on.claim(answer, record)
    if found is None:
        return ()
    row, claim = found
    name, path = row_label(row), "guarantee.mu"
    return _left_open(name, path, f"the μ handed on by {name}",
                      lambda: (_finding(name, path, claim, decide(claim), row, answer),), budget)


def _row(k: int, row: Row, answer: Answer, budget: Budget) -> tuple[Finding, ...]:
    name, path = row_label(row), f"bounds[{k}].{answer.asked if answer.asked in row.result else answer.question.asks}"
    about = f"{symbol(answer.question.asks)} of {name}"
    found = _left_open(name, path, about, lambda: tuple(
        _finding(name, f"bounds[{k}].{claim.quantity}", claim, decide(claim), row, answer)
        for claim in of(row, answer)), budget)
    ends = [end for end in row.result if end.endswith("_lower")]
    if found[0].verdict == OPEN or not ends:
        return found
    beside, path = f"the lower end of {about}", f"bounds[{k}].{ends[0]}"
    return found + _left_open(name, path, beside, lambda: tuple(
        _lower_end(name, f"bounds[{k}].{claim.quantity}", claim, row) for claim in lower_ends.of(row, answer)), budget)


def _left_open(name: str, path: str, about: str, findings: Callable[[], tuple[Finding, ...]],
               budget: Budget) -> tuple[Finding, ...]:
    """What was found; or that it could not be, and why."""
    def left(verdict: str, reason: str) -> tuple[Finding, ...]:
        return (Finding(verdict, name, f"{about}, because {reason}", path=path),)

    try:
        return budget.within(findings, lambda why: left(OPEN, why))
    except OtherQuestion as reason:
        return left(REFUTED, f"{reason}")
    except (Unchecked, DpcalcError) as reason:
        return left(OPEN, f"of this: {reason}")
    except BROKEN as reason:
        return left(OPEN, f"its witness is incomplete or out of range ({reason})")


def _lower_end(name: str, path: str, claim: Claim, row: Row) -> Finding:
    """Of a bracket: refuted where it is above the upper end, which was checked; open where the certificate here does
    not reach it."""
    quantity = claim.quantity.removesuffix("_lower")
    if claim.claimed > row.result[quantity]:
        return Finding(REFUTED, name,
                       f"claimed {symbol(quantity)} >= {claim.claimed!r}, the lower end of a bracket whose upper end "
                       f"is "
                       f"{row.result[quantity]!r} ({name})", None, claim)
    decision = decide(claim)
    shown = f"{symbol(quantity)} >= {claim.claimed!r} (lower end, {name}"
    if decision.holds:
        return Finding(VERIFIED, name, f"{shown}, {decision.how})", decision, claim)
    return Finding(OPEN, name, f"{shown}), because it is not reached by the certificate that is made for it here",
                   decision, claim, path)


def _finding(name: str, path: str, claim: Claim, decision: Decision, row: Row, answer: Answer) -> Finding:
    shown = f"{symbol(claim.quantity)} {'>=' if claim.least else '≤'} {claim.claimed!r}"
    if decision.holds:
        caveat = _CAVEATS.get(row.route.bound.status, "")
        return Finding(VERIFIED, name, f"{shown} ({name}, {decision.how}{caveat}{_less(claim, decision)})", decision,
                       claim)
    if decision.holds is None:
        return Finding(OPEN, name, f"{shown} ({name}), because {decision.how} do not decide it", decision, claim, path)
    return Finding(REFUTED, name,
                   f"claimed {symbol(claim.quantity)} = {claim.claimed!r}, the theorem gives {_given(claim, decision)} "
                   f"at its witness ({name}, {decision.how})", decision, claim)


def _less(claim: Claim, decision: Decision) -> str:
    """What the theorem gives at the witness, where the number is above it by more than it could be lowered and be
    refuted: the accuracy of a composition is 1e-3 of log δ, for one."""
    high = decision.ends[1]
    if claim.gives != claim.quantity or claim.least or not 0 < high * (1 + _TOLD) < claim.claimed:
        return ""
    return f"; {high!r} at its witness"


def _given(claim: Claim, decision: Decision) -> str:
    low, high = decision.ends
    value = "no finite number" if isnan(high) else f"{high!r}" if low == high or high == inf else f"{low + (high - low) / 2!r}"
    return value if claim.gives == claim.quantity else f"{claim.gives} = {value}"


def _unmet(answer: Answer) -> tuple[Finding, ...]:
    """A solved parameter must meet its budget."""
    question = answer.question
    if question.unknown is None or question.target is None:
        return ()
    asks, target = question.asks, question.target
    return tuple(Finding(REFUTED, row.route.label,
                         f"{symbol(asks)} = {row.result[asks]!r} exceeds its budget {target!r}")
                 for row in answer.rows if asks in row.result and not row.result[asks] <= target)
