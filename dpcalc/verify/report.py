"""The verdict on a record: every claim of every row, and the record as a whole."""

from __future__ import annotations

from collections.abc import Callable
from math import inf, isnan
from time import process_time
from typing import Any, NamedTuple

from dpcalc.errors import DpcalcError, OutOfScope
from dpcalc.render import record as rendered
from dpcalc.render import row_label, symbol
from dpcalc.rows import Answer, Row
from dpcalc.verify import handed_on, lower_ends
from dpcalc.verify.arithmetic import Decision, decide
from dpcalc.verify.claims import Claim, of
from dpcalc.verify.records import Record, is_number
from dpcalc.verify.replay import number, replay
from dpcalc.verify.unchecked import OtherQuestion, Unchecked

VERIFIED, REFUTED, OPEN = "verified", "not verified", "unchecked"
_FREE = frozenset({"version", "notes", "certified"})  # words, and what is not claimed
_ADDED = frozenset({"digits", "statements"})  # to a row, by --digits and --explain
_ASIDE = frozenset({"what_if", "no_gain", "not_applicable"})  # of a comparison, which a sweep has no room for
_PATIENT = 60.0  # seconds of the processor, after which rows below the headline are left unchecked
_TOLD = 1e-6  # relative
_SAME, _COPIED = 1e-9, 4e-15  # relative: of companions, which are computed anew in doubles; of claims, which follow from each other
_CLAIMS = ("epsilon", "delta", "log_delta", "tv", "rdp", "mu", "rho", "tpr")


class Finding(NamedTuple):
    """About one claim (or row, or the record): `text` is what is said of it."""

    verdict: str
    bound: str
    text: str
    decision: Decision | None = None
    claim: Claim | None = None


class Verdict(NamedTuple):
    """On one record; `head` findings are those of its headline."""

    head: tuple[Finding, ...]
    others: tuple[Finding, ...]
    record: tuple[Finding, ...]  # of the record as a whole

    @property
    def holds(self) -> bool:
        """Everything checked holds, and the number in the headline (the first finding) was checked."""
        every = (*self.head, *self.others, *self.record)
        return all(f.verdict == VERIFIED for f in self.head[:1]) and all(f.verdict != REFUTED for f in every)


def verify(record: Record) -> Verdict:
    """Check a record. Raises DpcalcError where it is no result that can be asked again."""
    try:
        answer = replay(record)
    except OutOfScope as reason:
        raise DpcalcError(reason.code, f"the result's parameters: {reason.message}", reason.option) from None
    return judged(answer, record)


def judged(answer: Answer, record: Record) -> Verdict:
    start = process_time()
    rows = [_row(row, answer) if k == 0 or process_time() - start < _PATIENT else _late(row, answer) for k, row in enumerate(answer.rows)]
    head = rows[0] if rows else ()
    others, on = tuple(f for row in rows[1:] for f in row), _handed_on(answer, record)
    whole = _whole(answer, record, bool(on) and on[0].verdict == VERIFIED)
    return Verdict(head + _budget(answer), others + on, whole + _certified(head, record))


def _handed_on(answer: Answer, record: Record) -> tuple[Finding, ...]:
    """The μ of the guarantee, where a bound tells it."""
    found = handed_on.claim(answer, record)
    if found is None:
        return ()
    row, claim = found
    name = row_label(row)
    return _left_open(name, f"the μ handed on by {name}", lambda: (_finding(name, claim, decide(claim), row, answer),))


def _certified(head: tuple[Finding, ...], record: Record) -> tuple[Finding, ...]:
    """What --certify said: its upper end must not be below what the theorem surely gives."""
    said = record.get("certified")
    if said is None or not head or head[0].claim is None or head[0].decision is None:
        return ()
    claim, ends = head[0].claim, head[0].decision.ends
    least = ends[0] if claim.gives == claim.quantity and not isnan(ends[0]) else claim.claimed
    if isinstance(said, dict) and is_number(said.get("upper")) and number(said["upper"]) >= least:
        return ()
    return (Finding(REFUTED, "", f"the record says certified.upper = {_text(said)}, which is below what the theorem gives"),)


def _row(row: Row, answer: Answer) -> tuple[Finding, ...]:
    name = row_label(row)
    about = f"{symbol(answer.question.asks)} of {name}"
    found = _left_open(name, about, lambda: tuple(_finding(name, claim, decide(claim), row, answer) for claim in of(row, answer)))
    if found[0].verdict == OPEN or not any(k.endswith("_lower") for k in row.result):
        return found
    beside = f"the lower end of {about}"
    return found + _left_open(name, beside, lambda: tuple(_lower_end(name, claim, row) for claim in lower_ends.of(row, answer)))


def _late(row: Row, answer: Answer) -> tuple[Finding, ...]:
    said = f"{symbol(answer.question.asks)} of {row_label(row)}, because the rows before it took {_PATIENT:g} s"
    return (Finding(OPEN, row_label(row), said),)


def _left_open(name: str, about: str, findings: Callable[[], tuple[Finding, ...]]) -> tuple[Finding, ...]:
    """What was found; or that it could not be, and why."""
    try:
        return findings()
    except OtherQuestion as reason:
        return (Finding(REFUTED, name, f"{about}, because {reason}"),)
    except (Unchecked, DpcalcError) as reason:
        return (Finding(OPEN, name, f"{about}, because of this: {reason}"),)
    except (OverflowError, ZeroDivisionError, ValueError, KeyError, TypeError, IndexError) as reason:
        return (Finding(OPEN, name, f"{about}, because its witness is incomplete or out of range ({reason})"),)


def _lower_end(name: str, claim: Claim, row: Row) -> Finding:
    """Of a bracket: refuted where it is above the upper end, which was checked; open where the certificate here does not reach it."""
    quantity = claim.quantity.removesuffix("_lower")
    if claim.claimed > row.result[quantity]:
        return Finding(REFUTED, name, f"claimed {symbol(quantity)} >= {claim.claimed!r}, the lower end of a bracket whose upper end is "
                       f"{row.result[quantity]!r} ({name})", None, claim)
    decision = decide(claim)
    shown = f"{symbol(quantity)} >= {claim.claimed!r} (lower end, {name}"
    if decision.holds:
        return Finding(VERIFIED, name, f"{shown}, {decision.how})", decision, claim)
    return Finding(OPEN, name, f"{shown}), because it is not reached by the certificate that is made for it here", decision, claim)


def _finding(name: str, claim: Claim, decision: Decision, row: Row, answer: Answer) -> Finding:
    shown = f"{symbol(claim.quantity)} {'>=' if claim.least else '≤'} {claim.claimed!r}"
    if decision.holds:
        limit = ", a limit: no claim about a finite n" if row.route.bound.status == "limit" else ""
        return Finding(VERIFIED, name, f"{shown} ({name}, {decision.how}{limit}{_less(claim, decision)})", decision, claim)
    if decision.holds is None:
        return Finding(OPEN, name, f"{shown} ({name}), because {decision.how} do not decide it", decision, claim)
    return Finding(REFUTED, name, f"claimed {symbol(claim.quantity)} = {claim.claimed!r}, the theorem gives {_given(claim, decision)} "
                   f"at its witness ({name}, {decision.how})", decision, claim)


def _less(claim: Claim, decision: Decision) -> str:
    """What the theorem gives at the witness, where the number is above it by more than it could be lowered and be refuted: the accuracy of
    a composition is 1e-3 of log δ, for one."""
    high = decision.ends[1]
    if claim.gives != claim.quantity or claim.least or not 0 < high * (1 + _TOLD) < claim.claimed:
        return ""
    return f"; {high!r} at its witness"


def _given(claim: Claim, decision: Decision) -> str:
    low, high = decision.ends
    value = "no finite number" if isnan(high) else f"{high!r}" if low == high or high == inf else f"{low + (high - low) / 2!r}"
    return value if claim.gives == claim.quantity else f"{claim.gives} = {value}"


def _budget(answer: Answer) -> tuple[Finding, ...]:
    """A solved parameter must meet its budget."""
    question = answer.question
    if question.unknown is None or question.target is None or not answer.rows:
        return ()
    reached = answer.rows[0].result[question.asks]
    if reached <= question.target:
        return ()
    return (Finding(REFUTED, answer.rows[0].route.label, f"{symbol(question.asks)} = {reached!r} exceeds its budget {question.target!r}"),)


# --- the record as a whole -------------------------------------------------------------------------------------------


def _whole(answer: Answer, record: Record, proven: bool) -> tuple[Finding, ...]:
    """Everything else in the record follows from its options and its rows; numbers beside them are computed anew. A μ that is `proven` may
    have another rounding."""
    import json

    again = json.loads(json.dumps(rendered(answer)))
    if proven and again["guarantee"].get("kind") == "gdp" and _agree(again["guarantee"]["mu"], record["guarantee"]["mu"], _SAME):
        again["guarantee"]["mu"] = record["guarantee"]["mu"]
    differences = _differences(again, record, "")
    return tuple(Finding(REFUTED, "", f"the record says {said}") for said in differences[:5])


def _differences(ours: Any, theirs: Any, path: str) -> list[str]:
    if isinstance(ours, dict) and isinstance(theirs, dict):
        free = _ADDED if path else _FREE
        found = [f"nothing of {path}{key}" for key in ours.keys() - theirs.keys() - free - (frozenset() if path else _ASIDE)]
        found += [f"{path}{key}, which does not belong there" for key in theirs.keys() - ours.keys() - free]
        both = [key for key in ours if key in theirs and key not in free]
        return found + [d for key in both for d in _differences(ours[key], theirs[key], f"{path}{key}.")]
    if isinstance(ours, list) and isinstance(theirs, list):
        if len(ours) != len(theirs):
            return [f"{path[:-1]} has {len(theirs)} entries, where {len(ours)} follow from its options"]
        return [d for k, (a, b) in enumerate(zip(ours, theirs, strict=True)) for d in _differences(a, b, f"{path[:-1]}[{k}].")]
    copied = path.startswith("guarantee") or path[:-1].rpartition(".")[2] in _CLAIMS
    if _agree(ours, theirs, _COPIED if copied else _SAME):
        return []
    return [f"{path[:-1]} = {_text(theirs)}, where {_text(ours)} follows from its options and bounds"]


def _agree(a: Any, b: Any, off: float) -> bool:
    if is_number(a) and is_number(b):
        x, y = number(a), number(b)
        return x == y or abs(x - y) <= off * max(abs(x), abs(y)) < inf
    return type(a) is type(b) and bool(a == b)


def _text(x: Any) -> str:
    text = str(x)
    return text if len(text) <= 60 else text[:57] + "…"
