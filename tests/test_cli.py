"""The installed console script, as people and programs meet it."""

import json
import os
import subprocess
import sys

import jsonschema
import pytest
from conftest import SCRIPT

from dpcalc import __version__
from dpcalc.cli import COMMANDS

NUMBER_OR_INF = {"anyOf": [{"type": "number"}, {"enum": ["inf", "-inf"]}]}
ENVELOPE = {
    "type": "object",
    "required": ["schema", "version", "command", "parameters", "result", "status", "bound", "solved", "guarantee", "bounds",
                 "adjacency", "released", "notes"],
    "properties": {
        "schema": {"const": "dpcalc/v1"},
        "result": {"type": "object", "additionalProperties": NUMBER_OR_INF},
        "status": {"enum": ["proven", "as-published", "conjecture", "limit", "lower", None]},
        "guarantee": {"type": "object", "required": ["kind"]},
        "bounds": {"type": "array", "items": {"type": "object", "required": ["name", "status", "witness", "source", "assumptions", "errata"]}},
    },
}
RDP = ("rdp", "--sigma", "1", "--delta", "1e-5")
RUN = ("subsample", "--n", "60000", "--batch-size", "256", "--epochs", "15")


def test_version_and_help(cli):
    assert cli("--version").stdout == f"dpcalc {__version__}\n" == cli("-V").stdout
    assert cli().stdout == cli("--help").stdout
    for name in COMMANDS:
        done = cli(name, "--help")
        assert done.returncode == 0 and name in cli("--help").stdout
        assert "Examples:" in done.stdout and "→ " in done.stdout


def test_python_m(cli):
    done = subprocess.run([sys.executable, "-m", "dpcalc", *RDP, "-q"], capture_output=True, text=True)
    assert done.stdout == cli(*RDP, "-q").stdout and 0 <= float(done.stdout) / 4.3771780956812246 - 1 < 1e-13


@pytest.mark.parametrize("argv", [RDP, (*RUN, "--sigma", "1.1", "--delta", "1e-5"), ("convert", "--from", "gdp", "--mu", "1", "--to", "tv"),
                                  ("rdp", "--mechanism", "laplace", "--scale", "2", "--epsilon", "1")], ids=" ".join)
def test_json_is_strict_and_complete(argv, cli):
    for form in ("--json", "--format=jsonl"):
        text = cli(*argv, form).stdout
        answer = json.loads(text, parse_constant=lambda x: pytest.fail(f"{x} in JSON"))
        jsonschema.validate(answer, ENVELOPE)
        assert answer["bound"] == answer["bounds"][0]["name"]
        assert answer["status"] == "proven"
    assert text.count("\n") == 1


def test_parameters_have_the_defaults_filled_in(ask):
    assert ask(*RDP)["parameters"] == {"mechanism": "gaussian", "sensitivity": 1.0, "steps": 1, "sigma": 1.0, "delta": 1e-5}


def test_rows_are_sharpest_first(ask):
    values = [row["epsilon"] for row in ask(*RDP)["bounds"]]
    assert values == sorted(values) and len(values) >= 3


def test_quiet_is_the_double(cli, ask):
    assert float(cli(*RDP, "-q").stdout) == ask(*RDP)["result"]["epsilon"]
    assert cli("rdp", "--sigma", "50", "--epsilon", "1", "--delta", "1e-5", "--solve", "steps", "-q").stdout == "179\n"


@pytest.mark.parametrize("name, mark", [("csv", ","), ("tsv", "\t")])
def test_delimited_formats_carry_full_doubles(name, mark, cli, ask):
    header, first, *_ = cli(*RDP, "--format", name).stdout.splitlines()
    row = dict(zip(header.split(mark), first.split(mark), strict=False))
    assert row["bound"] == "gaussian-exact"
    assert float(row["epsilon"]) == ask(*RDP)["result"]["epsilon"]


def test_markdown_and_latex(cli):
    lines = cli(*RDP, "--format", "markdown").stdout.splitlines()
    assert lines[1].startswith("| --- |") and len({line.count(" | ") for line in lines}) == 1
    latex = cli(*RDP, "--format", "latex").stdout
    assert latex.startswith(r"\begin{tabular}") and r"$\varepsilon$" in latex and "ε" not in latex


def test_table_in_a_pipe_has_no_colour_and_no_cut_digits(cli):
    text = cli(*RDP, env={**os.environ, "COLUMNS": "30", "FORCE_COLOR": "1"}).stdout
    assert text.startswith("ε = 4.37718 at δ = 1e-05 (gaussian-exact)\n")
    assert "\x1b" not in text and "…" not in text and "4.72839" in text


def test_a_narrow_terminal_keeps_the_numbers():
    import pty

    parent, child = pty.openpty()
    env = {**os.environ, "COLUMNS": "60", "LINES": "24"}
    process = subprocess.Popen([SCRIPT, *RDP], stdout=child, stderr=child, env=env)
    process.wait(30)
    os.close(child)
    text = b""
    while True:
        try:
            chunk = os.read(parent, 65536)
        except OSError:
            break
        if not chunk:
            break
        text += chunk
    assert b"4.37718" in text and b"4.72839" in text
    assert "gaussian-exact: Balle & Wang 2018, Theorem 8," in text.decode()  # below the table, where beside it there is no room
    assert max(len(line) for line in text.decode().splitlines()) <= 60


def test_shown_numbers_are_rounded_to_the_safe_side(cli):
    assert cli("rdp", "--sigma", "3", "--alpha", "2").stdout.startswith("ε(α) = 0.111112 ")
    assert cli("rdp", "--epsilon", "1", "--delta", "1e-5", "--solve", "sigma").stdout.startswith("σ = 3.73064 ")
    down = cli("subsample", "--steps", "100", "--sigma", "1", "--epsilon", "1", "--delta", "1e-5", "--solve", "sampling-rate")
    exact = float(cli("subsample", "--steps", "100", "--sigma", "1", "--epsilon", "1", "--delta", "1e-5", "--solve", "sampling-rate",
                      "-q").stdout)
    assert float(down.stdout.split()[2]) <= exact


def test_tiny_delta_is_told_in_logs(cli, ask):
    answer = ask("rdp", "--sigma", "0.1", "--epsilon", "2000")
    assert answer["result"]["delta"] > 0 and answer["result"]["log_delta"] < -1000
    assert "e-" in cli("rdp", "--sigma", "0.1", "--epsilon", "2000").stdout.split()[2]


def test_pure_privacy(ask, cli):
    assert ask("rdp", "--mechanism", "laplace", "--scale", "2", "--delta", "0")["result"]["epsilon"] == 0.5
    assert ask("rdp", "--mechanism", "laplace", "--scale", "1", "--epsilon", "3")["result"]["log_delta"] == "-inf"
    done = cli("rdp", "--sigma", "1", "--delta", "0")
    assert done.returncode == 3 and "Gaussian" in done.stderr


def test_explain_names_statement_source_and_errata(cli):
    text = cli("rdp", "--sigma", "20", "--delta", "1e-5", "--explain").stdout
    assert "Assumes: " in text and "Source: Balle & Wang 2018" in text and "Erratum: Berthier 2019, Prop. 2.2" in text


@pytest.mark.parametrize("argv", [
    RDP, ("rdp", "--sigma", "1", "--epsilon", "1"), ("rdp", "--mechanism", "laplace", "--scale", "3", "--alpha", "2"),
    ("subsample", "--sampling-rate", "0.01", "--sigma", "1", "--alpha", "4"),
    ("convert", "--from", "dp", "--epsilon", "1", "--delta", "1e-6", "--to", "tv"),
    ("convert", "--from", "dp", "--epsilon", "0.1", "--delta", "1e-6", "--steps", "20", "--target-epsilon", "1")], ids=" ".join)
def test_digits_agree_with_the_doubles(argv, ask):
    for row in ask(*argv, "--digits", "30")["bounds"]:
        for key, text in row.get("digits", {}).items():
            assert len(text) >= 20
            assert float(text) <= row[key] * (1 + 1e-15)
            assert row[key] == pytest.approx(float(text), rel=1e-8)


def test_bound_restricts_and_suggests(ask, cli):
    assert [r["name"] for r in ask(*RDP, "--bound", "gaussian-exact")["bounds"]] == ["gaussian-exact"]
    two = ask(*RDP, "--bound", "gaussian-rdp", "--bound", "rdp-mironov")["bounds"]
    assert [(r["name"], r["conversion"]) for r in two] == [("gaussian-rdp", "rdp-mironov")]
    done = cli(*RDP, "--bound", "gaussian-exct")
    assert done.returncode == 2 and "did you mean gaussian-exact" in done.stderr


# --- pipes ----------------------------------------------------------------------------------------------------------


def test_pipe_through_three_commands():
    line = (f"{SCRIPT} rdp --sigma 2 --json | {SCRIPT} subsample - --sampling-rate 0.01 --steps 1000 --json | "
            f"{SCRIPT} convert - --delta 1e-5 --json")
    done = subprocess.run(["bash", "-o", "pipefail", "-c", line], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    piped = json.loads(done.stdout)
    direct = subprocess.run([SCRIPT, "subsample", "--sampling-rate", "0.01", "--sigma", "2", "--steps", "1000", "--delta", "1e-5", "--json"],
                            capture_output=True, text=True)
    assert piped["result"]["epsilon"] == pytest.approx(json.loads(direct.stdout)["result"]["epsilon"], rel=1e-6)
    assert piped["adjacency"] == "add-remove"


def test_two_results_compose(tmp_path, cli, ask):
    for name, sigma in (("a", 3), ("b", 4)):
        (tmp_path / name).write_text(cli("rdp", "--sigma", sigma, "--json").stdout)
    got = ask("convert", tmp_path / "a", tmp_path / "b", "--delta", "1e-5")
    assert got["guarantee"] == {"kind": "gdp", "mu": pytest.approx(5 / 12)}
    assert got["result"]["epsilon"] == pytest.approx(ask("rdp", "--sigma", 2.4, "--delta", "1e-5")["result"]["epsilon"], rel=1e-9)


def test_different_neighbours_do_not_compose(tmp_path, cli):
    for name in ("poisson", "without-replacement"):
        text = cli("subsample", "--scheme", name, "--sampling-rate", "0.1", "--sigma", "3", "--json").stdout
        (tmp_path / name).write_text(text)
    done = cli("convert", tmp_path / "poisson", tmp_path / "without-replacement", "--delta", "1e-5")
    assert done.returncode == 2 and "neighbouring" in done.stderr


def test_a_curve_from_json_is_a_base_mechanism(ask):
    orders = list(range(2, 65))
    curve = json.dumps({"kind": "rdp", "alpha": orders, "rdp": [a / 8 for a in orders]})
    got = ask("subsample", "-", "--scheme", "without-replacement", "--sampling-rate", "0.01", "--alpha", "8", stdin=curve)
    plain = ask("subsample", "--scheme", "without-replacement", "--sampling-rate", "0.01", "--sigma", "2", "--alpha", "8", "--bound", "wor-rdp")
    assert got["result"]["rdp"] == pytest.approx(plain["result"]["rdp"], rel=1e-9)
    assert got["guarantee"]["kind"] == "rdp"


def test_amplified_point_composes_in_a_pipe(ask, cli):
    point = cli("subsample", "--sampling-rate", "0.01", "--epsilon", "1", "--delta", "1e-6", "--json").stdout
    got = ask("convert", "-", "--steps", "100", "--delta", "1e-5", stdin=point)
    assert 0 < got["result"]["epsilon"] < 100 * 0.0171


def test_closed_pipe_is_silent():
    done = subprocess.run(["bash", "-c", f"set -o pipefail; {SCRIPT} rdp --sigma 1 --delta 1e-5 --json | true; echo ${{PIPESTATUS[0]}}"],
                          capture_output=True, text=True)
    assert done.stderr == "" and done.stdout.strip() in ("0", "141")


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no /dev/full on this system")
def test_full_disk_is_one_line():
    with open("/dev/full", "w") as full:
        done = subprocess.run([SCRIPT, *RDP], stdout=full, stderr=subprocess.PIPE, text=True)
    assert done.returncode != 0 and done.stderr.count("\n") == 1 and "space" in done.stderr


# --- errors ---------------------------------------------------------------------------------------------------------

BAD = [
    ("rdp --sigma 0 --delta 1e-5", "--sigma", 2), ("rdp --sigma nan --delta 1e-5", "--sigma", 2), ("rdp --sigma inf --delta 1e-5", "--sigma", 2),
    ("rdp --sigma x --delta 1e-5", "--sigma", 2), ("rdp --sigma 1e400 --delta 1e-5", "--sigma", 2), ("rdp --sigma 1 --delta 1e-400", "--delta", 2),
    ("rdp --sigma 1 --delta 1", "--delta", 2), ("rdp --sigma 1 --delta -1", "--delta", 2), ("rdp --sigma 1 --epsilon -1", "--epsilon", 2),
    ("rdp --sigma 1 --alpha 1", "--alpha", 2), ("rdp --sigma 1 --alpha 1e11", "--alpha", 2), ("rdp --sigma 1 --steps 0 --delta .1", "--steps", 2),
    ("rdp --sigma 1 --steps 1.5 --delta .1", "--steps", 2), ("rdp --sigma 1 --sensitivity 0 --delta .1", "--sensitivity", 2),
    ("rdp --mechanism laplace --scale -1 --delta 0", "--scale", 2), ("rdp --mechanism gauss --sigma 1 --delta .1", "did you mean gaussian", 2),
    ("rdp --mechanism randomized-response --probability 1 --delta 0", "--probability", 2), ("rdp --sigma 1", "--delta", 2),
    ("rdp --delta 1e-5", "--sigma", 2), ("rdp --sigma 1 --scale 2 --delta .1", "--scale", 2), ("rdp --sigma 1 --delta .1 --epsilon 1", "--solve", 2),
    ("rdp --sigma 1 --delta .1 --alpha 2", "--alpha", 2), ("rdp --sigma 1 --epsilon 1 --delta .1 --solve sigma", "--solve", 2),
    ("rdp --epsilon 1 --delta .1 --solve sgma", "did you mean sigma", 2), ("rdp --epsilon 1 --solve sigma", "--solve", 2),
    ("rdp --epsilon 1 --delta 0 --solve sigma", "--delta", 3), ("rdp --sigma 1 --noise-multiplier 2 --delta .1", "--sigma", 2),
    ("rdp --sigma 0.01 --epsilon 1 --delta 1e-5 --solve steps", "--solve", 3), ("rdp --sigma 1 --delta 1e-5 --digits 5", "--digits", 2),
    ("rdp --sigma 1 --delta 1e-5 --format xml", "--format", 2), ("rdp --sigma", "--sigma", 2), ("rdp --sigma 1 --delta 1e-5 extra", "extra", 2),
    ("rdp --sgma 1", "did you mean --sigma", 2), ("rpd", "did you mean rdp", 2), ("rdp --sigma 1 --delta 1e-5 --json --format csv", "--format", 2),
    ("subsample --sigma 1 --delta 1e-5", "--sampling-rate", 2), ("subsample --sampling-rate 2 --sigma 1 --delta 1e-5", "--sampling-rate", 2),
    ("subsample --sampling-rate .1 --n 5 --batch-size 1 --sigma 1 --delta 1e-5", "--sampling-rate", 2),
    ("subsample --n 5 --sigma 1 --delta 1e-5", "--batch-size", 2), ("subsample --n 5 --batch-size 6 --sigma 1 --delta 1e-5", "--batch-size", 2),
    ("subsample --sampling-rate .1 --epochs 1 --steps 2 --sigma 1 --delta 1e-5", "--steps", 2),
    ("subsample --sampling-rate .1 --max-weight .1 --sigma 1 --delta 1e-5", "--max-weight", 2),
    ("subsample --scheme weighted --sigma 1 --delta 1e-5", "--max-weight", 2),
    ("subsample --scheme without-replacement --adjacency add-remove --sampling-rate .1 --sigma 1 --delta 1e-5", "--adjacency", 2),
    ("subsample --scheme without-replacement --sampling-rate .1 --sigma 1 --alpha 2.5 --bound wor-rdp", "--alpha", 2),
    ("subsample --sampling-rate .1 --epsilon 1 --delta .1 --steps 3", "--steps", 2),
    ("convert --delta 1e-5", "--from", 2), ("convert --from gdp --delta 1e-5", "--mu", 2), ("convert --from rdp --alpha 2,3 --rdp 1,2,3 --delta .1", "--rdp", 2),
    ("convert --from gdp --mu 1", "--delta", 2), ("convert --from dp --epsilon 1 --delta 1e-5", "--target-delta", 2),
    ("convert --from dp --epsilon 1 --delta 1e-5 --to gdp", "--delta", 2), ("convert --from dp --epsilon 1 --delta 1e-5 --to rdp --alpha 2", "converse", 2),
    ("convert --from outcomes --p .5,.5 --q .5,.6 --delta .1", "--q", 2), ("convert --from outcomes --p .5,.5 --q 1 --delta .1", "--q", 2),
    ("convert --from outcomes --p 1,0 --q .5,.5 --delta 0", "--delta", 3), ("convert --from gdp --mu 1 --to rdp --delta .1", "--to", 2),
    ("convert --from gdp --mu 1 --rho 2 --delta .1", "--rho", 2), ("convert nosuchfile --delta .1", "nosuchfile", 2), ("convert / --delta .1", "/", 2),
    ("convert - - --delta .1", "--input", 2),
    ("rdp --sigma 5e-324 --delta 1e-5", "--sigma", 3), ("rdp --sigma 1 --sensitivity 1e300 --delta 1e-5", "--sensitivity", 3),
    ("rdp --sigma 5e-324 --alpha 2", "--sigma", 3), ("rdp --mechanism laplace --scale 1e-320 --delta 1e-5", "--scale", 3),
    ("subsample --sigma 5e-324 --sampling-rate .1 --delta 1e-5", "--sigma", 3), ("convert --from gdp --mu 1e300 --delta 1e-5", "--mu", 3),
    ("subsample --sigma 1 --sensitivity 1e300 --sampling-rate .1 --delta 1e-5", "--sensitivity", 3),
    ("convert --from dp --epsilon 1e308 --delta 0 --steps 10 --target-delta 1e-5", "--epsilon", 3),
    ("convert --from rdp --alpha 2 --rdp 1e308 --steps 1e10 --delta 1e-5", "--steps", 3),
    ("rdp --sigma 1 --sigma 2 --delta 1e-5", "--sigma: given 2 times", 2), ("subsample --delta 1e-5 --sampling-rate .1 --sigma 1 -d 1e-6", "--delta", 2),
    ("rdp --sigma 0.01 --epsilon 1 --delta 1e-5 --solve steps", "epsilon = 5425.51 (", 3),  # 5425.504…: rounded up
    ("rdp --epsilon 1e-16 --delta 1e-300 --steps 1e15 --solve sigma", "--solve", 3),
    ("rdp --sigma 1 --json --digits 20", "--digits", 2), ("rdp --sigma 1 --json --bound foo", "--bound", 2), ("rdp --sigma 1 --json --orders 2", "--orders", 2),
    ("rdp --mechanism laplace --noise-multiplier 2 --delta 1e-5", "--noise-multiplier", 2), ("rdp --noise-multiplier 0 --delta .1", "--noise-multiplier", 2),
    ("convert --from gdp --mu 1", "--to tv", 2), ("convert --from dp --epsilon 1 --delta 0", "--to tv", 2),
    ("rdp --sigma 1 --steps 9007199254740993 --delta 1e-5", "2^53", 2), ("rdp --sigma 1 --delta 1e-400", "below the least positive double", 2),
    ("subsample --mechanism laplace --scale 1 --sampling-rate .1 --alpha 2", "--alpha", 2), ("rdp --sigma 1 --alpha 2 --bound gaussian-exact", "--alpha", 2),
]


@pytest.mark.parametrize("line, says, code", BAD, ids=lambda x: x if isinstance(x, str) else "")
def test_bad_input_is_one_line(line, says, code, cli):
    done = cli(*line.split())
    assert (done.returncode, done.stdout) == (code, ""), done.stderr
    assert done.stderr.count("\n") == 1 and says in done.stderr and "Traceback" not in done.stderr and "fault of dpcalc" not in done.stderr


def test_errors_as_json(cli):
    done = cli("rdp", "--sigma", "1", "--delta", "2", "--json")
    error = json.loads(done.stderr)["error"]
    assert (done.stdout, done.returncode) == ("", 2)
    assert error["code"] == "out-of-range" and error["option"] == "--delta" and "2 is not >= 0, < 1" in error["message"]
    assert json.loads(cli("rdp", "--sgma", "1", "--json").stderr)["error"]["code"] == "unknown-option"


FOREIGN = [  # guarantees that are nearly right: which key, and what is allowed
    ('{"kind": "mechanisms", "mechanisms": [{"name": "laplace", "scale": -1}]}', "mechanisms.0.scale: -1 is not > 0", 2),
    ('{"kind": "mechanisms", "mechanisms": [{"name": "laplac", "scale": 1}]}', '"laplac" is not one of', 2),
    ('{"kind": "mechanisms", "mechanisms": [{"scale": 1}]}', "has no name", 2), ('{"kind": "mechanisms", "mechanisms": [3]}', "3 is not an object", 2),
    ('{"kind": "mechanisms", "mechanisms": 3}', "3 is not a list", 2), ('{"kind": "mechanisms", "mechanisms": []}', "the list is empty", 2),
    ('{"kind": "mechanisms", "mechanisms": [{"name": "laplace", "scale": 1, "count": 1.5}]}', "mechanisms.0.count: 1.5 is not a whole number", 2),
    ('{"kind": "mechanisms", "mechanisms": [{"name": "laplace", "scale": 1, "colour": 3}]}', "mechanisms.0.colour: no such key", 2),
    ('{"kind": "mechanisms", "mechanisms": [{"name": "laplace", "scale": 1, "sampling": {"scheme": "x", "rate": 1}}]}', '"x" is not one of', 2),
    ('{"kind": "gdp", "mu": true}', "mu: true is not a number", 2), ('{"kind": "gdp", "mu": "1"}', 'mu: "1" is not a number', 2), ('{"kind": "gdp"}', "mu: missing", 2),
    ('{"kind": "dp", "epsilon": true, "delta": 0}', "epsilon: true is not a number", 2), ('{"kind": "dp", "epsilon": 1, "delta": NaN}', "NaN is no JSON number", 2),
    ('{"kind": "rdp", "alpha": [2], "rdp": [Infinity]}', "Infinity is no JSON number", 2), ('{"kind": "rdp", "alpha": [2], "rdp": [1e999]}', "not a finite number", 2),
    ('{"kind": "rdp", "alpha": [2], "rdp": [1, 2]}', "differ in length", 2), ('{"kind": "x"}', '"x" is not one of', 2), ('{"kind": "tv", "tv": 0.1}', "no ε holds at δ = 1e-05", 3),
    ('{"kind": "dp", "epsilon": 1, "delta": 1e-400}', "delta: 1e-400 is not a finite number, or below", 2),
    ('{"kind": "gdp", "mu": 1e300}', "--input", 3), ('{"kind": "mechanisms", "mechanisms": [{"name": "laplace", "scale": 1e-320}]}', "--input", 3),
    ('{"kind": "mechanisms", "mechanisms": [{"name": "gaussian", "noise_multiplier": 1e-320}]}', "--input", 3),
]


@pytest.mark.parametrize("text, says, code", FOREIGN, ids=[x[0] for x in FOREIGN])
def test_a_nearly_right_guarantee_is_told_what_is_wrong(text, says, code, cli):
    done = cli("convert", "-", "--delta", "1e-5", stdin=text)
    assert (done.returncode, done.stdout) == (code, ""), done.stderr
    assert done.stderr.count("\n") == 1 and says in done.stderr and "fault of dpcalc" not in done.stderr and "Input should" not in done.stderr


def test_a_given_delta_is_shown_as_it_is(cli):
    assert cli("rdp", "--sigma", "1", "--delta", "0.9999999999999999").stdout.startswith("ε = 0 at δ = 0.9999999999999999 ")


JUNK = ["", " \n", "{", "[]", "null", "17", '"text"', "{}", '{"kind": "x"}', '{"kind": "rdp"}', '{"kind": "rdp", "alpha": [2], "rdp": [-1]}',
        '{"kind": "rdp", "alpha": [2, 3], "rdp": [1]}', '{"kind": "rdp", "alpha": [1], "rdp": [1]}', '{"kind": "gdp", "mu": NaN}',
        '{"kind": "dp", "epsilon": 1e999, "delta": 0}', '{"kind": "mechanisms", "mechanisms": []}', '{"schema": "dpcalc/v9", "guarantee": {}}',
        '{"schema": "dpcalc/v1"}', '{"kind": "mechanisms", "mechanisms": [{"name": "gaussian", "noise_multiplier": 0}]}',
        '{"kind": "mechanisms", "mechanisms": [{"name": "magic"}]}', "[" * 100_000, '{"kind": "gdp", "mu": ' + "9" * 5000 + "}", "\ufeff{}", "\x00"]


@pytest.mark.parametrize("text", JUNK, ids=range(len(JUNK)))
def test_foreign_json_on_stdin(text, cli):
    done = cli("convert", "-", "--delta", "1e-5", stdin=text)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.count("\n") == 1 and "fault of dpcalc" not in done.stderr


def test_not_utf8(tmp_path, cli):
    (tmp_path / "x").write_bytes(b"\xff\xfe{}")
    assert "UTF-8" in cli("convert", tmp_path / "x", "--delta", ".1").stderr


def test_unreachable_budget_says_the_best(cli):
    done = cli("rdp", "--sigma", "0.01", "--epsilon", "1", "--delta", "1e-5", "--solve", "steps")
    assert done.returncode == 3 and "best reachable" in done.stderr


def test_poisson_batches_for_replaced_records(ask):
    """Analysed as without replacement, and handed on as that: the clipped sum changes by twice the clipping norm."""
    line = ("subsample", "--sampling-rate", ".01", "--sigma", "1", "--sensitivity", "2", "--steps", "100", "--delta", "1e-6")
    replaced, plain = ask(*line, "--adjacency", "replace-one"), ask(*line, "--scheme", "without-replacement", "--bound", "wor-profile")
    assert replaced["adjacency"] == "replace-one" and replaced["bound"] == "wor-profile"
    assert replaced["result"]["epsilon"] == plain["result"]["epsilon"]
    back = ask("convert", "-", "--delta", "1e-6", stdin=json.dumps(replaced))
    assert back["result"]["epsilon"] == pytest.approx(replaced["result"]["epsilon"], rel=2e-3) and back["adjacency"] == "replace-one"


def test_digits_leave_out_what_is_composed_numerically(ask):
    rows = ask("subsample", "--sampling-rate", ".01", "--sigma", "1", "--steps", "100", "--delta", "1e-6", "--digits", "20")["bounds"]
    assert "digits" not in rows[0] and rows[0]["name"] == "poisson-profile" and all("digits" in r for r in rows[1:])


@pytest.mark.parametrize("line,key", [(("--delta", "1e-5"), "epsilon"), (("--epsilon", "3"), "delta")])
def test_digits_of_the_optimal_conversion(line, key, ask):
    row = ask("rdp", "--sigma", "1", *line, "--bound", "rdp-optimal", "--digits", "25")["bounds"][0]
    assert 0 <= row[key] / float(row["digits"][key]) - 1 < 2e-9
