"""Poisson sampling: each record is in the batch with probability q, independently of all others, afresh each step."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dpcalc.accounting.mechanisms import MECHANISMS
from dpcalc.accounting.routes import PURE_COMPOSITION, converted
from dpcalc.accounting.schemes import by_rate
from dpcalc.accounting.schemes.record import NOT_SHUFFLED, POISSON_ONLY, RATE, Scheme, Use, Values
from dpcalc.bounds import curve
from dpcalc.bounds.curve import Curve
from dpcalc.bounds.profile import Profile
from dpcalc.bounds.sampling import (
    poisson_group_profile,
    poisson_profile,
    poisson_rdp,
    poisson_rdp_closed,
    poisson_replace_one_comonotone,
    poisson_replace_one_profile,
    poisson_replace_one_rdp,
)
from dpcalc.core.errors import DpcalcError, OutOfScope
from dpcalc.core.relations import ADD_REMOVE, REPLACE_ONE, ZERO_OUT, Base
from dpcalc.core.results import Route

if TYPE_CHECKING:
    from dpcalc.pld.pair import Pair

# Relation → bounds for Gaussian noise by Rényi divergences, by profiles, and of any mechanism.
_BOUNDS = {
    **dict.fromkeys((ADD_REMOVE, ZERO_OUT), (poisson_rdp.BOUND, poisson_profile.BOUND, poisson_profile.BOUND)),
    REPLACE_ONE: (poisson_replace_one_rdp.BOUND, poisson_replace_one_profile.BOUND,
                  poisson_replace_one_comonotone.BOUND),
}
# never better than the divergence itself
_CLOSED = tuple(route._replace(on_request=True) for route in converted(poisson_rdp_closed.BOUND))
_CLOSED_FORMS = dict.fromkeys((ADD_REMOVE, ZERO_OUT), _CLOSED)


def _routes(run: Values, relation: str) -> tuple[Route, ...]:
    if "curve" in run:
        raise DpcalcError("refused", "Poisson sampling of an RDP curve is not supported; use --scheme "
                                     "without-replacement, or give the mechanism", "--scheme")
    rdp, of_gaussian, of_any = _BOUNDS[relation]
    if run["mechanism"] == "gaussian":
        return (*converted(rdp), Route(of_gaussian), *_CLOSED_FORMS.get(relation, ()))
    pure = PURE_COMPOSITION if MECHANISMS[run["mechanism"]].pure is not None else ()
    return (*pure, Route(of_any))


# --- one use, for a record that is lost or zeroed out, and for one that is replaced ----------------------------------


def _pair_removed(use: Use) -> Pair:
    from dpcalc.pld import sampled

    if use.group_size == 1:
        return sampled.poisson(use.mechanism.profile(use.params).pair(), use.sampling["rate"])
    _check_groups(use)
    return poisson_group_profile.pair(use.sampling["rate"], use.noise_multiplier, use.group_size)


def _pair_replaced(use: Use) -> Pair:
    if use.is_gaussian:
        return poisson_replace_one_profile.pair(use.sampling["rate"], use.noise_multiplier, use.group_size)
    _check_groups(use)
    return step_profile_of(use).pair()


def _check_groups(use: Use) -> None:
    if use.group_size > 1 and not use.is_gaussian:
        raise OutOfScope("refused", "groups of records in Poisson batches are supported for Gaussian noise only",
                         "--input")


def step_profile_of(use: Use) -> Profile:
    """The profile of one use for a replaced record, by poisson_replace_one_comonotone.py."""
    if use.sampling["rate"] == 1:  # no other batch is compared than the one with the record
        return use.mechanism.profile(use.mechanism.of_group(use.params, 2))
    assert use.mechanism.replaced is not None
    return use.mechanism.replaced(use.params, use.sampling["rate"])


def _pure_replaced(use: Use) -> float:
    assert use.mechanism.pure is not None
    return poisson_replace_one_comonotone.pure_epsilon(use.mechanism.pure(use.params), use.sampling["rate"])


_PAIRS = {ADD_REMOVE: _pair_removed, ZERO_OUT: _pair_removed, REPLACE_ONE: _pair_replaced}
_PURE = {ADD_REMOVE: Use.amplified, ZERO_OUT: Use.amplified, REPLACE_ONE: _pure_replaced}


def _curve(use: Use) -> Curve:
    if not use.is_gaussian or use.group_size > 1:
        of = "single records and Gaussian noise"
        raise DpcalcError("unsupported", f"RDP of Poisson sampling is supported for {of} only; ask with --delta",
                          "--input")
    return curve.of_bound(_BOUNDS[use.relation][0], noise_multiplier=use.noise_multiplier,
                          sampling_rate=use.sampling["rate"])


def _of_mechanism(use: Use) -> dict[str, Any]:
    """The parameters of the bound of any mechanism for replaced records."""
    needed = "step_profile" in _BOUNDS[use.relation][-1].params and not use.is_gaussian
    return {"step_profile": step_profile_of(use)} if needed else {}


_GROUPS = Route(poisson_group_profile.BOUND)

SCHEME = Scheme(
    name="poisson",
    words="Poisson batches",
    bases={ADD_REMOVE: Base(ADD_REMOVE), REPLACE_ONE: Base(ADD_REMOVE), ZERO_OUT: Base(ADD_REMOVE, of_sum=True)},
    options=by_rate.OPTIONS,
    checks=by_rate.CHECKS,
    params=by_rate.params,
    routes=_routes,
    sentence=lambda text: ("Batches are Poisson samples: each record is in a batch with probability "
                           f"{by_rate.rate_text(text)}, independently; {NOT_SHUFFLED}"),
    fields={"rate": RATE},
    pair=lambda use: _PAIRS[use.relation](use),
    curve=_curve,
    group_routes={ADD_REMOVE: (_GROUPS,), ZERO_OUT: (_GROUPS,),
                  REPLACE_ONE: (Route(poisson_replace_one_profile.BOUND),)},
    pure=lambda use: _PURE[use.relation](use),
    of_mechanism=_of_mechanism,
    promise=POISSON_ONLY,
)
