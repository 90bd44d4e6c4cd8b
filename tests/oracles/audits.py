"""Lower bounds on ε of an attack by their definitions: binomial tails summed term by term in integers of 260 bits.

Nothing here uses the package: the limits of Clopper and Pearson, the Gaussian form and the p-value of one run are
written from their definitions, so that errors of the formulas and of their evaluation both show.
"""

from fractions import Fraction

from mpmath import MPContext

_BITS = 260
_ONE = 1 << _BITS
MP = MPContext()
MP.prec = _BITS - 60


def _fixed(x):
    return int(MP.floor(x * _ONE))


def _mpf(x):
    return MP.mpf(x) / _ONE


def _log_term(j, n, s, missed):
    choose = MP.loggamma(n + 1) - MP.loggamma(j + 1) - MP.loggamma(n - j + 1)
    return choose + j * MP.log(s) + (n - j) * MP.log(missed)


def log_tail(j, n, log_odds):
    """log P(Bin(n, s) ≥ j) for s with these log odds and j ≥ n·s, 0 < j ≤ n."""
    odds = MP.exp(log_odds)
    s, missed = odds / (1 + odds), 1 / (1 + odds)
    ratio, term, total = _fixed(odds), _ONE, 0
    for k in range(j, n + 1):
        total += term
        term = (term * ratio >> _BITS) * (n - k) // (k + 1)
        if term < 1 << 80:
            break
    return _log_term(j, n, s, missed) + MP.log(_mpf(total))


def _secant(function, x, step):
    """The zero of an increasing function that is nearly linear, from a guess."""
    y = x + step
    at_x, at_y = function(x), function(y)
    for _ in range(80):
        if at_y == at_x:
            return y
        x, y, at_x = y, y - at_y * (y - x) / (at_y - at_x), at_y
        if abs(y - x) < MP.mpf(2) ** -110 * max(1, abs(y)):
            return y
        at_y = function(y)
    raise ArithmeticError("the secant does not settle")


def log_odds_of_lower_limit(hits, trials, level):
    """Log odds of the t with P(Bin(trials, t) ≥ hits) = level, for 0 < hits and level ≤ 1/2; t is below hits/trials
    by the median of a binomial law, or nearly so."""
    target = MP.log(level)
    share = MP.mpf(hits) / (trials + 1)
    width = MP.sqrt(-2 * target / (trials * share * (1 - share)))
    start = MP.log(share / (1 - share)) - width
    if hits == trials:
        t = MP.exp(target / trials)
        return MP.log(t) - MP.log(-MP.expm1(target / trials))
    return _secant(lambda x: log_tail(hits, trials, x) - target, start, MP.mpf("0.001") * width)


class Rates:
    """Limits of the rates as (probability, complement), each without cancellation."""

    def __init__(self, tp, n1, fp, n0, level):
        self.tpr, self.missed = _pair(log_odds_of_lower_limit(tp, n1, level / 2)) if tp else (MP.mpf(0), MP.mpf(1))
        spared = n0 - fp
        self.spared, self.fpr = (_pair(log_odds_of_lower_limit(spared, n0, level / 2)) if spared
                                 else (MP.mpf(0), MP.mpf(1)))


def _pair(log_odds):
    odds = MP.exp(log_odds)
    return odds / (1 + odds), 1 / (1 + odds)


def level_of(confidence, tests):
    exact = (1 - Fraction(confidence)) / tests
    return MP.mpf(exact.numerator) / exact.denominator


def of_counts(true_positives, members, false_positives, non_members, delta, confidence, tests):
    """max(0, log((t − δ)/f), log((1 − f − δ)/(1 − t))) with the limits t and f of level (1 − confidence)/tests/2."""
    r = Rates(true_positives, members, false_positives, non_members, level_of(confidence, tests))
    best, delta = MP.mpf(0), MP.mpf(delta)
    if r.tpr > delta:
        best = max(best, MP.log((r.tpr - delta) / r.fpr))
    if r.spared > delta:
        best = max(best, MP.log((r.spared - delta) / r.missed))
    return best


def _quantile(p, complement):
    """Φ⁻¹(p), from the smaller of p and its complement."""
    if p > complement:
        return -_quantile(complement, p)
    x = -MP.sqrt(-2 * MP.log(2 * p)) if p < MP.mpf("0.5") else MP.mpf(0)
    target = MP.log(p)
    return _secant(lambda z: MP.log(MP.erfc(-z / MP.sqrt(2)) / 2) - target, x, MP.mpf("1e-3"))


def mu_of_counts(true_positives, members, false_positives, non_members, confidence, tests):
    r = Rates(true_positives, members, false_positives, non_members, level_of(confidence, tests))
    if not r.tpr or not r.spared:
        return MP.mpf(0)
    return max(MP.mpf(0), _quantile(r.tpr, r.missed) + _quantile(r.spared, r.fpr))


def gaussian_delta(epsilon, mu):
    """Φ(μ/2 − ε/μ) − e^ε Φ(−μ/2 − ε/μ)."""
    def below(x):
        return MP.erfc(-x / MP.sqrt(2)) / 2
    return below(mu / 2 - epsilon / mu) - MP.exp(epsilon) * below(-mu / 2 - epsilon / mu)


def p_value(log_odds, canaries, guesses, right, delta):
    """The largest over i of (1 − c_i)₊ b + c_i P(Bin(r, s) ≥ v − i) with c_i = 2mδ/i, b = P(Bin(r, s) ≥ v)."""
    if right == 0:
        return MP.mpf(1)
    odds = MP.exp(log_odds)
    s, missed = odds / (1 + odds), 1 / (1 + odds)
    mode = min(right, int(guesses * s))
    # terms relative to the one at the mode, in both directions
    up, down, term = [], [], _ONE
    rise, fall = _fixed(odds), _fixed(1 / odds)
    for k in range(mode, guesses + 1):
        up.append(term)
        term = (term * rise >> _BITS) * (guesses - k) // (k + 1)
        if term < 1 << 60 and k > right:
            break
    term = _ONE
    for k in range(mode, 0, -1):
        term = (term * fall >> _BITS) * k // (guesses - k + 1)
        down.append(term)
        if not term:
            break
    scale = MP.exp(_log_term(mode, guesses, s, missed))
    b = sum(up[right - mode:])
    weight = int(2 * canaries * Fraction(delta) * _ONE)
    best, tail = b, b
    terms_below = up[:right - mode][::-1] + down
    for i, term in enumerate(terms_below, 1):  # a term for each of v − 1, v − 2, …
        if i > right:
            break
        tail += term
        c = weight // i
        best = max(best, (max(_ONE - c, 0) * b + c * tail) >> _BITS)
    return _mpf(best) * scale


def of_one_run(canaries, guesses, right, delta, confidence, tests):
    """The first ε at which p(ε) exceeds the level."""
    level = level_of(confidence, tests)
    zero = MP.mpf(0)
    if p_value(zero, canaries, guesses, right, delta) > level:
        return zero
    low, high = zero, MP.mpf(1)
    while p_value(high, canaries, guesses, right, delta) <= level:
        low, high = high, 2 * high
    at_low = MP.log(max(p_value(low, canaries, guesses, right, delta) / level, MP.mpf("1e-20")))
    at_high = MP.log(p_value(high, canaries, guesses, right, delta) / level)
    side = 0
    for _ in range(200):  # false position that halves the weight of an end that stays (Illinois)
        if high - low < MP.mpf("1e-18") * max(1, high):
            break
        middle = (low * at_high - high * at_low) / (at_high - at_low)
        middle = min(max(middle, low + (high - low) / 10**6), high - (high - low) / 10**6)
        at = MP.log(p_value(middle, canaries, guesses, right, delta) / level)
        if at > 0:
            high, at_high = middle, at
            at_low = at_low / 2 if side == 1 else at_low
            side = 1
        else:
            low, at_low = middle, at
            at_high = at_high / 2 if side == -1 else at_high
            side = -1
    return high
