"""Which bounds speak about the last iterate of noisy SGD, by noise, order and question. Names only become code in
tables."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import exp, inf, log
from typing import Any, NamedTuple

from dpcalc.accounting.routes import converted
from dpcalc.bounds.start import START
from dpcalc.core.bound import Bound
from dpcalc.core.command import Given, missing
from dpcalc.core.errors import DpcalcError, EveryValueMeets, NoSolution, OutOfScope, flag
from dpcalc.core.numbers import human, human_log, human_probability, plain
from dpcalc.core.one_record import OneRecord, for_one
from dpcalc.core.quantities import Quantity
from dpcalc.core.question import Question
from dpcalc.core.results import Route, Row, guarantee_of
from dpcalc.numerics.elementary import exp_or_zero

Params = Mapping[str, Any]
_LARGEST = 700.0  # log of a number that is told in full
_AS_SHARP = 1e-9  # relative, of an answer
BOTH, GAUSSIAN = ("gaussian", "laplace"), ("gaussian",)

_CONVERSIONS = {"rdp-improved", "rdp-mironov", "rdp-optimal"}


class Entry(NamedTuple):
    """A bound: the name it also answers to, the options it needs beyond noise and n, the noises it covers, and whether
    it is about the run that the command describes (others are shown when named)."""

    bound: Bound
    needs: tuple[str, ...]
    noises: tuple[str, ...] = GAUSSIAN
    family: str = ""
    usual: bool = True
    contracts: bool = False  # needs η <= 2/(β+ρ)

    @property
    def names(self) -> tuple[str, ...]:
        return (self.bound.name, self.family)


def chosen(entries: Sequence[Entry], given: Params, noise: str, named: Sequence[str],
           unknown: str | None) -> tuple[Entry, ...]:
    """The entries that --bound names, or else the usual ones whose options are there. Raises DpcalcError for what is
    missing."""
    fit = [e for e in entries if noise in e.noises]
    said, named = named, [n.removesuffix("-basic") for n in named]
    if named:
        curved = any(e.bound.kind == "rdp" for e in fit)
        known = sorted({n for e in fit for n in e.names if n} | (_CONVERSIONS if curved else set()))
        for name in said:
            if name.removesuffix("-basic") not in known:
                from dpcalc.bounds import replaced
                from dpcalc.core.validate import near

                if gone := replaced(name):
                    raise DpcalcError("unknown-value", gone, "--bound")
                others = f"; it can be {', '.join(known)}{near(name, tuple(known))}" if known else ""
                raise DpcalcError("unknown-value", f"{name!r} is not a bound for this question ({noise} noise){others}",
                                  "--bound")
        usual = [e for e in fit if e.usual]
        # where conversions alone are named
        curves = [e for e in usual if e.bound.kind == "rdp" and not _missing(e, given, unknown)]
        fit = [e for e in fit if set(e.names) & set(named)] or curves or usual
        for e in fit:
            _require(e, given, unknown)
        return tuple(fit)
    fit = [e for e in fit if e.usual]
    there = [e for e in fit if not _missing(e, given, unknown)]
    if not any(e.bound.status == "proven" for e in there):
        _require(fit[0], given, unknown)
    return tuple(there)


def _missing(entry: Entry, given: Params, unknown: str | None) -> list[str]:
    return [n for n in entry.needs if given.get(n) is None and n != unknown]


def _require(entry: Entry, given: Params, unknown: str | None) -> None:
    missing(_missing(entry, given, unknown), f"by {entry.bound.name}")


def routes(entries: Sequence[Entry], asks: str, named: bool, epochs: bool = False, solving: bool = False,
           curves: Sequence[str] = ()) -> tuple[Route, ...]:
    """How the entries answer: an RDP curve by a conversion, and then only when named (its exact profile is never
    larger); over epochs a profile by its composition, with basic composition beside it. To solve through epochs takes a
    composition for every value tried: then the first entry alone answers, others when named. `curves` are the RDP
    curves there are."""
    found: list[Route] = []
    for e in entries:
        if e.bound.kind == "rdp":
            found += [Route(e.bound)] if asks == "rdp" else converted(e.bound) if named else []
        elif e.bound.is_of_whole_run or (asks == "rdp" and e.bound.rdp is not None):
            found.append(Route(e.bound))
        elif asks != "rdp" and epochs and e.bound.status == "proven":
            from dpcalc.bounds.pnsgd._engine import gaussian_epochs
            from dpcalc.bounds.pnsgd._engine.epochs import basic, composed

            later, own = solving and bool(found), gaussian_epochs.composed if e.bound.mu else composed
            found += [Route(own(e.bound), on_request=later and own is composed),
                      Route(basic(e.bound), on_request=later)]
        elif asks != "rdp" and not epochs:
            found.append(Route(e.bound))
    if not found and asks != "rdp":
        names = " and ".join(dict.fromkeys(e.bound.name for e in entries))
        raise DpcalcError("refused", f"{names} is no guarantee, and only guarantees are composed over epochs",
                          "--bound")
    if not found:
        raise DpcalcError("refused",
                          "these bounds are (ε, δ) profiles: Section 5 of Sordello et al. 2021 turns a point of one "
                          "into "
                          "RDP, which no theorem allows (Mironov 2017, Prop. 3, has no converse); give --epsilon or "
                          "--delta"
                          + (f", or name a curve of RDP: --bound {' or '.join(curves)}" if curves else ""), "--alpha")
    return tuple(found)


def expanded(named: Sequence[str], entries: Sequence[Entry], ways: Sequence[Route]) -> tuple[str, ...]:
    """The bounds that the names and families of --bound mean, among those that can answer; conversions stay."""
    able = {r.bound.name for r in ways}
    both = [n for e in entries for n in (e.bound.name, f"{e.bound.name}-basic") if n in able]
    family = {n: e.family for e in entries for n in (e.bound.name, f"{e.bound.name}-basic")}
    meant = (n for name in named for n in [b for b in both if name in (b, b.removesuffix("-basic"), family[b])]
             or [name])
    return tuple(dict.fromkeys(meant))


def steps_in_range(unknown: Quantity, given: Given) -> Quantity:
    """η up to 2/(β+ρ)."""
    total, (low, high) = (given["smoothness"] or 0.0) + given["strong_convexity"], unknown.search
    return unknown._replace(search=(low, min(high, 2 / total))) if total > 0 else unknown


def scales_in_range(unknown: Quantity, given: Given, log_j: float) -> Quantity:
    """C1 up to where Laplace noise log(j/C1 + C2) has its pole, if it has one."""
    from dpcalc.bounds.pnsgd._engine.schedules import most_scale

    low, high = unknown.search
    return unknown._replace(search=(low, min(high, most_scale(given["noise"], log_j, given["c2"]))))


def downwards(unknown: Quantity, given: Given) -> Quantity:
    """Less of η is safer, as where the noise of a schedule falls with it; with strong convexity what is left of a shift
    falls, too, and the loss may rise and fall."""
    return unknown._replace(safer=-1, uneven=given["c1"] is not None and given["strong_convexity"] > 0)


def in_directions(parts: Sequence[tuple[Question, tuple[Route, ...]]], names: tuple[str, ...],
                  rows: Callable[[Question, tuple[Route, ...], tuple[str, ...]], tuple[Row, ...]]) -> tuple[Row, ...]:
    """The rows by the first bounds that answer: those that lose less with more of the unknown, and those that lose
    more, are two searches. Raises what the first one does where none answers."""
    bounds, why = {r.bound.name for _, ways in parts for r in ways}, list[DpcalcError]()
    every = bounds | {r.conversion.name for _, ways in parts for r in ways if r.conversion}
    for question, ways in parts:
        here = {r.bound.name for r in ways}
        able = here | {r.conversion.name for r in ways if r.conversion}
        meant = tuple(name for name in names if name in able or name not in every)
        others = bounds & set(names) and not here & set(names)
        if others or (not meant if names else all(r.on_request for r in ways)):
            continue
        try:
            return rows(question, ways, meant)
        except EveryValueMeets:
            raise
        except (OutOfScope, NoSolution) as reason:
            why.append(reason)
    raise why[0]


def check_step_size(given: Params, entries: Sequence[Entry], unknown: str | None, every: Sequence[Entry] = ()) -> None:
    """The condition on η, as an error, where a bound in use needs it; with those of `every` that need none."""
    from dpcalc.bounds.pnsgd._engine.step import check_step_size

    if unknown == "learning_rate" or not any(e.contracts for e in entries):
        return
    try:
        check_step_size(given["learning_rate"], given["smoothness"], given["strong_convexity"])
    except OutOfScope as reason:  # not one of several bounds, but what the run itself lacks
        free = [e for e in every if e.usual and not e.contracts and given["noise"] in e.noises
                and not _missing(e, given, unknown)]
        names = dict.fromkeys(e.family or e.bound.name for e in free)
        hint = f"; --bound {' or '.join(names)} holds for every η" if names and reason.option == "--learning-rate" else ""
        raise DpcalcError(reason.code, reason.message + hint, reason.option) from None


def level_option(given: Given, scheduled: bool, names: Mapping[str, str], extra: str = "") -> str:
    """The option of the noise level. Raises DpcalcError for that of the other noise, and for a level beside a
    schedule."""
    noise = given["noise"]
    own = names[noise]
    for other in names.values():
        if other != own and given.has(other):
            raise DpcalcError("unneeded", f"not used with --noise {noise}; give {flag(own)}", flag(other))
    if scheduled and given.has(own):
        raise DpcalcError("contradictory", f"--c1 and --c2{extra} already say the noise", flag(own))
    return own


def check_place(given: Given) -> None:
    """The index among the records; Laplace noise in dimension 1."""
    if given["index"] is not None and given["n"] is not None and given["index"] > given["n"]:
        raise DpcalcError("out-of-range", f"{given['index']} > n = {given['n']}: there is no such record", "--index")
    if (given["dimension"] or 1) > 1:
        raise DpcalcError("out-of-range",
                          f"{given['dimension']}: Theorem 1 (Sordello et al. 2021) covers Laplace noise on an "
                          "interval only, dimension 1", "--dimension")


_LEVEL = {"gaussian": "σ is the standard deviation", "laplace": "v is the scale"}


def noise_note(noise: str) -> str:
    return f"{_LEVEL[noise]} of the noise on every gradient; on the iterate it is η times that"


def start_note(found: Sequence[Row]) -> tuple[str, ...]:
    """The assumption on the first iterate, which no output of a run shows; nothing where no theorem of these rows needs
    it."""
    return (f"assumed: {START}",) if any(START in t.assumptions for row in found for t in row.route.theorems) else ()


def guarantee(question: Question, found: Sequence[Row], index: int | None) -> dict[str, Any]:
    """What a next command can read, all of it where a bound that says μ-GDP is as sharp; of the record at an index, if
    asked for."""
    from dpcalc.accounting.orders import own_params

    head, of = found[0].result, {} if index is None else {"index": [index]}
    asked = question.unknown.name if question.unknown else "log_delta" if question.asks == "delta" else question.asks
    for row in found:
        bound = row.route.bound
        if bound.mu is None or abs(row.result[asked] - head[asked]) > _AS_SHARP * abs(head[asked]):
            continue
        if 0 < (mu := bound.mu(**own_params(bound, found[0].params))) < inf:
            return {"kind": "gdp", "mu": mu, **of}
    if question.asks == "rdp":
        return {"kind": "rdp", "alpha": [question.alpha], "rdp": [question.target if question.unknown else head["rdp"]],
                **of}
    return {**guarantee_of(head.get("epsilon", question.epsilon), head.get("delta", question.delta)), **of}


def epsilon_beside(question: Question, head: Row) -> float | None:
    """The ε at which to say more: the budget's, where a parameter was solved for, else the answer's."""
    return question.epsilon if question.unknown else head.result.get("epsilon", question.epsilon)


def worst_position(epsilon: float, params: Params, head: Row) -> tuple[int, float]:
    """The position with the largest δ by the bound of the headline, and the log of that δ: `worst_index`."""
    from dpcalc.accounting.evaluate import evaluate
    from dpcalc.accounting.orders import own_params

    bound, index = head.route.bound, worst_index(params, head)
    if index == params["index"] and 0 < epsilon == head.result.get("epsilon"):
        return index, told_log(head.result)  # that is the guarantee itself
    at = {**params, "index": index}
    if bound.kind != "profile":
        return index, told_log(evaluate(head.route, at, Question("delta", epsilon=epsilon)).result)
    return index, bound.value(epsilon, **own_params(bound, at))


def worst_index(params: Params, head: Row) -> int:
    """The last position, which no step follows, or (of a run that stops at random) the first, which the most steps may
    follow."""
    from dpcalc.bounds.pnsgd.randomly_stopped import RELEASED

    return 1 if head.route.bound.released == RELEASED else int(params["n"])


def told_log(result: Mapping[str, float]) -> float:
    """log δ of a row that has δ."""
    return result["log_delta"] if "log_delta" in result else log(result["delta"]) if result["delta"] > 0 else -inf


def beside_worst(params: Params, worst: float, log_delta: float, epsilon: float, head: Row,
                 question: Question) -> tuple[dict[str, float], OneRecord]:
    """The worst index with its δ at ε (of a solution, the budget's), and where ε is asked for its ε, as companions and
    in words.

    It is never below that of the record asked about, and may be rounded up more coarsely. An ε that was computed is
    printed with a few digits."""
    from dpcalc.accounting.guarantee_words import delta_result

    result, own = delta_result(min(0.0, log_delta), epsilon), head.result
    if 0 < epsilon == own.get("epsilon") and (told := told_log(own)) > log_delta:
        result = {"delta": own["delta"], "log_delta": told}
    delta = human_probability(result["delta"], result["log_delta"])
    numbers = {"worst_index": worst, "worst_delta": result["delta"], "worst_log_delta": result["log_delta"]}
    at = plain(epsilon) if epsilon in (question.epsilon, question.target) else human(epsilon)
    said = f"δ = {delta}" if question.asks == "delta" else f"δ = {delta} at ε = {at}"
    if question.asks == "epsilon" and not question.unknown and (found := _worst_epsilon(params, worst, head,
                                                                                        question)) is not None:
        numbers["worst_epsilon"] = found
        said = f"ε = {human(found)}"
    return numbers, for_one(params["index"], worst, said)


def _worst_epsilon(params: Params, worst: float, head: Row, question: Question) -> float | None:
    """ε of the worst record at the δ that is asked about; None where the worst one depends on ε, or there is no such
    ε."""
    from dpcalc.accounting.evaluate import evaluate
    from dpcalc.numerics.root import Unreachable

    if worst == params["index"]:
        return head.result["epsilon"]
    if worst == inf or _depends_on_epsilon(params):
        return None
    try:
        found = evaluate(head.route, {**params, "index": int(worst)}, question).result["epsilon"]
    except (DpcalcError, Unreachable, OverflowError, ZeroDivisionError):
        return None
    return max(found, head.result["epsilon"])


def _depends_on_epsilon(params: Params) -> bool:
    """Whether another record may be the worst one at another ε: where the noise of every step is given by itself."""
    from dpcalc.bounds.online._engine.levels import Listed

    return isinstance(params.get("levels"), Listed)


def value_of_worst(head: Row, params: Params, question: Question, index: int, worst: int,
                   what: str = "record") -> tuple[dict[str, float], OneRecord]:
    """What is asked, or at a solution the ε at the budget's δ, by the bound of the headline for the worst record, whose
    `params` these are: as companions and in words."""
    from dpcalc.accounting.evaluate import evaluate
    from dpcalc.core.quantities import symbol

    asks = question.asks
    result = evaluate(head.route, params, question._replace(unknown=None, target=None)).result
    value = human_probability(result["delta"], result["log_delta"]) if asks == "delta" else human(result[asks])
    return {"worst_index": worst, f"worst_{asks}": result[asks]}, for_one(index, worst, f"{symbol(asks)} = {value}",
                                                                          what)


def limit_delta(log_limit: float) -> float:
    """δ* from its logarithm: 0 only where it is 0."""
    return 0.0 if log_limit == -inf else max(exp_or_zero(log_limit), 5e-324)


def beside_limit(log_limit: float, log_delta: float, name: str, what: str) -> tuple[dict[str, float], str]:
    """What the δ of a bound tends to as n → ∞ (or what bounds that), how many times it the δ at this n is, where that
    is a number, and both in words."""
    numbers = {"delta_limit": limit_delta(log_limit)}
    told = human(numbers["delta_limit"]) if abs(log_limit) < _LARGEST or log_limit == -inf else human_log(log_limit)
    note = f"δ* = {told} is {what}, not a guarantee"
    if log_limit == -inf:
        return numbers, note
    above = log_delta - log_limit
    numbers |= {"log_delta_limit": log_limit, "limit_factor": exp(above) if above < _LARGEST else inf}
    times = f"{numbers['limit_factor']:.4g}" if abs(above) < _LARGEST or above == -inf else f"e^{above:.6g}"
    return numbers, f"{note}: at this n {name} gives {times} times it"
