"""What to ask instead of a question about neighbouring data sets that no theorem covers: the words and the commands of
the errors of dpcalc/accounting/neighbours.py. """

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from dpcalc.core.numbers import plain
from dpcalc.core.reading import STANDARD_INPUT
from dpcalc.core.relations import ADD_REMOVE, RELATIONS, REPLACE_ONE, ZERO_OUT
from dpcalc.core.text import listed, options_text

if TYPE_CHECKING:
    from dpcalc.accounting.guarantee import Guarantee
    from dpcalc.accounting.mechanisms import Mechanism
    from dpcalc.accounting.schemes import Scheme
    from dpcalc.core.command import Given

_QUESTION = ("delta", "epsilon", "alpha", "rdp", "solve")  # the options that ask for a number
_OF_TV = ("fpr", "tpr", "prior", "roc")  # those of dpcalc tv


def unsampled(given: Given, mechanism: Mechanism, is_tv: bool) -> str:
    """The command about the same mechanism on all records, used as often."""
    names = ("mechanism", *mechanism.options, *mechanism.optional, *(() if is_tv else _QUESTION))
    asked = {name: given[name] for name in names if given[name] is not None}
    if not is_tv and not asked.keys() & set(_QUESTION):
        asked["epsilon"] = 0  # its δ is the total variation
    of_tv = f" --json | dpcalc tv -{_of_tv(given)}" if is_tv else ""
    return f"dpcalc rdp {options_text({**asked, 'steps': _uses(given.values)})}{of_tv}"


def _of_tv(given: Given) -> str:
    """The options that ask dpcalc tv, after a space."""
    asked = {name: given[name] for name in _OF_TV if given.has(name)}
    return f" {options_text(asked)}" if asked else ""


def _uses(values: Mapping[str, Any]) -> int:
    """The number of steps, as given or of so many epochs."""
    from dpcalc.accounting.schemes import by_rate  # imports the bounds of sampling

    if values.get("sampling_rate") or (values.get("n") and values.get("batch_size")):
        return by_rate.number_of_steps(values, by_rate.sampling_rate(values))
    return int(values.get("steps") or values.get("epochs") or 1)


def by_sensitivity(given: Given, scheme: Scheme, mechanism: Mechanism, relation: str, is_tv: bool) -> str:
    """Why a sensitivity does not do where batches lose a record but neighbours replace one, and what to write."""
    why = f"{relation} on {scheme.words} needs what one record adds to the query when it is added or removed"
    if mechanism.name == "gaussian" and given["sigma"] is not None:
        multiplier = given["sigma"] / given["sensitivity"]
        ways = (f"for a sum of clipped contributions give --noise-multiplier {plain(2 * multiplier)} if the "
                f"sensitivity is 2C, or --noise-multiplier {plain(multiplier)} if it is C")
    elif mechanism.name == "gaussian":
        ways = "for a sum of clipped contributions use --solve noise-multiplier"
    elif given.has("solve") or given.has("alpha"):
        ways = f"if {mechanism.query.about} is that, ask for ε or δ of the mechanism from a pipe"
    else:
        own = {name: given[name] for name in ("mechanism", *mechanism.options, *mechanism.optional)
               if given[name] is not None}
        run = {name: given[name] for name in sorted(given.provided - own.keys() - {"adjacency", "format", *_OF_TV})}
        ways = (f"if {mechanism.query.about} is that, write dpcalc rdp {options_text(own)} --adjacency add-remove "
                f"--json | dpcalc subsample - {options_text({**run, 'adjacency': relation})}"
                + (f" --json | dpcalc tv -{_of_tv(given)}" if is_tv else ""))
    return f"{why}; {ways}; for batches of a fixed size use --scheme without-replacement"


def composed(guarantee: Guarantee, values: Mapping[str, Any]) -> str:
    """The command about so many uses of an input on all records."""
    asked = {name: values[name] for name in _QUESTION if values.get(name) is not None} or {"to": "tv"}
    name = "-" if guarantee.name in (None, STANDARD_INPUT) else guarantee.name
    return f"dpcalc convert {name} {options_text({'steps': _uses(values), **asked})}"


def not_described(own: str | None, relation: str, name: str, scheme: Scheme, of_sum: bool) -> str:
    """Why the guarantee of an input alone does not do."""
    if of_sum:
        return (f"{_holds(own, name)}, and a batch without the record is another thing than one with it zeroed, unless "
                "the query is known to be a sum; state add-remove if it holds and use Poisson batches with --adjacency "
                "add-remove, or describe the mechanism")
    return (f"{name} is known by its guarantee alone, and the theorem about {scheme.words} with {relation} neighbours "
            "needs the noise itself; describe the mechanism")


def other_base(own: str | None, needed: str, relation: str, name: str, scheme: Scheme) -> str:
    """Why an input does not fit, with what would."""
    holds = _holds(own, name)
    between = f"{scheme.words} with {relation} neighbours need what holds when {RELATIONS[needed].in_batch}"
    if needed != relation and needed == ADD_REMOVE:
        other = ", or for batches of a fixed size use --scheme without-replacement" if own in (None, relation) else ""
        return f"{holds}, and {between}; compute it with --adjacency add-remove{other}"
    fits = [r for r, b in scheme.bases.items() if b.relation == own]
    other = f", or give --adjacency {fits[0]} here" if fits else ""
    return f"{holds}, and {between}; compute it again with --adjacency {needed}{other}"


def _holds(own: str | None, name: str) -> str:
    return f"{name} states no neighbours" if own is None else f"{name} holds for {own} neighbours"


def different_neighbours(names: Sequence[str], places: Mapping[str, Sequence[int]]) -> str:
    """What makes inputs with these names agree, from relation → their places: to convert them, or to compute those of
    added and removed records for zeroed-out ones."""
    others = [names[k] for relation, those in places.items() if relation != REPLACE_ONE for k in those]
    return f"{computed_as_zeroed(names, places)}add --adjacency {REPLACE_ONE}, which converts {listed(others)}"


def computed_as_zeroed(names: Sequence[str], places: Mapping[str, Sequence[int]]) -> str:
    """What makes inputs of added and removed records agree with those of zeroed-out ones, with "or" behind it: this
    costs less than converting both. Empty where there are not both."""
    if not {ADD_REMOVE, ZERO_OUT} <= places.keys():
        return ""
    return f"compute {listed([names[k] for k in places[ADD_REMOVE]])} with --adjacency {ZERO_OUT}, or "
