"""Bounds of audits beside their definitions, and by exact enumeration how often they are wrong about true claims."""

import math
from random import Random

import audits
import pytest

from dpcalc import answer
from dpcalc.bounds.audits import counts, gaussian_counts, one_run
from dpcalc.commands.audit import COMMAND
from dpcalc.commands.audit_claim import Claim
from dpcalc.commands.convert import COMMAND as CONVERT
from dpcalc.core.validate import validate
from dpcalc.output.result import given_inputs

RELATIVE = 1e-9  # by which a bound may be below its definition, relative to max(1, ε)


def log_uniform(rng, low, high):
    return math.exp(rng.uniform(math.log(low), math.log(high)))


def hits(rng, trials):
    """A count from 0 to the trials, often at an end or near to one."""
    few = min(trials, int(log_uniform(rng, 1, trials + 1)))
    return rng.choice((0, trials, few, trials - few, rng.randint(0, trials)))


def certainty(rng):
    return {"confidence": rng.choice((0.5, 0.9, 0.95, 0.99, 0.999999, 1 - log_uniform(rng, 1e-6, 0.95))),
            "tests": rng.choice((1, 1, int(log_uniform(rng, 1, 1001))))}


def of_counts(rng):
    n1, n0 = int(log_uniform(rng, 1, 1e5)), int(log_uniform(rng, 1, 1e5))
    return {"true_positives": n1 - hits(rng, n1 // 3) if n1 > 2 else n1, "members": n1,
            "false_positives": hits(rng, rng.choice((n0, n0 // 4 + 1))), "non_members": n0, **certainty(rng)}


def of_canaries(rng):
    m = int(log_uniform(rng, 1, 1e6))
    r = min(m, int(log_uniform(rng, 1, 2000)))
    delta = rng.choice((0.0, 1e-5, log_uniform(rng, 1e-10, 0.3), min(0.9, log_uniform(rng, 1e-3, 1e3) / (2 * m))))
    return {"canaries": m, "guesses": r, "right": r - rng.choice((0, hits(rng, r // 2 + 1))) if r > 1 else r,
            "delta": delta, **certainty(rng)}


def assert_just_below(found, definition, of):
    assert 0 <= found <= definition, of
    assert definition - found <= RELATIVE * max(1, definition), of


def test_counts_show_what_the_limits_of_clopper_and_pearson_show():
    rng = Random(1)
    for _ in range(150):
        own = of_counts(rng)
        rates = audits.Rates(*(own[name] for name in counts.PARAMS), audits.level_of(own["confidence"], own["tests"]))
        delta = rng.choice((0.0, 1e-5, log_uniform(rng, 1e-12, 0.5), float(rates.tpr) * (1 - log_uniform(rng, 1e-4, 1))))
        assert_just_below(counts.value(**own, delta=delta)["epsilon_lower"], audits.of_counts(**own, delta=delta), own)


def test_the_gaussian_form_is_that_of_the_limits():
    rng = Random(2)
    for _ in range(100):
        own, delta = of_counts(rng), log_uniform(rng, 1e-12, 0.5)
        found, mu = gaussian_counts.value(**own, delta=delta), audits.mu_of_counts(**own)
        assert_just_below(found["mu_lower"], mu, own)
        if found["epsilon_lower"] > 0:
            assert audits.gaussian_delta(audits.MP.mpf(found["epsilon_lower"]), mu) >= delta, own
        if mu > 0:
            above = audits.MP.mpf(found["epsilon_lower"]) + RELATIVE * max(1, found["epsilon_lower"])
            assert audits.gaussian_delta(above, mu) <= delta, own


def test_one_run_shows_the_first_epsilon_whose_p_value_exceeds_the_level():
    rng = Random(3)
    for _ in range(300):
        own = of_canaries(rng)
        assert_just_below(one_run.value(**own)["epsilon_lower"], audits.of_one_run(**own), own)


@pytest.mark.parametrize("confidence", (0.1, 0.01, 1e-3))
def test_one_guess_shows_the_log_odds_of_the_level(confidence):
    """A p-value is flat in ε where a level is near to 1, and errors of it that look small are not."""
    found = one_run.value(canaries=1, guesses=1, right=1, delta=0.0, confidence=confidence, tests=1)
    assert_just_below(found["epsilon_lower"], math.log1p(-confidence) - math.log(confidence), confidence)


def test_digits_of_very_many_guesses_come_soon():
    """A sum over the guesses between the right ones and a half would take hours."""
    n = 10**7
    found = answer("audit", canaries=n, guesses=n, right=n // 10 * 9, delta=1e-8, digits=20)
    digits = float(found.bounds[0]["digits"]["epsilon_lower"])
    assert 0 <= digits - found.value < RELATIVE


# --- how often a number is above the truth, exactly ------------------------------------------------------------------


def law(trials, p):
    """The probabilities of 0, …, trials hits."""
    return [math.comb(trials, k) * p**k * (1 - p) ** (trials - k) for k in range(trials + 1)]


def probability(wrong, n1, n0, tpr, fpr):
    """The probability of the pairs of counts that are wrong."""
    of_hits, of_alarms = law(n1, tpr), law(n0, fpr)
    return sum(of_hits[i] * of_alarms[j] for i, j in wrong)


def edge(epsilon, delta, fpr):
    """The largest true-positive rate that (ε, δ)-DP allows."""
    return min(math.exp(epsilon) * fpr + delta, 1 - max(0.0, 1 - delta - fpr) * math.exp(-epsilon))


def assert_level_of_counts(n1, n0, delta, confidence, tests):
    shown = {(i, j): counts.value(i, n1, j, n0, delta, confidence, tests)["epsilon_lower"]
             for i in range(n1 + 1) for j in range(n0 + 1)}
    for epsilon in (0.0, 0.1, 0.5, 1.0, 2.0, 4.0):
        wrong = [pair for pair, x in shown.items() if x > epsilon]
        for fpr in (0.0, 1e-3, 0.01, 0.03, 0.1, (1 - delta) / (1 + math.exp(epsilon)), 0.5, 0.7, 0.95):
            assert probability(wrong, n1, n0, edge(epsilon, delta, fpr), fpr) <= (1 - confidence) / tests


@pytest.mark.parametrize("delta, confidence, tests", ((0.0, 0.95, 1), (1e-5, 0.5, 1), (0.1, 0.8, 3)))
def test_counts_are_wrong_at_most_at_their_level(delta, confidence, tests):
    assert_level_of_counts(20, 24, delta, confidence, tests)


@pytest.mark.slow
@pytest.mark.parametrize("confidence", (0.1, 0.5, 0.8, 0.95, 0.99))
@pytest.mark.parametrize("delta", (0.0, 1e-5, 0.01, 0.1, 0.3))
def test_counts_of_many_runs_are_wrong_at_most_at_their_level(delta, confidence):
    for n1, n0 in ((20, 60), (60, 20), (55, 52)):
        assert_level_of_counts(n1, n0, delta, confidence, 1)


def most_wrong(m, r, epsilon, delta, confidence):
    """The largest probability of a bound above ε, over programs that are (ε, δ)-DP: each answers the coin of a canary
    by randomised response, and reveals each coin independently with probability δ, or all of j of them, at random,
    with probability mδ/j."""
    wrong = [one_run.value(m, r, v, delta, confidence, 1)["epsilon_lower"] > epsilon for v in range(r + 1)]
    s = 1 / (1 + math.exp(-epsilon))
    known = [sum(p for k, p in enumerate(law(r - j, s)) if wrong[j + k]) for j in range(r + 1)]  # j are revealed
    by_number = [known[min(j, r)] for j in range(m + 1)]
    shares = ((j, min(1.0, m * delta / j)) for j in range(1, m + 1))
    return max(sum(p * x for p, x in zip(law(m, delta), by_number, strict=True)),
               *(share * by_number[j] + (1 - share) * by_number[0] for j, share in shares))


def assert_level_of_one_run(rng, largest, tries):
    for _ in range(tries):
        m = rng.randint(20, largest)
        confidence, epsilon = rng.choice((0.3, 0.5, 0.8, 0.95, 0.99)), rng.choice((0.0, 0.1, 0.5, 1.0, 2.0, 3.0))
        delta = rng.choice((0.0, 1e-6, 1e-4, 1e-3, 0.01, 0.05, 0.2, log_uniform(rng, 1e-5, 0.3)))
        own = m, rng.choice((m, rng.randint(1, m))), epsilon, delta, confidence
        assert most_wrong(*own) <= (1 - confidence) * (1 + 1e-9), own


def test_one_run_is_wrong_at_most_at_its_level():
    assert_level_of_one_run(Random(4), 60, 40)


@pytest.mark.slow
def test_one_run_of_many_canaries_is_wrong_at_most_at_its_level():
    assert_level_of_one_run(Random(5), 200, 600)


# --- verdicts about true claims --------------------------------------------------------------------------------------


def cumulative(x):
    return math.erfc(-x / math.sqrt(2)) / 2


def gaussian(x):
    return cumulative(-x), cumulative(1 - x)


def laplace(x):
    return tuple(math.exp(-y) / 2 if y > 0 else 1 - math.exp(y) / 2 for y in (x, x - 1))


def sampled(x):
    """Noise of 0.5 on a sum of one record, which is in the batch with probability 0.2."""
    fpr = cumulative(-x / 0.5)
    return fpr, 0.8 * fpr + 0.2 * cumulative((1 - x) / 0.5)


CLAIMS = {
    "gaussian": ("rdp", {"mechanism": "gaussian", "sigma": 1}, gaussian),
    "laplace": ("rdp", {"mechanism": "laplace", "scale": 1}, laplace),
    "sampled": ("subsample", {"sampling_rate": 0.2, "noise_multiplier": 0.5, "steps": 1}, sampled),
    "point": (None, {"kind": "dp", "epsilon": 1.0, "delta": 1e-3},
              lambda x: (cumulative(-x), edge(1, 1e-3, cumulative(-x)))),
}


def claim(name, delta):
    command, options, _ = CLAIMS[name]
    promise = answer(command, **options, delta=delta) if command else options
    inputs = given_inputs(COMMAND, [promise])
    about = CONVERT.answer(validate(CONVERT, {"delta": delta}, inputs))
    return Claim(inputs, about, about.value, delta)


@pytest.mark.parametrize("name", CLAIMS)
@pytest.mark.parametrize("confidence", (0.5, 0.95))
def test_a_true_claim_is_refuted_at_most_at_the_level(name, confidence):
    n1, n0, delta = 30, 25, 1e-3
    own, rates = claim(name, delta), CLAIMS[name][2]
    found = {(i, j): counts.limits(i, n1, j, n0, confidence, 1) for i in range(n1 + 1) for j in range(n0 + 1)}
    largest = dict(enumerate(own.largest_rates([found[0, j].fpr for j in range(n0 + 1)])))
    wrong = [(i, j) for (i, j), at in found.items() if at.tpr > largest[j]
             or counts.value(i, n1, j, n0, delta, confidence, 1)["epsilon_lower"] > own.epsilon]
    assert wrong
    for x in (-4.0, -2.0, -1.0, -0.5, 0.0, 0.3, 0.5, 0.7, 1.0, 1.5, 2.0, 3.0, 5.0):
        fpr, tpr = rates(x)
        assert probability(wrong, n1, n0, tpr, fpr) <= 1 - confidence
        assert probability(wrong, n1, n0, 1 - fpr, 1 - tpr) <= 1 - confidence  # the data sets exchange their roles


def test_a_claim_without_epsilon_at_this_delta_is_named_once():
    promise = answer("rdp", mechanism="gaussian", sigma=1, delta=1e-5)
    found = answer("audit", inputs=[promise], true_positives="500/1000", false_positives="10/1000", delta=0)
    assert found.notes[0].startswith(
        "refuted: no attack on a program that keeps the claim, which has no ε at this δ (")


def test_a_claim_is_about_what_is_released_alone():
    """A program that releases its last iterate alone promises nothing about attacks that see every iterate."""
    promise = answer("burn-in", n=60000, batch_size=128, steps=1e6, lipschitz=1, smoothness=1, learning_rate=0.05,
                     diameter=2, sigma=0.1, delta=1e-5)
    found = answer("audit", inputs=[promise], true_positives="500/1000", false_positives="10/1000")
    assert any("may see nothing besides what the claim says is released" in note for note in found.notes)
