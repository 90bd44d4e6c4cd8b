"""One run whose privacy profile is a function in the test, as dpcalc's bounds on the best of several runs take it."""

from math import exp, inf, log, tanh

from dpcalc.bounds.conversions.selection_laws import poisson, truncated


class OneRun:
    """δ at ε >= 0 is `profile(epsilon)` in both directions, and the Rényi divergence `curve(alpha)`; of a pure run
    `most` is its ε."""

    name, is_numerical, precision = "a run with a known profile", False, 1e-3

    def __init__(self, profile, curve=None, most=None, exact=None, exact_curve=None):
        self.profile, self.curve, self.most = profile, curve, most
        self.exact, self.exact_curve = exact, exact_curve

    def log_delta(self, epsilon):
        delta = self.profile(epsilon)
        return log(delta) if delta > 0 else -inf

    rough_log_delta = log_delta

    def epsilon(self, log_delta):
        """By halving, from above."""
        low, high = 0.0, 1.0
        while self.log_delta(high) > log_delta:
            high *= 2
        for _ in range(200):
            middle = (low + high) / 2
            low, high = (middle, high) if self.log_delta(middle) > log_delta else (low, middle)
        return high

    def pure(self):
        return self.most

    def rdp(self, alpha):
        return self.curve(alpha)

    def tv(self):
        return self.profile(0.0)

    def exact_delta(self, mp, epsilon):
        return self.exact(mp, epsilon)

    def exact_rdp(self, mp, alpha):
        return self.exact_curve(mp, alpha)


def in_both_directions(profile, reverse, curve=None, reverse_curve=None):
    """The run whose profile is the larger one of two directions, and its Rényi curve likewise."""
    both = curve and (lambda alpha: max(curve(alpha), reverse_curve(alpha)))
    return OneRun(lambda epsilon: max(profile(epsilon), reverse(epsilon)), both)


def randomized_response(epsilon):
    """Of a run of which nothing but its pure ε is known."""
    return OneRun(lambda x: max(0.0, (exp(epsilon) - exp(x)) / (1 + exp(epsilon))) if x else tanh(epsilon / 2),
                  most=epsilon)


def law_of(law):
    """A law of tests/support/selection_laws.py as dpcalc's."""
    return poisson(law.mean) if not hasattr(law, "shape") else truncated(law.shape, law.g)
