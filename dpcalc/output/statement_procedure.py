"""The sentences of a privacy statement on what is done with the data: noise, batches and passes, by command."""

from collections.abc import Sequence
from math import isinf

from dpcalc.accounting.mechanisms import MECHANISMS
from dpcalc.accounting.schemes import scheme_of
from dpcalc.accounting.schemes.record import NOT_SHUFFLED
from dpcalc.core import quantities as q
from dpcalc.core.numbers import human, human_claimed, plain
from dpcalc.core.results import Answer
from dpcalc.core.text import MOST_NAMED, listed
from dpcalc.output.statement_given import Values, guarantees, inputs, releases
from dpcalc.output.values import stated


def procedure(answer: Answer) -> list[str]:
    """The sentences on noise, batches and passes, and on the constants of losses and steps, which theorems on the last
    iterate name by their symbols."""
    by_command = {"convert": guarantees, "ledger": releases, "shuffle-pnsgd": _passes, "online-noise": _stream,
                  "burn-in": _burn_in, "noise-feedback": _feedback, "compare": _run, "correlated": _correlated}
    values = answer.parameters
    sizes = [f"{quantity.symbol} = {stated(answer, quantity.name, values)}" for quantity in
             (q.LIPSCHITZ, q.SMOOTHNESS, q.STRONG_CONVEXITY, q.LEARNING_RATE, q.DIAMETER)
             if values.get(quantity.name) is not None]
    sentences = (inputs(answer), *by_command.get(answer.command, _mechanism)(answer, values),
                 f"Constants: {', '.join(sizes)}." if sizes else "")
    return [text for text in sentences if text]


# --- mechanisms and their batches ------------------------------------------------------------------------------------


def _mechanism(answer: Answer, values: Values) -> list[str]:
    """Of rdp, subsample and tv: the noise of one release, and how batches are drawn."""
    if "scheme" not in values and "mechanism" not in values:
        return guarantees(answer, values)
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
    if moved := answer.extra.get("l0_sensitivity"):
        values_of = "one value" if moved == 1 else f"at most {moved:g} values"
        size = answer.extra["linf_sensitivity"]
        return f"{text} is added to every value; one person moves {values_of} by at most {size:.6g} each."
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
    scheme = answer.headline.route.bound.theorem.scheme or values["batches"]
    ordered = _OF_RUN.get(scheme)
    batches = (ordered.format(b=values.get("batch_size"), n=values["n"]) if ordered else
               _batches(answer, {**values, "scheme": scheme}))
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
    noise = _of_gradient(answer, values, answer.headline.route.bound.theorem.noise_on)
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


# --- noise that is correlated between steps ---------------------------------------------------------------------------


def _feedback(answer: Answer, values: Values) -> list[str]:
    """The noise of dpcalc noise-feedback, the steps that use a record, and the curvatures."""
    part = answer.extra["feedback"]
    back = {0.0: "", 1.0: ", and taken back at the next one"}.get(
        part, f", and the part {plain(part)} of it is taken back at the next one")
    return [f"Gaussian noise of standard deviation {stated(answer, 'sigma', values)} is added to the iterate at each "
            f"of {stated(answer, 'steps', values)} steps{back}.",
            "" if values.get("used_at") else "A record is used at one step only.",
            _curvatures(values.get("curvature") or ())]


def _curvatures(found: tuple[float, ...]) -> str:
    """The curvatures, or their number and range where they are many."""
    if len(found) > MOST_NAMED:
        return f"There are {len(found)} curvatures, from {plain(min(found))} to {plain(max(found))}."
    if len(found) == 1:
        return f"The curvature is {plain(found[0])}."
    return f"The curvatures are {_numbers(found)}." if found else ""


def _correlated(answer: Answer, values: Values) -> list[str]:
    """The noise of dpcalc correlated, and which steps use a record."""
    steps, numbers = stated(answer, "steps", values), answer.extra
    sensitivity = human_claimed(numbers["sensitivity"], 1e-12)
    noise = (f"Gaussian noise of standard deviation {stated(answer, 'sigma', values)} clipping norms is drawn at each "
             f"of {steps} steps, {_strategy(values)}, and added to the sum of clipped gradients; the sensitivity is "
             f"{sensitivity} clipping norm{'' if sensitivity == '1' else 's'}.")
    if values.get("sampling_rate") is not None:
        [part] = answer.guarantee["mechanisms"]
        if part["count"] == values["steps"]:
            return [noise, f"Each record is in a batch with probability {part['sampling']['rate']:.6g}, independently; "
                           f"{NOT_SHUFFLED}"]
        return [noise, "The records form fixed groups of the same size, from which Poisson batches are drawn in turn: "
                       f"each record of the group is in the batch with probability {part['sampling']['rate']:.6g}, so "
                       f"that {part['count']} steps may use it (Choquette-Choo et al. 2023); {NOT_SHUFFLED}"]
    if values.get("separation") is None:
        return [noise, "Each record takes part in one step."]
    often = f" at most {values['participations']}" if values.get("participations") is not None else ""
    apart = "a multiple of" if values.get("order") == "cyclic" else "at least"
    return [noise, f"Each record takes part in{often} steps that are {apart} {values['separation']} apart, whatever "
                   "the data."]


def _strategy(values: Values) -> str:
    """How the noise is correlated."""
    name, r = values.get("strategy"), values.get("contraction")
    if name == "independent":
        return "independently of the other steps"
    if name is None:
        return f"correlated between steps by a matrix with {len(values['coefficients'])} given coefficients"
    if name == "blt":
        scales, decays = (_numbers(values[key]) for key in ("blt_scale", "blt_decay"))
        return f"correlated between steps by the strategy blt with scales {scales} and decays {decays}"
    return f"correlated between steps by the strategy {name}" + (f" for the contraction {plain(r)}" if r else "")


def _numbers(found: Sequence[float]) -> str:
    """The numbers as a list in words, or how many they are."""
    if len(found) > MOST_NAMED:
        return f"that are {len(found)} numbers"
    return listed([*map(plain, found)])
