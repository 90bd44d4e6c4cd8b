"""dpcalc verify: recheck the claims of JSON results from the published formulas, in ball arithmetic."""

from __future__ import annotations

from math import isfinite
from typing import TYPE_CHECKING, Any

from dpcalc.core.command import Page
from dpcalc.core.errors import DpcalcError
from dpcalc.core.strict_json import indented
from dpcalc.core.text import printable
from dpcalc.output.tables import paragraph

if TYPE_CHECKING:
    from dpcalc.verify.report import Finding, Verdict


def text(words: tuple[str, ...], json: bool = False, quiet: bool = False) -> Any:
    """The verdict in a sentence, and a line for each claim. The exit code is 3 where a claim does not hold or could not
    be checked."""
    from dpcalc.verify.in_words import lines
    from dpcalc.verify.records import read
    from dpcalc.verify.report import verify

    if not words:
        raise DpcalcError("missing", "name a file with results (--json), or - for standard input")
    if words.count("-") > 1:
        raise DpcalcError("contradictory", "standard input (-) can be read once")
    records = [r for source in words for r in read(source)]
    verdicts = [verify(r) for r in records]
    code = 0 if all(v.holds for v in verdicts) else 3
    if json:
        return _as_json(verdicts), code
    if quiet:  # the verdict in one word, and the fields that it does not cover
        return "\n".join(printable(f"{v.word}; not checked: {', '.join(v.unchecked)}" if v.unchecked else v.word)
                         for v in verdicts), code
    return paragraph(lines(verdicts), "  "), code


def _as_json(verdicts: list[Verdict]) -> str:
    from dpcalc.verify.in_words import verdict_sentence

    found = [{"verified": v.holds, "verdict": v.word, "sentence": verdict_sentence(v),
              "not_checked": list(v.unchecked),
              "headline": [_finding(f) for f in v.head], "others": [_finding(f) for f in v.others],
              "record": [_finding(f) for f in v.record]} for v in verdicts]
    return indented(found[0] if len(found) == 1 else found)


def _finding(f: Finding) -> dict[str, Any]:
    claim = {"quantity": f.claim.quantity, "claimed": f.claim.claimed} if f.claim and isfinite(f.claim.claimed) else {}
    return {"verdict": f.verdict, "bound": f.bound, **claim, "text": f.text,
            "how": f.decision.how if f.decision else None}


COMMAND = Page(
    "verify",
    "Recheck results (--json) from the formulas as published, in rigorous arithmetic (ball arithmetic).",
    "FILE|-...",
    text,
    (("rdp --sigma 1 --delta 1e-5 --json | dpcalc verify -", "Verified: 5 claims proven…"),
     ("tv --sigma 50 --json | dpcalc verify - -q", "verified")),
    switches=(("json", "print the verdicts as JSON"),
              ("quiet", "print only the verdict and what was not checked, one line per result")),
)
