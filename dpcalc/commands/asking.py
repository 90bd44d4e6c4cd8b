"""The question of a call, which depends on which of ε, δ, α, RDP and --solve are given; hints for what is missing; the
numbers of its answer; and the steps that --schedule names."""

from collections.abc import Mapping
from typing import Any

from dpcalc.core import counts, noise_multiplier
from dpcalc.core.checks import NO_TEXTS, NOISE_LEVELS, Texts, refuse
from dpcalc.core.command import Command, Given
from dpcalc.core.errors import DpcalcError, flag
from dpcalc.core.numbers import NotANumber, number, plain
from dpcalc.core.quantities import LARGEST_COUNT, RDP, SENSITIVITY, Quantity
from dpcalc.core.results import Question, Row
from dpcalc.core.tries import TRIES
from dpcalc.core.validate import near
from dpcalc.numerics.rounding import ratio_up


def read_question(command: Command, given: Given, epsilon: str = "epsilon", delta: str = "delta") -> Question:
    """The question of a call. `epsilon` and `delta` are the names of the options that fix ε and δ in the question.
    Raises DpcalcError where the options ask no question, or more than one."""
    orders = given["orders"] or ()
    unknown = read_unknown(command, given)
    has_alpha = given["alpha"] is not None and (unknown is None or unknown.name != "alpha")
    has_epsilon, has_delta = given[epsilon] is not None, given[delta] is not None
    if has_alpha and (has_epsilon or has_delta):
        orders_too = "; to restrict the search over orders, use --orders" if _has(command, "orders") else ""
        raise DpcalcError("contradictory", "asks for the RDP at one order; drop it, or drop --epsilon and --delta"
                          + orders_too, "--alpha")
    if unknown is not None:
        if has_alpha and given["rdp"] is not None:
            return Question("rdp", alpha=given["alpha"], orders=orders, unknown=unknown, target=given["rdp"])
        if has_epsilon and has_delta:
            _refuse_rdp(command, given)
            return Question("epsilon", given[epsilon], given[delta], orders=orders, unknown=unknown,
                            target=given[epsilon])
        budget = (f"beside {flag(epsilon)} add {flag(delta)}, as in {flag(delta)} {_usual_delta(given)}" if has_epsilon
                  else f"add {flag(epsilon)} and {flag(delta)}, or --alpha and --rdp")
        raise DpcalcError("missing", f"needs a budget; {budget}", "--solve")
    _refuse_rdp(command, given)
    if has_alpha:
        return Question("rdp", alpha=given["alpha"], orders=orders)
    if has_epsilon and has_delta:
        raise DpcalcError("contradictory", f"with {flag(delta)} there is nothing left to compute: add --solve "
                                           f"{_solvable(command, given)}, or drop one", flag(epsilon))
    if has_delta:
        return Question("epsilon", delta=given[delta], orders=orders)
    if has_epsilon:
        return Question("delta", epsilon=given[epsilon], orders=orders)
    return _no_number(command, given, epsilon, delta)


def _no_number(command: Command, given: Given, epsilon: str, delta: str) -> Question:
    """The question for a description alone. Raises DpcalcError where the options ask for no number, and JSON output is
    no description."""
    if command.describes and given["format"] in ("json", "jsonl"):
        refuse(given, ("bound", "digits", "orders", "precision"),
               "not used without a question; add --delta, --epsilon, --alpha or --solve, or drop it")
        return Question("guarantee")
    tv = ", --to tv (prints the total variation)" if _has(command, "to") else ""
    rdp = ", --alpha (prints the RDP)" if "--alpha" in command.asks and given["from"] != "rdp" else ""
    pure = "; 0 for pure ε" if given["mechanism"] and _usual_delta(given) == "0" else ""
    raise DpcalcError("missing", f"nothing to compute: give {flag(delta)} (prints ε{pure}), {flag(epsilon)} (prints δ)"
                                 f"{rdp}{tv}, or a budget and --solve")


def _refuse_rdp(command: Command, given: Given) -> None:
    """Raises DpcalcError for an RDP that is given as a budget without --solve and --alpha."""
    if given.has("rdp") and command.option("rdp").quantity is RDP:
        raise DpcalcError("unneeded", "not used without --solve and --alpha; to print the RDP, give --alpha alone",
                          "--rdp")


def _solvable(command: Command, given: Given) -> str:
    """The parameters that can be solved for, in words: for Gaussian noise only 'noise-multiplier (or sigma)', for
    another mechanism all of its own; elsewhere those that are not given, the noise first."""
    rarely = {TRIES.option[2:], *(o.option[2:] for o in counts.OPTIONS)}
    names, mechanism = tuple(x for x in command.solvable() if x not in rarely), given["mechanism"] or "gaussian"
    if "noise-multiplier" in names and mechanism == "gaussian":
        return "noise-multiplier (or sigma)"
    if given["mechanism"]:
        every = _mechanisms()
        of_this = {*every[mechanism].options, *every[mechanism].optional}
        of_others = {"noise_multiplier", *(o for m in every.values() for o in (*m.options, *m.optional))} - of_this | {
            question for m in every.values() for question in m.questions}  # which have budgets of their own
        names = tuple(name for name in names if name.replace("-", "_") not in of_others)
    names = tuple(name for name in names if not given.has(name.replace("-", "_"))) or names
    first, *others = sorted(names, key=lambda name: name != "sigma")
    return f"{first} (or {', '.join(others)})" if others else first


def _usual_delta(given: Given) -> str:
    """A δ for an ε without one, as it stands on the command line: 0 for a mechanism that has a pure ε."""
    mechanism = given["mechanism"] or given["noise"] or "gaussian"
    if mechanism == "gaussian":
        return "1e-5"
    found = _mechanisms().get(mechanism)
    return "0" if found and found.pure is not None else "1e-5"


def _mechanisms() -> Mapping[str, Any]:
    from dpcalc.accounting.mechanisms import MECHANISMS  # imports bounds that many questions do not need

    return MECHANISMS


def _has(command: Command, name: str) -> bool:
    return any(o.name == name for o in command.options)


def read_unknown(command: Command, given: Given) -> Quantity | None:
    """The quantity that --solve names, or None. Raises DpcalcError where it is given or cannot be solved for."""
    name = given["solve"]
    if name is None:
        return None
    word = name.removeprefix("--").replace("_", "-")
    solvable = {flag(n)[2:]: o.quantity for o in command.options if o.quantity.safe_direction for n in o.quantity.names}
    if word not in solvable:
        choices = (*command.solvable(), *command.by_formula)
        raise DpcalcError("unknown-value", f"{name!r} is not one of {', '.join(choices)}{near(word, choices)}",
                          "--solve")
    quantity = solvable[word]
    units = (SENSITIVITY, counts.PER_KEY, counts.THRESHOLD)  # those of the query, which may be whole numbers
    if quantity in units and _mechanisms()[given["mechanism"]].whole_sensitivity:
        quantity = quantity._replace(kind="count", search=(1.0, LARGEST_COUNT))
    if given.has(quantity.name):
        raise DpcalcError("contradictory", f"{quantity.option} is given, so it cannot be solved for; drop one of "
                                           "them", "--solve")
    noise_multiplier.refuse_others(quantity.name, given.provided)
    return quantity


def level_hints(given: Given, question: Question) -> Texts:
    """How to find the noise level that is missing, where only ε is given."""
    if question.unknown or not given.has("epsilon"):
        return NO_TEXTS
    delta = _usual_delta(given)
    return {level: f"; to find it for this ε, add --delta {delta} --solve {flag(level)[2:]}" for level in NOISE_LEVELS}


def lipschitz_hint(given: Given) -> Texts:
    """When smoothness and diameter imply the Lipschitz constant that is missing: linear losses have β = 0 and any L.
    Altschuler & Talwar 2022, §1.2, leave the condition out."""
    if not given["smoothness"] or not given["diameter"]:
        return NO_TEXTS
    implied = plain(ratio_up((given["smoothness"], given["diameter"])))
    return {"lipschitz": f"; βD = {implied} is one only where every loss has gradient 0 somewhere in the constraint "
                         f"set: then give --lipschitz {implied}"}


def key_of_rows(question: Question) -> str:
    """The name of the number by which rows are ranked: the solution, log δ, or the quantity that the question asks
    for."""
    if question.unknown:
        return question.unknown.name
    return "log_delta" if question.asks == "delta" else question.asks


def lower_end(question: Question, rows: tuple[Row, ...]) -> dict[str, float]:
    """The largest bound from below, as a number beside the answer: of the rows that are such bounds, and of those with
    a lower end, which holds for the same mechanism although another row may be smaller in its last digits."""
    name = f"{question.asks}_lower"
    if not rows or question.unknown or name in rows[0].result:  # rows of a solution are about different runs
        return {}
    same = [row for row in rows if row.context.get("adjacency") == rows[0].context.get("adjacency")]
    ends = [row.result.get(question.asks if row.route.bound.status == "lower" else name) for row in same]
    lower = [x for x in ends if x is not None]
    return {name: max(lower)} if lower else {}


MOST_ROWS = 1_000_000  # rows of a printed table; a larger one is probably a mistake


def step_range(text: str) -> tuple[int, ...]:
    """The steps that --schedule names for a table with a row for each of them: of FIRST:LAST, or COUNT of them, evenly
    spaced, of FIRST:LAST:COUNT. Raises DpcalcError otherwise."""
    try:
        parts = [number(p) for p in text.split(":")]
        first, last, *rest = parts
        count = rest[0] if rest else last - first + 1
        valid = len(parts) <= 3 and all(p == int(p) for p in parts) and 1 <= first <= last <= 2**53 and count >= 1
    except (NotANumber, ValueError):
        valid = False
    if not valid:
        raise DpcalcError("not-a-number",
                          f"{text!r} is not FIRST:LAST or FIRST:LAST:COUNT, whole numbers with 1 ≤ FIRST ≤ LAST",
                          "--schedule")
    count = min(count, last - first + 1)
    if count > MOST_ROWS:
        raise DpcalcError("out-of-range", f"{count:g} rows are too many; at most {MOST_ROWS:g} are allowed; add "
                                          ":COUNT", "--schedule")
    intervals = max(int(count) - 1, 1)
    return tuple(int(first) + (int(last - first) * k) // intervals for k in range(int(count)))
