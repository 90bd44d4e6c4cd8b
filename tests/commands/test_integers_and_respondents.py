"""Noise on the integers and randomised responses on the command line: values, forms of one mechanism, refusals."""

import json

import pytest
from calling import call

from dpcalc.accounting.mechanisms import MECHANISMS


def value(line, key="epsilon"):
    code, out, err = call([*line.split(), "--json"], "")
    assert code == 0, err
    return json.loads(out)["result"][key]


def message(line):
    code, _, err = call([*line.split(), "--json"], "")
    assert code in (2, 3)
    return json.loads(err)["error"]


# Values of a second implementation, by summation of the definition and by composition on other grids.
@pytest.mark.parametrize("line, key, known, rel", [
    ("rdp --mechanism discrete-gaussian --sigma 2 --epsilon 1", "delta", 0.0072487768459525825, 1e-13),
    ("rdp --mechanism discrete-gaussian --sigma 2 --steps 10 --delta 1e-6", "epsilon", 8.3033, 1e-5),
    ("rdp --mechanism discrete-gaussian --sigma 0.5 --delta 1e-6", "epsilon", 9.9962, 1e-5),
    ("rdp --mechanism discrete-laplace --scale 10 --sensitivity 5 --epsilon 0.1", "delta", 0.1812692469220182, 1e-13),
    ("rdp --mechanism discrete-laplace --scale 2 --sensitivity 3 --epsilon 0.4", "delta", 0.42939708512662876, 1e-13),
    ("rdp --mechanism rr --categories 10 --step-epsilon 1 --epsilon 0.5", "delta", 0.0912728140025938, 1e-13),
    ("rdp --mechanism rr --categories 10 --step-epsilon 1 --steps 20 --delta 1e-6", "epsilon", 13.91732, 1e-6),
    ("rdp --mechanism rr --categories 100 --step-epsilon 3 --steps 20 --delta 1e-6", "epsilon", 38.39738, 1e-6),
    ("rdp --mechanism oue --step-epsilon 1 --steps 20 --delta 1e-6", "epsilon", 16.904, 1e-5),
    ("rdp --mechanism rappor --probability 0.75 --steps 20 --delta 1e-6", "epsilon", 43.840, 1e-5),
])
def test_values(line, key, known, rel):
    assert value(line, key) == pytest.approx(known, rel=rel)


@pytest.mark.parametrize("question", ["--delta 1e-6", "--epsilon 0.3", "--alpha 2.5", "--steps 9 --delta 1e-6"])
def test_two_categories_are_the_binary_randomised_response(question):
    key = "delta" if "--epsilon" in question else "rdp" if "--alpha" in question else "epsilon"
    binary = value(f"rdp --mechanism randomized-response --probability 0.7310585786300049 {question}", key)
    assert value(f"rdp --mechanism rr --categories 2 --step-epsilon 1 {question}", key) == pytest.approx(binary, rel=1e-9)


@pytest.mark.parametrize("question", ["--delta 1e-6", "--epsilon 0.3", "--alpha 2.5", "--steps 9 --delta 1e-6"])
def test_forms_of_unary_encoding_agree(question):
    key = "delta" if "--epsilon" in question else "rdp" if "--alpha" in question else "epsilon"
    by_epsilon = value(f"rdp --mechanism unary --step-epsilon 1 {question}", key)
    by_bits = value(f"rdp --mechanism unary --probability 1/2 --flip-probability 0.2689414213699951 {question}", key)
    assert by_epsilon == pytest.approx(by_bits, rel=1e-12)
    symmetric = value(f"rdp --mechanism unary --probability 0.7 {question}", key)
    given = value(f"rdp --mechanism unary --probability 0.7 --flip-probability 0.3 {question}", key)
    assert symmetric == pytest.approx(given, rel=1e-13)


def test_large_noise_on_integers_is_that_on_real_numbers():
    for law, level, least in (("gaussian", "sigma", 0.9999), ("laplace", "scale", 0.999)):
        run = f"--{level} 400 --sensitivity 300 --steps 3 --delta 1e-6"
        discrete = value(f"rdp --mechanism discrete-{law} {run}")
        assert least < discrete / value(f"rdp --mechanism {law} {run}") < 1.001


@pytest.mark.parametrize("name, level", [("discrete-gaussian", "sigma"), ("discrete-laplace", "scale")])
def test_a_sensitivity_is_a_whole_number(name, level):
    error = message(f"rdp --mechanism {name} --{level} 2 --sensitivity 1.5 --delta 1e-6")
    assert error["option"] == "--sensitivity" and "1.5 is not a whole number" in error["message"]
    run = f"rdp --mechanism {name} --{level} 20 --steps 2 --delta 1e-6"
    found = value(f"{run} --epsilon 1 --solve sensitivity", "sensitivity")
    assert found == int(found) and value(f"{run} --sensitivity {found}") <= 1 < value(f"{run} --sensitivity {found + 1}")


def test_groups_add_up_the_sensitivity():
    """K records change an integer by at most Ks, and a pair of two respondents is no pair of one use."""
    for name in ("discrete-gaussian", "discrete-laplace"):
        assert MECHANISMS[name].group({"sensitivity": 3.0}, 4)["sensitivity"] == 12
    for name in ("k-randomized-response", "unary", "optimized-unary"):
        assert MECHANISMS[name].group is None


@pytest.mark.parametrize("line, option, says", [
    ("rdp --mechanism rr --categories 5 --delta 1e-6", "--step-epsilon", "needed"),
    ("rdp --mechanism rr --step-epsilon 1 --delta 1e-6", "--categories", "needed"),
    ("rdp --mechanism rr --categories 1 --step-epsilon 1 --delta 1e-6", "--categories", "≥ 2"),
    ("rdp --mechanism unary --probability 0.5 --flip-probability 0.6 --delta 1e-6", "--flip-probability", "above"),
    ("rdp --mechanism oue --step-epsilon 800 --delta 1e-6", "--step-epsilon", "above 700"),
    ("rdp --mechanism discrete-gaussian --noise-multiplier 1 --delta 1e-6", "--noise-multiplier", "--sigma"),
    ("rdp --mechanism discrete-gaussian --sigma 1 --delta 0", "--delta", "no pure ε"),
    ("subsample --mechanism discrete-gaussian --sigma 1e4 --sampling-rate .1 --steps 9 --delta 1e-6", "--sigma", "too many"),
])
def test_refusals(line, option, says):
    error = message(line)
    assert error["option"] == option and says in error["message"]


@pytest.mark.parametrize("part, says", [
    ({"name": "discrete-gaussian", "sigma": 2.0, "sensitivity": 1.5}, "sensitivity"),
    ({"name": "discrete-laplace", "scale": 2.0}, "sensitivity"),
    ({"name": "k-randomized-response", "step_epsilon": 1.0, "categories": 1}, "categories"),
    ({"name": "unary", "probability": 0.5}, "flip_probability"),
])
def test_parts_in_json_are_checked(part, says):
    code, _, err = call(["convert", "-", "--delta", "1e-6", "--json"],
                        json.dumps({"kind": "mechanisms", "mechanisms": [part]}))
    assert code == 2 and says in json.loads(err)["error"]["message"]


def test_two_mechanisms_compose():
    """Ten releases of each: below the sum of both, above each alone."""
    lines = ["rdp --mechanism discrete-gaussian --sigma 5 --steps 10", "rdp --mechanism rr --categories 4 --step-epsilon .2"]
    parts = [json.loads(call([*line.split(), "--json"], "")[1])["guarantee"]["mechanisms"][0] for line in lines]
    code, out, err = call(["convert", "-", "--delta", "1e-6", "--json"],
                          json.dumps({"kind": "mechanisms", "mechanisms": parts}))
    assert code == 0, err
    each = [value(f"{line} --delta 1e-6") for line in lines]
    assert max(each) < json.loads(out)["result"]["epsilon"] < sum(each) + 1e-9


def test_bits_that_are_hardly_ever_flipped():
    """log(p(1−q)/(q(1−p))) where the quotient is above the largest double."""
    assert value("rdp --mechanism unary --probability 0.9999999999999999 --flip-probability 1e-310 --delta 0") \
        == pytest.approx(750.5381793978314, rel=1e-13)
