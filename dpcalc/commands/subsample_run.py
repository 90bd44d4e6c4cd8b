"""A run of a mechanism on random batches: the check of its options, its routes, the parameters of its bounds and its
guarantee. For dpcalc subsample, and for dpcalc tv.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from dpcalc.core import noise_multiplier
from dpcalc.core.command import Given, refuse_unneeded, require

if TYPE_CHECKING:
    from dpcalc.core.results import Route

Values = Mapping[str, Any]


ONE_RATE = "give --sampling-rate, or --n and --batch-size, not both"
NO_RATE = "add --sampling-rate, or --n and --batch-size"


# --- options ---------------------------------------------------------------------------------------------------------


def neighbours(given: Given) -> str:
    """The adjacency of the run. Raises DpcalcError where the scheme does not allow it."""
    from dpcalc.core.errors import DpcalcError

    scheme = given["scheme"]
    wanted = noise_multiplier.adjacency_of(given.values)
    if wanted == "add-remove" and scheme != "poisson":
        raise DpcalcError("refused",
                          f"add-remove is not supported with --scheme {scheme}, whose batches have a fixed size; use "
                          "--adjacency replace-one", "--adjacency")
    return wanted


def check(given: Given, unknown: str | None) -> set[str]:
    """The names of the options that the run depends on. Raises DpcalcError for options that are missing, not used or
    contradictory."""
    from dpcalc.accounting.mechanisms import MECHANISMS
    from dpcalc.core.errors import DpcalcError

    mechanism = None if "curve" in given.values else MECHANISMS[given["mechanism"]]
    required, optional = noise_multiplier.options(mechanism, given, unknown) if mechanism else ((), ())
    own = {*required, *optional}
    weighted = given["scheme"] == "weighted"
    run = {"max_weight"} if weighted else {"sampling_rate", "n", "batch_size"}
    used = own | run | {"scheme", "adjacency", "steps", "epochs", "orders", "mechanism", "precision"}
    refuse_unneeded(given, used | {"max_weight", "sampling_rate", "n", "batch_size"},
                    f"with --mechanism {given['mechanism']}")
    refuse_unneeded(given, used, f"with --scheme {given['scheme']}")
    if mechanism:
        require(given, required, f"with --mechanism {given['mechanism']}", unknown)
    if {"steps", "epochs"} <= given.provided | {unknown}:
        raise DpcalcError("contradictory", "give --steps or --epochs, not both", "--steps")
    if weighted:
        require(given, ("max_weight",), "with --scheme weighted", unknown)
        return used
    by_batch = given.provided & {"n", "batch_size"} or unknown in ("n", "batch_size")
    if by_batch and (given.has("sampling_rate") or unknown == "sampling_rate"):
        raise DpcalcError("contradictory", ONE_RATE, "--sampling-rate")
    if by_batch:
        require(given, ("n", "batch_size"), "for the sampling rate b/n", unknown)
        if given["n"] is not None and given["batch_size"] is not None and given["batch_size"] > given["n"]:
            raise DpcalcError("out-of-range",
                              f"{given['batch_size']} is above n = {given['n']}, the number of records",
                              "--batch-size")
        if _has_no_steps(given, unknown):
            raise DpcalcError("missing", "add --steps (number of steps) or --epochs", "--steps")
    elif unknown != "sampling_rate" and given["sampling_rate"] is None:
        raise DpcalcError("missing", NO_RATE,
                          "--sampling-rate")
    return used


def _has_no_steps(given: Given, unknown: str | None) -> bool:
    """Whether no number of steps is given or solved for: then one step is meant."""
    return not {"steps", "epochs"} & (given.provided | {unknown})


def scope(given: Given, unknown: str | None) -> str:
    """What stands beside the headline of a run that is described by a sampling rate alone."""
    return "for one step" if _has_no_steps(given, unknown) else ""


# --- the bounds ------------------------------------------------------------------------------------------------------


def sampling_rate(values: Values) -> float:
    """The probability q that a record is in a batch: --sampling-rate, or b/n rounded up."""
    from dpcalc.core.errors import DpcalcError, OutOfScope
    from dpcalc.numerics.rounding import ratio_up

    if values.get("sampling_rate") is not None:
        return float(values["sampling_rate"])
    n, b = values.get("n"), values.get("batch_size")
    if n is None or b is None:
        raise DpcalcError("missing", NO_RATE, "--sampling-rate")
    if b > n:
        raise OutOfScope("no-solution", f"{b} is above n = {n}, the number of records", "--batch-size")
    return ratio_up((b,), (n,))


def bound_params(values: Values) -> dict[str, Any]:
    """The parameters of the bounds: the sampling rate, the number of steps, and the mechanism as its RDP curve, its
    profile and its noise multiplier; of a pure mechanism, also the ε of one step after amplification."""
    from dpcalc.accounting.mechanisms import MECHANISMS
    from dpcalc.numerics.rounding import ratio_down

    values = noise_multiplier.with_sigma(values)
    weighted = values["scheme"] == "weighted"
    rate = values["max_weight"] if weighted else sampling_rate(values)
    params: dict[str, Any] = {"max_weight" if weighted else "sampling_rate": rate, "steps": _steps(values, rate)}
    if "curve" in values:
        return params | {"base": values["curve"]}
    mechanism = MECHANISMS[values["mechanism"]]
    params |= {"base": mechanism.curve(values), "profile": mechanism.profile(values),
               "part": {"name": mechanism.name, **mechanism.part.write(values)}}
    if values.get("precision"):
        params["precision"] = values["precision"]
    if values["mechanism"] == "gaussian":
        params["noise_multiplier"] = ratio_down(values["sigma"], values["sensitivity"])
    elif mechanism.pure is not None and not weighted:
        from dpcalc.bounds.conversions import composition_basic
        from dpcalc.bounds.sampling import amplification

        params |= composition_basic.repeated(amplification.value(mechanism.pure(values), 0.0, rate)["epsilon"], 0.0,
                                             params["steps"])
    return params


def _steps(values: Values, rate: float) -> int:
    """The number of steps T: as given, or of E epochs ⌈E·n/b⌉ or ⌈E/q⌉, computed exactly. A rate q that is the double
    of a simple ratio such as 1/49 is taken to be that ratio."""
    from fractions import Fraction

    epochs = values.get("epochs")
    if epochs is None:
        return int(values.get("steps") or 1)
    a, b = float(epochs).as_integer_ratio()
    if values.get("sampling_rate") is None and values.get("batch_size"):
        a, b = a * values["n"], b * values["batch_size"]
    else:
        # a million: more batches in a pass than anybody writes as a ratio, and far from the 2^53 of doubles
        simple = Fraction(rate).limit_denominator(10**6)
        p, r = (simple if float(simple) == rate else Fraction(rate)).as_integer_ratio()
        a, b = a * r, b * p
    return max(1, -(-a // b))


def routes(given: Given) -> tuple[Route, ...]:
    """The bounds that cover the scheme, the neighbours and the mechanism."""
    from dpcalc.accounting.mechanisms import MECHANISMS
    from dpcalc.accounting.routes import PURE_COMPOSITION, converted
    from dpcalc.bounds.sampling import poisson_profile, poisson_rdp, weighted_rdp, wor_profile, wor_rdp
    from dpcalc.core.errors import DpcalcError
    from dpcalc.core.results import Route

    scheme, has_curve = given["scheme"], "curve" in given.values
    pure = PURE_COMPOSITION if not has_curve and MECHANISMS[given["mechanism"]].pure is not None else ()
    if scheme == "weighted":
        return converted(weighted_rdp.BOUND)
    if scheme == "without-replacement":
        profile = () if has_curve else (Route(wor_profile.BOUND),)
        return (*converted(wor_rdp.BOUND), *pure, *profile)
    if has_curve:
        raise DpcalcError("refused", "Poisson sampling of an RDP curve is not supported; use --scheme "
                                     "without-replacement, or give the mechanism", "--scheme")
    if given["adjacency"] == "replace-one":
        return (Route(wor_profile.BOUND),)
    rdp = () if pure else converted(poisson_rdp.BOUND)
    return (*rdp, *pure, Route(poisson_profile.BOUND))


def description(given: Given) -> str:
    """What is sampled, in words, where no RDP bound covers it."""
    return {"gaussian": "subsampled Gaussian noise", "laplace": "subsampled Laplace noise",
            "randomized-response": "subsampled randomised response"}[given["mechanism"]]


# --- the guarantee and the notes -------------------------------------------------------------------------------------

# Orders at which an RDP curve is handed on. Any list is valid: the next command takes the best of them.
_CURVE_ORDERS = (*range(2, 33), 40, 48, 64, 96, 128, 256)


def guarantee(values: Values, params: Values) -> dict[str, Any]:
    """The run for the next command: as a mechanism that is sampled, or as an RDP curve."""
    from dpcalc.accounting.mechanisms import MECHANISMS

    rate = params.get("sampling_rate", params.get("max_weight"))
    if "curve" not in values:
        # For replace-one neighbours a Poisson batch is analysed like one without replacement.
        replaced = values.get("adjacency") == "replace-one" and values["scheme"] == "poisson"
        sampling = {"scheme": "without-replacement" if replaced else values["scheme"], "rate": rate}
        mechanism = MECHANISMS[values["mechanism"]]
        return {"kind": "mechanisms",
                "mechanisms": [mechanism.as_part(noise_multiplier.with_sigma(values), sampling, params["steps"])]}
    from dpcalc.accounting.orders import total_rdp
    from dpcalc.bounds.sampling import weighted_rdp, wor_rdp

    curve = total_rdp(weighted_rdp.BOUND if values["scheme"] == "weighted" else wor_rdp.BOUND, params)
    points = [(a, r) for a in _CURVE_ORDERS if (r := curve(float(a))) < float("inf")]
    return {"kind": "rdp", "alpha": [a for a, _ in points], "rdp": [r for _, r in points]}


def notes(given: Given, values: Values) -> tuple[str, ...]:
    """What a reader must know to use the number; `values` are the parameters with the solution."""
    if "curve" in given.values:
        return ()
    from dpcalc.accounting.mechanisms import MECHANISMS
    from dpcalc.core.results import NOT_SHUFFLED

    notes = noise_multiplier.notes(given, values) or MECHANISMS[given["mechanism"]].notes
    replaces = noise_multiplier.adjacency_of(values) == "replace-one"
    if given["mechanism"] == "gaussian" and not given.inputs and values.get("sigma") is not None and replaces:
        notes += ("replacing a record moves the sum by 2C: with s = 2C, the noise multiplier is 2σ/s",)
    elif given["mechanism"] != "gaussian" and given["scheme"] == "poisson":
        notes += ("sampling amplifies each step to log(1 + q(e^ε − 1)) (Balle, Barthe & Gaboardi 2018)",)
    in_batches = given["scheme"] == "poisson" and values.get("batch_size") is not None
    return (*notes, NOT_SHUFFLED) if in_batches else notes
