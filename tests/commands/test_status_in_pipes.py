"""What is not proven stays so in a pipe: a number without a proof never comes out of the next command as a
guarantee."""

import json

import jsonschema
import pytest
from conftest import slow

from dpcalc import DpcalcError, answer, answer_lines

_STREAM = ("online-noise --lipschitz 10 --diameter 1 --smoothness .5 --decay 1.5 --c1 100 --c2 100 --index 100 "
           "--learning-rate .01 "
           "--epsilon 1")
_BURN_IN = ("burn-in --n 60000 --batch-size 128 --steps 1e6 --lipschitz 1 --smoothness 1 --learning-rate .05 "
            "--diameter 2 --sigma .1 "
            "--delta 1e-5 --bound")
UNPROVEN = [
    (f"{_BURN_IN} lower-bound", "lower", "lower-bound"),
    (f"{_BURN_IN} burn-in-as-published", "as-published", "burn-in-as-published"),
    ("shuffle-pnsgd --n 1000 --lipschitz 1 --sigma 4 --tau .5 --alpha 16 --bound without-replacement-conjecture",
     "conjecture",
     "without-replacement-conjecture"),
    (f"{_STREAM} --n inf", "limit", "online-contraction"),
    ("tv --mechanism laplace --scale 2 --bound tv-laplace-as-published", "as-published", "tv-laplace-as-published"),
]
READERS = ["convert - --delta 1e-5", "convert - --to tv", "tv -", "subsample - --sampling-rate .1 --alpha 2"]


@pytest.fixture(scope="module")
def results(cli):
    """The results of the lines: each is computed when it is first asked for."""
    class Results(dict):
        def __missing__(self, line):
            done = cli(*line.split(), "--json")
            assert not done.returncode, done
            self[line] = json.loads(done.stdout)
            return self[line]

    return Results()


@pytest.mark.parametrize("line, status, bound", [*(slow(*case) for case in UNPROVEN[:2]), *UNPROVEN[2:]])
def test_the_guarantee_carries_its_status_and_no_command_reads_it(line, status, bound, results, cli, tmp_path):
    result = results[line]
    assert (result["status"], result["guarantee"]["status"], result["guarantee"]["bound"]) == (status, status, bound)
    jsonschema.validate(result, json.loads(cli("schema").stdout))
    older = {**result, "guarantee": {k: v for k, v in result["guarantee"].items() if k not in ("status", "bound")}}
    for said in (result, result["guarantee"], older):
        for reader in READERS:
            done = cli(*reader.split(), stdin=json.dumps(said))
            assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1), reader
            assert status in done.stderr and bound in done.stderr and "only proven guarantees can be converted or composed" in done.stderr
    file, other = tmp_path / "a.json", tmp_path / "b.json"
    file.write_text(json.dumps(result))
    other.write_text('{"kind": "gdp", "mu": 1}')
    assert cli("convert", str(other), str(file), "--delta", "1e-5").returncode == 2


@pytest.mark.parametrize("line, status, bound", [slow(*UNPROVEN[0]), *UNPROVEN[1:]])
def test_nor_does_a_batch_or_the_python_api(line, status, bound, results, cli):
    result = results[line]
    lines = [json.dumps(result), json.dumps({"input": result["guarantee"]}), '{"kind": "gdp", "mu": 1}']
    done = cli("convert", "--delta", "1e-5", "--batch", stdin="\n".join(lines))
    found = [json.loads(x) for x in done.stdout.splitlines()]
    assert done.returncode == 1 and [("error" in x) for x in found] == [True, True, False]
    assert [json.loads(x) for x in answer_lines(lines, "convert", delta=1e-5)] == found
    for said in (result, result["guarantee"]):
        with pytest.raises(DpcalcError, match=f"{status}.*{bound}"):
            answer("convert", inputs=[said], delta=1e-5)
    command, options = line.split()[0], line.split()[1:]
    named = dict(zip([o[2:].replace("-", "_") for o in options[::2]], options[1::2], strict=True))
    with pytest.warns(UserWarning) as warned:
        found = answer(command, **named)
    assert any("not a guarantee" in str(warning.message) for warning in warned)
    with pytest.raises(DpcalcError, match=bound):
        answer("convert", inputs=[found], delta=1e-5)


def test_a_forged_record_is_not_verified(results, cli, ask):
    base = ask("convert", "-", "--delta", "1e-5", stdin='{"kind": "rdp", "alpha": [16], "rdp": [1]}')
    assert base["inputs"] == [{"kind": "rdp", "alpha": [16.0], "rdp": [1.0], "name": "standard input"}]
    forged = {**base, "inputs": [{**base["inputs"][0], "status": "conjecture", "bound": "x"}]}
    assert cli("verify", "-", "-q", stdin=json.dumps(base)).returncode == 0
    assert cli("verify", "-", "-q", stdin=json.dumps(forged)).returncode != 0


def test_what_is_proven_may_say_so(cli):
    for more in ({}, {"status": "proven"}, {"status": None}, {"status": "proven", "bound": "gdp-exact"}):
        for said in ({"kind": "gdp", "mu": 1, **more},
                     {"schema": "dpcalc/v1", "guarantee": {"kind": "gdp", "mu": 1}, **more}):
            done = cli("convert", "-", "--delta", "1e-5", "-q", stdin=json.dumps(said))
            assert float(done.stdout) == pytest.approx(4.37718, rel=1e-5)
    for wrong in (3, True, "sure", ["proven"]):
        assert cli("convert", "-", "--delta", "1e-5",
                   stdin=json.dumps({"kind": "gdp", "mu": 1, "status": wrong})).returncode == 2
        assert cli("convert", "-", "--delta", "1e-5",
                   stdin=json.dumps({"schema": "dpcalc/v1", "guarantee": {"kind": "gdp", "mu": 1},
                                     "status": wrong})).returncode == 2


def test_proven_results_carry_no_status_in_their_guarantee(ask):
    assert ask("rdp", "--sigma", "1", "--delta", "1e-5")["guarantee"].keys() == {"kind", "mechanisms"}


def test_verify_knows_the_status(results, cli):
    line = UNPROVEN[2][0]
    done = cli("verify", "-", stdin=json.dumps(results[line]))
    assert done.returncode == 0 and "belong" not in done.stdout
    bare = {**results[line],
            "guarantee": {"kind": "rdp", **{k: results[line]["guarantee"][k] for k in ("alpha", "rdp")}}}
    assert cli("verify", "-", "-q", stdin=json.dumps(bare)).returncode == 3
