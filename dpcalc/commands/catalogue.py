"""The catalogue: every bound with the commands that use it, every option and every command as data, for `bounds`,
`explain`, --explain and the documents. The only file that it reads is the table of measured accuracies, besides the
package's own source."""

import ast
import json
import re
from collections.abc import Iterable
from functools import cache
from importlib import import_module
from importlib.resources import files
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

from dpcalc.bounds import ROOMS, all_bounds, bounds_in, modules_of
from dpcalc.commands import CALCULATORS, calculator
from dpcalc.core import audits, counts, plotting, quantities, tries
from dpcalc.core.bound import Bound, PointBound, ProfileBound
from dpcalc.core.command import Command
from dpcalc.core.quantities import Quantity


class Entry(NamedTuple):
    """A bound, the commands that use it, and an example of it."""

    bound: Bound
    commands: tuple[str, ...]
    example: str  # the arguments of a call that shows it


@cache
def calculators() -> dict[str, Command]:
    """Name → command, for the commands that answer questions."""
    return {name: calculator(name) for name in CALCULATORS}


def uses(command: Command) -> tuple[str, ...]:
    """The names of the bounds and conversions by which a command can answer."""
    return tuple(dict.fromkeys(theorem.name for route in command.theorems() for theorem in route.theorems))


@cache
def entries() -> dict[str, Entry]:
    """Bound name → entry, in the order of the families of bounds."""
    used = {name: frozenset(uses(command)) for name, command in calculators().items()}
    return {name: Entry(bound, tuple(c for c, names in used.items() if name in names), bound.theorem.example)
            for name, bound in all_bounds().items()}


def bound_named(name: str) -> Bound | None:
    """The bound of this name, or None. A module is imported only if its source holds the name in quotes, so that one
    bound is found without the others."""
    files = (f"dpcalc/bounds/{room}/{module}.py" for room in ROOMS
             for module in import_module(f"dpcalc.bounds.{room}").MODULES)
    return next((bound for file in files if f'"{name}"' in (_ROOT / file).read_text(encoding="utf-8")
                 for bound in bounds_in(import_module(file[:-3].replace("/", "."))) if bound.name == name), None)


def mentioning(words: Iterable[str]) -> list[Entry]:
    """The entries of the bounds that have each of these words in their name or their source, which names the authors;
    case is ignored."""
    wanted = [word.casefold() for word in words]
    return [e for e in entries().values()
            if all(word in f"{e.bound.name} {e.bound.source}".casefold() for word in wanted)]


# --- in words --------------------------------------------------------------------------------------------------------

_ANSWERS = {
    "rdp": "ε(α); ε, δ by a conversion",
    "profile": "ε, δ", "curve too": "ε, δ, ε(α)",
    "conversion": "ε, δ from ε(α)",
    "composition": "ε, δ, TV of a composition",
}
_GIVES = {"keep_probability": "probability that a key is kept", "drop_probability": "probability that it is not",
          "epsilon": "ε", "delta": "δ", "tv": "TV", "mu": "μ", "rho": "ρ", "feedback": "λ",
          "equal_privacy_variance": "variance", "epsilon_lower": "ε from below", "mu_lower": "μ from below",
          "noise_within": "half-width", "spent": "what was spent of a budget"}
_ACCURACY = {
    "rdp": "ε(α) is at most {rtol:g} above the published formula, relative, and never below it",
    "profile": "log δ is at most {rtol:g}·max(1, |log δ|) above the published formula, at an ε that may be off by "
               "{rtol:g}; never below",
    "conversion": "ε is at most {rtol:g} of its largest term, ε(α) + log(1/δ)/(α−1), above the published formula, and "
                  "never below it",
    "composition": "log δ is at most twice --precision (default 1e-3) above the composition of what it is given, never "
                   "below it",
    "law on a grid": "log δ of one epoch is at most {rtol:g} above the theorem, and never below it; the composition of "
                     "epochs adds at most twice --precision (default 1e-3)",
    "point": "the value is at most {rtol:g} above the published formula, relative, and never below it",
}
_LOWER = "the value is never above what a concrete run loses; how near it comes is not promised"
_AUDIT = ("the value is never above the formula, and at most {rtol:g}·max(1, ε) below it where δ is at most half of "
          "the rates")


def answers(bound: Bound) -> str:
    """The quantities that a bound can answer for, in symbols."""
    if isinstance(bound, PointBound):
        return ", ".join(_GIVES[name] for name in bound.gives)
    curve_too = isinstance(bound, ProfileBound) and bound.rdp and not bound.pair
    return _ANSWERS["curve too" if curve_too else bound.kind]


def accuracy(bound: Bound) -> str:
    """The claimed accuracy as a sentence."""
    kind = "law on a grid" if "tail" in bound.params else bound.kind
    from_below = _AUDIT if "confidence" in bound.params else _LOWER
    claim = (from_below if bound.is_from_below else _ACCURACY[kind]).format(rtol=bound.rtol)
    if not isinstance(bound, ProfileBound) or bound.blocks is None:
        return claim
    of = ", from the index on," if "index" in bound.params else ""
    return f"{claim}. Beyond {bound.blocks.beyond:g} records{of} that formula is taken in blocks, from above"


def measured(name: str) -> dict[str, Any] | None:
    """The measured accuracy of a bound (from accuracy.json, which tests/accuracy.py writes), or None: the number of
    points, the claimed and the worst error, both in the units of Bound.rtol, and the domain. `claimed` is None for a
    lower bound, which only claims never to be too large."""
    return _accuracies().get(name)


@cache
def _accuracies() -> dict[str, dict[str, Any]]:
    found: dict[str, dict[str, Any]] = json.loads(files("dpcalc").joinpath("accuracy.json").read_text(encoding="utf-8"))
    return found


# --- parameters ------------------------------------------------------------------------------------------------------

_DERIVED = {  # parameters of bounds that are computed from options: (symbol, meaning)
    "design": ("C", "strategy of the noise, number of steps, and which steps a record takes part in"),
    "change": ("Δ", "change of the sum of a step by one record, in clipping norms: 1, or 2 where it is replaced"),
    "dropped": ("ρ", "probability that a record is in no full batch of an epoch, 1 − tb/n"),
    "whole_epochs": ("E", "number of whole epochs"),
    "noise_of_record": ("", "σ over what one record moves the sum of a batch by, where neighbours differ in a group"),
    "unfinished": ("", "number of steps of a last epoch that ends early"),
    "clipped": ("", "whether the noise is relative to a norm that all vectors are clipped to"),
    "replaced": ("", "whether a record is replaced by another one between neighbours, or else zeroed out"),
    "noise": ("", "kind of additive noise"),
    "noise_level": ("σ or v", "--sigma or --scale"),
    "contributors": ("", "people who have contributed to only one of two neighbours: 1, or 2 where one is replaced"),
    "answers": ("m", "number of answers that are within it at once"),
    "true_positives": ("tp", "hits among the runs with the record, --true-positives"),
    "members": ("n₁", "runs with the record, --true-positives"),
    "false_positives": ("fp", "false alarms among the runs without the record, --false-positives"),
    "non_members": ("n₀", "runs without the record, --false-positives"),
    "law": ("", "law of the noise, as --noise says"),
    "level": ("σ or v", "noise on every gradient: --sigma or --scale, or what --c1 and --c2 make"),
    "levels": ("σ_1,…", "noise of each step: --sigmas or --scales, or what --c1, --c2 and --decay make"),
    "curvatures": ("a_1,…", "curvatures of the gradient, --curvature"),
    "iterations": ("T", "number of iterations, --steps"),
    "uses": ("i_1,…", "steps that use the record, --index or --used-at"),
    "passes": ("E", "passes over the data, --epochs"),
    "period": ("⌈n/b⌉", "batches in a pass over the data"),
    "last": ("", "steps from the last use of the record to the end, its own included"),
    "base": ("ε(α)", "RDP curve of the mechanism that is sampled"),
    "step_profile": ("δ(ε)", "privacy profile of one step"),
    "profile": ("δ(ε)", "privacy profile of the mechanism that is sampled"),
    "points": ("ε_i, δ_i", "(ε, δ) of each release, and how often it is used"),
    "mus": ("μ_i", "μ of each release that is μ-GDP or Gaussian noise, and how often it is used"),
    "pure": ("ε_i", "ε of each release that is pure, and how often it is used"),
    "terms": ("ρ_i", "ρ of each release, as numerators and denominators, and how often it is used"),
    "profile_points": ("ε_i, δ_i", "known (ε, δ) of one record"),
    "pairs": ("", "dominating pair of each release, and how often it is used"),
    "candidate": ("", "guarantee of one run"),
    "runs": ("", "law of the number of runs, --tries with --tries-law or --tries-shape"),
    "tail": ("", "probability that an epoch may move to an infinite loss; chosen from δ and the number of epochs"),
    "parts": ("", "RDP curve of each guarantee that is composed"),
    "most_epsilon": ("ε", "budget, fixed before the first release"),
    "most_mu": ("μ", "largest μ that has this ε at δ, without the reserve"),
    "rdp_budget": ("B", "Rényi divergence of this order that has this ε at δ, without the reserve"),
    "reserve": ("δ_r", "part of δ for releases that are (ε_t, δ_t) with δ_t > 0, --delta-reserve"),
    "charges": ("ρ_t", "what each release takes from the budget, and how often it is used"),
    "alphas": ("α", "Rényi orders of the curve, --alpha"),
    "rdps": ("ε(α)", "Rényi divergence at each of them, --rdp"),
    "ratio": ("s/σ", "sensitivity over noise; for a pure mechanism its ε"),
    "step_tv": ("TV", "total variation of one step"),
    "schedule": ("(η, σ)", "step size and noise of each step, and whether it uses the record"),
}


@cache
def named_quantities() -> dict[str, Quantity]:
    """Name → quantity; where several have one name, the first of them."""
    found: dict[str, Quantity] = {}
    for quantity in (*vars(quantities).values(), *tries.OPTIONS, *counts.OPTIONS, *audits.OPTIONS,
                     *plotting.OPTIONS):
        if isinstance(quantity, Quantity):
            found.setdefault(quantity.name, quantity)
    return found


def quantity_named(name: str) -> Quantity | None:
    """The quantity with this name, or with this name in other tools; None where there is none."""
    word, named = name.replace("-", "_"), named_quantities()
    return named.get(word) or next((q for q in named.values() if word in q.names), None)


def option_record(name: str) -> dict[str, Any] | None:
    """The JSON record of an option, by any of its names: symbol, meaning, range, and the commands that have it; None
    where there is no such option."""
    q = quantity_named(name)
    having = [c for c, command in calculators().items() if q and any(o.name == q.name for o in command.all_options())]
    if q is None or not having:
        return None
    return {"name": q.option, "kind": "option", "symbol": q.symbol, "meaning": q.help,
            "range": q.limits() or "|".join(q.choices), "commands": having}


def command_record(name: str) -> dict[str, Any] | None:
    """The JSON record of a calculator: its purpose, how it is asked, its bounds, and examples; None where there is no
    such calculator."""
    command = calculators().get(name)
    if command is None:
        return None
    return {"name": name, "kind": "command", "help": command.help, "asks": command.asks, "bounds": list(uses(command)),
            "examples": [f"dpcalc {line}" for line, _ in command.examples]}


def parameters(entry: Entry) -> list[dict[str, str]]:
    """The parameters of a bound: name, symbol, meaning (in the words of the first command that uses it) and range."""
    options = {o.name: o.quantity for c in reversed(entry.commands) for o in calculators()[c].options}
    rows = []
    for name in entry.bound.params:
        if name in _DERIVED:
            symbol, words, limits = *_DERIVED[name], ""
        else:
            quantity = options.get(name) or named_quantities()[name]
            symbol, words, limits = quantity.symbol, quantity.help, quantity.limits() or "|".join(quantity.choices)
        rows.append({"name": name, "symbol": symbol, "meaning": words, "range": limits})
    return rows


# --- proofs ----------------------------------------------------------------------------------------------------------


def module_of(bound: Bound) -> ModuleType:
    """The module that defines a bound."""
    return next(module for room in ROOMS for module in modules_of(room) if bound in bounds_in(module))


def proofs(bound: Bound) -> list[tuple[str, str]]:
    """(file, text) of the proofs in the docstrings of dpcalc: in the file of the bound, and in files that this file, a
    proof, or the bound's source refers to. Empty where the proof is in the cited paper."""
    own = _file(module_of(bound))
    found: dict[str, str] = {}
    pending, seen = [own], set()
    while pending:
        file = pending.pop(0)
        if file in seen:
            continue
        seen.add(file)
        # the docstring, which is read without importing the module
        text = ast.get_docstring(ast.parse((_ROOT / file).read_text(encoding="utf-8")), clean=False) or ""
        if file == own:  # in a file of several bounds, a paragraph "Proof of NAME" is about the one of this name alone
            text = re.sub(rf"^Proof of (?!{bound.name}\b)[a-z]+-.*?(\n\n|\Z)", "", text, flags=re.M | re.S)
        if has_proof := re.search(r"^Proof\b", text, re.M):
            found[file] = text.strip()
        if has_proof or file == own:
            # the files of this package that it names: in its own folder or the engine of that, or by their path
            folder = file.rpartition("/")[0]
            for path in re.findall(r"[\w/]+\.py", text + (bound.source if file == own else "")):
                places = [f"{room}/{path}" for room in (folder, f"{folder}/_engine", "dpcalc", "dpcalc/bounds", ".")]
                pending += [name.removeprefix("./") for name in places if (_ROOT / name).exists()][:1]
    return list(found.items())


_ROOT = Path(__file__).parents[2]
_NO_PROOF = {"conjecture": "none is known", "as-published": "not sound as printed, see the errata",
             "lower": "no theorem, but the loss of a concrete run"}


def proof(bound: Bound) -> str:
    """The place of the proof of a bound, in words."""
    files = [file for file, _ in proofs(bound)]
    return f"in {', '.join(files)}" if files else _NO_PROOF.get(bound.status, "in the source")


def _file(module: ModuleType) -> str:
    return module.__name__.replace(".", "/") + ".py"


# --- records ---------------------------------------------------------------------------------------------------------


def record(entry: Entry) -> dict[str, Any]:
    """The JSON record of a bound."""
    bound = entry.bound
    return {
        "name": bound.name, "status": bound.status, "kind": bound.kind, "answers": answers(bound),
        "commands": list(entry.commands),
        "statement": bound.theorem.statement, "in_words": bound.theorem.in_words,
        "assumptions": list(bound.theorem.assumptions), "parameters": parameters(entry), "source": bound.source,
        "proof": proof(bound), "proofs": [{"file": file, "text": text} for file, text in proofs(bound)],
        "errata": list(bound.theorem.errata),
        "rtol": bound.rtol, "accuracy": accuracy(bound), "measured": measured(bound.name),
        "file": _file(module_of(bound)), "example": f"dpcalc {entry.example}",
    }
