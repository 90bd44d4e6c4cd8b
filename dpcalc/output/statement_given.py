"""The sentences of a privacy statement on guarantees that are given: in earlier results, by options, or in a ledger."""

from collections import Counter
from collections.abc import Mapping
from typing import Any

from dpcalc.accounting.mechanisms import MECHANISMS
from dpcalc.accounting.schemes import SCHEMES
from dpcalc.core.numbers import human, plain
from dpcalc.core.quantities import symbol
from dpcalc.core.relations import RELATIONS
from dpcalc.core.results import Answer, Charged, Release
from dpcalc.core.text import MOST_NAMED, listed

Values = Mapping[str, Any]


def inputs(answer: Answer) -> str:
    """The guarantees that were read from earlier results."""
    if not answer.inputs or answer.command == "ledger":
        return ""
    return f"The input, from earlier results, is {_counted([_described(item) for item in answer.inputs])}."


def _described(item: Values) -> str:
    """A guarantee of an earlier result in words."""
    if item["kind"] == "mechanisms":
        return _counted([_part(part, item.get("adjacency")) for part in item["mechanisms"]])
    if item["kind"] == "selected":
        one_run = _counted(list(map(_described, item["candidate"])))
        return f"the best of a random number of runs, where one run is {one_run}"
    if item["kind"] == "parallel":
        return f"releases of {len(item['parts'])} disjoint parts of the data"
    if item["kind"] == "dp":
        return f"a ({plain(item['epsilon'])}, {plain(item['delta'])})-differentially private mechanism"
    words, name = {"gdp": ("a μ-Gaussian differentially private mechanism, μ = ", "mu"),
                   "zcdp": ("a ρ-zero-concentrated differentially private mechanism, ρ = ", "rho"),
                   "tv": ("a mechanism of total variation at most ", "tv"), "rdp": ("a curve of Rényi divergences", ""),
                   "profile": ("a privacy profile", ""), "outcomes": ("a mechanism with finitely many outcomes", ""),
                   }[item["kind"]]
    return f"{words}{plain(float(item[name]))}" if name else words


def _part(part: Values, relation: str | None) -> str:
    """A mechanism of an earlier result for these neighbours in words."""
    mechanism, sampling, batches = MECHANISMS[part["name"]], part.get("sampling"), ""
    if relation and "noise_multiplier" in part and not part.get("sum"):
        # in JSON it is relative to how much one record changes a sum; in words, to the clipping norm
        base = part.get("between") or (SCHEMES[sampling["scheme"]].bases[relation].relation if sampling else relation)
        part = {**part, "noise_multiplier": RELATIONS[base].sensitivity * part["noise_multiplier"]}
    levels = ", ".join(f"{name.replace('_', ' ')} {float(part[name]):.6g}" for name in mechanism.part.fields)
    if sampling:
        numbers = [f"{name.replace('_', ' ')} {human(x)}" for name, x in sampling.items() if name != "scheme"]
        batches = f" on {', '.join([SCHEMES[sampling['scheme']].words, *numbers])}"
    moved, uses = part.get("moved") or 1, _releases_of(part)
    times = (f" on each of the at most {moved} values that one person moves" if moved > 1 else "") + (
        f", {uses} times" if uses > 1 else "")
    return f"{mechanism.words} ({levels}){batches}{times}"


def _releases_of(part: Values) -> int:
    """The number of releases that a part is, each of which is a use on every value that one person moves."""
    return int(part.get("count", 1)) // int(part.get("moved") or 1)


def _counted(words: list[str]) -> str:
    """The words as a list, with their number where they are the same; or the number of all where they are many."""
    words = [word if count == 1 else f"{word} ({count} times)" for word, count in Counter(words).items()]
    return listed(words) if len(words) <= MOST_NAMED else f"{len(words)} guarantees, the first of them {words[0]}"


def guarantees(answer: Answer, values: Values) -> list[str]:
    """Of convert, and of tv about a guarantee: what each release is taken to be, and how many there are."""
    steps = int(answer.extra.get("steps", 1))
    if answer.inputs:
        return [f"All of it is done {steps} times." if steps > 1 else ""]
    if answer.options.get("from") == "tv":  # its ε is that of the question
        values = {name: x for name, x in values.items() if name != "epsilon"}
    given = _of_options({name: x for name, x in values.items() if x is not None})
    subject = f"Each of {steps} releases, which may depend on the earlier ones," if steps > 1 else (
        "The given mechanism")
    return [f"{subject} is {given}." if given else ""]


def _of_options(given: Values) -> str:
    """The guarantee that options describe, in words."""
    if "mu" in given:
        return f"μ-Gaussian differentially private with μ = {plain(given['mu'])}"
    if "rho" in given:
        return f"ρ-zero-concentrated differentially private with ρ = {plain(given['rho'])}"
    if "rdp" in given:
        orders, curve = given["alpha"], given["rdp"]
        is_point = isinstance(orders, tuple) and isinstance(curve, tuple) and len(orders) == 1
        return "(α, ε)-Rényi differentially private with " + (
            f"ε(α) = {plain(curve[0])} at α = {plain(orders[0])}" if is_point else "a known curve ε(α)")
    if "p" in given:
        return f"one with {len(given['p'])} outcomes of known probabilities"
    if "kl" in given:
        return f"one of Kullback–Leibler divergence at most {plain(given['kl'])}"
    if "epsilon" in given:
        more = f" with total variation at most {plain(given['tv'])}" if given.get("tv") else ""
        return f"({plain(given['epsilon'])}, {plain(given.get('delta', 0.0))})-differentially private{more}"
    return f"one of total variation at most {plain(given['tv'])}" if "tv" in given else ""


def releases(answer: Answer, values: Values) -> list[str]:
    """Of ledger: each release with its own ε, the accesses to the data, and how batches are drawn."""
    several = len(answer.releases) > 1
    named = "; ".join(f"({k}) {one.name}{_of_parts(one)}, " + (
        f"which takes {human(one.spent)}" if answer.adaptive else
        f"alone {symbol(one.quantity)} = {human(one.epsilon)}")
                      for k, one in enumerate(answer.releases, 1))
    which = (f"The releases are {named}." if len(answer.releases) <= MOST_NAMED else
             f"There are {len(answer.releases)} releases.")
    parts = answer.guarantee.get("mechanisms", ())
    schemes = [SCHEMES[part["sampling"]["scheme"]] for part in parts if part.get("sampling")]
    # the uses that are composed are not the accesses where they are epochs, the steps that a record meets, or decisions
    # on single keys
    may_be_cyclic = answer.adjacency in SCHEMES["cyclic-poisson"].neighbours  # in JSON these are Poisson batches
    of_steps = not may_be_cyclic and all(scheme.unit == "step" for scheme in schemes) and not any(
        MECHANISMS[part["name"]].points for part in parts)
    accesses = f"They access the data {sum(map(_releases_of, parts))} times."
    batches = _counted(list(dict.fromkeys(scheme.words for scheme in schemes))) if schemes else ""
    kept = _filter(answer.adaptive) if answer.adaptive else ""
    return [which, kept, "Each of them must hold for the same neighbouring data sets." if several else "",
            accesses if parts and of_steps else "",
            f"Where a number rests on random batches, these are {batches}, and not cut from shuffled data."
            if batches else ""]


def _of_parts(release: Release | Charged) -> str:
    """What is released of disjoint parts of the data, in words."""
    if not release.parts:
        return ""
    each, parts = _counted([f"[{part}]" for part in release.parts]), f"{len(release.parts)} disjoint parts"
    words = f"of the data (parallel composition, McSherry 2009): {each}"
    return f" {words}" if release.name == parts else f", of {parts} {words}"


def _filter(adaptive: Values) -> str:
    """The sentence on the filter of an adaptive ledger."""
    budget = human(adaptive["budget"])
    name = {"pure": "a filter on the sum of their ε", "gdp": "a filter on the sum of their μ² (Smith & Thakurta 2022)"
            }.get(adaptive["filter"]) or f"a Rényi filter of order {adaptive['order']:.6g} (Feldman & Zrnic 2021)"
    return f"Later releases were chosen in view of earlier ones; {name} with budget {budget} was kept."
