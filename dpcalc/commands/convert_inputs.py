"""What dpcalc convert starts from, where that is guarantees in JSON (or a TV distance): which source they make."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

from dpcalc.core.command import Given, require
from dpcalc.core.errors import DpcalcError


def with_inputs(given: Given) -> Given:
    """Guarantees from JSON: one is converted, several are composed; `from` says which source they make."""
    given = _described(given)
    if not given.inputs:
        return given
    from dpcalc.accounting.guarantee import Dp, Outcomes, neighbours
    from dpcalc.accounting.guarantee_sums import gaussian_mu, total_rho

    values = {**given.values}
    kinds = set().union(*(neighbours(g) for g in given.inputs))
    if len(kinds) > 1:
        raise DpcalcError("refused", "the inputs use different neighbouring data sets (add-remove and replace-one); "
                          "their guarantees do not compose", "--input")
    values["adjacency"] = next(iter(kinds), "as in the given guarantee")
    first = given.inputs[0]
    if len(given.inputs) == 1 and isinstance(first, Dp):
        return given.having({**values, "from": "dp", "epsilon": first.epsilon, "delta": first.delta,
                             **_as_targets(given)})
    if len(given.inputs) == 1 and isinstance(first, Outcomes):
        said = {"from": "outcomes", "p": first.p, "q": first.q, "count": first.count}
        return given.having({**values, **said})
    rho = total_rho(given.inputs)
    if rho == 0:  # nothing is lost
        return given.having({**values, "from": "dp", "epsilon": 0.0, "delta": 0.0, **_as_targets(given)})
    if (mu := gaussian_mu(given.inputs)) is not None:
        return given.having({**values, "from": "gdp", "mu": mu})
    if rho is not None:
        return given.having({**values, "from": "zcdp", "rho": rho})
    return given.having({**values, "from": "parts", **_composed(given)})


def _composed(given: Given) -> dict[str, Any]:
    """What all inputs are; their RDP curves, their dominating pairs and their (ε, δ), where every one has them; and why
    not otherwise. In an order of their own, and equal ones together: whatever order they are read in, the answer is the
    same."""
    from dpcalc.accounting.guarantee import curves
    from dpcalc.accounting.guarantee_pld import of
    from dpcalc.accounting.guarantee_sums import points

    each = sorted(Counter(given.inputs).items(), key=lambda one: one[0].model_dump_json())
    found: dict[str, Any] = {"described": tuple(g.model_dump() for g, count in each for _ in range(count))}
    kinds: dict[str, Callable[[Any], Any]] = {"parts": curves, "pairs": of, "points": points}
    for name, parts in kinds.items():
        try:
            found[name] = tuple((*part[:-1], part[-1] * count) for g, count in each for part in parts(g))
        except DpcalcError as reason:
            found["no_pure" if name == "points" else "reason"] = reason
    return found


def _as_targets(given: Given) -> dict[str, Any]:
    """With an (ε, δ) point read from JSON, --epsilon and --delta ask for the total."""
    for n in ("epsilon", "delta"):
        if given.has(n) and given.has(f"target_{n}"):
            raise DpcalcError("contradictory",
                              f"--{n} already asks about the total, as the point is read from the input",
                              f"--target-{n}")
    return {f"target_{n}": given[n] for n in ("epsilon", "delta") if given.has(n)}


def _described(given: Given) -> Given:
    """`--from tv` goes the way of the same guarantee in JSON; `--from KIND` beside JSON must be its kind."""
    kind = given["from"]
    if given.inputs:
        if kind is not None and any(g.kind != kind for g in given.inputs):
            raise DpcalcError("contradictory",
                              f"the guarantee is read from the input already: {given.inputs[0].kind}, not {kind}",
                              "--from")
        return given
    if kind == "profile":
        raise DpcalcError("missing",
                          'a profile is read from JSON: {"kind": "profile", "epsilon": [0, …], "delta": […, …]}',
                          "--input")
    if kind != "tv":
        return given
    from dpcalc.accounting.guarantee import Tv

    require(given, ("tv",), "with --from tv")
    return given.having(given.values, given.provided - {"tv"}, (Tv(kind="tv", tv=given["tv"]),))
