"""Burn-in as it was printed: each form that fails, against the definition or the bound that replaces it."""

import json

import pytest
from burn_in_runs import upper
from paths import GOLDEN

from dpcalc.bounds.noisy_sgd import as_published, lower_bound
from dpcalc.bounds.noisy_sgd._engine import contraction, sampled_step
from dpcalc.bounds.sampling import poisson_rdp

MUST_FAIL = json.loads((GOLDEN / "burn_in_must_fail.json").read_text())["cases"]


def test_erratum_printed_divergence_is_below_the_truth():
    """n = 1e6, b = 1, σ = .1L, α = 2, linear losses, K = [0, ηL]: the true loss is at least 170.98, (3.6) says at most
    .030."""
    run = {"n": 10**6, "batch_size": 1, "iterations": 10**4, "lipschitz": 1.0, "smoothness": 0.0,
           "strong_convexity": 0.0, "learning_rate": 1.0,
           "diameter": 1.0, "sigma": 0.1}
    true = lower_bound.rdp(2.0, **run)
    for steps in (10**4, 10**9):
        printed = as_published.value(2.0, **{**run, "iterations": steps},
                                     **as_published.search(2.0, **{**run, "iterations": steps}))
        assert printed <= 0.030 < 170.98 <= true
    assert true <= upper(2.0, run)


@pytest.mark.parametrize("case", [c for c in MUST_FAIL if "L" in c["parameters"]],
                         ids=lambda c: f"sigma {c['parameters']['sigma']}")
def test_errata_of_whole_runs(case):
    p = case["parameters"]
    run = {"n": p["n"], "batch_size": p["b"], "iterations": p["T"], "lipschitz": p["L"], "smoothness": p["beta"],
           "strong_convexity": p["rho"],
           "learning_rate": p["eta"], "diameter": p["D"], "sigma": p["sigma"]}
    true = lower_bound.rdp(case["alpha"], **run)
    printed = as_published.value(case["alpha"], **run, **as_published.search(case["alpha"], **run))
    assert printed == pytest.approx(case["printed_value"], rel=0.02)
    assert printed < 0.97 * case["true_value"] <= 1.03 * true
    assert upper(case["alpha"], run) >= max(true, case["true_value"])


@pytest.mark.parametrize("case", [c for c in MUST_FAIL if "L" not in c["parameters"]],
                         ids=lambda c: f"{c['id']} {c['parameters']} {c['alpha']}")
def test_errata_of_single_steps(case):
    """D(N‖mix), and D(mix‖N) for three means pairwise within 1, are below the truth; S_r is not."""
    q, z = case["parameters"]["q"], case["parameters"]["s"]
    printed = poisson_rdp.reverse if case["id"] == "MF-printedS-T1" else poisson_rdp.value
    assert printed(case["alpha"], z, q) == pytest.approx(case["printed_value"], rel=1e-6)
    assert case["printed_value"] < case["true_value"] <= sampled_step.value(case["alpha"], q, z)


def test_erratum_lipschitz_from_smoothness_and_diameter():
    """Linear losses of slope 1 on an interval of length 1: L = MD would be 0, and so would the loss."""
    run = {"n": 10**6, "batch_size": 1, "iterations": 10**4, "smoothness": 1e-9, "strong_convexity": 0.0,
           "learning_rate": 1.0, "diameter": 1.0, "sigma": 0.1}
    assert upper(2.0, {**run, "lipschitz": 1e-9}) < 1e-20 < 170 < lower_bound.rdp(2.0, **run, lipschitz=1.0)


@pytest.mark.parametrize("share, least", [(1.0, 0.0056), (1e-4, 56)])
def test_erratum_the_lower_bound_is_larger_than_what_its_proof_refutes(share, least):
    """(4.1) with the constants of Theorem 4.1, at its largest σ² and at a share of it; .005 is refuted."""
    c_sigma, c_alpha, alpha = 1e-3, 1e-7, 100
    for n, lipschitz, eta, diameter in ((1000, 1.0, 0.1, 200.0), (60000, 3.0, 0.5, 5e4)):
        steps = 0.75 * diameter * n / (lipschitz * eta)
        variance = share * c_sigma * diameter**2 / (eta**2 * steps)
        assert c_alpha * alpha * lipschitz**2 / (n**2 * variance) * steps > max(0.005, least)


def test_erratum_last_step_weight():
    """(5.2) at κ = 1000, R = 100 is 82.6 times the optimum."""
    kappa = 1000
    g = 2 / (kappa + 1)
    assert as_published.last_step_weight(g, 100) / contraction.weight(g, 100) == pytest.approx(82.6, abs=0.05)
