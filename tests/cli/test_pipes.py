"""Pipelines of real processes, broken pipes and full disks, and the same stream under engines that others made."""

import json
import os
import subprocess
import sys
from pathlib import Path

import calling
import pytest
from calling import call
from conftest import SCRIPT, needs, slow

from dpcalc import answer, answer_lines

ENV = {**os.environ, "PATH": f"{SCRIPT.parent}{os.pathsep}{os.environ['PATH']}"}


def shell(line, stdin="", code=0):
    done = subprocess.run(["bash", "-o", "pipefail", "-c", line], input=stdin, capture_output=True, text=True, env=ENV,
                          timeout=120)
    assert done.returncode == code, done.stderr
    return done.stdout


@pytest.mark.slow
@needs("jq")
def test_dpcalc_dpcalc_jq():
    out = shell("dpcalc rdp --sigma 2 --json | dpcalc subsample - --sampling-rate 0.01 --steps 1000 --json | "
                "dpcalc convert - --delta 1e-5 --bound rdp-improved --json | jq -r '[.result.epsilon, .bound, .status] "
                "| @tsv'")
    epsilon, bound, status = out.rstrip("\n").split("\t")
    assert float(epsilon) == pytest.approx(answer("subsample", sigma=2, sampling_rate=0.01, steps=1000, delta=1e-5,
                                                  bound="poisson-rdp").value, rel=1e-9)
    assert (bound, status) == ("rdp-improved", "proven")


@needs("jq")
def test_jq_makes_the_questions_and_reads_the_answers():
    out = shell("jq -nc 'range(1; 5) | {sigma: ., id: \"run \\(.)\"}' | dpcalc rdp --alpha 2 --batch | jq -c '[.id, "
                ".result.rdp]'")
    assert [json.loads(line) for line in out.splitlines()] == [[f"run {k}", pytest.approx(1 / k**2)]
                                                               for k in range(1, 5)]


@pytest.mark.parametrize("run", [lambda line: calling.shell(line).stdout, slow(shell)], ids=["in one process", "in bash"])
def test_pipe_through_three_commands(run):
    piped = json.loads(run("dpcalc rdp --sigma 2 --json | dpcalc subsample - --sampling-rate 0.01 --steps 100 --json | "
                           "dpcalc convert - --delta 1e-5 --json"))
    direct = answer("subsample", sampling_rate=0.01, sigma=2, steps=100, delta=1e-5)
    assert piped["result"]["epsilon"] == pytest.approx(direct.value, rel=1e-6)
    assert piped["adjacency"] == "add-remove"


@pytest.mark.parametrize(("line", "epsilon"), [
    ("rdp --mechanism laplace --scale 1 --json", 1.0),
    ("rdp --mechanism randomized-response --probability .75 --json", 1.0986122886681098),
    ("subsample --mechanism laplace --scale 1 --sampling-rate .1 --steps 3 --json", 0.475695),
    ("convert --from outcomes --p .7,.2,.1 --q .2,.7,.1 --steps 20 --delta .01 --json", 25.0552593),
    ("rdp --mechanism laplace --scale 1,2,4 --json", 1.75),
    ("rdp --mechanism laplace --scale 1,2,4 --format jsonl", 1.75),
])
def test_pure_guarantees_pipe(line, epsilon, cli):
    done = cli("convert", "-", "--delta", "0", "-q", stdin=cli(*line.split()).stdout)
    assert done.returncode == 0 and epsilon <= float(done.stdout) * (1
                                                                     + 1e-12) and float(done.stdout) == pytest.approx(epsilon, rel=2e-6)


def test_zcdp_pipes(cli, ask):
    once = cli("convert", "--from", "zcdp", "--rho", ".125", "--delta", "1e-6", "--json").stdout
    found = ask("convert", "-", "--steps", "4", "--delta", "1e-6", stdin=once)
    assert found["guarantee"] == {"kind": "zcdp", "rho": 0.5} and found["result"]["epsilon"] == pytest.approx(5.22153,
                                                                                                              abs=1e-5)


TWO = ['{"kind": "dp", "epsilon": 1, "delta": 0}', '{"kind": "dp", "epsilon": 2, "delta": 0}']


@pytest.mark.parametrize("text", ["\n".join(TWO), "\n\n".join(TWO) + "\n", f"[{', '.join(TWO)}]",
                                  f"[{TWO[0]},\n {TWO[1]}]", "\r\n".join(TWO)])
def test_an_array_or_lines_of_guarantees_are_composed(text, cli, tmp_path):
    (tmp_path / "both").write_text(text)
    assert [cli("convert", source, "--delta", "0", "-q", stdin=text).stdout
            for source in ("-", tmp_path / "both")] == ["3.0\n"] * 2
    assert float(cli("tv", "-", "-q", stdin=text).stdout) == float(cli("convert", "-", "--to", "tv", "-q",
                                                                       stdin=text).stdout)


@pytest.mark.parametrize(("text", "says"), [
    ("[]", "is an empty array"), (f"[{TWO[0]}, 3]", "guarantee 2 is not a dpcalc result"),
    (f"[[{TWO[0]}]]", "an array of 1 values"),
    (TWO[0] + "\n{bad", "line 2 is not one JSON object"), ('{"kind":\n"dp",', "(line 2, column 6)"),
    (f"[{TWO[0]}", "is not one JSON object"),
    (TWO[0] + '\n{"error": {"code": "x", "message": "y"}}', "guarantee 2 is not a dpcalc result"),
])
def test_what_is_no_list_of_guarantees_is_one_line(text, says, cli):
    done = cli("convert", "-", "--delta", "0", stdin=text)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1) and says in done.stderr


@pytest.mark.parametrize("line", ["rdp --sigma 1 --delta 1e-5 --json", "--version"])
def test_closed_pipe_is_silent(line):
    done = subprocess.run(["bash", "-c", f"set -o pipefail; {SCRIPT} {line} | true; echo ${{PIPESTATUS[0]}}"],
                          capture_output=True, text=True)
    assert done.stderr == "" and done.stdout.strip() in ("0", "141")


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no /dev/full on this system")
@pytest.mark.parametrize("line", ["rdp --sigma 1 --delta 1e-5", "--version", "-V", "--help"])
def test_full_disk_is_one_line(line):
    with open("/dev/full", "w") as full:
        done = subprocess.run([SCRIPT, *line.split()], stdout=full, stderr=subprocess.PIPE, text=True)
    assert done.returncode == 2 and done.stderr.count("\n") == 1 and "cannot write the answer: No space" in done.stderr


@pytest.mark.parametrize("line", ["rdp --sigma 1 --delta 1e-5", "rdp --sigma 1,2 --delta 1e-5 --json", "bounds",
                                  "rdp --delta 1e-5 --batch", "--help",
                                  "--version", "-V"])
def test_closed_output_is_one_line(line):
    done = subprocess.run(["bash", "-c", f"{SCRIPT} {line} >&-"], input='{"sigma": 1}', capture_output=True, text=True)
    assert done.returncode == 2 and done.stderr.count("\n") == 1
    assert "cannot write the answer: standard output is closed" in done.stderr and "fault" not in done.stderr


def test_with_errors_closed_the_answer_is_all_there_is():
    line = f"{SCRIPT} shuffle-pnsgd --sigma 1 --lipschitz 1 --diameter 1 --smoothness 1 --learning-rate .1 --n 9 --epsilon .1 --json"
    done, both = subprocess.run(["bash", "-c", line + " 2>&-"], capture_output=True, text=True), call(line.split()[1:])
    assert "warning" in both.stderr and done.stdout == both.stdout and json.loads(done.stdout)["status"] == "proven"


def test_with_errors_closed_an_error_is_its_exit_code():
    assert subprocess.run(["bash", "-c", f"{SCRIPT} rdp --sigma -1 --delta 1e-5 2>&-"], capture_output=True,
                          text=True).returncode == 2


QUESTIONS = [json.dumps({"scale": 1 + k / 7, "id": k}) for k in range(200)]


@pytest.mark.slow
@needs("parallel")
def test_gnu_parallel_gives_the_same_stream():
    stdin = "\n".join(QUESTIONS) + "\n"
    line = "dpcalc rdp --mechanism laplace --delta 0 --batch"
    assert shell(f"parallel --will-cite -j 2 -k --pipe -N 120 '{line}'", stdin) == shell(line, stdin)


@pytest.mark.slow
def test_a_dask_bag_gives_the_same_stream(tmp_path):
    bag = pytest.importorskip("dask.bag")
    (tmp_path / "questions.jsonl").write_text("\n".join(QUESTIONS) + "\n")
    answers = bag.read_text(tmp_path / "questions.jsonl", blocksize=2000).map_partitions(answer_lines, "rdp",
                                                                                         mechanism="laplace", delta=0)
    files = answers.to_textfiles(str(tmp_path / "answers-*.jsonl"), scheduler="processes", num_workers=2)
    assert len(files) > 2
    written = [line for file in files for line in Path(file).read_text(encoding="utf-8").splitlines()]
    assert written == list(answer_lines(QUESTIONS, "rdp", mechanism="laplace", delta=0))


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no device that is always full")
def test_a_warning_that_cannot_be_written_does_not_take_the_answers_with_it():
    line = "rdp --sigma 1e-300,1 --delta 1e-5 --bound gaussian-exact -q"
    assert "1e-300" in call(line.split()).stderr
    with open("/dev/full", "wb", buffering=0) as full:
        done = subprocess.run([sys.executable, "-m", "dpcalc", *line.split()], stdout=subprocess.PIPE, stderr=full,
                              text=True)
    assert done.returncode == 1 and done.stdout.split()[-1].startswith("4.37717809568")


@pytest.mark.parametrize("command", ["convert", "ledger"])
def test_results_one_after_another_are_composed(command):
    """What two commands print in the brackets of a shell: (dpcalc rdp … --json; dpcalc rdp … --json)."""
    one, two = (call(["rdp", "--sigma", sigma, "--json"]).stdout for sigma in ("2", "3"))
    composed = call([command, "-", "--delta", "1e-5", "-q"], stdin=one + two)
    assert composed.returncode == 0, composed.stderr
    mu = (1 / 4 + 1 / 9) ** 0.5
    same = call(["convert", "--from", "gdp", "--mu", repr(mu), "--delta", "1e-5", "-q"])
    assert float(composed.stdout) == pytest.approx(float(same.stdout), rel=1e-9)
