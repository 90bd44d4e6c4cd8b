"""Verdicts for people: one sentence about a record, and a line for each claim."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from dpcalc.core import style
from dpcalc.verify.report import NO_ANSWER, NOTHING, OPEN, REFUTED, Finding, Verdict

_PATHS_SHOWN = 5  # of values that were not checked; the lines below name them all


def verdict_sentence(verdict: Verdict) -> str:
    """The verdict on a record in one sentence, or two where a verified number is no guarantee."""
    if verdict.word == NOTHING:
        return "Nothing to verify: this result claims no number."
    if verdict.word == NO_ANSWER:
        return "NOT verified: this result is an error, and no answer."
    if not verdict.holds:
        return f"NOT verified: {_why_not(verdict)}."
    claims = (*verdict.head, *verdict.others)
    checked = sum(f.verdict != OPEN for f in claims)
    count = f"({checked} claim{'s' if checked > 1 else ''} checked)"
    without_proof = any(f.decision and f.decision.bits is None for f in claims)
    certainty = " to 50 digits, as python-flint is not installed" if without_proof else ""
    caveat = f" But it is{verdict.caveat}." if verdict.caveat else ""
    if verdict.unchecked:
        return (f"Partly verified{certainty}: the headline holds {count}; not checked: {_paths(verdict.unchecked)}."
                f"{caveat}")
    return f"Verified{certainty}: every number in this result holds {count}.{caveat}"


def _why_not(verdict: Verdict) -> str:
    wrong = sum(f.verdict == REFUTED for f in (*verdict.head, *verdict.others, *verdict.record))
    if wrong:
        return f"{wrong} statement{'s' if wrong > 1 else ''} of this result {'are' if wrong > 1 else 'is'} wrong"
    what = "the headline" if verdict.head and verdict.head[0].verdict == OPEN else "an important part"
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
