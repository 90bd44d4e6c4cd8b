"""Laws between answers, at parameters that hypothesis draws."""

import json
from math import exp, inf, nextafter

import jsonschema
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from known import ENVELOPE

from dpcalc.accounting.guarantee import parse
from dpcalc.bounds import all_bounds
from dpcalc.commands import convert, rdp, subsample
from dpcalc.core.errors import DpcalcError, NoSolution
from dpcalc.core.numbers import NotANumber, number
from dpcalc.core.strict_json import indented
from dpcalc.core.validate import validate
from dpcalc.output.answer import record

settings.register_profile("laws", derandomize=True, deadline=None, max_examples=25, database=None,
                          phases=(Phase.explicit, Phase.generate))  # no shrinking: an example takes long
settings.load_profile("laws")


def log_floats(low, high):
    return st.floats(0, 1).map(lambda t: low * (high / low) ** t)


SIGMA, RATE, DELTA, STEPS = log_floats(0.5, 30), log_floats(1e-4, 0.5), log_floats(1e-12,
                                                                                   1e-2), log_floats(1, 1e5).map(int)
SAFER = {"sigma": 1, "scale": 1, "n": 1, "noise_multiplier": 1}
COUNTS = {"steps", "n", "batch_size"}


def ask(command, inputs=(), **said):
    """The answer of a command, by the way of the command line: texts are parsed and validated."""
    texts = {k: v if isinstance(v, tuple) else v if isinstance(v, str) else repr(v) for k, v in said.items()}
    return command.COMMAND.answer(validate(command.COMMAND, texts, inputs))


def value(command, **said):
    return ask(command, **said).value


RUNS = [
    (rdp, lambda s, q, t: {"sigma": s, "steps": t}),
    (rdp, lambda s, q, t: {"mechanism": "laplace", "scale": s, "steps": min(t, 50)}),
    (rdp, lambda s, q, t: {"mechanism": "laplace", "scale": s}),
    (subsample, lambda s, q, t: {"sigma": s, "sampling_rate": q, "steps": t, "bound": ("poisson-rdp",)}),
    (subsample, lambda s, q,
     t: {"sigma": max(s, 2.0), "sampling_rate": q / 10, "steps": t, "scheme": "without-replacement",
                                 "bound": ("wor-rdp",)}),
    (convert, lambda s, q, t: {"from": "gdp", "mu": 1 / s, "steps": t}),
    (convert, lambda s, q, t: {"from": "zcdp", "rho": q, "steps": min(t, 100)}),
]
NAMES = ["gaussian", "laplace composed", "laplace", "poisson", "without replacement", "gdp", "zcdp"]


@pytest.mark.parametrize("command, run", RUNS, ids=NAMES)
@given(SIGMA, RATE, STEPS, DELTA, st.floats(1.01, 10))
@settings(max_examples=3)
def test_epsilon_falls_in_delta_and_noise_and_rises_in_steps_and_rate(command, run, s, q, t, delta, more):
    slack = 1 + 1e-9  # the claimed accuracy of the bounds
    here = value(command, **run(s, q, t), delta=delta)
    assert value(command, **run(s, q, t), delta=min(delta * more, 0.5)) <= here * slack
    assert value(command, **run(s * more, q, t), delta=delta) <= here * slack
    assert here <= value(command, **run(s, q, int(t * more) + 1), delta=delta) * slack
    assert here <= value(command, **run(s, min(q * more, 1.0), t), delta=delta) * slack


@pytest.mark.parametrize("command, run", RUNS, ids=NAMES)
@given(SIGMA, RATE, STEPS, DELTA)
@settings(max_examples=3)
def test_delta_of_epsilon_of_delta_is_no_larger(command, run, s, q, t, delta):
    answer = ask(command, **run(s, q, t), delta=delta)
    if 1e-6 < answer.value < 500:
        back = ask(command, **run(s, q, t), epsilon=nextafter(answer.value, inf) * (1 + 1e-9))
        assert back.value <= delta


def solved_is_safe_and_tight(command, name, said, epsilon, delta, curves=()):
    """--solve, then the question without it: the budget is met, and 1e-8 (or one) less private it is not."""
    budget = {"delta": delta, "epsilon": epsilon}
    try:
        answer = ask(command, **said, **budget, solve=name.replace("_", "-"), bound=curves)
    except NoSolution:
        return
    x, label = answer.value, answer.headline.route
    # one step has its own bounds
    bound = () if command is rdp and name == "steps" and x == 1 else tuple(t.name for t in label.theorems)
    assert value(command, **said, **{name: x}, delta=delta, bound=bound) <= epsilon
    numerical = label.bound.is_numerical({"steps": x if name == "steps" else said.get("steps", 1)})
    part = 1e-2 if numerical else 1e-8  # a numerical composition is known to 1e-3 only
    less = max(1, round(part * x)) if name in COUNTS else part * x
    worse = x - SAFER.get(name, -1) * less
    if worse >= 1 or name not in COUNTS:
        try:
            assert value(command, **said, **{name: worse}, delta=delta, bound=bound) > epsilon
        except DpcalcError as e:  # past the end of its range
            assert e.code in {"out-of-range", "no-solution"}, e.line()


@pytest.mark.parametrize("name", ["sigma", "sampling_rate", "steps", "epochs", "sensitivity"])
@given(SIGMA, RATE, STEPS, DELTA, log_floats(0.1, 10))
@settings(max_examples=4)
def test_solved_runs(name, s, q, t, delta, epsilon):
    said = {"sigma": s, "sampling_rate": q, "steps": t, "sensitivity": 1.0}
    if name == "epochs":
        del said["steps"]
    said.pop(name, None)
    solved_is_safe_and_tight(subsample, name, said, epsilon, delta, ("poisson-rdp",))


@pytest.mark.parametrize("name", ["n", "batch_size"])
@given(SIGMA, log_floats(1e2, 1e7).map(int), log_floats(1, 1e2).map(int), STEPS, DELTA, log_floats(0.1, 10))
@settings(max_examples=4)
def test_solved_batches(name, s, n, b, t, delta, epsilon):
    said = {"sigma": s, "n": n, "batch_size": b, "steps": t}
    del said[name]
    solved_is_safe_and_tight(subsample, name, said, epsilon, delta, ("poisson-rdp",))


@pytest.mark.parametrize("mechanism, name", [("gaussian", "sigma"), ("gaussian", "steps"), ("gaussian", "sensitivity"),
                                             ("laplace", "scale"), ("laplace", "steps"),
                                             ("randomized-response", "probability")])
@given(SIGMA, st.integers(1, 200), DELTA, log_floats(1e-2, 10))
@settings(max_examples=4)
def test_solved_mechanisms(mechanism, name, s, t, delta, epsilon):
    said = {"mechanism": mechanism, "steps": t if mechanism == "gaussian" else 1 + t % 5,
            **{"gaussian": {"sigma": s, "sensitivity": 1.0},
               "laplace": {"scale": s, "sensitivity": 1.0}}.get(mechanism, {"probability": 0.7})}
    del said[name]
    curves = ("composition-optimal",) if (mechanism, name) == ("laplace", "steps") else ()
    solved_is_safe_and_tight(rdp, name, said, epsilon, delta, curves)


@pytest.mark.parametrize("kind, name", [("gdp", "mu"), ("gdp", "steps"), ("zcdp", "rho"), ("zcdp", "steps")])
@given(log_floats(1e-3, 1), st.integers(1, 10**6), DELTA, log_floats(1e-1, 10))
@settings(max_examples=4)
def test_solved_conversions(kind, name, x, t, delta, epsilon):
    said = {"from": kind, {"gdp": "mu", "zcdp": "rho"}[kind]: x, "steps": t}
    del said[name]
    solved_is_safe_and_tight(convert, name, said, epsilon, delta)


@given(st.floats(5e-324, 1.7e308))
@settings(max_examples=300)
def test_a_number_reads_back_as_itself(x):
    assert number(repr(x)) == x and number(f"-{x!r}") == -x


@given(st.text("0123456789.eE+-*/^() sqrtlognpi", max_size=30))
@settings(max_examples=300)
def test_any_text_is_a_finite_number_or_refused(text):
    try:
        assert abs(number(text)) < inf
    except NotANumber as e:
        assert str(e)


PIECES = st.one_of(
    st.tuples(st.just(rdp), SIGMA.map(lambda s: {"sigma": s})),
    st.tuples(st.just(rdp), SIGMA.map(lambda s: {"mechanism": "laplace", "scale": s})),
    st.tuples(st.just(rdp),
              SIGMA.map(lambda s: {"mechanism": "discrete-laplace", "scale": s})),
    st.tuples(st.just(subsample),
              st.tuples(SIGMA, RATE, STEPS).map(lambda x: {"sigma": x[0], "sampling_rate": x[1], "steps": x[2]})),
)


@given(PIECES, PIECES, DELTA)
@settings(max_examples=4)
def test_two_results_compose_in_any_order(first, second, delta):
    texts = [indented(record(ask(command, **said, format="json"))) for command, said in (first, second)]
    for text in texts:
        jsonschema.validate(json.loads(text, parse_constant=lambda x: pytest.fail(x)), ENVELOPE)
    guarantees = [parse(text, "a result") for text in texts]
    there, back = (ask(convert, tuple(order), delta=delta).value for order in (guarantees, guarantees[::-1]))
    assert there == pytest.approx(back, rel=1e-9)
    alone = [ask(convert, (g,), delta=delta).value for g in guarantees]
    assert max(alone) <= there * (1 + 2e-3)  # upper values, to their precision
    total = ask(convert, tuple(guarantees), alpha="4").value
    assert total == pytest.approx(sum(ask(command, **said, alpha="4", bound=curve(command, said)).value for command,
                                      said in (first, second)), rel=1e-9)


def curve(command, said):
    return ("poisson-rdp",) if command is subsample else (f"{said.get('mechanism', 'gaussian')}-rdp",)


@pytest.mark.slow
@given(SIGMA, DELTA)
def test_json_is_strict_and_follows_its_schema(s, delta):
    for said in ({"delta": delta}, {"epsilon": s}, {"alpha": 1 + s}):
        text = indented(record(ask(rdp, sigma=s, **said)))
        jsonschema.validate(json.loads(text, parse_constant=lambda x: pytest.fail(x)), ENVELOPE)


# --- pins -----------------------------------------------------------------------------------------------------------


def test_randomized_response_near_order_one_keeps_its_digits(mp):
    """(α−1)·D_α cancels as α → 1: D_1 = (2p−1) log(p/(1−p)) is the limit."""
    bound = all_bounds()["randomized-response-rdp"]
    for p in (0.6, 0.9, 0.999):
        for alpha in (1 + 1e-9, 1 + 1e-12, 1 + 2**-52):
            want = bound.exact(mp, alpha, p)
            assert want <= bound.value(alpha, p) <= want * (1 + bound.rtol)
            assert want == pytest.approx((2 * p - 1) * float(mp.log(mp.mpf(p) / (1 - mp.mpf(p)))), rel=1e-6)


@pytest.mark.slow
def test_a_solved_count_meets_its_budget():
    said = {"sigma": 8.831244075293192, "batch_size": 100, "epochs": 3.0, "delta": 1e-10}
    n = value(subsample, **said, epsilon=0.011932981763207458, solve="n")
    assert value(subsample, **said, n=n) <= 0.011932981763207458


def test_a_solved_poisson_sigma_is_tight():
    said = {"sampling_rate": 0.003882839937265635, "steps": 138}
    solved_is_safe_and_tight(subsample, "sigma", said, 0.8656222022333786, 5.8695255358711725e-12, ("poisson-rdp",))


def test_the_search_over_orders_does_not_stop_on_a_plateau():
    """Where a conversion says nothing at the first order, δ <= 1 is no minimum."""
    assert value(convert, **{"from": "zcdp"}, rho=5.0, epsilon=8.0) < exp(-0.1)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["sigma", "sampling_rate", "steps", "n"])
@given(log_floats(0.7, 4), log_floats(3e-3, 0.3), log_floats(10, 5000).map(int), log_floats(1e-9, 1e-4),
       log_floats(0.3, 6))
@settings(max_examples=3)
def test_solved_by_profiles(name, s, q, t, delta, epsilon):
    """The budget is met, and 1 % less private (or two whole numbers) it is not."""
    said = {"sigma": s, "sampling_rate": q, "steps": t}
    if name == "n":
        said = {"sigma": s, "batch_size": 100, "steps": t}
    said.pop(name, None)
    try:
        answer = ask(subsample, **said, epsilon=epsilon, delta=delta, solve=name.replace("_", "-"),
                     bound=("poisson-profile",))
    except NoSolution:
        return
    x, profile = answer.value, ("poisson-profile",)
    assert value(subsample, **said, **{name: x}, delta=delta, bound=profile) <= epsilon
    worse = x * (1 - SAFER.get(name, -1) * 0.01)
    worse = max(1, round(worse) - 2 * SAFER.get(name, -1)) if name in COUNTS else worse
    if (name == "sampling_rate" and worse > 1) or (name == "n" and worse < 100):
        return
    assert value(subsample, **said, **{name: worse}, delta=delta, bound=profile) > epsilon
