"""The notes and warnings of dpcalc correlated: the sensitivity, the errors of prefix sums, and the conventions of its
numbers."""

from collections.abc import Mapping

from dpcalc.bounds.correlated._engine.design import Design
from dpcalc.bounds.correlated._engine.strategies import MADE_FOR_CONTRACTION
from dpcalc.core.command import Given
from dpcalc.core.noise_multiplier import REPLACED
from dpcalc.core.numbers import human, human_claimed, plain
from dpcalc.core.relations import RELATIONS
from dpcalc.core.results import Row

SLACK = 1e-12  # relative: a sensitivity that is above a short decimal by at most this is printed as that decimal

ONE_PASS = "each record must take part in at most one step, as in one pass over the data"


def notes(design: Design, head: Row, numbers: Mapping[str, float], given: Given) -> tuple[str, ...]:
    """What a reader must know to use the numbers."""
    replaced = (REPLACED,) if RELATIONS[given["adjacency"]].sensitivity > 1 else ()
    how = "exactly" if is_exact(design, head) else "at most"
    mu, rho = (human_claimed(numbers[name], SLACK) for name in ("mu", "rho"))
    sensitivity = (f"the sensitivity is {how} {norms(numbers['sensitivity'])}; all steps together are μ-GDP with "
                   f"μ = {mu}, ρ-zCDP with ρ = {rho}, and one Gaussian release with the noise multiplier "
                   f"{multiplier(numbers)} (σ over the sensitivity)")
    return (*contraction(design), *absolute(numbers["sigma"], given), sensitivity,
            errors(design, numbers), *replaced, *_participation(design, given))


def absolute(sigma: float, given: Given) -> tuple[str, ...]:
    """A note on the noise in the units of the gradients, where the clipping norm is given."""
    norm = given["clipping_norm"]
    return (f"with the clipping norm {plain(norm)}, the standard deviation of each independent noise is "
            f"{human(sigma * norm)} in the units of the gradients",) if norm else ()


def warnings(design: Design, given: Given) -> tuple[str, ...]:
    """A warning where nothing says how often a record is used, because more uses than one need more noise."""
    if design.order != "once" or given.has("order"):
        return ()
    return ("each record is taken to be used in one step, as in one pass over the data; write --order once if that is "
            "so, else say with --separation which steps use a record",)


def contraction(design: Design) -> tuple[str, ...]:
    """A note where the contraction changes the coefficients of the strategy, and not only the errors."""
    strategy = design.strategy
    if strategy.contraction == 1 or strategy.name not in MADE_FOR_CONTRACTION:
        return ()
    return (f"--contraction {plain(strategy.contraction)} changes the coefficients of {strategy.label}, and so ε: "
            "train with those that --schedule prints with the same --contraction",)


def is_exact(design: Design, head: Row) -> bool:
    """Whether some run attains the sensitivity, by the theorem of the headline."""
    name, strategy = head.route.bound.name, design.strategy
    if name == "correlated-separated":
        return strategy.is_nonincreasing
    if name == "correlated-cyclic":
        return strategy.is_nonnegative and design.participations == design.most
    return True


def norms(x: float) -> str:
    """A number of clipping norms that was computed from above."""
    text = human_claimed(x, SLACK)
    return f"{text} clipping norm{'' if text == '1' else 's'}"


def multiplier(numbers: Mapping[str, float]) -> str:
    """σ over the sensitivity, rounded down."""
    return human(numbers["sigma"] / numbers["sensitivity"] * (1 + SLACK), upward=False)


def errors(design: Design, numbers: Mapping[str, float]) -> str:
    """The errors of prefix sums, and the comparison with independent noise."""
    ratio = numbers.get("ratio_to_independent")
    is_independent = design.strategy.bands(design.steps) == 1
    than = f", {ratio:.4g} times that of independent noise at the same privacy" if ratio and not is_independent else ""
    return (f"the noise in {sums(design)} has an RMSE of {human(numbers['rmse'])} clipping norms{than}; its largest "
            f"standard deviation is {human(numbers['max_error'])}")


def sums(design: Design) -> str:
    """The sums of gradients that errors are about."""
    r = design.strategy.contraction
    return "prefix sums of the gradients" if r == 1 else f"the sums Σ_j {plain(r)}^(t−j) g_j of the gradients"


def promises(design: Design) -> tuple[str, ...]:
    """What must hold of the steps that use a record, where their order is fixed."""
    if design.order == "once":
        return (ONE_PASS,)
    found, b = [], design.separation
    if b > 1:
        apart = "a multiple of" if design.order == "cyclic" else "at least"
        found.append(f"the difference j − i of any two steps i < j with the same record must be {apart} {b}, which "
                     "passes that are shuffled anew do not ensure")
    if design.participations < design.most:
        found.append(f"each record must take part in at most {design.participations} of {design.steps} steps")
    return tuple(found)


def _participation(design: Design, given: Given) -> tuple[str, ...]:
    found, b = [], design.separation
    if design.order != "once" and design.most == 1:
        found.append(f"a separation of {b} leaves room for one step of a record only, as there are {design.steps} "
                     "steps")
    elif design.order != "once":
        found.append(f"a separation of {b} is the difference j − i of two steps with the same record; a tool that "
                     f"counts the steps between them calls it {b - 1}")
    if given.has("participations") and given["participations"] > design.participations > 1:
        found.append(f"{design.steps} steps leave room for {design.participations} participations only")
    if design.participations > 1 and not design.is_banded:
        found.append("columns of this strategy overlap, so the cross terms between a record's steps are counted: "
                     "adding up the squared column norms alone would give an ε that is too small")
    return tuple(found)
