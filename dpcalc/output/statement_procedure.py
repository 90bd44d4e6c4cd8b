"""The sentences of a privacy statement on what is done with the data: noise, batches and passes, by command."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from math import isinf
from typing import Any

from dpcalc.accounting.mechanisms import MECHANISMS
from dpcalc.accounting.schemes import SCHEMES, scheme_of
from dpcalc.core import quantities as q
from dpcalc.core.numbers import human, plain
from dpcalc.core.relations import RELATIONS
from dpcalc.core.results import Answer
from dpcalc.output.statement_correlated import correlated, feedback
from dpcalc.output.values import stated

Values = Mapping[str, Any]
_MOST_NAMED = 8  # releases or inputs that are named; a statement with more of them gives their number


def procedure(answer: Answer) -> list[str]:
    """The sentences on noise, batches and passes."""
    by_command = {"convert": _guarantees, "ledger": _releases, "shuffle-pnsgd": _passes, "online-noise": _stream,
                  "burn-in": _burn_in, "noise-feedback": feedback, "compare": _run, "correlated": correlated}
    sentences = by_command.get(answer.command, _mechanism)
    return [text for text in (_inputs(answer), *sentences(answer, answer.parameters), _sizes(answer))
            if text]


# --- guarantees that are given ---------------------------------------------------------------------------------------


def _inputs(answer: Answer) -> str:
    """The guarantees that were read from earlier results."""
    if not answer.inputs or answer.command == "ledger":
        return ""
    return f"The input, from earlier results, is {_listed([_described(item) for item in answer.inputs])}."


def _described(item: Values) -> str:
    """A guarantee of an earlier result in words."""
    if item["kind"] == "mechanisms":
        return _listed([_part(part, item.get("adjacency")) for part in item["mechanisms"]])
    if item["kind"] == "dp":
        return f"a ({plain(item['epsilon'])}, {plain(item['delta'])})-differentially private mechanism"
    words, name = {"gdp": ("a μ-Gaussian differentially private mechanism, μ = ", "mu"),
                   "zcdp": ("a ρ-zero-concentrated differentially private mechanism, ρ = ", "rho"),
                   "tv": ("a mechanism of total variation at most ", "tv"), "rdp": ("a curve of Rényi divergences", ""),
                   "profile": ("a privacy profile", ""), "outcomes": ("a mechanism with finitely many outcomes", ""),
                   }[item["kind"]]
    return f"{words}{plain(float(item[name]))}" if name else words


def _sampled(sampling: Values) -> str:
    """The batches of a mechanism of an earlier result in words."""
    numbers = [f"{name.replace('_', ' ')} {human(x)}" for name, x in sampling.items() if name != "scheme"]
    return ", ".join([SCHEMES[sampling["scheme"]].words, *numbers])


def _part(part: Values, relation: str | None) -> str:
    """A mechanism of an earlier result for these neighbours in words."""
    mechanism = MECHANISMS[part["name"]]
    if relation and "noise_multiplier" in part and not part.get("sum"):
        part = {**part, "noise_multiplier": _of_clipping_norm(part, relation)}
    levels = ", ".join(f"{name.replace('_', ' ')} {plain(float(part[name]))}" for name in mechanism.part.fields)
    sampling = part.get("sampling")
    batches = f" on {_sampled(sampling)}" if sampling else ""
    times = f", {part['count']} times" if part.get("count", 1) > 1 else ""
    return f"{mechanism.words} ({levels}){batches}{times}"


def _of_clipping_norm(part: Values, relation: str) -> float:
    """The noise multiplier in clipping norms. In JSON it is relative to how much one record changes a sum."""
    sampling = part.get("sampling")
    base = part.get("between") or (SCHEMES[sampling["scheme"]].bases[relation].relation if sampling else relation)
    return float(RELATIONS[base].sensitivity * part["noise_multiplier"])


def _listed(words: list[str]) -> str:
    """The words as a list, with their number where they are the same; or the number of all where they are many."""
    words = [word if count == 1 else f"{word} ({count} times)" for word, count in Counter(words).items()]
    if len(words) > _MOST_NAMED:
        return f"{len(words)} guarantees, the first of them {words[0]}"
    return " and ".join((", ".join(words[:-1]), words[-1])) if len(words) > 1 else words[0]


def _guarantees(answer: Answer, values: Values) -> list[str]:
    """Of convert, and of tv about a guarantee: what each release is taken to be, and how many there are."""
    steps = int(answer.extra.get("steps", 1))
    if answer.inputs:
        return [f"All of it is done {steps} times." if steps > 1 else ""]
    if answer.options.get("from") == "tv":  # its ε is that of the question
        values = {name: x for name, x in values.items() if name != "epsilon"}
    given = next((words(values) for name, words in _GIVEN.items() if values.get(name) is not None), "")
    subject = f"Each of {steps} releases, which may depend on the earlier ones," if steps > 1 else (
        "The given mechanism")
    return [f"{subject} is {given}." if given else ""]


# The option that describes a guarantee → the guarantee in words.
_GIVEN: dict[str, Callable[[Values], str]] = {
    "mu": lambda values: f"μ-Gaussian differentially private with μ = {plain(values['mu'])}",
    "rho": lambda values: f"ρ-zero-concentrated differentially private with ρ = {plain(values['rho'])}",
    "rdp": lambda values: f"(α, ε)-Rényi differentially private with {_curve(values)}",
    "p": lambda values: f"one with {len(values['p'])} outcomes of known probabilities",
    "kl": lambda values: f"one of Kullback–Leibler divergence at most {plain(values['kl'])}",
    "epsilon": lambda values: (f"({plain(values['epsilon'])}, {plain(values.get('delta') or 0.0)})-differentially "
                               "private"
                               + (f" with total variation at most {plain(values['tv'])}" if values.get("tv") else "")),
    "tv": lambda values: f"one of total variation at most {plain(values['tv'])}",
}


def _curve(values: Values) -> str:
    orders, curve = values["alpha"], values["rdp"]
    if not isinstance(orders, tuple) or not isinstance(curve, tuple) or len(orders) > 1:
        return "a known curve ε(α)"
    return f"ε(α) = {plain(curve[0])} at α = {plain(orders[0])}"


def _releases(answer: Answer, values: Values) -> list[str]:
    """Of ledger: each release with its own ε, the accesses to the data, and how batches are drawn."""
    releases = answer.releases
    named = "; ".join(f"({k}) {r.name}, alone ε = {human(r.epsilon)}" for k, r in enumerate(releases, 1))
    which = f"The releases are {named}." if len(releases) <= _MOST_NAMED else f"There are {len(releases)} releases."
    parts = answer.guarantee.get("mechanisms", ())
    found = [SCHEMES[part["sampling"]["scheme"]] for part in parts if part.get("sampling")]
    # the uses that are composed are not the accesses where they are epochs, or the steps that a record meets
    may_be_cyclic = answer.adjacency in SCHEMES["cyclic-poisson"].neighbours  # in JSON these are Poisson batches
    of_steps = not may_be_cyclic and all(scheme.unit == "step" for scheme in found)
    uses = sum(part.get("count", 1) for part in parts)
    accesses = f"They access the data {uses} times." if parts and of_steps else ""
    schemes = dict.fromkeys(scheme.words for scheme in found)
    batches = (f"Where a number rests on random batches, these are {_listed(list(schemes))}, and not cut from shuffled "
               "data.") if schemes else ""
    return [which, "Each of them must hold for the same neighbouring data sets." if len(releases) > 1 else "", accesses,
            batches]


# --- mechanisms and their batches ------------------------------------------------------------------------------------


def _mechanism(answer: Answer, values: Values) -> list[str]:
    """Of rdp, subsample and tv: the noise of one release, and how batches are drawn."""
    if "scheme" not in values and "mechanism" not in values:
        return _guarantees(answer, values)
    if "mechanism" not in values and not answer.inputs:  # the amplification of one (ε, δ)
        point = f"({plain(values['epsilon'])}, {plain(values['delta'])})-differentially private"
        return [f"On all records, without sampling, the mechanism is {point}.", _batches(answer, values)]
    return [_noise(answer, values) if not answer.inputs else "", _batches(answer, values)]


def _noise(answer: Answer, values: Values) -> str:
    """The noise of a mechanism."""
    mechanism = MECHANISMS[values["mechanism"]]
    text = mechanism.sentence(lambda name: "" if values.get(name) is None else stated(answer, name, values))
    if text.endswith("."):  # a sentence, not the noise on a query alone
        return text
    if values.get("noise_multiplier") is not None:
        return _of_sum(stated(answer, "noise_multiplier", values), values.get("clipping_norm"))
    query = "the sum over every batch, whose" if "scheme" in values else "a query whose"
    multiplier = answer.extra.get("noise_multiplier")
    of_dp_sgd = f" (for DP-SGD, a noise multiplier of {human(multiplier)})" if multiplier else ""
    return f"{text} is added to {query} sensitivity is {stated(answer, 'sensitivity', values)}{of_dp_sgd}."


def _of_sum(multiplier: str, norm: float | None, clipped: bool = True) -> str:
    """The noise of DP-SGD."""
    gradients, bound = ("clipped gradients", "the clipping norm") if clipped else ("gradients", "their largest norm")
    of = f" {plain(float(norm))}" if norm else ""
    return (f"Gaussian noise is added to the sum of every batch's {gradients}. Its noise multiplier, the standard "
            f"deviation over {bound}{of}, is {multiplier}.")


def _batches(answer: Answer, values: Values) -> str:
    """How batches are drawn by a sampling scheme."""
    scheme = scheme_of(values) if "scheme" in values else None
    text = {name: stated(answer, name, values) for name in (scheme.options if scheme else ())
            if values.get(name) is not None}
    return scheme.sentence(text) if scheme else ""


# The batches of a run that are no sampling scheme.
_OF_RUN = {
    "shuffled": "Every pass takes batches of {b} of {n} records in a secret order that is shuffled afresh.",
    "fixed-order": "Every pass takes batches of {b} of {n} records in the same order.",
    "random-allocation": ("In every pass each of {n} records takes part in one batch of about {b}, drawn uniformly, "
                          "independently of all other records and afresh."),
    "full": "Every step uses all {n} records.",
    "stream": "One pass takes batches of {b} of {n} records in a fixed order.",
}


def _run(answer: Answer, values: Values) -> list[str]:
    """Of compare: the noise on the sum of a batch, and the batches."""
    clipping, lipschitz = values.get("clipping_norm"), values.get("lipschitz")
    clipped = clipping is not None or lipschitz is None
    if answer.headline.route.bound.name.startswith("shuffle-"):
        values = {**values, "batches": "shuffle"}
    ordered = _OF_RUN.get(values["batches"])
    batches = (ordered.format(b=values.get("batch_size"), n=values["n"]) if ordered else
               _batches(answer, {**values, "scheme": values["batches"]}))
    return [_of_sum(human(answer.extra["noise_multiplier"]), clipping if clipped else lipschitz, clipped), batches]


# --- the last iterate ------------------------------------------------------------------------------------------------


def _of_gradient(answer: Answer, values: Values, what: str) -> str:
    """The noise of projected noisy SGD."""
    gaussian = values.get("noise", "gaussian") == "gaussian"
    law, name = ("Gaussian", "sigma") if gaussian else ("Laplace", "scale")
    if values.get("sigmas") or values.get("scales"):
        return f"{law} noise of a known level at each step is added to {what}."
    if values.get("c1") is not None:
        decay = f" and a = {stated(answer, 'decay', values)}" if values.get("decay") is not None else ""
        return (f"{law} noise is added to {what}, by the schedule of Sordello et al. 2021 with "
                f"C1 = {stated(answer, 'c1', values)}, C2 = {stated(answer, 'c2', values)}{decay}.")
    level = "standard deviation" if gaussian else "scale"
    return f"{law} noise of {level} {stated(answer, name, values)} is added to {what}."


def _passes(answer: Answer, values: Values) -> list[str]:
    once = answer.headline.route.bound.name.startswith("output-perturbation")
    noise = _of_gradient(answer, values, "the output, once" if once else "every gradient")
    order = "a fixed order" if values.get("index") is not None else "a secret order that is shuffled afresh"
    n = stated(answer, "n", values)
    if values.get("tau") is not None:
        return [noise, f"Every pass takes the share {stated(answer, 'tau', values)} of {n} records, in {order}; "
                       f"together the passes take {stated(answer, 'epochs', values)} times as many records."]
    epochs = 1 if values.get("epochs") is None else values["epochs"]
    length = f"{stated(answer, 'steps', values)} steps in passes" if values.get("steps") is not None else (
        "One pass" if epochs == 1 else f"{stated(answer, 'epochs', values)} passes")
    return [noise, f"{length} over {n} records, {'each ' if length != 'One pass' else ''}in {order}, "
                   f"{'is' if length == 'One pass' else 'are'} covered."]


def _stream(answer: Answer, values: Values) -> list[str]:
    n = values.get("n")
    endless = "an endless stream" if n is not None and isinf(n) else "a stream"
    number = "" if n is None or isinf(n) else f"{stated(answer, 'n', values)} "
    return [_of_gradient(answer, values, "every gradient"),
            f"One pass over {endless} of {number}records, in their fixed order, is covered."]


def _burn_in(answer: Answer, values: Values) -> list[str]:
    if values.get("schedule"):
        return ["Gaussian noise by a known schedule is added to the mean gradient of a batch."]
    batches = ("drawn uniformly without replacement and afresh at every step" if values.get("order") != "fixed"
               else "taken in the same order in every pass")
    size = f"{stated(answer, 'batch_size', values)} of {stated(answer, 'n', values)} records, {batches}"
    return [f"Gaussian noise of standard deviation {stated(answer, 'sigma', values)} is added to the mean gradient of "
            f"a batch. {stated(answer, 'steps', values)} steps are covered; a batch holds {size}."]


_SIZES = (q.LIPSCHITZ, q.SMOOTHNESS, q.STRONG_CONVEXITY, q.LEARNING_RATE, q.DIAMETER)


def _sizes(answer: Answer) -> str:
    """The constants of losses and steps, which theorems on the last iterate name by their symbols."""
    found = [f"{quantity.symbol} = {stated(answer, quantity.name, answer.parameters)}" for quantity in _SIZES
             if answer.parameters.get(quantity.name) is not None]
    return f"Constants: {', '.join(found)}." if found else ""
