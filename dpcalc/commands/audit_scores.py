"""The counts of an attack from a file of scores: the lines of odd number choose the threshold, the others test it.

The choice is independent of the test, and the threshold as good as fixed beforehand, where the runs are independent and
the order of the lines does not depend on the scores: of lines that are sorted by score within members and within others
both halves have nearly the same scores. """

import csv
import io
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from math import inf, log, sqrt
from typing import NamedTuple

from dpcalc.core import reading
from dpcalc.core.errors import DpcalcError
from dpcalc.core.numbers import NotANumber, brief, number

_MEGABYTES = 100  # some five million scores
_COLUMNS = ("member", "score")
_MEMBERS = {"1": True, "1.0": True, "true": True, "0": False, "0.0": False, "false": False}
_FEW = 10  # different scores: so many are hardly ever sorted by chance, with probability 2/10!
_DEVIATIONS = 2.0  # of a rate, by which the choice of a threshold takes it to be worse than it is seen to be
_REVERSED = ("members have smaller scores than non-members in the lines that choose the threshold; a larger score must "
             "mean a member: negate scores such as a loss")


class Score(NamedTuple):
    """The score of one run, and whether the record was in its data."""

    is_member: bool
    score: float


class Counts(NamedTuple):
    """Hits and false alarms, each of all runs of its kind, the threshold that gives them, and warnings."""

    true_positives: str
    false_positives: str
    threshold: float
    warnings: tuple[str, ...] = ()


def counts_of_file(source: str, threshold: float | None, delta: float) -> Counts:
    """The counts at a threshold that was fixed beforehand, of all lines; or that of the lines of even number, at the
    threshold that the lines of odd number choose."""
    scores = list(_scores(source))
    chosen, tested = (scores[::2], scores[1::2]) if threshold is None else (scores, scores)
    _require_both_kinds(scores, "", source)
    if threshold is None:
        _refuse_sorted(scores, source)
        _require_both_kinds(chosen, "odd", source)
        _require_both_kinds(tested, "even", source)
        at, is_reversed = _best_threshold(chosen, delta)
    else:
        at, is_reversed = threshold, False
    hits, members = _above(tested, at, True)
    alarms, others = _above(tested, at, False)
    return Counts(f"{hits}/{members}", f"{alarms}/{others}", at, (_REVERSED,) if is_reversed else ())


def _require_both_kinds(scores: Sequence[Score], name: str, source: str) -> None:
    """Raises DpcalcError where one of the two kinds of runs is missing."""
    for wanted, what in ((True, "members (1)"), (False, "non-members (0)")):
        if not any(one.is_member is wanted for one in scores):
            of = f" in lines of {name} number; shuffle its lines once: they may alternate" if name else ""
            raise DpcalcError("unreadable", f"{reading.where(source)} has no {what}{of}", "--scores")


def _refuse_sorted(scores: Sequence[Score], source: str) -> None:
    """Raises DpcalcError where the scores of one kind of runs are sorted: then the lines that test are no independent
    of those that choose."""
    for wanted in (True, False):
        of_kind = [one.score for one in scores if one.is_member is wanted]
        if len(set(of_kind)) >= _FEW and sorted(of_kind) in (of_kind, of_kind[::-1]):
            raise DpcalcError("refused", f"{reading.where(source)} is sorted by score, so that the lines that test "
                              "depend on those that choose; shuffle its lines once", "--scores")


# --- the file --------------------------------------------------------------------------------------------------------


def _scores(source: str) -> Iterator[Score]:
    """The scores in the order of their lines. Columns are separated by commas, tabs or semicolons; a header with the
    names member and score says which columns these are, and without one they are the first two."""
    text, where = reading.text(source, _MEGABYTES, "--scores"), reading.where(source)
    lines = io.StringIO(text, newline=None).readlines()  # which end at \n, \r\n or \r alone
    first = next((line for line in lines if line.strip()), "")
    delimiter = next((mark for mark in (",", "\t", ";") if mark in first), ",")
    places, is_first, count = (0, 1), True, 0
    for cells in (reader := csv.reader(lines, delimiter=delimiter)):
        named = [cell.strip().lower() for cell in cells]
        if not any(named):
            continue
        if is_first and set(_COLUMNS) <= set(named):
            places = (named.index("member"), named.index("score"))
        else:
            count += 1
            yield _score(cells, places, f"{where}, line {reader.line_num}")
        is_first = False
    if not count:
        raise DpcalcError("unreadable", f"{where} has no line member,score", "--scores")


def _score(cells: Sequence[str], places: tuple[int, int], where: str) -> Score:
    if len(cells) <= max(places):
        raise DpcalcError("unreadable", f"{where}: {brief(','.join(cells))} has no two columns; a line is "
                          "member,score, with member 1 where the record was in the data and 0 elsewhere", "--scores")
    member, score = (cells[place].strip() for place in places)
    if member.lower() not in _MEMBERS:
        raise DpcalcError("unreadable", f"{where}: the member {brief(member)} is not 1 (the record was in the data) or "
                          "0; other columns need a header with the names member and score", "--scores")
    try:
        return Score(_MEMBERS[member.lower()], number(score))
    except NotANumber:
        raise DpcalcError("unreadable", f"{where}: {brief(score)} is no finite score", "--scores") from None


# --- the threshold ---------------------------------------------------------------------------------------------------


def _above(scores: Iterable[Score], threshold: float, is_member: bool) -> tuple[int, int]:
    """How many runs of one kind have at least this score, and how many there are."""
    of_kind = [one.score >= threshold for one in scores if one.is_member is is_member]
    return sum(of_kind), len(of_kind)


def _best_threshold(scores: Sequence[Score], delta: float) -> tuple[float, bool]:
    """The score at which a rough bound on ε is largest, and whether members have smaller scores than the others, more
    often than by chance. Any choice is valid, as other lines test it; this one takes the limits of Wilson (1927) for
    the rates."""
    members, hits, alarms, above = sum(one.is_member for one in scores), 0, 0, 0
    others = len(scores) - members
    best, at = -inf, max(one.score for one in scores)
    for score, equal in groupby(sorted(scores, key=lambda one: -one.score), key=lambda one: one.score):
        kinds = [one.is_member for one in equal]
        above += (2 * hits + sum(kinds)) * (len(kinds) - sum(kinds))  # twice the pairs with the member above; ties once
        hits, alarms = hits + sum(kinds), alarms + len(kinds) - sum(kinds)
        t, f = _wilson(hits, members, -1), _wilson(alarms, others, +1)
        shown = max((log(top / bottom) for top, bottom in ((t - delta, f), (1 - f - delta, 1 - t))
                     if top > 0 and bottom > 0), default=-inf)
        if shown > best:
            best, at = shown, score
    # of a number of pairs where scores say nothing (Mann & Whitney 1947): two standard deviations, doubled
    by_chance = 4 * sqrt(members * others * (len(scores) + 1) / 12)
    return at, best <= 0 and above + by_chance < members * others


def _wilson(seen: int, trials: int, side: int) -> float:
    """The limit of Wilson of a rate, from below (side −1) or from above."""
    z, share = _DEVIATIONS, seen / trials
    middle = share + z * z / (2 * trials)
    width = z * sqrt(share * (1 - share) / trials + (z / (2 * trials)) ** 2)
    return (middle + side * width) / (1 + z * z / trials)
