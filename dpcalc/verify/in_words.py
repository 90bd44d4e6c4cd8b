"""Verdicts for people: one sentence about a record, and a line for each claim."""

import sys
from collections.abc import Sequence

from dpcalc.core import style
from dpcalc.verify.report import NO_ANSWER, NOTHING, OPEN, RECOMPUTED, REFUTED, VERIFIED, Finding, Verdict

_PATHS_SHOWN = 5  # of values that were not checked; the lines below name them all


def verdict_sentence(verdict: Verdict) -> str:
    """The verdict on a record in one sentence: what was proven, what was only computed again, and what was not checked.
    A second sentence says it where a verified number is no guarantee."""
    if verdict.word == NOTHING:
        return "Nothing to verify: this result claims no number; make it with --delta, --epsilon or --alpha."
    if verdict.word == NO_ANSWER:
        return "NOT verified: this result is an error, and no answer."
    if not verdict.holds:
        return f"NOT verified: {_why_not(verdict)}."
    claims = (*verdict.head, *verdict.others)
    verified = [f for f in claims if f.verdict == VERIFIED]
    in_digits = any(f.decision and f.decision.bits is None for f in claims)
    how = "checked to 50 digits (python-flint is not installed)" if in_digits else "proven"
    counts = ((sum(not f.caveat for f in verified), how),
              (sum(bool(f.caveat) for f in verified), "evaluated correctly"))
    again = sum(f.verdict == RECOMPUTED for f in claims)
    parts = [*(f"{_claims(count)} {what}" for count, what in counts if count),
             f"{f'{_claims(again)} and ' if again else ''}the rest only computed again"]
    unchecked = f"; not checked: {_paths(verdict.unchecked)}" if verdict.unchecked else ""
    caveat = f" But the number of the first line is{verdict.caveat}." if verdict.caveat else ""
    return f"{'Partly verified' if unchecked else 'Verified'}: {', '.join(parts)}{unchecked}.{caveat}"


def _claims(count: int) -> str:
    return f"{count} claim{'s' if count > 1 else ''}"


def _why_not(verdict: Verdict) -> str:
    wrong = sum(f.verdict == REFUTED for f in (*verdict.head, *verdict.others, *verdict.record))
    if wrong:
        return f"{wrong} statement{'s' if wrong > 1 else ''} of this result {'are' if wrong > 1 else 'is'} wrong"
    what = "the number of the first line" if verdict.head and verdict.head[0].verdict == OPEN else "an important part"
    return f"{what} could not be checked; not checked: {_paths(verdict.unchecked)}"


def _paths(paths: Sequence[str]) -> str:
    more = f", and {len(paths) - _PATHS_SHOWN} more" if len(paths) > _PATHS_SHOWN else ""
    return f"{', '.join(paths[:_PATHS_SHOWN])}{more}"


def lines(verdicts: Sequence[Verdict]) -> list[str]:
    """The text about records: a sentence for each, and its findings, what is wrong first; before them the total, where
    there are several."""
    found = []
    if len(verdicts) > 1:
        found.append(f"{sum(v.holds for v in verdicts)} of {len(verdicts)} results are verified.")
    for k, verdict in enumerate(verdicts, 1):
        sentence = f"{f'Result {k}: ' if len(verdicts) > 1 else ''}{verdict_sentence(verdict)}"
        found.append(style.styled(sentence, style.BOLD, sys.stdout))
        findings = (*verdict.head, *verdict.others, *verdict.record)
        found += [f"  {f.verdict}: {_text(f)}" for f in sorted(findings, key=lambda f: f.verdict != REFUTED)]
    return found


def _text(finding: Finding) -> str:
    """The text of a finding; that a claim was decided in ball arithmetic is the rule, and left out."""
    decision = finding.decision
    return finding.text.replace(f", {decision.how}", "") if decision and decision.bits else finding.text
