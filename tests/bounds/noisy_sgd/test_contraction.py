"""burn-in-contraction: its lemmas against integrals and computed chains, its formula against another evaluation, and
its laws."""

import json
from functools import cache
from itertools import pairwise
from math import ceil, comb, exp, inf, isfinite, log, nan, pi, sqrt

import chains
import flint
import mpmath
import numpy as np
import pytest
from calling import call
from conftest import slow, spread
from paths import GOLDEN
from scipy.special import ndtr

from dpcalc.bounds.noisy_sgd import burn_in_contraction, burn_in_rdp, lower_bound
from dpcalc.bounds.noisy_sgd._engine import meeting, windows
from dpcalc.core.errors import OutOfScope

arb = flint.arb
mp = mpmath.mp.clone()
mp.dps = 40
RUN = {"n": 60000, "batch_size": 128, "iterations": 10**6, "lipschitz": 1.0, "smoothness": 1.0, "strong_convexity": 0.0,
       "learning_rate": 0.05, "diameter": 2.0, "sigma": 0.1}
FULL = {**RUN, "n": 1000, "batch_size": 1000, "learning_rate": 0.1, "diameter": 1.0}  # push .02, Δ = 100
SMALL = {**FULL, "diameter": 0.1, "sigma": 0.2}  # push .01, Δ = 5
LARGE = {**FULL, "sigma": 0.05}  # push .04, Δ = 200
CURVED = {**FULL, "strong_convexity": 0.3}  # c = .97
FEW = {**SMALL, "n": 100, "batch_size": 10, "diameter": 0.3, "sigma": 2.0}  # q = .1, push .1, Δ = 1.5
NAMES = {"random": RUN, "few": FEW, "full": FULL, "small": SMALL, "large": LARGE, "curved": CURVED}
EACH = pytest.mark.parametrize("name", [slow("random"), "few", slow("full"), "small", slow("large"), "curved"])


def theta(epsilon, ratio):
    """The profile of a Gaussian, in doubles."""
    return ndtr(ratio / 2 - epsilon / ratio) - exp(epsilon) * ndtr(-ratio / 2 - epsilon / ratio)


# --- the survival of the mirrored walk -------------------------------------------------------------------------------


def survivals(half, steps):
    """The chances that the walk is above 0 after 1, 2, … steps, by Gauss and Legendre's rule on [0, H]."""
    t, weight = np.polynomial.legendre.leggauss(40 + int(5 * half))
    v = half * (t + 1) / 2
    u = np.append(v, half)[:, None]
    inner = (np.exp(-((v - u) ** 2) / 2) - np.exp(-((v + u) ** 2) / 2)) / sqrt(2 * pi) * weight * half / 2
    step = np.hstack([inner, ndtr(u - half) - ndtr(-u - half)])
    alive, found = np.ones(len(u)), []
    for _ in range(steps):
        alive = step @ alive
        found.append(alive[-1])
    return found


@pytest.mark.parametrize("half", [0.05, 0.3, 0.8, 1.4, 1.45, 1.6, 2.3, 3.7, 5.0, 8.2, 13.0, 24.0, 40.0])
def test_survival_is_never_below_the_integral_and_near_it(half):
    most = max(20, ceil(3 * half * half))
    true = [1.0, *survivals(half, most)]
    for steps in {round(most ** (k / 40)) for k in range(41)} - {0}:
        for log_survival, first in zip((s for s, _ in meeting.kernel(2 * half, 0.0, steps)),
                                       (steps * k // 10 for k in range(10)), strict=True):
            found = exp(log_survival)
            assert found >= true[first] * (1 - 1e-11)
            if half >= 5 and first <= 2 * half * half:  # Δ >= 10, R <= Δ²/2
                assert found <= 1.25 * true[first]


def verified(holds, *cell, deepest=40):
    """Whether it holds on a cell (pairs of ends), or on all parts of it, halved along the longest side."""
    if holds(*(arb((low + high) / 2, (high - low) / 2) for low, high in cell)):
        return True
    k = max(range(len(cell)), key=lambda k: cell[k][1] - cell[k][0])
    (low, high), middle = cell[k], sum(cell[k]) / 2
    return deepest > 0 and all(verified(holds, *cell[:k], half, *cell[k + 1:], deepest=deepest - 1)
                               for half in ((low, middle), (middle, high)))


def test_a_walk_that_is_not_lowered_survives_less_often_than_the_two_sines():
    """Both sides are divided by y: erf(y/s)/y falls in y."""
    factor = arb(str(meeting.AMPLITUDE)) * 2

    def holds(x, y):
        low = y.lower().max(arb(0))
        left = ((low / (2 * x.lower()).sqrt()).erf() / low if low > 1e-3 else (2 / (arb.pi() * x.lower())).sqrt())
        decay, angle = -arb.pi() ** 2 * x / 8, arb.pi() * y / 2
        return left < factor * (decay.exp() * angle.sinc() + (9 * decay).exp() * (3 * angle).sinc())

    assert verified(holds, (meeting.EARLIEST, meeting.LATEST), (0.0, 1.0))
    assert not holds(arb(0.2), arb(1.04))


CELLS = 50  # a unit of w
EDGES = [arb(k) / CELLS for k in range(7 * CELLS + 1)]
MASSES = [((high / arb(2).sqrt()).erf() - (low / arb(2).sqrt()).erf()) / 2 for low, high in pairwise(EDGES)]


def lowering_pays(omega, b, kappa=None):
    """(1 − e^{−H²})·∫_0^{2κ} φĜ >= ∫_{2κ}^∞ φ|Ĝ|, all divided by ω². −G is 0 at 0 and 2κ, and falls before κ and rises
    after it, up to w = κ + 2ℓ."""
    kappa = kappa or arb(str(meeting.OVERSHOOT))
    farthest = kappa + arb.pi() / omega if omega > 0 else arb(inf)

    def minus_g(w):
        """−Ĝ(w)/ω², by products of sines."""
        w = w.min(farthest) if omega > 0.1 else w  # up to w = 7 it is w for a smaller ω
        p, q = omega * w / 2, omega * (w - 2 * kappa) / 2
        return w * (w - 2 * kappa) / 2 * (p.sinc() * q.sinc() - 9 * b * (3 * p).sinc() * (3 * q).sinc())

    at = [minus_g(w) for w in EDGES]
    inside = above = arb(0)
    for k, mass in enumerate(MASSES):
        if EDGES[k + 1] <= 2 * kappa:
            inside -= mass * at[k].max(at[k + 1])
        else:
            above += mass * at[k + 1]
    last = EDGES[-1]
    density = (-last * last / 2).exp() / (2 * arb.pi()).sqrt()
    beyond = last * density + (1 - (last / arb(2).sqrt()).erf()) / 2  # ∫ w²φ, as |Ĝ| <= (1 + 9b)·ω²w²/2
    above += (1 + 9 * b) / 2 * beyond
    height = arb.pi() / (2 * omega.upper()) - kappa
    return (1 - (-height * height).exp()) * inside >= above


@pytest.mark.parametrize("b", [arb(0), (-arb(str(meeting.EARLIEST)) * arb.pi() ** 2).exp() / 3], ids=["0", "b0"])
def test_what_the_lowering_takes_is_less_than_the_overshoot_gives(b):
    largest = arb.pi() / (2 * arb("2.2"))
    assert 1 / arb(str(meeting.LATEST)).sqrt() > arb("2.2")
    assert verified(lambda share: lowering_pays(share * largest, b), (0.0, 1.0))
    assert not lowering_pays(largest / 2, b, arb("0.5"))


# --- contraction and windows against chains --------------------------------------------------------------------------


MAPS = {"still": lambda y: y, "drift": lambda y: y - 0.4, "halved": lambda y: y / 2, "to a wall": lambda y: y - 9.0,
        "one half": lambda y: np.where(y > 0, 0.7 * y, y) + 0.1}


def laws_after(line, step, steps, *starts):
    """Laws after some steps with unit noise from points (the ends and the middle have nodes of their own)."""
    matrix = line.kernel(step(line.y), 1.0)
    return [chains.powered(line.kernel(step(np.array([start])), 1.0)[0], matrix, steps - 1) for start in starts]


@pytest.mark.parametrize("width", [0.4, 1.5, 4.0, 9.0])
@pytest.mark.parametrize("name", MAPS)
def test_two_runs_on_the_same_data_meet_as_fast_as_the_kernel_says(width, name):
    line = chains.Line(-width / 2, width / 2, 1.0, (0.0,))
    g = 0.5 if name == "halved" else 0.0
    for steps in (1, 2, 5, 12, 40, 90):
        p, q = laws_after(line, MAPS[name], steps, -width / 2, width / 2)
        for epsilon in (0.0, 0.1, 0.7, 2.0, 5.0):
            bound = exp(meeting.log_kept(np.array([epsilon]), (meeting.kernel(width, g, steps),))[0, 0])
            assert chains.delta(line.cells(p), line.cells(q), epsilon) <= bound * (1 + 1e-9) + 1e-13


def test_a_difference_contracts():
    """Lemma 2, for pairs of laws that are mixtures."""
    rng, width = np.random.default_rng(3), 3.0
    line, nearest = chains.Line(-width / 2, width / 2, 1.0), 0.0
    for name, step in MAPS.items():
        matrix = line.kernel(step(line.y), 1.0)
        for _ in range(6):
            p, q = (rng.dirichlet(np.full(len(line.y), 0.05)) for _ in range(2))
            share = rng.random()
            p = share * q + (1 - share) * p  # of atoms at the nodes
            for steps in (1, 3, 8):
                after = [chains.powered(law @ matrix, matrix, steps - 1) for law in (p, q)]
                kernels = (meeting.kernel(width, 0.5 if name == "halved" else 0.0, steps),)
                for gamma in (1.0, 1.2, 3.0):
                    d = np.maximum(p - gamma * q, 0).sum()
                    bound = d * exp(meeting.log_kept(np.array([np.log1p((gamma - 1) / d)]), kernels)[0, 0])
                    found = np.maximum(line.cells(after[0]) - gamma * line.cells(after[1]), 0).sum()
                    assert found <= bound * (1 + 1e-9) + 1e-13
                    if bound > 0:
                        nearest = max(nearest, found / bound)
    assert nearest > 0.4


@pytest.mark.parametrize(("q", "push", "steps"), [(0.3, 1.0, 4), (0.1, 2.0, 7), (0.5, 0.3, 12), (1.0, 0.4, 9)])
def test_windows_lie_above_chains_from_the_same_start(q, push, steps):
    lengths = {False: [], True: []}
    for window in windows.windows(q, push, 1, [steps], [steps], 6.0):
        lengths[window.hidden].append(window)
    assert len(lengths[False]) == 1 and len(lengths[True]) == (push >= windows.LEAST_PUSH and q < 1)
    line = chains.Line(-4.0, 4.0, 1.0)
    for step in MAPS.values():
        matrices = [(1 - q) * line.kernel(step(line.y), 1.0) + q * line.kernel(step(line.y) + kick, 1.0)
                    for kick in (push / 2, -push / 2)]
        p, r = (chains.powered(matrix[len(line.y) // 2], matrix, steps - 1) for matrix in matrices)
        for window in (w for both in lengths.values() for w in both):
            for epsilon in (0.0, 0.2, 1.0, 3.0):
                true = chains.delta(line.cells(p), line.cells(r), epsilon)
                assert true <= exp(window.log_delta(np.array([epsilon]))[0]) * (1 + 1e-9)


def patterns(q, push, segments, epsilon):
    """δ of delayed hiding by its definition: the mean of θ over the numbers of uses of the segments."""
    found = [(1.0, 0.0)]
    for noise, steps in segments:
        found = [(mass * comb(steps, k) * q**k * (1 - q) ** (steps - k), square + (k * push) ** 2 / noise)
                 for mass, square in found for k in range(steps + 1)]
    return sum(mass * theta(epsilon, sqrt(square)) for mass, square in found if square > 0)


@pytest.mark.parametrize(("q", "push", "steps"), [(0.1, 1.0, 3), (0.02, 2.0, 6), (0.3, 1.5, 8), (0.01, 1.2, 30)])
def test_delayed_hiding_is_the_mean_over_the_patterns(q, push, steps):
    counted = windows.lengths_of_segments(steps)
    segments = [lengths for lengths, count in counted.items() for _ in range(count)]
    assert sum(s for _, s in segments) == steps and sum(noise for noise, _ in segments) <= steps
    if len(segments) <= 8:
        *_, window = windows.windows(q, push, 1, [steps], [steps], 4.0)
        for epsilon in (0.0, 0.3, 1.0, 3.0):
            want = patterns(q, push, segments, epsilon)
            assert window.hidden and want <= exp(window.log_delta(np.array([epsilon]))[0]) <= want * 1.02
            exact = windows.exact_hidden(mp, mp.mpf(epsilon), q, mp.mpf(push), steps)
            assert want * (1 - 1e-12) <= exact <= want * 1.02


@pytest.mark.parametrize("steps", [1, 3, 6, 200, 2000, 10**6])
def test_noise_hides_only_uses_that_come_before_it_or_with_it(steps):
    """From the end of the window: x_j <= y_{j−1} + 1, in the order in which the segments are laid."""
    noised = used = 0
    for (noise, length), count in windows.lengths_of_segments(steps).items():
        for _ in range(min(count, 1000)):
            assert noise >= 1 and length >= 1
            assert noised + noise <= used + 1
            noised, used = noised + noise, used + length


@pytest.mark.parametrize(("q", "steps"), [(0.3, 5), (0.01, 40), (1e-4, 20000), (0.02, 1), (0.5, 300),
                                          (0.9968, 1000), (0.999, 1000)])
def test_the_law_of_what_is_to_be_hidden_has_its_mean_and_its_chance_of_nothing(q, steps):
    values, chances, missing = windows.law_of_hidden(q, steps)
    counted = windows.lengths_of_segments(steps).items()
    mean = sum(count * (length * q * (1 - q) + (length * q) ** 2) / noise for (noise, length), count in counted)
    assert mean * (1 - 1e-9) <= float(values @ chances) <= mean * 1.03
    assert 1 - (1 - q) ** steps <= float(chances.sum()) + missing <= (1 - (1 - q) ** steps) * (1 + 1e-8) + 1e-15
    assert 0 < missing < 1e-15 and (np.diff(values) > 0).all()


# --- the theorem, evaluated otherwise --------------------------------------------------------------------------------


def m_theta(epsilon, ratio):
    def beyond(x):
        return mp.erfc(x / mp.sqrt(2)) / 2

    return beyond(epsilon / ratio - ratio / 2) - mp.exp(epsilon) * beyond(epsilon / ratio + ratio / 2)


class Printed:
    """The formulas as they are printed, for full batches and c = 1."""

    def __init__(self, params):
        self.push = 2 * mp.mpf(params["lipschitz"]) / (params["batch_size"] * mp.mpf(params["sigma"]))
        self.width = mp.mpf(params["diameter"]) / (mp.mpf(params["learning_rate"]) * mp.mpf(params["sigma"]))

    def window(self, steps, epsilon):
        return m_theta(epsilon, self.push * mp.sqrt(steps))

    def survival(self, steps):
        half = self.width / 2
        least = mp.erf(half / mp.sqrt(2)) ** steps
        if steps == 0:
            return mp.mpf(1)
        first = max(1, int(mp.ceil(mp.mpf(0.13) * (half + 0.75) ** 2)))
        if steps < first:
            return least
        length = max(half + 0.75, mp.sqrt(first / mp.mpf(0.2)))
        omega, u = mp.pi / (2 * length), length - 0.75
        sines = sum(mp.exp(-(k * omega) ** 2 * steps / 2) * mp.sin(k * omega * u) / k for k in (1, 3))
        return min(least, mp.mpf(1.0275) * 4 / mp.pi * sines)

    def kernel(self, steps, gamma):
        return min(self.survival(r) * m_theta(mp.log(gamma), self.width / mp.sqrt(steps - r))
                   for r in {steps * k // 10 for k in range(10)})

    def compared(self, epsilon, before, steps, i):
        """Theorem A."""
        (second, d), first = before[i], epsilon - before[i][0]
        return (self.window(steps, first) + mp.exp(first) * d * self.kernel(steps, 1 + (mp.exp(second) - 1) / d))

    def pooled(self, epsilon, before, steps, i):
        """Theorem B. The pair by the slopes of the hull in γ: −δ′(γ) is q(ℓ > log γ), and p = γq."""
        at = [(mp.exp(e), d) for e, d in before]
        hull = [0]
        while hull[-1] < len(at) - 1:  # the next corner is that of the steepest fall
            j = hull[-1]
            slope, k = min(((at[k][1] - at[j][1]) / (at[k][0] - at[j][0]), k) for k in range(j + 1, len(at)))
            if slope >= 0:
                break
            hull.append(k)
        assert i in hull
        beyond = [-(at[k][1] - at[j][1]) / (at[k][0] - at[j][0]) for j, k in pairwise(hull)] + [0]
        p = {k: at[k][0] * (beyond[m] - beyond[m + 1]) for m, k in enumerate(hull[1:])}
        without_loss = 1 - sum(p.values()) - at[hull[-1]][1]  # the last δ is the mass of an infinite loss
        assert beyond[0] <= (1 - at[0][1]) / 2
        d, d1 = at[i][1], at[0][1]
        total = without_loss * self.window(steps, epsilon)
        total += sum(mass * self.window(steps, epsilon - before[k][0]) for k, mass in p.items() if k <= i)
        total += at[i][0] * beyond[hull.index(i)] * self.window(steps, epsilon - before[i][0])
        apart = self.width / mp.sqrt(steps) + self.push * mp.sqrt(steps)
        return total + d * m_theta(epsilon + mp.log(d1 / d), apart)

    def delta(self, way):
        """By its points: (ε, R, index, rule) each."""
        found = []
        for epsilon, steps, i, rule in zip(*(iter(way),) * 4, strict=True):
            steps, i = int(steps), int(i)
            if not found:
                assert epsilon == 0 and rule == 0
                delta = self.window(steps, mp.mpf(0)) / (1 - self.kernel(steps, mp.mpf(1)))
            else:
                assert epsilon > found[-1][0]
                delta = (self.pooled if rule == 2 else self.compared)(mp.mpf(epsilon), found, steps, i)
            found.append((mp.mpf(epsilon), min(delta, mp.mpf(1))))
        return found[-1][1]


@pytest.mark.parametrize("name, epsilon", [("full", 0.0), ("full", 0.03), slow("full", 6.0), ("small", 0.0),
                                           slow("small", 0.03), ("small", 6.0), ("large", 0.0), slow("large", 0.03),
                                           slow("large", 6.0)])
def test_value_is_the_printed_theorem_at_its_points(name, epsilon):
    params = NAMES[name]
    way = burn_in_contraction.choices(epsilon, 0.0, **params)["way"]
    want = Printed(params).delta(way)
    found = exp(burn_in_contraction.value(epsilon, **params))
    if want > 1e-280:
        assert want <= found <= want * (1 + 1e-7)
        assert burn_in_contraction.exact(mp, epsilon, **params, way=way) == pytest.approx(want, rel=1e-20)
    assert found == pytest.approx(exp(burn_in_contraction.value(epsilon, **params)))


def test_both_theorems_are_used():
    rules = {rule for epsilon in (0.3, 6.0) for rule in burn_in_contraction.choices(epsilon, 0.0, **FULL)["way"][3::4]}
    assert rules == {0.0, 2.0}


SOUND = [0.0, 6000.0, 0.0, 0.0, 1.0, 10000.0, 0.0, 0.0]


@pytest.mark.slow
def test_a_way_of_ones_own_proves_a_larger_value():
    own = burn_in_contraction.exact(mp, 1.0, **FULL, way=SOUND)
    assert burn_in_contraction.exact(mp, 1.0, **FULL) <= own < 1


@pytest.mark.parametrize("way", [
    [0.5, 2000.0, 0.0, 0.0, 1.0, 2000.0, 0.0, 0.0],  # no point at ε = 0
    [0.0, 2000.0, 0.0, 0.0, 0.7, 2000.0, 0.0, 0.0, 0.4, 2000.0, 1.0, 0.0, 1.0, 2000.0, 2.0, 0.0],  # ε falls
    [0.0, 2000.0, 0.0, 0.0, 0.4, 2000.0, 0.0, 0.0, 0.4, 2000.0, 1.0, 0.0, 1.0, 2000.0, 2.0, 0.0],  # the same twice
    [0.0, 2000.0, 0.0, 0.0, 1.5, 2000.0, 0.0, 0.0, 1.0, 2000.0, 1.0, 0.0],  # from a point beyond ε
    [0.0, 2000.0, 0.0, 0.0, 1.0, 2000.0, 1.0, 0.0],  # from itself
    [0.0, 2000.0, 0.0, 0.0, 1.0, 2000.0, -1.0, 0.0],
    [0.0, 2000.0, 0.0, 0.0, 1.0, 2000.0, 0.5, 0.0],
    [0.0, 0.0, 0.0, 0.0, 1.0, 2000.0, 0.0, 0.0],  # no steps
    [0.0, 2000.0, 0.0, 0.0, 1.0, -3.0, 0.0, 0.0],
    [0.0, 2000.0, 0.0, 0.0, 1.0, 2.5, 0.0, 0.0],
    [0.0, 2000.0, 0.0, 0.0, 1.0, nan, 0.0, 0.0],
    [0.0, 2000.0, 0.0, 0.0, nan, 2000.0, 0.0, 0.0, 1.0, 2000.0, 1.0, 0.0],
    [nan, 2000.0, 0.0, 0.0, 1.0, 2000.0, 0.0, 0.0],
    [0.0, 2000.0, 0.0, 0.0, 1.0, 2000.0, nan, 0.0],
    [0.0, 2000.0, 0.0, 0.0, 1.0, 2000.0, 0.0, 3.0],  # no such rule
    [0.0, 2000.0, 0.0, 0.0, 1.0, 2000.0, 0.0, nan],
    [0.0, 2000.0, 0.0, 0.0, 1.0, inf, 0.0, 0.0],
    [0.0, 2000.0, 0.0, 0.0, 1.0, 2000.0, 0.0],  # a number is missing
    SOUND[:4],  # no point at ε
    SOUND[:1],
], ids=str)
def test_a_malformed_way_is_refused(way):
    with pytest.raises((ValueError, ArithmeticError, IndexError)):
        burn_in_contraction.exact(mp, 1.0, **FULL, way=way)


# --- laws ------------------------------------------------------------------------------------------------------------


def test_delayed_hiding_is_refused_where_the_record_is_used_very_often():
    with pytest.raises(ValueError, match="too many"):
        windows.law_of_hidden(0.01, 10**6)


@pytest.mark.parametrize("name, orders", [slow("random", (20.0, 30.0, 38.0, 39.0, 50.0)), ("few", (38.0, 39.0))])
def test_rdp_does_not_jump_at_large_orders(name, orders):
    values = [burn_in_contraction.rdp(alpha, **NAMES[name]) for alpha in orders]
    assert all(b < a * 1.7 for a, b in pairwise(values)) and values == sorted(values)


@EACH
def test_the_number_of_steps_does_not_matter(name):
    params = NAMES[name]
    for steps in (1, 10**12):
        same = {**params, "iterations": steps}
        assert burn_in_contraction.value(0.2, **same) == burn_in_contraction.value(0.2, **params)
        assert burn_in_contraction.inverse(-9.0, **same) == burn_in_contraction.inverse(-9.0, **params)


@pytest.mark.parametrize("name", ["few", "small", *map(slow, ("random", "full", "large", "curved"))])
def test_inverse_is_where_the_value_meets_delta(name):
    params = NAMES[name]
    for log_delta in (-0.5, -3.0, log(1e-5), -40.0, -200.0):
        epsilon = burn_in_contraction.inverse(log_delta, **params)
        assert burn_in_contraction.value(epsilon, **params) <= log_delta
        assert epsilon == 0 or burn_in_contraction.value(epsilon * (1 - 1e-4), **params) > log_delta


@pytest.mark.parametrize("name", ["few", *map(slow, ("random", "full", "small", "large", "curved"))])
def test_the_profile_falls_and_is_above_the_lower_bound(name):
    params = NAMES[name]
    at = [burn_in_contraction.value(e, **params) for e in (0.0, 0.003, 0.03, 0.1, 0.3, 0.49, 0.51, 0.7, 0.9, 1.1)]
    assert at == sorted(at, reverse=True) and all(isfinite(x) for x in at)
    assert lower_bound.value(0.1, **params) <= burn_in_contraction.value(0.1, **params)


@pytest.mark.parametrize("name", [slow("random"), "few", slow("full"), slow("curved")])
def test_more_noise_a_smaller_set_and_flatter_losses_lose_less(name):
    params = NAMES[name]
    here = burn_in_contraction.inverse(log(1e-5), **params)
    for key, factor in (("sigma", 1.15), ("diameter", 0.85), ("lipschitz", 0.85)):
        less = burn_in_contraction.inverse(log(1e-5), **{**params, key: params[key] * factor})
        assert less < here * (1.01 if key == "diameter" and params["strong_convexity"] else 1)  # it hardly matters there


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_rdp_is_the_integral_over_the_profile(name):
    values = [burn_in_contraction.rdp(alpha, **NAMES[name]) for alpha in ALPHAS]
    assert values == sorted(values) and values[0] > 0
    for alpha, rdp in zip(ALPHAS, values, strict=True):
        by_integral = numeric_rdp(alpha, name)
        assert by_integral * 0.85 <= rdp <= by_integral * 1.15  # profiles up to different ε are not equally sharp


ALPHAS = 1.01, 1.5, 2.0


@cache
def profile_to(log_delta, name):
    """ε and log δ, up to that log δ."""
    last = burn_in_contraction.inverse(log_delta, **NAMES[name])
    epsilons = np.unique(np.concatenate([np.linspace(0, last, 50), np.geomspace(last * 1e-3, last, 30)]))
    return epsilons, np.array([burn_in_contraction.value(e, **NAMES[name]) for e in epsilons])


def numeric_rdp(alpha, name):
    """α(α − 1)∫(e^{(α−1)ε} + e^{−αε})δ(ε)dε, whose terms are exponentials between two ε."""
    epsilons, logs = profile_to(-100.0, name)
    total = 0.0
    for rate in (alpha - 1, -alpha):
        x = rate * epsilons + logs
        total += (np.diff(epsilons) * np.diff(np.exp(x)) / np.diff(x)).sum()
    return log(1 + alpha * (alpha - 1) * total) / (alpha - 1)


def test_what_is_too_small_or_too_large_is_refused_or_infinite():
    with pytest.raises(OutOfScope):
        burn_in_contraction.inverse(-700.0, **FEW)
    with pytest.raises(OutOfScope):
        burn_in_contraction.value(1e4, **FEW)
    assert burn_in_contraction.value(1e-300, **FEW) == pytest.approx(burn_in_contraction.value(0.0, **FEW), rel=1e-9)


@pytest.mark.parametrize("name", [slow("random"), "few", slow("full")])
def test_it_is_below_the_other_bounds_after_many_steps_and_not_after_one(name):
    many, one = ({**NAMES[name], "iterations": steps} for steps in (10**8, 1))
    rough = burn_in_rdp.value(8.0, **many, **burn_in_rdp.search(8.0, **many))
    assert burn_in_contraction.inverse(log(1e-5), **many) < rough + log(1e5) / 7
    assert burn_in_rdp.value(8.0, **one, **burn_in_rdp.search(8.0, **one)) < burn_in_contraction.rdp(8.0, **one)


# --- golden ----------------------------------------------------------------------------------------------------------


CASES = json.loads((GOLDEN / "burn_in_contraction.json").read_text())["cases"]


@spread("case", [slow(case) if case["id"] == "1" else case for case in CASES], ids=[case["id"] for case in CASES])
def test_values_of_another_program(case):
    code, out, err = call([*case["argv"], "--json"])
    assert code == 0, err
    epsilon = json.loads(out)["result"][case["key"]]
    assert case["lower"] <= epsilon <= case["upper"] * 1.03
