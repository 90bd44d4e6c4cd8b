"""How large the noise of an answer is, and what one person may contribute: golden values, the formulas of other tools,
and what stands beside an answer."""

import json
from math import erf, exp, expm1, log, log1p, sqrt

import pytest
from answers import answer, number, printed, refusal
from calling import call
from paths import GOLDEN
from scipy.special import erfinv
from scipy.stats import norm

CASES = json.loads((GOLDEN / "counts.json").read_text())["cases"]


def cases(name):
    return [case for case in CASES if case["capability"] == name]


@pytest.mark.parametrize("noise, level", [("laplace", "scale"), ("gaussian", "sigma"), ("discrete-gaussian", "sigma")])
def test_golden_half_widths(noise, level):
    for case in cases(f"accuracy-{noise}"):
        asked, value = case["question"], case["value"]
        line = f"--{level} {asked[level]} --accuracy {1 - asked['beta']:.12g} --answers {asked['answers']}"
        got = answer(f"rdp --mechanism {noise} {line}")["result"]["noise_within_all"]
        assert got == pytest.approx(value["error"], rel=case["rel_tol"] or 1e-15), case
        if "discrete" in value:
            assert answer(f"rdp --mechanism geometric {line}")["result"]["noise_within_all"] == value["discrete"]


def test_golden_contribution_bounds():
    for case in cases("contribution-bounds"):
        asked = case["question"]
        signed = "--signed" if asked["values"] == "[-c,c]" else ""
        got = answer(f"rdp --sigma 9 --max-keys {asked['groups']} --per-key {asked['per_group']} {signed} "
                     f"--adjacency {asked['adjacency']} --delta 1e-5")["result"]
        for norm_name, size in case["value"].items():
            assert got[f"{norm_name}_sensitivity"] == pytest.approx(size, rel=1e-14), case


@pytest.mark.parametrize("alpha", [0.5, 0.1, 0.05, 1e-3, 1e-6])
@pytest.mark.parametrize("level", [0.3, 1, 20.0])
def test_half_widths_are_those_of_the_formulas_of_opendp(level, alpha):
    """Of its functions laplacian_scale_to_accuracy and gaussian_scale_to_accuracy (version 0.16)."""
    p = 1 - alpha
    assert number(f"rdp --mechanism laplace --scale {level} --accuracy {p}") == pytest.approx(level * log(1 / alpha), rel=1e-12)
    rtol = 1e-12 if alpha > 1e-4 else 1e-9  # it inverts erf near 1
    assert number(f"rdp --sigma {level} --accuracy {p}") == pytest.approx(level * sqrt(2) * erfinv(1 - alpha), rel=rtol)
    assert number(f"rdp --mechanism laplace --error {level} --accuracy {p} --solve scale") == pytest.approx(
        level / log(1 / alpha), rel=1e-12)


@pytest.mark.parametrize("epsilon, delta, k, c", [(1, 1e-5, 1, 1), (0.5, 1e-8, 10, 1), (2, 1e-6, 4, 3)])
def test_laplace_thresholds_are_those_of_google(epsilon, delta, k, c):
    """Wilson et al. 2020: c + v·log(1/(2p)) with v = kc/ε and p = 1 − (1−δ)^(1/k), exact where ε is that of the noise."""
    v, p = k * c / epsilon, -expm1(log1p(-delta) / k)
    found = number(f"rdp --mechanism laplace --scale {v} --max-keys {k} --per-key {c} --epsilon {epsilon} --delta {delta} "
                   "--solve threshold")
    assert found == pytest.approx(c + v * log(1 / (2 * p)), rel=1e-9)


def test_gaussian_thresholds_are_below_those_of_half_of_delta_for_each():
    """PipelineDP and Google give half of δ to the noise and half to the keys, which is valid, and not exact."""
    sigma, k, delta = 6.7275, 3, 1e-5
    theirs = 1 + sigma * norm.isf(1 - (1 - delta / 2) ** (1 / k))
    ours = number(f"rdp --sigma {sigma} --max-keys {k} --epsilon 1 --delta {delta} --solve threshold")
    assert 31.2 < ours < 31.4 < 32.2 < theirs < 32.3


def test_integers_above_a_threshold_count_those_at_the_threshold():
    """OpenDP 0.16 computes Pr[noise > τ − c], and publishes counts of at least τ."""
    found = number("rdp --mechanism discrete-laplace --scale 1 --threshold 3 --epsilon 1")
    above, at_least = (exp(-x) / (1 + exp(-1)) for x in (3, 2))
    assert above == pytest.approx(0.0364, abs=5e-5) and found == pytest.approx(at_least, rel=1e-9) == pytest.approx(0.0989, abs=5e-5)


def test_selection_of_several_keys_is_nearly_that_of_google():
    """Its δ of a key is 1 − (1−δ)^(1/k); ours is δ/k, which composes to a little less than δ."""
    keep, e, d = 0.0, 1 / 3, -expm1(log1p(-1e-5) / 3)
    for _ in range(20):
        keep = min(exp(e) * keep + d, 1 - exp(-e) * (1 - keep - d), 1.0)
    line = "rdp --mechanism key-selection --step-epsilon 1 --step-delta 1e-5 --max-keys 3"
    assert keep * (1 - 1e-5) < number(f"{line} --people 20") < keep
    assert 9.9999e-6 < answer(f"{line} --epsilon 1")["result"]["delta"] <= 1e-5


def test_all_answers_at_once():
    one = answer("rdp --sigma 8 --max-keys 3 --accuracy .95 --delta 1e-5")["result"]
    cells = answer("rdp --sigma 8 --max-keys 3 --accuracy .95 --cells 12 --delta 1e-5")["result"]
    tables = answer("rdp --sigma 8 --max-keys 3 --accuracy .95 --steps 12 --delta 1e-5")["result"]
    assert one["epsilon"] == cells["epsilon"] < tables["epsilon"]
    assert one["noise_within"] == one["noise_within_all"] == cells["noise_within"] == tables["noise_within"]
    assert cells["noise_within_all"] == tables["noise_within_all"] == pytest.approx(8 * norm.isf((1 - 0.95 ** (1 / 12)) / 2))
    assert erf(one["noise_within"] / 8 / sqrt(2)) == pytest.approx(0.95)


def test_noise_that_keeps_to_an_error_and_what_it_costs():
    alone, beside = "rdp --error 10 --accuracy .95 --solve sigma", "rdp --error 10 --accuracy .95 --solve sigma --delta 1e-5"
    sigma = number(alone)
    assert number(beside) == sigma and answer(beside)["result"]["epsilon"] == number(f"rdp --sigma {sigma!r} --delta 1e-5")
    assert number(f"rdp --sigma {sigma!r} --accuracy .95") <= 10 < number(f"rdp --sigma {sigma * 1.0001!r} --accuracy .95")
    above = answer("rdp --max-keys 3 --threshold 50 --error 10 --accuracy .95 --delta 1e-6 --solve sigma")["result"]
    assert above["sigma"] == sigma and 1 < above["epsilon"] < 2
    whole = answer("rdp --mechanism discrete-laplace --error 10 --accuracy .95 --solve scale")["result"]
    assert whole["noise_within"] == 10 < number(f"rdp --mechanism geometric --scale {whole['scale'] * 1.001!r} --accuracy .95")


def test_a_forged_solution_is_not_verified():
    record = answer("rdp --error 10 --accuracy .95 --solve sigma --delta 1e-5")
    assert call(["verify", "-"], json.dumps(record))[0] == 0
    record["result"]["sigma"] = record["bounds"][0]["sigma"] = 3.0
    assert call(["verify", "-"], json.dumps(record))[0] == 3


def test_a_search_for_keys_or_noise_composes_the_values_of_a_person():
    for mechanism, level in (("laplace", "scale"), ("discrete-gaussian", "sigma")):
        budget = f"rdp --mechanism {mechanism} --epsilon 1 --delta 1e-5"
        keys, steps = (number(f"{budget} --{level} 30 --solve {name}") for name in ("max-keys", "steps"))
        assert keys == steps > 40
        by_keys, by_steps = (number(f"{budget} --{name} 20 --solve {level}") for name in ("max-keys", "steps"))
        assert by_keys == pytest.approx(by_steps, rel=1e-3)


def test_sweeps_show_the_half_width_and_what_noise_costs():
    _, table = printed("rdp --sigma 4,8 --accuracy .95 --delta 1e-6")
    assert "half-width" in table and "7.83986" in table and "15.6798" in table
    _, table = printed("rdp --error 5,10 --accuracy .95 --delta 1e-6 --solve sigma")
    assert table.startswith("σ for each error at δ = 1e-06") and "1.72715" in table and "0.816181" in table


def test_many_counts_in_one_file():
    rows = "\n".join(f"t{k},{4 + k % 50},{1 + k % 5}" for k in range(300))
    code, out, err = call(["rdp", "--batch", "--delta", "1e-5", "--accuracy", ".95"], f"name,sigma,max_keys\n{rows}\n")
    lines = out.splitlines()
    assert code == 0 and len(lines) == 301 and "noise_within" in lines[0] and lines[0].endswith(",error"), err
    assert len(set(lines[0].split(","))) == len(lines[0].split(","))


@pytest.mark.parametrize("line, words", [
    ("rdp --sigma 2 --accuracy 95", "95 is not > 0 and < 1"),
    ("rdp --mechanism rr --probability .7 --accuracy .9", "adds no noise to a number"),
    ("rdp --error 3 --solve sigma", "the probability that the noise stays within it"),
    ("rdp --error 3 --accuracy .9", "--error needs --solve sigma"),
    ("rdp --error 3 --accuracy .9 --solve sigma --epsilon 1 --delta 1e-5", "drop one of --epsilon"),
    ("rdp --sigma 2 --max-keys 3 --sensitivity 2 --delta 1e-5", "give the sensitivity; drop it, or drop them"),
    ("rdp --noise-multiplier 2 --max-keys 3 --delta 1e-5", "clipping bounds the contribution there"),
    ("rdp --mechanism exponential --step-epsilon 1 --per-key 3 --delta 1e-5", "they give the sensitivity of values"),
    ("rdp --mechanism discrete-laplace --scale 3 --per-key 1.5 --delta 0", "1.5 is not a whole number"),
    ("rdp --sigma 3 --signed --delta 1e-5", "--per-key"),
    ("rdp --sigma 3 --lower 0 --delta 1e-5", "values that are clamped to [0, C] have --per-key C"),
    ("rdp --sigma 8 --threshold 50 --alpha 3", "ask with --delta"),
    ("rdp --mechanism staircase --step-epsilon 1 --delta 0", "staircase noise with parameter ε is (ε, 0)"),
    ("rdp --mechanism median --delta 0", "--mechanism exponential or permute-and-flip")])
def test_bad_input_says_the_way_out(line, words):
    assert words in refusal(line, 2)


def test_a_threshold_has_no_pure_epsilon():
    assert "is published with some probability" in refusal("rdp --mechanism laplace --scale 8 --threshold 50 --delta 0", 3)


def test_a_threshold_that_noise_alone_makes_impossible():
    assert "no threshold gives δ ≤ 1e-05 at ε = 1: the noise alone has δ = 7.2321e-05" in refusal(
        "rdp --sigma 8 --max-keys 3 --adjacency replace-one --epsilon 1 --delta 1e-5 --solve threshold", 3)


def test_a_statement_is_about_people():
    text = printed("rdp --mechanism laplace --scale 8 --max-keys 3 --delta 1e-5 --format statement")[1].replace("\n", " ")
    assert "The unit of privacy is one person." in text and "one access to the data" in text
    piped = call(["convert", "-", "--delta", "1e-5", "--format", "statement"],
                 json.dumps(answer("rdp --mechanism laplace --scale 8 --max-keys 3")))[1].replace("\n", " ")
    assert "The unit of privacy is one person." in piped and "3 values that one person moves" in piped
