"""Guarantees that convert reads: from other results, from JSON that others wrote, from options."""

import json

import pytest

from dpcalc import answer


def test_two_results_compose(tmp_path, cli, ask):
    for name, sigma in (("a", 3), ("b", 4)):
        (tmp_path / name).write_text(cli("rdp", "--sigma", sigma, "--json").stdout)
    got = ask("convert", tmp_path / "a", tmp_path / "b", "--delta", "1e-5")
    assert got["guarantee"] == {"kind": "gdp", "mu": pytest.approx(5 / 12)}
    assert got["result"]["epsilon"] == pytest.approx(ask("rdp", "--sigma", 2.4, "--delta", "1e-5")["result"]["epsilon"],
                                                     rel=1e-9)


def test_different_neighbours_do_not_compose(tmp_path, cli):
    for name in ("poisson", "without-replacement"):
        text = cli("subsample", "--scheme", name, "--sampling-rate", "0.1", "--steps", "1", "--sigma", "3", "--json").stdout
        (tmp_path / name).write_text(text)
    done = cli("convert", tmp_path / "poisson", tmp_path / "without-replacement", "--delta", "1e-5")
    assert done.returncode == 2 and "different neighbours" in done.stderr


def test_a_curve_from_json_is_a_base_mechanism(ask):
    orders = list(range(2, 65))
    curve = json.dumps({"kind": "rdp", "alpha": orders, "rdp": [a / 8 for a in orders], "adjacency": "replace-one"})
    got = ask("subsample", "-", "--scheme", "without-replacement", "--sampling-rate", "0.01", "--steps", "1", "--alpha", "8",
              stdin=curve)
    plain = ask("subsample", "--scheme", "without-replacement", "--sampling-rate", "0.01", "--steps", "1", "--sigma", "2", "--alpha",
                "8", "--bound", "wor-rdp")
    assert got["result"]["rdp"] == pytest.approx(plain["result"]["rdp"], rel=1e-9)
    assert got["guarantee"]["kind"] == "rdp"


def test_amplified_point_composes_in_a_pipe(ask, cli):
    point = cli("subsample", "--sampling-rate", "0.01", "--epsilon", "1", "--delta", "1e-6", "--json").stdout
    got = ask("convert", "-", "--steps", "100", "--delta", "1e-5", stdin=point)
    assert 0 < got["result"]["epsilon"] < 100 * 0.0171


def test_convert_takes_a_tv_distance_as_an_option(cli):
    """(0, TV)-DP composes to (0, 1 − (1 − TV)^T)."""
    said = json.loads(cli("convert", "--from", "tv", "--tv", ".1", "--steps", "20", "--epsilon", "1", "--json").stdout)
    read = json.loads(cli("convert", "-", "--steps", "20", "--epsilon", "1", "--json",
                          stdin='{"kind": "tv", "tv": 0.1}').stdout)
    assert 0 <= said["result"]["delta"] - (1 - 0.9**20) < 1e-9
    assert said["result"] == read["result"]


@pytest.mark.parametrize("argv, stdin, says", [
    ("--from tv --delta .2", "", "--tv: needed with --from tv"),
    ("--from profile --delta .2", "", "give the profile as JSON"),
    ("- --from tv --delta .2", '{"kind": "gdp", "mu": 1}', "the input is a guarantee of kind gdp, not tv"),
    ("--from gdp --mu 1 --tv .3 --delta .2", "", "--tv: not used with --from gdp"),
])
def test_convert_from_says_what_is_wrong(argv, stdin, says, cli):
    done = cli("convert", *argv.split(), stdin=stdin)
    assert (done.returncode, done.stdout) == (2, "") and says in done.stderr


def test_convert_from_may_name_the_kind_that_is_read(cli):
    profile = '{"kind": "profile", "epsilon": [0, 1], "delta": [0.1, 0.01]}'
    assert cli("convert", "-", "--delta", ".1", "-q", stdin=profile).stdout == cli("convert", "-", "--from", "profile",
                                                                                   "--delta", ".1", "-q",
                                                                                   stdin=profile).stdout


@pytest.mark.parametrize("line", [
    "rdp --sigma 1", "rdp --sigma 1 --delta 1e-5", "convert --from gdp --mu 1 --delta 1e-5",
    "convert --from gdp --mu 1 --to tv",
    "subsample --sampling-rate .01 --sigma 1 --steps 10 --delta 1e-5 --bound poisson-rdp", "tv --sigma 1",
    "shuffle-pnsgd --sigma 1 --lipschitz 1 --diameter 1 --learning-rate .1 --smoothness .5 --n 1000 --delta 1e-5",
    "burn-in --n 600 --batch-size 6 --steps 100 --lipschitz 1 --smoothness 1 --learning-rate .05 --diameter 2 --sigma "
    "1 --delta 1e-5 --bound burn-in-rdp",
    "online-noise --decay 2 --c1 9 --c2 9 --lipschitz 1 --diameter 1 --smoothness 1 --learning-rate .1 --n 100 --index "
    "2 --epsilon 1",
    "noise-feedback --curvature .7 --learning-rate .1 --sigma 2 --steps 6 --lipschitz 1 --delta 1e-5"])
def test_what_any_command_writes_convert_and_tv_read(line, cli):
    written = cli(*line.split(), "--json").stdout
    for then in (("convert", "-", "--to", "tv"), ("tv", "-")):
        done = cli(*then, "--json", stdin=written)
        assert 0 < json.loads(done.stdout)["result"]["tv"] <= 1
        assert ("for record" in done.stderr) == ("--index" in line)


# --- foreign JSON ----------------------------------------------------------------------------------------------------

FOREIGN = [  # guarantees that are nearly right: which key, and what is allowed
    ('{"kind": "mechanisms", "mechanisms": [{"name": "laplace", "scale": -1}]}', "mechanisms.0.scale: -1 is not > 0",
     2),
    ('{"kind": "mechanisms", "mechanisms": [{"name": "laplac", "scale": 1}]}', '"laplac" is not one of', 2),
    ('{"kind": "mechanisms", "mechanisms": [{"scale": 1}]}', "has no name", 2),
           ('{"kind": "mechanisms", "mechanisms": [3]}', "3 is not an object", 2),
    ('{"kind": "mechanisms", "mechanisms": 3}', "3 is not a list", 2),
           ('{"kind": "mechanisms", "mechanisms": []}', "the list is empty", 2),
    ('{"kind": "mechanisms", "mechanisms": [{"name": "laplace", "scale": 1, "count": 1.5}]}',
     "mechanisms.0.count: 1.5 is not a whole number", 2),
    ('{"kind": "mechanisms", "mechanisms": [{"name": "laplace", "scale": 1, "colour": 3}]}',
     "mechanisms.0.colour: there is no such key", 2),
    ('{"kind": "mechanisms", "mechanisms": [{"name": "laplace", "scale": 1, "sampling": {"scheme": "x", "rate": 1}}]}',
     '"x" is not one of', 2),
    ('{"kind": "gdp", "mu": true}', "mu: true is not a number", 2),
           ('{"kind": "gdp", "mu": "1"}', 'mu: "1" is not a number', 2), ('{"kind": "gdp"}', "mu: missing", 2),
    ('{"kind": "dp", "epsilon": true, "delta": 0}', "epsilon: true is not a number", 2),
           ('{"kind": "dp", "epsilon": 1, "delta": NaN}', "NaN is not a JSON number", 2),
    ('{"kind": "rdp", "alpha": [2], "rdp": [Infinity]}', "Infinity is not a JSON number", 2),
           ('{"kind": "rdp", "alpha": [2], "rdp": [1e999]}', "not a finite number", 2),
    ('{"kind": "rdp", "alpha": [2], "rdp": [1, 2]}', "differ in length", 2), ('{"kind": "x"}', '"x" is not one of', 2),
           ('{"kind": "tv", "tv": 0.1}', "no ε exists at δ = 1e-05", 3),
    ('{"kind": "dp", "epsilon": 1, "delta": 1e-400}', "delta: 1e-400 is not a finite number, or below", 2),
    ('{"kind": "gdp", "mu": 1e300}', "--input", 3),
           ('{"kind": "mechanisms", "mechanisms": [{"name": "laplace", "scale": 1e-320}]}', "--input", 3),
    ('{"kind": "mechanisms", "mechanisms": [{"name": "gaussian", "noise_multiplier": 1e-320}]}', "--input", 3),
]


@pytest.mark.parametrize("text, says, code", FOREIGN, ids=[x[0] for x in FOREIGN])
def test_a_nearly_right_guarantee_is_told_what_is_wrong(text, says, code, cli):
    done = cli("convert", "-", "--delta", "1e-5", stdin=text)
    assert (done.returncode, done.stdout) == (code, ""), done.stderr
    assert done.stderr.count("\n") == 1 and says in done.stderr and "fault of dpcalc" not in done.stderr and "Input should" not in done.stderr


@pytest.mark.parametrize("line", ["subsample --sampling-rate .01 --sigma 1 --steps 1000", "rdp --mechanism laplace --scale 2"])
def test_a_result_states_how_often_its_mechanism_is_used(line, cli):
    """Only JSON that is written by hand may leave out a count of 1: without it this run had an ε of .199, not 1.828."""
    record = json.loads(cli(*line.split(), "--delta", "1e-5", "--json").stdout)
    for part in record["guarantee"]["mechanisms"]:
        part.pop("count")
    done = cli("convert", "-", "--delta", "1e-5", stdin=json.dumps(record))
    assert done.returncode == 2 and "how often a mechanism is used (count)" in done.stderr
    by_hand = json.dumps({"kind": "mechanisms", "mechanisms": [{"name": "laplace", "scale": 2}]})
    assert cli("convert", "-", "--delta", "0", "-q", stdin=by_hand).stdout == "0.5\n"


JUNK = ["", " \n", "{", "[]", "null", "17", '"text"', "{}", '{"kind": "x"}', '{"kind": "rdp"}',
        '{"kind": "rdp", "alpha": [2], "rdp": [-1]}',
        '{"kind": "rdp", "alpha": [2, 3], "rdp": [1]}', '{"kind": "rdp", "alpha": [1], "rdp": [1]}',
        '{"kind": "gdp", "mu": NaN}',
        '{"kind": "dp", "epsilon": 1e999, "delta": 0}', '{"kind": "mechanisms", "mechanisms": []}',
        '{"schema": "dpcalc/v9", "guarantee": {}}',
        '{"schema": "dpcalc/v1"}',
        '{"kind": "mechanisms", "mechanisms": [{"name": "gaussian", "noise_multiplier": 0}]}',
        '{"kind": "mechanisms", "mechanisms": [{"name": "magic"}]}', "[" * 100_000,
        '{"kind": "gdp", "mu": ' + "9" * 5000 + "}", "\ufeff{}", "\x00"]


@pytest.mark.parametrize("text", JUNK, ids=range(len(JUNK)))
def test_foreign_json_on_stdin(text, cli):
    done = cli("convert", "-", "--delta", "1e-5", stdin=text)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.count("\n") == 1 and "fault of dpcalc" not in done.stderr


def test_not_utf8(tmp_path, cli):
    (tmp_path / "x").write_bytes(b"\xff\xfe{}")
    assert "UTF-8" in cli("convert", tmp_path / "x", "--delta", ".1").stderr


@pytest.mark.parametrize(("vectors", "said"), [
    ("--p 0.4167,0.1667,0.4166 --q 0.1667,0.6667,0.1666", "ε = 1.38615 at δ = 0 (outcomes-exact)"),
    ("--p .5,.5 --q 0,1", "TV = 0.5 (outcomes-exact)"),
])
def test_outcomes_say_all_without_a_question(vectors, said, cli):
    done = cli("convert", "--from", "outcomes", *vectors.split())
    assert done.returncode == 0 and done.stdout.splitlines()[0] == said


def test_a_mixture_of_mechanisms_is_the_shuffled_run(ask, cli):
    """Lemma 3.1 of Berthier 2019 over the positions of a record is the bound that dpcalc gives for a secret order."""
    run = ("shuffle-pnsgd", "--sigma", 0.5, "--lipschitz", 1, "--smoothness", 0.5, "--strong-convexity", 0.1,
           "--learning-rate", 0.01, "--n", 5, "--alpha", 8)
    each = [json.loads(cli(*run, "--index", i, "--bound", "output-perturbation", "--json").stdout)["result"]["rdp"]
            for i in range(1, 6)]
    line = ("convert", "--from", "rdp", "--alpha", 8, "--rdp", ",".join(map(repr, each)), "--weights",
            "1/5,1/5,1/5,1/5,1/5")
    mixed, shuffled = ask(*line), ask(*run, "--bound", "output-perturbation-shuffled")
    assert mixed["result"]["rdp"] == pytest.approx(shuffled["result"]["rdp"], rel=1e-10)
    assert mixed["bound"] == "rdp-mixture" and mixed["guarantee"] == {"kind": "rdp", "alpha": [8.0],
                                                                      "rdp": [mixed["result"]["rdp"]]}


def test_a_mixture_of_tiny_divergences_is_not_rounded_to_nothing(ask):
    found = ask("convert", "--from", "rdp", "--alpha", "1.0000000000000002", "--rdp", "2e-314,1", "--weights", "1,0")
    assert 2e-314 <= found["result"]["rdp"] < 2.001e-314


@pytest.mark.parametrize("options, says", [
    ("--alpha 8 --rdp .5,.1 --weights 1/4,1/4", "--weights: the probabilities add up to 0.5, not 1"),
    ("--alpha 8 --rdp .5 --weights 1/4,3/4", "--weights: 2 weights but 1 values of --rdp"),
    ("--alpha 8,9 --rdp .5,.1 --weights 1/4,3/4", "--alpha: give one order"),
    ("--alpha 8 --rdp .5,.1 --weights 1/4,3/4 --delta 1e-5", "pipe its JSON into dpcalc convert - --delta"),
    ("--alpha 8 --rdp .5,.1 --weights 1/4,3/4 --steps 2", "--steps: not used with --weights"),
])
def test_a_mixture_that_is_not_described(cli, options, says):
    done = cli("convert", "--from", "rdp", *options.split())
    assert done.returncode == 2 and says in done.stderr


def test_ten_points_add_up_to_the_point_that_everybody_knows(ask):
    """As doubles, ten times 0.1 are more than 1, so that δ at ε = 1 was 1."""
    line = "--from dp --epsilon .1 --delta 1e-7 --steps 10 --bound composition-basic --digits 20"
    [delta] = ask("convert", *line.split(), "--target-epsilon", 1)["bounds"]
    [epsilon] = ask("convert", *line.split(), "--target-delta", "1e-6")["bounds"]
    assert (delta["delta"], float(delta["digits"]["delta"])) == (1e-6, 1e-6)
    assert (epsilon["epsilon"], float(epsilon["digits"]["epsilon"])) == (1.0, 1.0)


def test_the_condition_of_bounded_range_is_handed_on():
    """0.125-zCDP of ε = 1 is false for Laplace noise, whose ε(2) is 0.619: the answer, and what reads it, must say so."""
    found = answer("convert", **{"from": "dp"}, epsilon=1, delta=0, to="zcdp", bound="bounded-range-zcdp")
    again = answer("convert", inputs=[found], delta=1e-5)
    total = answer("ledger", inputs=[found, answer("rdp", sigma=2)], delta=1e-5)
    for one in (found, again, total):
        assert any("interval of length ε" in text for text in one.promises), one
    assert not answer("convert", **{"from": "dp"}, epsilon=1, delta=0, to="zcdp").promises
