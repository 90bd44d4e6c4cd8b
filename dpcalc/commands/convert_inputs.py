"""Guarantees in JSON, or a total variation, as the input of dpcalc convert and dpcalc tv. What reads JSON imports
pydantic, so it is imported where there is an input."""

from collections import Counter
from collections.abc import Callable, Iterable
from typing import Any

from dpcalc.accounting import neighbours
from dpcalc.accounting.selection import OneRun
from dpcalc.commands import selected_inputs
from dpcalc.core import tries
from dpcalc.core.checks import refuse, require
from dpcalc.core.command import Given
from dpcalc.core.errors import DpcalcError

THOSE_OF_INPUT = "those of the input"  # the neighbours of an answer, where the given guarantee does not name them
EVERY_OUTPUT = "every output of each release"  # what is released
# The options that ask about an (ε, δ) from JSON, or for several of it.
_ASK = frozenset({"epsilon", "delta", "target_epsilon", "target_delta", "alpha", "to", "solve", "slack", "steps",
                  *tries.NAMES})


OneRunOf = Callable[[tuple[Any, ...]], OneRun]  # what is proven of one run, from the guarantees that it composes


def with_inputs(given: Given, one_run: OneRunOf) -> Given:
    """The call with its input guarantees as values: one is converted, several are composed. `from` becomes the kind of
    source that describes them together."""
    given = _of_selected(_checked(given))
    if given.has("adjacency") and not given.inputs:
        given = given.having(promise=neighbours.of_numbers(given["adjacency"]))
    if (given["group_size"] or 1) > 1:
        return _of_group(given, one_run)
    if not given.inputs:
        return given
    from dpcalc.accounting.guarantee import Dp, Outcomes
    from dpcalc.accounting.guarantee_sums import gaussian_mu, one_group_size, total_rho

    read = given.inputs
    given = _about_the_same(given)
    one_group_size(given.inputs)
    first = given.inputs[0]
    if len(read) == 1 and isinstance(first, Dp):
        if given["converted"] and not given.provided & _ASK:
            given = given.having(source="to-replace-one", step_epsilon=read[0].epsilon, step_delta=read[0].delta)
        return _of_point(given, first.epsilon, first.delta)
    if len(read) == 1 and isinstance(first, Outcomes):
        return given.having(**{"from": "outcomes"}, p=first.p, q=first.q, count=first.count)
    rho = total_rho(given.inputs)
    if rho == 0:  # no privacy is lost
        return _of_point(given, 0.0, 0.0)
    if (mu := gaussian_mu(given.inputs)) is not None:
        return given.having(**{"from": "gdp"}, mu=mu)
    if rho is not None:
        return given.having(**{"from": "zcdp"}, rho=rho)
    return given.having(**{"from": "parts"}, **_composed(given, one_run))


def _of_selected(given: Given) -> Given:
    """The call about one run, with the law of the number of runs, where the only input is the best of several runs."""
    if not any(g.kind == "selected" for g in given.inputs):
        return given
    refuse(given, tries.NAMES, "an input is the best of several runs already; drop it", "contradictory")
    if len(given.inputs) > 1:
        return given
    if (given["steps"] or 1) > 1:
        return given
    (selected,) = given.inputs
    runs = tuple(g.model_copy(update={"name": selected.name, "promises": (*(selected.promises or ()),
                                                                          *(g.promises or ()))})
                 for g in selected.of_one_run)
    found = given.having(law=selected_inputs.law_of(selected))
    return found.replace(found.values, inputs=runs)


def _about_the_same(given: Given) -> Given:
    """The call with guarantees that are about the same neighbouring data sets, and with what must hold for that."""
    composed = neighbours.compose(given.inputs, given["adjacency"])
    found = given.having(adjacency=composed.relation or THOSE_OF_INPUT, promise=composed.promise,
                         converted=composed.converted, respondents=neighbours.are_of_respondents(given.inputs))
    numbers_alone = dict.fromkeys(("name", "promises", "at_delta"))
    unnamed = tuple(g.model_copy(update=numbers_alone) for g in composed.guarantees)
    return found.replace(found.values, inputs=unnamed)


def _of_point(given: Given, epsilon: float, delta: float) -> Given:
    return given.having(**{"from": "dp"}, epsilon=epsilon, delta=delta, **_as_targets(given))


def _of_group(given: Given, one_run: OneRunOf) -> Given:
    """The call about groups of records: with mechanisms from JSON as they are for groups, or with the known (ε, δ) of
    one record, whatever the mechanism is. Raises DpcalcError for other guarantees."""
    from dpcalc.accounting.guarantee import Dp, Mechanisms, Sampled
    from dpcalc.accounting.guarantee_sums import one_group_size

    size, inputs = given["group_size"], given.inputs
    if not inputs and given["from"] == "dp":
        return given.having(source="group")
    if one_group_size(inputs) > 1:
        raise DpcalcError("contradictory", f"the input is about groups of {one_group_size(inputs)} records already",
                          "--group-size")
    if any(g.index for g in inputs):
        raise DpcalcError("refused", "the input is about one record alone, and a group needs the guarantee of every "
                                     "record", "--group-size")
    if inputs and all(isinstance(g, Mechanisms) and not g.upper_bound for g in inputs):
        groups = tuple(g.model_copy(update={"group_size": size}) for g in inputs)
        one = given.having(group_size=1)
        return with_inputs(one.replace(one.values, inputs=groups), one_run).having(group_size=size)
    first = inputs[0] if len(inputs) == 1 else None
    if not isinstance(first, Dp | Sampled):
        raise DpcalcError("refused", "groups of records are supported for mechanisms in JSON, for one (ε, δ) (--from "
                          "dp) and for one profile; compose first, and convert the (ε, δ) of the total", "--group-size")
    given = _about_the_same(given).having(source="group", **_as_targets(given))
    first = given.inputs[0]
    assert isinstance(first, Dp | Sampled)  # a point and a profile are converted to what they are
    if isinstance(first, Dp):
        return given.having(epsilon=first.epsilon, delta=first.delta)
    return given.having(profile_points=tuple(zip(first.epsilon, first.delta, strict=True)))


def _composed(given: Given, one_run: OneRunOf) -> dict[str, Any]:
    """The guarantees as JSON (`described`), and their RDP curves (`parts`), dominating pairs (`pairs`), (ε, δ)
    (`points`), ρ (`terms`), and μ or pure ε (`mus` and `pure`), each where all guarantees have them; else the error
    that says why not. The guarantees are sorted, and equal ones counted, so that the answer does not depend on their
    order."""
    from dpcalc.accounting.guarantee import Selected
    from dpcalc.accounting.guarantee_pld import pairs_of_all
    from dpcalc.accounting.guarantee_sums import curves, mus, points, pure_points, rho_terms

    each = sorted(Counter(given.inputs).items(), key=lambda one: one[0].model_dump_json())
    found: dict[str, Any] = {"described": tuple(g.model_dump() for g, count in each for _ in range(count))}
    guarantees = [g for g, _ in each]
    runs = [one_run(g.of_one_run) if isinstance(g, Selected) else None for g in guarantees]
    points_of = [selected_inputs.point_or_profile(g, one) if one else g
                 for g, one in zip(guarantees, runs, strict=True)]
    profiles = [selected_inputs.profile(g, one) if one else g for g, one in zip(guarantees, runs, strict=True)]
    kinds: dict[str, Callable[[], Iterable[Any]]] = {
        "mus": lambda: map(mus, points_of), "pure": lambda: map(pure_points, points_of),
        "terms": lambda: map(rho_terms, points_of), "points": lambda: map(points, points_of),
        "parts": lambda: (((selected_inputs.curve(g, one), 1),) if one else curves(g)
                          for g, one in zip(guarantees, runs, strict=True)),
        "pairs": lambda: pairs_of_all(profiles)}
    for name, parts in kinds.items():
        try:
            found[name] = tuple((*part[:-1], part[-1] * count) for (_, count), one in zip(each, parts(), strict=True)
                                for part in one)
        except DpcalcError as reason:
            found["no_pure" if name == "points" else "reason"] = reason
    return found


def _as_targets(given: Given) -> dict[str, Any]:
    """The values of --target-epsilon and --target-delta, for which --epsilon and --delta stand where an (ε, δ) point is
    read from JSON."""
    for n in ("epsilon", "delta"):
        if given.has(n) and given.has(f"target_{n}"):
            raise DpcalcError("contradictory", f"--{n} asks about the total already, as the input gives the point; "
                                               "drop one", f"--target-{n}")
    return {f"target_{n}": given[n] for n in ("epsilon", "delta") if given.has(n)}


def _checked(given: Given) -> Given:
    """The call, in which `--from tv` is replaced by an equal guarantee as if from JSON. Raises DpcalcError where --from
    names another kind than that of the input."""
    kind = given["from"]
    if given.inputs:
        if kind is not None and any(g.kind != kind for g in given.inputs):
            raise DpcalcError("contradictory", f"the input is a guarantee of kind {given.inputs[0].kind}, not {kind}; "
                                               "drop --from", "--from")
        return given
    if kind == "profile":
        raise DpcalcError("missing", 'give the profile as JSON: {"kind": "profile", "epsilon": [0, …], '
                                     '"delta": […, …]}', "--input")
    if kind != "tv":
        return given
    from dpcalc.accounting.guarantee import Tv

    require(given, ("tv",), "with --from tv")
    return given.replace(given.values, given.provided - {"tv"}, (Tv(kind="tv", tv=given["tv"]),))
