"""The record of a mechanism that publishes noisy values of the keys in the data, where these are at least a
threshold."""

from functools import partial
from typing import Any

from dpcalc.accounting import contributions
from dpcalc.accounting.mechanisms.record import Mechanism, Number, Part, Query, TotalVariation
from dpcalc.bounds.mechanisms import thresholded, thresholded_composed
from dpcalc.bounds.profile import Profile
from dpcalc.core.bound import Params
from dpcalc.core.results import Route

CONTRIBUTIONS = Query("what a person contributes to keys", "is about the keys in all the data; no theorem here "
             "covers it on random batches")
_COMPOSED = Route(thresholded_composed.BOUND)
_ONCE = (Route(thresholded.PROFILE), Route(thresholded.SIMPLE, on_request=True))


def mechanism_above_threshold(noise: str, words: str, level: str, whole: bool = False) -> Mechanism:
    """The record for one kind of noise, with its words and the option of its level."""
    bound_params = partial(_bound_params, noise, level)
    once = _ONCE if noise == "gaussian" else (*_ONCE, _COMPOSED)
    return Mechanism(
        name=f"thresholded-{noise}",
        words=f"{words} above a threshold",
        sentence=lambda text: (
            f"{words[0].upper()}{words[1:]} of {_LEVELS[level]} {text(level)} is added to the "
            "value of every key in the data, and a key is published with its noisy value if this is at least "
            f"{text('threshold')}."),
        query=CONTRIBUTIONS,
        noise=noise,
        options=(level, "threshold"),
        optional=("max_keys", "per_key", "signed"),
        once=once,
        often=(_COMPOSED,),
        curve=None,
        profile=lambda p: _profile(bound_params(p)),
        pure=None,
        part=Part({level: Number(), **_FIELDS}, partial(_as_fields, level)),
        tv=TotalVariation(once, (_COMPOSED,), thresholded.PROFILE),
        notes=("the keys are those that occur in the data; a key below the threshold is not published at all, not even "
               "that it exists",),
        bound_params=bound_params,
        whole_sensitivity=whole,
        releases=lambda _: 1,
        states_relation=True,
        contributors=lambda fields: int(fields["contributors"]),
        ways_out={"sensitivity": "give --max-keys and --per-key: what one person contributes decides which keys may be "
                                 "published by chance"},
    )


_LEVELS = {"sigma": "standard deviation", "scale": "scale"}
_FIELDS = {"per_key": Number(), "max_keys": Number(least=1), "threshold": Number(), "contributors": Number(
    least=1, most=2, description="1 where a person is added or removed, 2 where one is replaced")}


def _as_fields(level: str, p: Params) -> dict[str, Any]:
    """The options as they are in JSON."""
    return {level: p[level], "per_key": float(p.get("per_key") or 1.0), "max_keys": int(p.get("max_keys") or 1),
            "contributors": contributions.people_who_differ(p), "threshold": p["threshold"]}


def _bound_params(noise: str, level: str, p: Params) -> dict[str, Any]:
    """The parameters of the bounds, from the options or from the fields in JSON."""
    fields = p if "contributors" in p else _as_fields(level, p)
    found = {name: fields[name] for name in thresholded.PARAMS if name in fields}
    return {"noise": noise, "noise_level": fields[level], **found}


def _profile(values: Params) -> Profile:
    return Profile(lambda e: thresholded.value(e, **values), lambda mp, e: thresholded.exact(mp, e, **values),
                   lambda: thresholded_composed.pair(**values))
