"""The rates of an attack beside the curves that they show and the curve of what is claimed."""

from dpcalc.bounds.audits import counts
from dpcalc.core.audits import hits_and_trials
from dpcalc.core.errors import DpcalcError
from dpcalc.core.numbers import human, in_percent, plain
from dpcalc.core.results import Answer
from dpcalc.numerics.clopper_pearson import log_of_level, lower_limit, upper_limit
from dpcalc.output.plot.records import Plot, Scale, Series

_LABELS = {"tpr_claimed": "claim: no attack is above", "tpr_lower": "shown: some attack is on or above",
           "tpr_lower_gaussian": "shown, if the noise is Gaussian"}
_SMALL = 0.1  # false-positive rates below it are drawn on a logarithmic axis


def plot_rates(answer: Answer) -> Plot:
    """The rates that were seen with the interval of each, the curves of the bounds from below, and that of the
    claim."""
    if answer.curves is None:
        raise DpcalcError("unneeded", "draws the rates of independent runs; for the canaries of one run give several "
                          "values, as in --right 140,160,180", "--plot")
    curves, own = answer.curves(), answer.parameters
    places = {name: tuple(row[k] for row in curves.rows) for k, name in enumerate(curves.header)}
    confidence = in_percent(own["confidence"])
    hits, alarms = own["true_positives"], own["false_positives"]
    error = counts.error_probability(own["confidence"], int(own["tests"]))
    level = log_of_level(error / 2)
    (low_t, t, high_t), (low_f, f, high_f) = (
        (lower_limit(*pair, level), pair[0] / pair[1], upper_limit(*pair, level))
        for pair in map(hits_and_trials, (hits, alarms)))
    kind = "log" if high_f < _SMALL else "linear"
    least = places["fpr"][0] if kind == "log" else 0.0
    low_f, f = max(low_f, least), max(f, least)
    if kind == "log":
        low_t = max(low_t, places["fpr"][0])
    box = Series(f"seen: {hits} and {alarms}, with intervals of {in_percent(float(1 - error))}",
                 (low_f, high_f, high_f, low_f, low_f, low_f, f), (low_t, low_t, high_t, high_t, low_t, None, t),
                 is_outline=True)
    def on_axis(rates: tuple[float, ...]) -> tuple[float | None, ...]:  # a logarithmic axis has no 0
        return tuple(rate if rate > 0 or kind == "linear" else None for rate in rates)

    lines = [Series(label, places["fpr"], on_axis(places[name]), proven=name != "tpr_lower_gaussian")
             for name, label in _LABELS.items() if name in places]
    verdict = {True: ": the claim is refuted", False: ": consistent with the claim", None: ""}[answer.refuted]
    found = f"ε ≥ {human(answer.value, 3, upward=False)} at δ = {plain(own['delta'])}"
    return Plot(f"An attack that shows {found}{verdict}", f"audit: TP = {hits}, FP = {alarms}, confidence {confidence}",
                Scale("false-positive rate FPR", kind), Scale("true-positive rate TPR", kind), (*lines, box),
                strong=next(k for k, line in enumerate(lines) if line.label == _LABELS["tpr_lower"]))
