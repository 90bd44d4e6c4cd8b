"""The counts of an attack from a file of scores: the lines of odd number choose the threshold, the others test it."""

from collections.abc import Iterable, Sequence
from math import inf, isfinite, log, sqrt
from typing import NamedTuple

from dpcalc.core import reading
from dpcalc.core.errors import DpcalcError
from dpcalc.core.numbers import NotANumber, brief, number

_MEGABYTES = 100  # some five million scores
_HEADER = ["member", "score"]
_DEVIATIONS = 2.0  # of a rate, by which the choice of a threshold takes it to be worse than it is seen to be


class Score(NamedTuple):
    """The score of one run, and whether the record was in its data."""

    is_member: bool
    score: float


class Counts(NamedTuple):
    """Hits and false alarms, each of all runs of its kind, and the threshold that gives them."""

    true_positives: str
    false_positives: str
    threshold: float


def counts_of_file(source: str, threshold: float | None, delta: float) -> Counts:
    """The counts at a threshold that was fixed beforehand, of all lines; or that of the lines of even number, at the
    threshold that the lines of odd number choose."""
    scores = _scores(source)
    chosen, tested = (scores[::2], scores[1::2]) if threshold is None else (scores, scores)
    for part, name in ((chosen, "odd"), (tested, "even")):
        for wanted, what in ((True, "members (1)"), (False, "non-members (0)")):
            if not any(one.is_member is wanted for one in part):
                of = "" if threshold is not None else (
                    f" in lines of {name} number; shuffle its lines once, as members and others may alternate")
                raise DpcalcError("unreadable", f"{reading.where(source)} has no {what}{of}", "--scores")
    at = _best_threshold(chosen, delta) if threshold is None else threshold
    hits, members = _above(tested, at, True)
    alarms, others = _above(tested, at, False)
    return Counts(f"{hits}/{members}", f"{alarms}/{others}", at)


def _scores(source: str) -> list[Score]:
    """The scores of a CSV file, in the order of its lines, which are numbered without its header."""
    lines = [(k, line.strip()) for k, line in enumerate(reading.text(source, _MEGABYTES, "--scores").splitlines(), 1)]
    lines = [(k, line) for k, line in lines if line]
    if lines and [cell.strip().lower() for cell in lines[0][1].split(",")] == _HEADER:
        lines = lines[1:]
    if not lines:
        raise DpcalcError("unreadable", f"{reading.where(source)} has no line member,score", "--scores")
    return [_score(line, f"{reading.where(source)}, line {k}") for k, line in lines]


def _score(line: str, where: str) -> Score:
    member, comma, text = (part.strip() for part in line.partition(","))
    if not comma or member not in ("0", "1"):
        raise DpcalcError("unreadable", f"{where}: {brief(line)} is not member,score, with member 1 where the record "
                          "was in the data and 0 elsewhere", "--scores")
    try:
        return Score(member == "1", number(text))
    except NotANumber:
        raise DpcalcError("unreadable", f"{where}: {brief(text)} is no finite score", "--scores") from None


def _above(scores: Iterable[Score], threshold: float, is_member: bool) -> tuple[int, int]:
    """How many runs of one kind have at least this score, and how many there are."""
    of_kind = [one.score >= threshold for one in scores if one.is_member is is_member]
    return sum(of_kind), len(of_kind)


def _best_threshold(scores: Sequence[Score], delta: float) -> float:
    """The score at which a rough bound on ε is largest. Any choice is valid, as other lines test it; this one takes the
    limits of Wilson (1927) for the rates."""
    members, hits, alarms = sum(one.is_member for one in scores), 0, 0
    best, at = -inf, max(one.score for one in scores)
    ordered = sorted(scores, key=lambda one: -one.score)
    for k, one in enumerate(ordered):
        hits, alarms = hits + one.is_member, alarms + (not one.is_member)
        if k + 1 < len(ordered) and ordered[k + 1].score == one.score:
            continue
        t, f = _wilson(hits, members, -1), _wilson(alarms, len(scores) - members, +1)
        shown = max((log(top / bottom) for top, bottom in ((t - delta, f), (1 - f - delta, 1 - t))
                     if top > 0 and bottom > 0), default=-inf)
        if shown > best:
            best, at = shown, one.score
    assert isfinite(at)
    return at


def _wilson(seen: int, trials: int, side: int) -> float:
    """The limit of Wilson of a rate, from below (side −1) or from above."""
    z, share = _DEVIATIONS, seen / trials
    middle = share + z * z / (2 * trials)
    width = z * sqrt(share * (1 - share) / trials + (z / (2 * trials)) ** 2)
    return (middle + side * width) / (1 + z * z / trials)
