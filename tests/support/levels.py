"""Options that say how much noise a mechanism has, one value of each, for tests that go through all mechanisms."""

import random

import domains

from dpcalc.accounting.mechanisms import MECHANISMS

_USUAL = {"sigma": 2.5, "scale": 3.0, "probability": 0.6, "step_epsilon": 0.5, "categories": 5, "threshold_scale": 40.0,
          "n": 100, "threshold": 80.0, "top_k": 2, "step_delta": 1e-7}


def levels(name):
    """The required options of a mechanism with values that go together: the usual ones, or a draw of domains.py where
    it has other options."""
    options = MECHANISMS[name].options
    if set(options) <= _USUAL.keys():
        return {option: _USUAL[option] for option in options}
    drawn = domains.PARAMETERS[name](random.Random(1))
    return {option: drawn[option] for option in options}
