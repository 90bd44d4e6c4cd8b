"""Noise feedback on affine gradients: variances from the coefficients of every noise, privacy of each record,
errata."""

import json
from math import inf, sqrt

import mpmath
import pytest
from calling import call

from dpcalc.bounds import all_bounds
from dpcalc.bounds.mechanisms import gaussian
from dpcalc.bounds.noise_feedback.affine import WITH as with_feedback
from dpcalc.bounds.noise_feedback.affine import WITHOUT as without_feedback
from dpcalc.commands.noise_feedback import COMMAND
from dpcalc.core.errors import DpcalcError
from dpcalc.core.validate import validate

LINE = {"curvature": "0.7", "learning_rate": "0.1", "sigma": "2", "steps": "6", "lipschitz": "1", "delta": "1e-5"}
BOUNDS = all_bounds()
mp = mpmath.mp.clone()
mp.dps = 60


def answer(**said):
    return COMMAND.answer(validate(COMMAND, {k: v for k, v in {**LINE, **said}.items() if v is not None}))


def test_erratum_printed_recursion_is_not_the_variance():
    """Proposition 3.3 starts at 0 and adds 2γ²a²σ²: .1687 where the noises' coefficients give 4.0749; it is never below
    σ²."""
    printed = 0.0
    for _ in range(6):
        printed = 2 * 0.07**2 * 4 + 0.93**2 * printed
    shares = [1.0] + [(0.07 * 0.93**k) ** 2 for k in range(5)]  # of each noise, the last one first
    true = 4 * sum(shares)
    assert (printed, true) == (pytest.approx(0.1687, abs=5e-5), pytest.approx(4.0749, abs=5e-5))
    assert with_feedback.variance(0.7, 0.1, 2.0, 6) == pytest.approx(true, rel=1e-12) and true > 4


@pytest.mark.parametrize("feedback", [0, 1])
@pytest.mark.parametrize("curvatures", [(0.7, 0.2, 1.1, 0.0, 0.4), (0.7,) * 5])
def test_the_loop_of_docs_papers_for_curvatures_that_change(feedback, curvatures):
    """V of the loop against each noise's share of the last iterate, which a run with that noise alone shows; and where
    the curvatures are equal, against the bounds."""
    eta, steps = 0.5, len(curvatures)

    def last_iterate(noise):
        theta = before = 0.0
        for a, z in zip(curvatures, noise, strict=True):
            theta, before = theta - eta * a * theta + z - feedback * before, z
        return theta

    variance = 1.0
    for a in curvatures[1:]:
        r, push = 1 - eta * a, eta * a
        variance = 1 + r**2 * (variance - 1) + push**2 if feedback else 1 + r**2 * variance
    shares = [last_iterate([float(t == s) for t in range(steps)]) for s in range(steps)]
    assert variance == pytest.approx(sum(x * x for x in shares), rel=1e-14)
    if len(set(curvatures)) == 1:
        of = with_feedback.variance if feedback else without_feedback.variance
        assert variance == pytest.approx(of(0.7, eta, 1.0, steps), rel=1e-14)


@pytest.mark.parametrize("index", [1, 3, 6])
def test_privacy_of_a_record(index):
    """Its step moves the last iterate by γ·2L·r^{T−i}; the rest is Gaussian."""
    mu = 0.1 * 2 * 0.93 ** (6 - index) / sqrt(4.0748626704610352)
    got = answer(index=str(index))
    assert got.extra["mu"] == pytest.approx(mu, rel=1e-12)
    assert got.value == pytest.approx(gaussian.inverse(-11.512925464970229, 1.0, mu, 1), rel=1e-9)


def test_the_worst_record_is_the_last_one():
    worst = answer().value
    assert answer(index="2").extra["epsilon_worst"] == worst == answer(index="6").value
    assert worst == max(answer(index=str(i)).value for i in range(1, 7))


def test_more_noise_for_the_same_privacy():
    """σ times sigma_factor with feedback loses what σ loses without."""
    plain = answer()
    factor = plain.extra["sigma_factor"]
    assert factor == pytest.approx(sqrt(17.214025241173333 / 4.0748626704610352), rel=1e-12)
    assert answer(sigma=repr(2 * factor)).value == pytest.approx(plain.extra["epsilon_without_feedback"], rel=1e-9)
    assert answer(sigma=repr(2 * factor)).value <= plain.extra["epsilon_without_feedback"]


@pytest.mark.parametrize("asked, key",
                         [({"epsilon": "1", "delta": None}, "delta"), ({"alpha": "4", "delta": None}, "rdp")])
def test_other_questions(asked, key):
    got = answer(**asked)
    assert got.quantity == key and 0 < got.extra[f"{key}_without_feedback"] < got.value
    if key == "rdp":
        assert got.value == pytest.approx(4 * got.extra["mu"] ** 2 / 2, rel=1e-12)


def test_solved_sigma_meets_the_budget():
    sigma = answer(sigma=None, epsilon="0.1", solve="sigma").value
    assert answer(sigma=repr(sigma)).value <= 0.1 < answer(sigma=repr(sigma * (1 - 1e-9))).value


def test_a_trillion_steps_and_a_forgotten_record():
    got = answer(steps="1e12", index="1")
    assert got.value == 0 and 0 <= got.extra["mu"] < 1e-300
    assert answer(steps="1e12").value < inf


@pytest.mark.parametrize("change, option", [({"learning_rate": "3"}, "--learning-rate"), ({"index": "7"}, "--index"),
                                            ({"curvature": "-1"}, "--curvature"),
                                            ({"lipschitz": None}, "--lipschitz"), ({"delta": "0"}, "--delta")], ids=str)
def test_conditions_are_checked(change, option):
    with pytest.raises(DpcalcError) as error:
        answer(**change)
    assert error.value.option == option


@pytest.mark.parametrize("lipschitz, sigma, epsilon", [(1e15, 1e-15, 0.0), (1e150, 1e-150, 0.0), (1e153, 1e-150, 0.01),
                                                       (1.0, 1e170, 0.0)])
@pytest.mark.parametrize("name", ["noise-feedback", "without-feedback"])
def test_a_decay_below_the_doubles_times_a_push_above_them(name, lipschitz, sigma, epsilon):
    """|r|^(T−i) = 2^−1011, whatever 2γL/σ is."""
    own = {"curvatures": (0.5,), "learning_rate": 1.0, "sigma": sigma, "iterations": 1012, "lipschitz": lipschitz,
           "uses": (1,), **({"feedback": 1.0} if name == "noise-feedback" else {})}
    want, got = mp.log(BOUNDS[name].exact(mp, epsilon, **own)), BOUNDS[name].value(epsilon, **own)
    assert want <= got and (got <= want * (1 - 1e-11) or sigma == 1e170)  # μ = 1e-474 is rounded up


def test_noise_whose_square_is_beyond_the_doubles():
    line = ("noise-feedback --curvature .5 --learning-rate 1 --lipschitz 1 --sigma 1e170 --steps 12 --index 1 "
            "--delta 1e-5")
    found = call([*line.split(), "--json"])
    result = json.loads(found.stdout)["result"]
    assert result["sigma_factor"] == pytest.approx(1.0) and "variance" not in result
