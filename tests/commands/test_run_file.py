"""--run: the description of a training run from TOML or JSON, and options beside it."""

import json
import time
import tomllib

import pytest
from compare_runs import compare

from dpcalc.accounting.cautions import of_records
from dpcalc.commands import run_file
from dpcalc.commands.compare import COMMAND
from dpcalc.core.errors import DpcalcError
from dpcalc.core.validate import validate
from dpcalc.output.answer import record

TOML = """# a run
n = 1000
batches = "full"
steps = 500
sigma = "1/50"
clipping-norm = 1
delta = 1e-5
"""


def test_files_say_the_same_as_options(tmp_path, cli):
    toml, js = tmp_path / "run.toml", tmp_path / "run.json"
    toml.write_text(TOML)
    js.write_text(json.dumps(tomllib.loads(TOML)))
    options = ["--n", "1000", "--batches", "full", "--steps", "500", "--sigma", ".02", "--clipping-norm", "1",
               "--delta", "1e-5"]
    expected = cli("compare", *options, "--json").stdout
    for path in (toml, js):
        answer = of_records(COMMAND.answer(validate(COMMAND, {"run": str(path)})), ())
        assert record(answer) == json.loads(expected)
    assert cli("compare", "--run", "-", "--json", stdin=js.read_text()).stdout == expected
    swept = cli("compare", "--run", "-", "--steps", "5, 500", "-q", stdin=TOML).stdout.split()
    assert float(swept[1]) == json.loads(expected)["result"]["epsilon"] > float(swept[0])


def test_options_override_the_file(tmp_path):
    path = tmp_path / "run.toml"
    path.write_text(TOML)

    def by_file(**said):
        return COMMAND.answer(validate(COMMAND, {"run": str(path), **said}))

    base = {"n": "1000", "batches": "full", "clipping_norm": "1"}
    assert by_file(sigma=".5").value == compare(**base, steps="500", sigma=".5").value
    assert by_file(epochs="3").value == compare(**base, steps="3", sigma=".02").value
    assert by_file(noise_multiplier="9").value == compare(**base, steps="500", noise_multiplier="9").value
    assert by_file(epsilon="2").value == compare(**base, steps="500", sigma=".02", epsilon="2").value
    path.write_text(TOML.replace('sigma = "1/50"', 'solve = "sigma"\nepsilon = 2'))
    assert by_file(delta="1e-7").value == compare(**base, steps="500", epsilon="2", delta="1e-7", solve="sigma").value
    assert by_file(sigma=".5", delta="1e-7").value == compare(**base, steps="500", sigma=".5", delta="1e-7").value
    path.write_text(TOML)
    assert by_file(epsilon="2", solve="sigma").value == compare(**base, steps="500", epsilon="2", delta="1e-5",
                                                                solve="sigma").value


@pytest.mark.parametrize("text, code, words", [
    ("batchsize = 3\n", "unknown-key", ["batchsize", "did you mean batch_size"]),
    ("format = 'json'\n", "unknown-key", ["format"]),
    ("n = true\n", "not-a-number", ["True"]),
    ("n = [1, 2]\n", "not-a-number", ["[1, 2]"]),
    ("n = -3\n", "out-of-range", ["-3", "run.toml"]),
    ("batches = 'shufled'\n", "unknown-value", ["is not one of", "run.toml"]),
    ("batch_size = 3\nbatch-size = 3\n", "contradictory", ["twice"]),
    ("n = 5 5\n", "bad-toml", ["neither"]),
    ("", "bad-toml", ["is empty"]),
    ('{"n": 5,}', "bad-json", ["JSON", "line 1"]),
    ('{"n": 5, "n": 6}', "bad-json", ["twice"]),
    ('{"n": {"n": 5}}', "not-a-number", ["n"]),
    ("{" * 100_000, "bad-json", ["JSON"]),
    ("\xff", "bad-toml", ["neither"]),
])
def test_bad_files_are_told_in_one_line(tmp_path, text, code, words):
    path = tmp_path / "run.toml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(DpcalcError) as caught:
        COMMAND.answer(validate(COMMAND, {"run": str(path), "delta": "1e-5"}))
    assert caught.value.code == code and "\n" not in caught.value.line()
    assert all(word in caught.value.line() for word in words), caught.value.line()


def test_a_file_that_is_not_there_or_not_text(tmp_path):
    (tmp_path / "binary").write_bytes(b"\xff\xfe\x00\x01")
    for name in ("missing.toml", "binary", "."):
        with pytest.raises(DpcalcError) as caught:
            run_file.read(str(tmp_path / name))
        assert caught.value.code == "unreadable" and caught.value.option == "--run"


@pytest.mark.parametrize("key", [".".join(["a"] * 20_000), ".".join(["1"] * 20_000), "[" + " . ".join(['"a"'] * 20_000)])
def test_keys_of_many_parts_are_refused_before_they_take_gigabytes(tmp_path, key):
    (tmp_path / "run.toml").write_text(f"n = 1000\n{key} = 1\n")
    start = time.process_time()
    with pytest.raises(DpcalcError, match="line 2 has more than 50 dots that are no decimal points"):
        compare(run=str(tmp_path / "run.toml"))
    assert time.process_time() - start < 2  # seconds: parsing takes 20 and 1.6 GB
