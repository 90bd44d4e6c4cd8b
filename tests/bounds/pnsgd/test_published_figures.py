"""Noisy SGD's last iterate: the papers' figures, their errata, and sums to n = 1e12."""

import random
from math import exp, expm1, fsum, inf, log, pi, sqrt

import domains
import pytest
from last_iterate_lines import DATA, asked

from dpcalc.bounds import all_bounds
from dpcalc.bounds.online._engine.levels import schedule
from dpcalc.bounds.pnsgd._engine.iteration import CONVEX
from dpcalc.bounds.pnsgd._engine.laws import GAUSSIAN, LAPLACE, log_gaussian
from dpcalc.bounds.pnsgd._engine.schedules import level

BOUNDS = all_bounds()
PAPER = {"lipschitz": 10.0, "diameter": 1.0, "smoothness": 0.5, "strong_convexity": 0.0}


# --- figures of Sordello, Bu & Dong 2021 -----------------------------------------------------------------------------


def shuffled(law, eta, c1, c2, n):
    p = {k: v for k, v in PAPER.items() if k != "lipschitz"}
    sigma = level(law.name, n, **p, learning_rate=eta, c1=c1, c2=c2)
    return exp(BOUNDS["shuffled-contraction"].value(1.0, law=law, level=sigma, learning_rate=eta, n=n, **PAPER))


def test_figure_2():
    star = exp(BOUNDS["shuffled-limit"].value(1.0, LAPLACE, 1e5))
    found = {n: shuffled(LAPLACE, 0.1, 1e5, 2.0, n) for n in (10**3, 10**4, 10**5, 10**6, 10**8, 10**9, 10**10)}
    assert found[10**5] == pytest.approx(1.48626e-5, rel=1e-5)
    assert found[10**6] == pytest.approx(7.19503e-6, rel=1e-5)
    # δ* is no bound
    assert [round(found[n] / star, d) for n, d in ((10**3, 0), (10**4, 0), (10**5, 1))] == [119, 13, 2.5]
    assert (found[10**8] - star) / (found[10**9] - star) == pytest.approx(10, rel=1e-2)  # the rate is 1/n: 2Lη/(MD) = 2


def test_figure_2_rate_needs_large_steps():
    """With 2Lη/(MD) = 0.2 < 1 the first factor, 1 − O(n^{−0.2}), is what converges: no O(1/n)."""
    star = exp(BOUNDS["shuffled-limit"].value(1.0, LAPLACE, 1e5))
    gaps = [star - shuffled(LAPLACE, 0.01, 1e5, 2.0, n) for n in (10**10, 10**11)]
    assert gaps[0] / gaps[1] == pytest.approx(10**0.2, rel=0.05)


def test_figure_3():
    found = [shuffled(GAUSSIAN, eta, 1e5, 100.0, 10**7) for eta in (0.1, 0.02, 0.01)]
    assert found == pytest.approx([3.62568e-6, 1.73047e-6, 4.0318e-7], rel=1e-5)
    star = exp(BOUNDS["shuffled-limit"].value(1.0, GAUSSIAN, 1e5))
    assert found[0] > star > found[1]  # from above and from below
    slow = [1 / (shuffled(GAUSSIAN, 0.1, 1e5, 100.0, n) / star - 1) for n in (10**9, 10**12, 10**15)]
    assert slow[2] - slow[1] == pytest.approx(slow[1] - slow[0], rel=0.05)  # the inverse grows like log n


def online(law, n, index=100):
    s = schedule(law.name, 1.0, 0.01, 0.5, 0.0, 100.0, 100.0, 1.5)
    p = {**PAPER, "levels": s, "learning_rate": 0.01, "law": law, "index": index}
    b = BOUNDS["online-limit" if n is None else "online-contraction"]
    return b.value(1.0, **{k: ({**p, "n": n})[k] for k in b.params})


@pytest.mark.parametrize("law, at_a_million", [(LAPLACE, 2.1513e-8), (GAUSSIAN, 5.407e-23)],
                         ids=["figure 4", "figure 5"])
def test_figures_4_and_5(law, at_a_million):
    assert exp(online(law, 10**6)) == pytest.approx(at_a_million, rel=3e-5)
    end = online(law, inf)
    rate = (online(law, 10**8) - end) / (online(law, 10**10) - end)
    assert rate == pytest.approx(10, rel=0.15)  # n^{−(a−1)} with a = 1.5, not the captions' 1/log n (1.25)
    assert online(law, 10**12) > end and online(law, None) > end


def test_limits_under_report_at_finite_n():
    assert exp(online(LAPLACE, 10**4) - online(LAPLACE, None)) == pytest.approx(26.6, rel=1e-3)


@pytest.mark.slow
def test_online_sums_are_the_sums(mp):
    """Euler–Maclaurin against term by term."""
    for law in (LAPLACE, GAUSSIAN):
        s = schedule(law.name, 1.0, 0.01, 0.5, 0.0, 100.0, 100.0, 1.5)
        direct = law.log_delta(1.0, 20 / s.at(100)) + fsum(law.log_delta(1.0, 100 / s.at(t)) for t in range(101, 20001))
        assert online(law, 20000) == pytest.approx(direct, rel=1e-9)
    run = {"levels": s, "lipschitz": 10.0, "learning_rate": 0.01, "smoothness": 0.5, "n": 20000, "index": 100}
    mu = 20 / sqrt(fsum(s.at(t) ** 2 for t in range(100, 20001)))
    assert BOUNDS["online-iteration"].value(1.0, strong_convexity=0.0, **run) == pytest.approx(log_gaussian(1.0, mu),
                                                                                               rel=1e-8)
    c = 1 - 0.01 * 0.005
    mu = 20 / sqrt(fsum(c ** (-2 * (t - 100)) * s.at(t) ** 2 for t in range(100, 20001)))
    contracting = BOUNDS["online-iteration"].value(1.0, strong_convexity=0.005, **run)
    assert log_gaussian(1.0, mu) <= contracting <= log_gaussian(1.0, mu) * 0.99


def test_online_iteration_does_not_depend_on_units(mp):
    """Gradients and noise in units a thousand million times larger: the same δ, and never below it."""
    from dpcalc.bounds.online._engine.levels import Listed

    b = BOUNDS["online-iteration"]
    for unit in (1.0, 1e9, 1e-9, 1e-60):
        p = {"levels": Listed((3 * unit, 2 * unit, 5 * unit)), "lipschitz": unit, "learning_rate": 0.1,
             "smoothness": 0.5, "strong_convexity": 0.25,
             "n": 3, "index": 1}
        exact = mp.log(b.exact(mp, 1.0, **p))
        assert exact <= b.value(1.0, **p) <= exact * (1 - mp.mpf("1e-11"))


# --- errata ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("case", DATA["must_fail"],
                         ids=lambda c: f"{c['formula'][:3]} ε={c['eps']} σ={c['parameters']['sigma']:.3g}")
def test_erratum_step_size_condition(case):
    """The printed M with η > 2/(β+ρ) gives less than a concrete run loses: refused."""
    q = case["parameters"]
    assert case["true_value"] > case["printed_value"]
    assert q["M"] == pytest.approx(sqrt(1 - 2 * q["eta"] * q["beta"] * q["rho"] / (q["beta"] + q["rho"])), rel=1e-9)
    assert q["eta"] > 2 / (q["beta"] + q["rho"])
    argv = ["shuffle-pnsgd", "--sigma", q["sigma"], "--lipschitz", q["L"], "--diameter", q["D"], "--learning-rate",
            q["eta"], "--smoothness",
            q["beta"], "--strong-convexity", q["rho"], "--n", 2, "--index", 1, "--epsilon", case["eps"]]
    code, out, err = asked(list(map(str, argv)))
    assert (code, out) == (2, "") and "Theorem 1" in err


def test_erratum_eq_13_sign():
    """With −ε/2 in A the printed δ* rises with ε; no privacy profile does, and at n = i the definition differs."""
    s = schedule("laplace", 1.0, 0.01, 0.5, 0.0, 100.0, 100.0, 1.5)
    reach = 10 / s.at(100)
    printed = [-expm1(-e / 2 - reach) for e in (0.0, 1.0)]
    assert printed[0] < printed[1]
    true = exp(online(LAPLACE, 100))
    assert true == pytest.approx(-expm1(0.5 - reach), rel=1e-9)
    assert true < 0.6 * printed[1]


def test_erratum_eq_15_parentheses():
    """exp(∫) inside θ gives another number, far below what the product tends to."""
    s = schedule("gaussian", 1.0, 0.01, 0.5, 0.0, 100.0, 100.0, 1.5)
    product = online(GAUSSIAN, inf) - online(GAUSSIAN, 100)
    assert log_gaussian(1.0, 20 / s.at(100) * exp(product)) < online(GAUSSIAN, inf) - 1e10


@pytest.mark.parametrize("n", [10**3, 10**6, 10**12])
def test_erratum_proposition_3_1(n):
    """The printed asymptotic forms are below the sums they stand for (η = 1/(βn)), or of another order (η =
    1/(β√n))."""
    unit = {"alpha": 1.01, "level": 2.0, "lipschitz": 1.0, "smoothness": 1.0}
    of = BOUNDS["smooth-nonconvex-high-noise"].value
    exact = of(**unit, learning_rate=1 / n, n=n) / 1.01 * n  # in units of 4αL²/(σ²n)
    assert exact == pytest.approx(log(n) + 1.739, rel=2e-3 if n == 1000 else 1e-4)
    if n == 1000:
        assert exact / log(n) == pytest.approx(1.25, abs=0.005)
    assert of(**unit, learning_rate=n**-0.5, n=n) / 1.01 * sqrt(n) == pytest.approx(2, rel=0.3 if n == 1000 else 0.02)


def test_erratum_section_5_conversion_is_refused():
    code, _, err = asked(["shuffle-pnsgd", "--sigma", "1", "--lipschitz", "1", "--diameter", "1", "--learning-rate",
                          ".1", "--smoothness", ".5", "--n", "10", "--alpha", "2", "--bound", "shuffled-contraction"])
    assert code == 2 and "implies no RDP" in err


# --- the sharper bounds ----------------------------------------------------------------------------------------------


def test_published_comparisons():
    run = {"lipschitz": 1.0, "diameter": 2.0, "learning_rate": 0.01, "smoothness": 0.5, "strong_convexity": 0.0}
    first, second = {**run, "level": 0.5, "n": 1000}, {**run, "level": 4.0, "n": 60000}
    of = BOUNDS["shuffled-contraction"].value
    assert [exp(of(1.0, law=GAUSSIAN, **first)), exp(of(2.0, law=GAUSSIAN, **second))] == pytest.approx(
        [0.927, 9.44e-6], rel=1e-3)


@pytest.mark.parametrize("epsilon, sigma", [(0.0, 4.0), (0.5, 4.0), (0.01, 300.0)])
def test_blocks_are_at_most_one_64th_above_the_sum(epsilon, sigma):
    p, n = {"level": sigma, "lipschitz": 1.0, "learning_rate": 0.1, "smoothness": 0.5, "strong_convexity": 0.0}, 20000
    mu = CONVEX.ratios(**p)
    direct = log(fsum(exp(log_gaussian(epsilon, mu(m))) for m in range(n)) / n)
    assert direct <= BOUNDS["shuffled-iteration"].value(epsilon, n=n, **p) <= direct + 1 / 64


def test_iteration_at_1e12_has_its_closed_form():
    """At ε = 0, δ = (1/n)Σ(2Φ(μ_m/2) − 1), whose terms tend to (2L/σ)/√(2π(m+1)): the mean to 2(2L/σ)/√(2πn)."""
    p = {"level": 4.0, "lipschitz": 1.0, "learning_rate": 0.1, "smoothness": 0.5, "strong_convexity": 0.0}
    got, n = BOUNDS["shuffled-iteration"].value(0.0, n=10**12, **p), 10**12
    assert exp(got) == pytest.approx(2 * 0.5 / sqrt(2 * pi * n), rel=0.012)
    assert exp(got) >= 2 * 0.5 / sqrt(2 * pi * n) * (1 - 1e-5)


def test_block_lengths_found_nearby_are_nearly_the_best():
    """The search of the hybrid looks mostly next to the last best length: compare with all powers of two."""
    from dpcalc.bounds.pnsgd._engine.hybrid import follow
    from dpcalc.bounds.pnsgd._engine.iteration import path

    rng = random.Random(2)
    for _ in range(20):
        p = domains.a_run(rng, 64)
        n, epsilon = p.pop("n"), p.pop("epsilon")
        along = path(n, step=1, **p)
        logs = follow(epsilon, along)[0]
        best = [logs[0]]
        for j in range(1, len(along.nodes)):
            tries = [log_gaussian(epsilon, along.mu(j)), best[-1]]
            for k in (1, 2, 4, 8, 16, 32):
                if (i := j - k) < 0:
                    break
                ell = log(1 + expm1(epsilon)
                          / exp(best[i])) if best[i] > -600 else expm1(epsilon) and log(expm1(epsilon)) - best[i]
                tries.append(best[i] + log_gaussian(ell, along.kappa(i, j, k)))
            best.append(min(tries))
            if best[-1] < -500:
                break
        for a, b in zip(logs, best, strict=False):
            assert a <= b + 0.02 + 0.02 * abs(b)
