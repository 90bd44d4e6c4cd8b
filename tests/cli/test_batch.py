"""--batch as real processes: one answer a line, in order, at once, in little memory, and whatever comes in on stdin."""

import contextlib
import json
import os
import resource
import signal
import subprocess
import sys
import threading
import time
from functools import partial

import jsonschema
import pytest
from conftest import SCRIPT, slow, spread
from hypothesis import given, settings
from hypothesis import strategies as st

from dpcalc import DpcalcError, answer, answer_lines
from dpcalc.cli.batch import LONGEST
from dpcalc.core import quantities as q

LAPLACE = ("rdp", "--mechanism", "laplace", "--delta", "1e-5", "--bound", "laplace-exact")


def batch(*args, stdin, code=0, **settings):
    data = stdin if isinstance(stdin, bytes) else "\n".join(stdin).encode()
    done = subprocess.run([SCRIPT, *args, "--batch"], input=data, capture_output=True, timeout=60, **settings)
    assert done.returncode == code, done.stderr
    return done


def records(*args, stdin, code=0):
    done = batch(*args, stdin=stdin, code=code)
    assert done.stderr == b"" and (not done.stdout or done.stdout.endswith(b"\n"))
    return [json.loads(line) for line in done.stdout.splitlines()]


def lines(command, stdin, **defaults):
    """The same without a process."""
    return [json.loads(line) for line in answer_lines(stdin, command, **defaults)]


def test_a_line_is_the_answer_of_the_command(ask):
    got = records("rdp", stdin=['{"sigma": 1, "delta": 1e-5}', '{"mechanism": "laplace", "scale": "1/2", "alpha": 8}',
                                '{"epsilon": 1, "delta": 1e-5, "solve": "sigma"}'])
    assert got == [ask("rdp", "--sigma", 1, "--delta", "1e-5"),
                   ask("rdp", "--mechanism", "laplace", "--scale", "1/2", "--alpha", 8),
                   ask("rdp", "--epsilon", 1, "--delta", "1e-5", "--solve", "sigma")]


def test_options_beside_it_are_defaults_that_a_line_replaces_or_takes_back():
    first, second, third, fourth = lines("subsample", [
        '{"sigma": 1}', '{"sigma": 1, "sampling-rate": 0.02}', '{"sigma": 1, "delta": null, "epsilon": 1}',
        '{"sigma": 1, "epsilon": 1}'],
        sampling_rate="0.01", steps=10, bound="poisson-rdp", delta="1e-5")
    assert first["parameters"]["sampling_rate"] == 0.01 and second["parameters"]["sampling_rate"] == 0.02
    assert first["result"]["epsilon"] < second["result"]["epsilon"]
    assert third["parameters"]["epsilon"] == 1 and "delta" not in third["parameters"] and third["result"]["delta"] < 1
    assert fourth["error"]["code"] == "contradictory" and fourth["error"]["line"] == 4


BAD = [  # a line, what is wrong, and the option to blame
    ("x", "Expecting value", None), ("[]", "not a JSON object", None), ("null", "not a JSON object", None),
       ("{", "not one JSON object", None),
    ("{}{}", "Extra data", None), ('{"sigma": NaN}', "NaN is not a JSON number", None),
       ('{"sigma": -Infinity}', "not a JSON number", None),
    ("[" * 100_000, "nested too deep", None), ('{"sigma": ' + "[" * 100_000, "nested too deep", None),
    ('{"steps": ' + "9" * 5000 + "}", "a number with too many digits", None),
       ('{"steps": 1' + "0" * 400 + ', "sigma": 1}', "40 digits", "--steps"),
    ('{"sigma": 1e400}', "not a finite number", "--sigma"),
       ('{"delta": 1e-400, "sigma": 1}', "below the least positive double", "--delta"),
    ('{"sigma": 1, "delta": 0.000e-500, "epsilon": 2}', "nothing left to compute", "--epsilon"),
    ('{"sigma": true}', "true is not a number", "--sigma"), ('{"sigma": [1]}', "a list is not a number", "--sigma"),
    ('{"sigma": {}}', "an object is not a number", "--sigma"), ('{"sigma": ""}', "not a finite number", "--sigma"),
    ('{"sigma": "1,2"}', "not a finite number", "--sigma"), ('{"sigma": 0}', "0 is not > 0", "--sigma"),
       ('{"steps": 1.5}', "whole", "--steps"),
    ('{"sigma": 1, "delta": 0.1, "orders": []}', "the list is empty", "--orders"),
       ('{"orders": {}}', "an object is not a number", "--orders"),
    ('{"id": ' + "[" * 900 + "]" * 900 + "}", "a text, a number or a boolean", "id"),
       ('{"sigma": ' + "[" * 900 + "]" * 900 + "}", "a list is not", "--sigma"),
    ('{"error": {"message": ' + "[" * 900 + "]" * 900 + "}}", "is not a number", "--error"),
       ('{"error": {}}', "is not a number", "--error"),
    ('{"mechanism": 3}', "3 is not one of gaussian", "--mechanism"),
       ('{"mechanism": "gausian"}', "did you mean gaussian?", "--mechanism"),
    ('{"bound": 3, "sigma": 1}', "not a name", "--bound"), ('{"solve": {}, "sigma": 1}', "not a name", "--solve"),
    ('{"sgma": 1}', "did you mean sigma?", "--sgma"), ('{"format": "csv"}', "no such option", "--format"),
       ('{"quiet": 1}', "no such option", "--quiet"),
    ('{"noise-multiplier": 1, "noise_multiplier": 1}', "is given twice", "--noise-multiplier"),
       ('{"sigma": 1, "sigma": 2}', "appears twice", None),
    ('{"id": [], "sigma": 1}', "a text, a number or a boolean", "id"),
       ('{"input": {"kind": "gdp", "mu": 1}}', "reads no guarantee", "--input"),
    ('{"sigma": "' + "1" * 100_000 + '"}', "longer than 200", "--sigma"),
       ('{"mechanism": "' + "g" * 100_000 + '"}', "is not one of", "--mechanism"),
    ('{"sigma": 1, "' + "k" * 100_000 + '": 1}', "no such option", None),
       ('{"sigma": 1, "delta": 1}', "1 is not ≥ 0 and < 1", "--delta"),
    (b"\xff\xfe", "not UTF-8", None), (b"\x00", "not one JSON object", None),
       (b'{"sigma": "\x00"}', "not one JSON object", None),
    (b"x" * (LONGEST + 1), "more than 1000000 bytes", None),
       (b" " * 3 * LONGEST + b"{}", "more than 1000000 bytes", None),
]


def test_every_bad_line_is_told_in_its_place_and_the_rest_runs():
    good = '{"sigma": 1, "delta": 1e-5}'
    stdin = [x if isinstance(x, bytes) else x.encode() for bad, _, _ in BAD for x in (good, bad)]
    got = records("rdp", stdin=b"\n".join(stdin), code=1)
    assert len(got) == 2 * len(BAD) and len({json.dumps(r) for r in got[::2]}) == 1 and got[0]["result"]["epsilon"] > 4
    for k, (record, (bad, says, option)) in enumerate(zip(got[1::2], BAD, strict=True), 1):
        error = record["error"]
        assert says in error["message"] and error["line"] == 2 * k and list(record) == ["error"], (bad[:40], error)
        assert option is None or error["option"] == option, (bad[:40], error)
        assert error["code"] != "internal" and len(json.dumps(record)) < 400 + len(", ".join(q.MECHANISM.choices))


def test_whole_numbers_and_zeros_of_json_are_numbers():
    got = lines("rdp", ['{"mechanism": "laplace", "scale": 2, "delta": 0.0}',
                        '{"mechanism": "laplace", "scale": 2, "delta": 0e9}',
                        '{"sigma": 50, "steps": 1e3, "alpha": 2.0}'])
    assert [r["result"].get("epsilon") for r in got[:2]] == [0.5, 0.5] and got[2]["result"]["steps"] == 1000


def test_empty_lines_are_skipped_and_counted_and_the_last_needs_no_end():
    stdin = b'\xef\xbb\xbf{"sigma": 1}\r\n\n  \r\n{"sigma": -1}\n\n{"sigma": 2}'
    first, second, third = records("rdp", "--delta", "1e-5", stdin=stdin, code=1)
    assert second["error"]["line"] == 4 and third["parameters"]["sigma"] == 2 and first["parameters"]["sigma"] == 1
    assert records("rdp", stdin=b"\n\n") == [] == lines("rdp", [])


def test_an_id_is_handed_on():
    ids = [7, "ä\ud800", True, None, 1.5]
    got = lines("rdp", [json.dumps({"id": x, "sigma": k}) for k, x in enumerate(ids)], delta=1e-5)
    assert [r["id"] for r in got] == ids and "error" in got[0] and got[0]["error"]["line"] == 1
    assert "id" not in lines("rdp", ['{"sigma": 1}'], delta=1e-5)[0]


def test_quiet_prints_the_headline_and_keeps_the_places():
    done = batch(*LAPLACE, "-q", stdin=['{"scale": 2}', '{"scale": 0}', '{"scale": 4}'], code=1)
    one, none, two = done.stdout.decode().splitlines()
    assert (float(one), none) == (answer("rdp", mechanism="laplace", scale=2, delta=1e-5).value,
                                  "") and float(two) < float(one)
    assert done.stderr.decode() == "dpcalc rdp: line 2: --scale: 0 is not > 0 (v: scale of the Laplace noise)\n"


@spread("args,says", [
    (("--format", "markdown"), "--format"), (("--explain",), "--explain"), (("--sigma", "1,2"), "--sigma"),
    (("--sigma", "0"), "--sigma"),
    (("--sigma", "x"), "--sigma"), (("--mechanism", "x"), "--mechanism")])
def test_options_that_fit_no_line_are_refused_at_once(args, says):
    done = batch("rdp", *args, stdin=["{}"], code=2)
    assert done.stdout == b"" and says in done.stderr.decode() and done.stderr.count(b"\n") == 1


@pytest.mark.parametrize("line, option", [("convert -", "--input"), ("convert --input -", "--input"),
                                          ("burn-in --schedule -", "--schedule")])
def test_standard_input_is_the_batch_and_nothing_else(line, option, cli):
    done = cli(*line.split(), "--batch", stdin="{}")
    assert done.returncode == 2 and option in done.stderr


def test_a_line_names_no_file(tmp_path):
    (tmp_path / "levels").write_text("secret")
    for command, line in (("online-noise", {"sigmas": f"@{tmp_path}/levels"}),
                          ("burn-in", {"schedule": f"{tmp_path}/levels"})):
        error = lines(command, [json.dumps(line)])[0]["error"]
        assert error["code"] == "refused" and "secret" not in error["message"]


@pytest.mark.parametrize("source", [("--batch",), ("--batch", "-"), ("--batch=-",), ("--batch", "FILE"),
                                    ("--batch=FILE",)], ids=" ".join)
@pytest.mark.parametrize("after", [("--delta", "1e-5", "-q"), ("-q", "-d", "1e-5")], ids=" ".join)
def test_the_batch_is_a_file_or_standard_input(tmp_path, cli, source, after):
    questions = '{"sigma": 1}\n{"sigma": 2}\n'
    (tmp_path / "questions").write_text(questions)
    words = [word.replace("FILE", str(tmp_path / "questions")) for word in source]
    stdin = questions if words == list(source) else ""
    done = cli("rdp", *words, *after, stdin=stdin)
    assert [float(x) for x in done.stdout.split()] == [answer("rdp", sigma=s, delta=1e-5).value for s in (1, 2)]
    assert cli("rdp", *after, *words, stdin=stdin).stdout == done.stdout


def test_a_file_leaves_standard_input_to_a_guarantee(tmp_path, cli):
    (tmp_path / "questions.jsonl").write_text('{"delta": 1e-5}\n{"delta": 1e-6}\n')
    done = cli("convert", "-", "--batch", tmp_path / "questions.jsonl", "-q", stdin='{"kind": "gdp", "mu": 1}')
    assert [float(x) for x in done.stdout.split()] == pytest.approx(
        [answer("convert", from_="gdp", mu=1, delta=delta).value for delta in (1e-5, 1e-6)], rel=1e-9)


@pytest.mark.parametrize("name,says", [("absent.csv", "No such file"), (".", "directory"), ("a\nb", "No such file")])
def test_a_file_that_cannot_be_read_is_one_line(tmp_path, cli, name, says):
    done = cli("rdp", "--delta", "1e-5", "--batch", tmp_path / name)
    assert (done.returncode, done.stdout) == (2, "") and done.stderr.count("\n") == 1
    assert done.stderr.startswith("dpcalc rdp: --batch: ") and says in done.stderr


def test_certify_proves_the_headline_of_every_line(ask):
    pytest.importorskip("flint")
    record = ask("rdp", "--delta", "1e-5", "--certify", "--batch", stdin='{"sigma": 1}')
    assert record["certified"]["bits"] > 50


def test_json_switches_and_a_file_are_defaults_too(tmp_path):
    (tmp_path / "a").write_text('{"kind": "gdp", "mu": 1}')
    first, second = records("convert", tmp_path / "a", "--json",
                            stdin=['{"delta": 1e-5}', '{"delta": 1e-5, "input": {"kind": "gdp", "mu": 2}}'])
    assert first["result"]["epsilon"] == pytest.approx(answer("convert", from_="gdp", mu=1, delta=1e-5).value,
                                                       rel=1e-12)
    assert second["result"]["epsilon"] > 2 * first["result"]["epsilon"]


@pytest.mark.parametrize("is_bash", [False, slow(True)])
def test_batches_form_pipes_and_hand_errors_on(is_bash, cli):
    stages = ["rdp", "subsample --sampling-rate .01 --steps 1000", "convert --delta 1e-5 --bound rdp-improved"]
    text = "\n".join(['{"sigma": 2}', '{"sigma": 0, "id": "b"}', '{"sigma": 3, "id": "c"}'])
    if is_bash:
        line = " | ".join(f"{SCRIPT} {stage} --batch" for stage in stages)
        done = subprocess.run(["bash", "-c", line], input=text, capture_output=True, text=True)
        assert done.returncode == 1 and done.stderr == ""
        text = done.stdout
    else:
        for stage in stages:
            done = cli(*stage.split(), "--batch", stdin=text)
            assert done.returncode == 1 and done.stderr == ""
            text = done.stdout
    first, second, third = map(json.loads, text.splitlines())
    direct = answer("subsample", sigma=2, sampling_rate=0.01, steps=1000, delta=1e-5, bound="poisson-rdp")
    assert first["result"]["epsilon"] == pytest.approx(direct.value,
                                                       rel=1e-9) and direct.value > third["result"]["epsilon"]
    assert second["id"] == "b" and second["error"]["option"] == "--sigma" and third["id"] == "c"


def test_several_inputs_of_a_line_compose():
    given = [answer("rdp", sigma=3).record(), {"kind": "gdp", "mu": 0.25}]
    first, second = lines("convert", [json.dumps({"inputs": given}), json.dumps({"input": given[1:]})], delta="1e-5")
    assert [first["guarantee"]["mu"], second["guarantee"]["mu"]] == pytest.approx([5 / 12, 0.25])


@pytest.mark.parametrize("line,says", [
    ('{"kind": "gdp", "mu": ' + "[" * 900 + "]" * 900 + "}", "mu: a list is not a number"),
    ('{"kind": "gdp", "mu": 1, "delta": 0.1}', "delta: there is no such key"),
    ('{"schema": "dpcalc/v9"}', "is not dpcalc/v1"), ('{"input": 3}', "is not a dpcalc result or guarantee"),
    ('{"from": "rdp", "alpha": [], "rdp": []}', "the list is empty"),
    ('{"inputs": [{"kind": "gdp", "mu": 1}, {"kind": "gdp", "mu": -1}]}', "input 2: mu: -1 is not ≥ 0"),
    ('{"input": []}', "say what you have")])
def test_bad_inputs_of_a_line(line, says):
    (text,) = answer_lines([line], "convert", delta=1e-5)
    assert says in text and '"internal"' not in text


def test_a_conjecture_warns_once():
    args = ("shuffle-pnsgd", "--lipschitz", "1", "--n", "1000", "--tau", ".5", "--delta", "1e-4", "--bound",
            "without-replacement-conjecture")
    done = batch(*args, "--bound", "rdp-improved", stdin=['{"sigma": 4}', '{"sigma": 5}', '{"sigma": 6}'])
    assert done.stderr.decode().count("not a guarantee") == 1 and done.stdout.count(b"\n") == 3


def test_a_batch_imports_no_more_than_its_lines_need():
    probe = ("import sys; sys.argv = ['dpcalc', 'rdp', '--batch', '-d', '1e-5']; from dpcalc.__main__ import "
             "main\ntry: main()\n"
             "except SystemExit: print(*sorted(sys.modules), file=sys.stderr)")
    done = subprocess.run([sys.executable, "-c", probe], input='{"sigma": 1}', capture_output=True, text=True)
    assert done.stdout.startswith('{"schema"') and not {"numpy", "rich", "scipy", "mpmath"} & set(done.stderr.split())


def test_a_line_fits_the_schema():
    from dpcalc.commands.subsample import COMMAND
    from dpcalc.output.schema import of_command

    got = lines("subsample",
                ['{"sigma": 1, "sampling_rate": 0.01, "steps": 1, "id": "x", "bound": ["poisson-rdp"], "delta": 1e-5}'])
    jsonschema.validate(got[0], of_command(COMMAND))


# --- streams ---------------------------------------------------------------------------------------------------------


def test_a_slow_pipe_is_answered_line_by_line():
    process = subprocess.Popen([SCRIPT, *LAPLACE, "--batch"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    for scale in (1, 2, 3):
        process.stdin.write(json.dumps({"scale": scale}).encode() + b"\n")
        process.stdin.flush()
        assert json.loads(process.stdout.readline())["parameters"]["scale"] == scale  # before the next line is sent
    process.stdin.write(b'{"scale": 4}')  # no end of line yet: nothing to answer
    process.stdin.close()
    assert json.loads(process.stdout.read())["parameters"]["scale"] == 4
    assert process.wait(30) == 0


def test_a_slow_line_does_not_keep_the_ones_before_it():
    long = b'{"sigma": 1, "sampling_rate": 0.01, "steps": 100000, "delta": 1e-6, "precision": 1e-5}\n'
    process = subprocess.Popen([SCRIPT, "subsample", "--batch"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    process.stdin.write(b'{"sigma": 1, "sampling_rate": 0.01, "steps": 1, "alpha": 8}\n' + 50 * long)
    process.stdin.flush()
    assert json.loads(process.stdout.readline())["result"]["alpha"] == 8  # the others take seconds
    process.kill()
    process.communicate()


@pytest.mark.parametrize("answered", [0, 1, 100, slow(500)])
def test_an_interrupt_leaves_whole_lines_and_exit_code_130(answered):
    process = subprocess.Popen([SCRIPT, *LAPLACE, "--batch"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE)
    got = []
    if answered:
        threading.Thread(target=feed_until_closed, args=(process.stdin,), daemon=True).start()
    else:  # it waits for more
        process.stdin.write(b'{"scale": 1, "id": 1}\n')
        process.stdin.flush()
    for _ in range(max(answered, 1)):
        got.append(process.stdout.readline())
    process.send_signal(signal.SIGINT)
    got += process.stdout.readlines()
    assert process.wait(30) == 130 and process.stderr.read() == b""
    assert all(line.endswith(b"\n") for line in got)
    assert [json.loads(line)["id"] for line in got] == list(range(1, len(got) + 1))


def test_a_second_interrupt_ends_a_write_that_nobody_reads():
    process = subprocess.Popen([SCRIPT, *LAPLACE, "--batch"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    threading.Thread(target=feed_until_closed, args=(process.stdin,), daemon=True).start()
    process.stdout.readline()
    time.sleep(1)  # the pipe fills, and stays full
    process.send_signal(signal.SIGINT)
    time.sleep(0.3)
    process.send_signal(signal.SIGINT)
    assert process.wait(30) in (130, -signal.SIGINT)  # the second may meet it on its way out


def feed_until_closed(pipe):
    with contextlib.suppress(BrokenPipeError):
        for k in range(1, 1_000_000):
            pipe.write(json.dumps({"scale": k, "id": k}).encode() + b"\n")
            pipe.flush()


def test_a_closed_pipe_is_silent():
    line = f"for k in $(seq 3000); do echo '{{\"scale\": 1}}'; done | {SCRIPT} {' '.join(LAPLACE)} --batch | head -n 1"
    done = subprocess.run(["bash", "-c", line], capture_output=True, text=True)
    assert done.stderr == "" and done.stdout.count("\n") == 1


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no /dev/full on this system")
def test_a_full_disk_is_one_line():
    with open("/dev/full", "w") as full:
        done = subprocess.run([SCRIPT, *LAPLACE, "--batch"], input=b'{"scale": 1}\n', stdout=full,
                              stderr=subprocess.PIPE)
    assert done.returncode == 2 and done.stderr.count(b"\n") == 1 and b"space" in done.stderr


def test_a_closed_stdin_is_one_line():
    done = subprocess.run(["bash", "-c", f"{SCRIPT} rdp --batch <&-"], capture_output=True, text=True)
    assert done.returncode == 2 and done.stderr.count("\n") == 1 and "standard input" in done.stderr


def test_output_is_utf8_whatever_the_locale():
    done = batch("rdp", "--delta", "1e-5", stdin=['{"sigma": 1, "id": "é"}'],
                 env={**os.environ, "LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONIOENCODING": "ascii"})
    assert json.loads(done.stdout.decode())["id"] == "é"


def peak(lines):
    """Peak memory in MB of a batch of that many different lines."""
    source = "for k in range(" + str(lines) + "): print('{\"scale\": %r, \"id\": %d}' % (1 + k / 1e5, k))"
    feeder = subprocess.Popen([sys.executable, "-c", source], stdout=subprocess.PIPE)
    process = subprocess.Popen([SCRIPT, *LAPLACE, "--batch"], stdin=feeder.stdout, stdout=subprocess.PIPE)
    feeder.stdout.close()
    count = sum(1 for _ in process.stdout)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    feeder.wait()
    assert (count, process.returncode) == (lines, 0)
    return usage.ru_maxrss / 1024


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(resource, "getrusage"), reason="no memory usage on this system")
def test_memory_does_not_grow_with_the_number_of_lines():
    few, many = peak(500), peak(4_000)
    assert many < few + 2, (few, many)  # answers of 1.5 KB that stay in memory would be 5 MB


# --- the same in Python ----------------------------------------------------------------------------------------------


def test_answer_lines_is_lazy_and_the_same():
    stdin = ['{"scale": 1}', "x", "", '{"scale": 2}']
    printed = batch(*LAPLACE, stdin=stdin, code=1).stdout.decode().splitlines()
    assert list(answer_lines(stdin, "rdp", mechanism="laplace", delta=1e-5, bound="laplace-exact")) == printed

    def endless():
        while True:
            yield '{"scale": 1}'

    assert next(answer_lines(endless(), "rdp", mechanism="laplace", delta=0))
    with pytest.raises(DpcalcError, match="--sigma: 0"):
        next(answer_lines([], "rdp", sigma=0))


FEW = 'aé\0\n"\\{[=١\u2028\ud800\U0001f600'  # all characters are a table that takes seconds


def values(text):
    """Any JSON of any text."""
    return st.recursive(st.none() | st.booleans() | st.floats() | st.integers() | text(max_size=8),
                        lambda x: st.lists(x, max_size=3) |
                        st.dictionaries(text(max_size=5), x, max_size=3), max_leaves=5)


NAMES = st.sampled_from(["sigma", "delta", "epsilon", "alpha", "mechanism", "scale", "steps", "orders", "bound", "solve",
                        "rdp", "id", "digits",
                        "noise-multiplier", "sensitivity", "input", "kind", "schema", "error"])


@pytest.mark.parametrize("examples, text", [(6, partial(st.text, FEW)), slow(100, st.text)], ids=["few", "many"])
def test_any_json_gives_one_line_and_no_fault(examples, text):
    questions = st.dictionaries(NAMES | text(max_size=6),
                                values(text) | st.sampled_from([1, 0.5, "gaussian", "sigma", 1e-5, "1/3"]), max_size=6)

    @settings(max_examples=examples, deadline=None)
    @given(questions | values(text))
    def check(data):
        (line,) = answer_lines([json.dumps(data)], "rdp")
        record = json.loads(line, parse_constant=lambda x: pytest.fail(f"{x} in JSON"))
        assert "\n" not in line and ("schema" in record or set(record["error"]) >= {"code", "message", "line"})
        assert record.get("error", {}).get("code") != "internal", record

    check()


@settings(max_examples=100, deadline=None)
@given(st.binary(max_size=60).filter(lambda b: b.strip(b" \t\r\n\x0b\x0c")))
def test_any_bytes_give_one_line(data):
    (line,) = answer_lines([data.replace(b"\n", b" ")], "rdp")
    assert json.loads(line)["error"]["code"] in ("bad-json", "missing", "unknown-option")
