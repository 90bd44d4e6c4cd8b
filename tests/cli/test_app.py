"""The installed console script, as people and programs meet it."""

import json
import os
import subprocess
import sys

import jsonschema
import pytest
from known import ENVELOPE

from dpcalc import __version__
from dpcalc.commands import COMMANDS

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


@pytest.mark.parametrize("argv", [RDP, (*RUN, "--sigma", "1.1", "--delta", "1e-5"),
                                  ("convert", "--from", "gdp", "--mu", "1", "--to", "tv"),
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
    assert ask(*RDP)["parameters"] == {"mechanism": "gaussian", "sensitivity": 1.0, "steps": 1, "sigma": 1.0,
                                       "delta": 1e-5}


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
    assert latex.startswith("% needs \\usepackage{booktabs}\n\\begin{tabular}") and r"$\varepsilon$" in latex and "ε" not in latex


def test_table_in_a_pipe_has_no_colour_and_no_cut_digits(cli):
    text = cli(*RDP, env={**os.environ, "COLUMNS": "30"}).stdout
    assert text.startswith("ε = 4.37718 at δ = 1e-05\n(gaussian-exact)\n")
    assert "\x1b" not in text and "…" not in text and "4.72839" in text
    assert max(map(len, text.splitlines())) <= 40  # no narrower, as a number stands on one line with its name


def test_shown_numbers_are_rounded_to_the_safe_side(cli):
    assert cli("rdp", "--sigma", "3", "--alpha", "2").stdout.startswith("ε(α) = 0.111112 ")
    assert cli("rdp", "--epsilon", "1", "--delta", "1e-5", "--solve", "sigma").stdout.startswith("σ = 3.73064 ")
    down = cli("subsample", "--steps", "100", "--sigma", "1", "--epsilon", "1", "--delta", "1e-5", "--solve",
               "sampling-rate")
    exact = float(cli("subsample", "--steps", "100", "--sigma", "1", "--epsilon", "1", "--delta", "1e-5", "--solve",
                      "sampling-rate",
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
    ("subsample", "--sampling-rate", "0.01", "--steps", "1", "--sigma", "1", "--alpha", "4"),
    ("convert", "--from", "dp", "--epsilon", "1", "--delta", "1e-6", "--to", "tv"),
    ("convert", "--from", "dp", "--epsilon", "0.1", "--delta", "1e-6", "--steps", "20", "--target-epsilon", "1")],
                         ids=" ".join)
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


def test_a_given_delta_is_shown_with_six_digits_rounded_up(cli):
    for delta, shown in (("1/3", "0.333334"), ("1e-7", "1e-07"), ("0.9999999999999999", "1")):
        assert f" at δ = {shown} (" in cli("rdp", "--sigma", "1", "--delta", delta).stdout.partition("\n")[0]


def test_poisson_batches_for_replaced_records(ask):
    """Handed on as what they are: far less is lost than by batches of a fixed size, with the same noise multiplier."""
    line = ("subsample", "--sampling-rate", ".01", "--noise-multiplier", ".5", "--steps", "100", "--delta", "1e-6")
    replaced = ask(*line, "--adjacency", "replace-one")
    plain = ask(*line, "--scheme", "without-replacement")
    assert replaced["adjacency"] == "replace-one" and replaced["bound"] == "poisson-replace-one-profile"
    assert replaced["result"]["epsilon"] < plain["result"]["epsilon"] / 2
    back = ask("convert", "-", "--delta", "1e-6", stdin=json.dumps(replaced))
    assert back["result"]["epsilon"] == pytest.approx(replaced["result"]["epsilon"],
                                                      rel=2e-3) and back["adjacency"] == "replace-one"


def test_digits_leave_out_what_is_composed_numerically(ask):
    rows = ask("subsample", "--sampling-rate", ".01", "--sigma", "1", "--steps", "2", "--delta", "1e-6", "--digits",
               "20")["bounds"]
    assert "digits" not in rows[0] and rows[0]["name"] == "poisson-profile" and all("digits" in r for r in rows[1:])


@pytest.mark.parametrize("line,key", [(("--delta", "1e-5"), "epsilon"), (("--epsilon", "3"), "delta")])
def test_digits_of_the_optimal_conversion(line, key, ask):
    row = ask("rdp", "--sigma", "1", *line, "--bound", "rdp-optimal", "--digits", "25")["bounds"][0]
    assert 0 <= row[key] / float(row["digits"][key]) - 1 < 2e-9
