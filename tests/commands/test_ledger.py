"""dpcalc ledger: it composes as convert does, solves for one "?", reads Opacus' state, and names the release in errors."""

import csv
import io
import json

import jsonschema
import pytest
from calling import call
from conftest import slow

from dpcalc import DpcalcError, answer, answer_lines
from dpcalc.core.errors import NoSolution
from dpcalc.verify.report import verify

DELTA = 1e-5
SPEC = """delta = 1e-5
epsilon = 3                      # optional: the budget
[[release]]
command = "subsample"
n = 50_000
batch-size = 1024
epochs = 10
noise-multiplier = 2
[[release]]
command = "rdp"
mechanism = "laplace"
scale = 20
"""
TRAINING = {"command": "subsample", "sampling-rate": 0.02, "noise_multiplier": 2, "steps": 500}
LAPLACE = {"command": "rdp", "mechanism": "laplace", "scale": 20}
GAUSSIAN = {"command": "rdp", "sigma": 7}
POINT = {"kind": "dp", "epsilon": 0.2, "delta": 1e-7}


def total(*releases, **options):
    return answer("ledger", file={"release": list(releases)}, **{"delta": DELTA, **options})


def by_command(release):
    return answer(release["command"], **{k.replace("-", "_"): x for k, x in release.items() if k != "command"})


# --- the total -------------------------------------------------------------------------------------------------------


def test_the_example_of_the_specification(tmp_path, monkeypatch):
    (tmp_path / "ledger.toml").write_text(SPEC)
    monkeypatch.chdir(tmp_path)
    done = call(["ledger", "ledger.toml", "--json"])
    found = json.loads(done.stdout)
    assert done.returncode == 0 and done.stderr == ""
    assert found["result"]["epsilon"] == pytest.approx(0.951809, abs=1e-6)
    assert found["result"]["left"] == pytest.approx(3 - 0.951809, abs=1e-6)
    assert [r["name"].split(":")[0] for r in found["releases"]] == ["subsample", "rdp"]
    page = call(["ledger", "ledger.toml"]).stdout
    assert page.startswith("ε = 0.951809 at δ = 1e-05 for 2 releases")
    assert "ε left of the budget 3 at δ = 1e-05: 2.04819" in page
    assert call(["ledger", "-"], stdin=SPEC).stdout == page
    assert float(call(["ledger", "ledger.toml", "-q"]).stdout) == found["result"]["epsilon"]


@pytest.mark.parametrize("releases", [(TRAINING, LAPLACE), (GAUSSIAN, GAUSSIAN), (LAPLACE, GAUSSIAN), (TRAINING,)],
                         ids=lambda releases: "+".join(r["command"] for r in releases))
def test_the_total_is_that_of_convert(releases):
    found = total(*releases)
    composed = answer("convert", inputs=[by_command(r) for r in releases], delta=DELTA)
    assert found.value == composed.value and found.bound == composed.bound
    assert found.record()["releases"][-1]["total_epsilon"] == composed.value
    again = answer("convert", inputs=[found], delta=DELTA)
    assert again.value == pytest.approx(composed.value, rel=2e-3)
    assert 0 < answer("tv", inputs=[found]).value < 1


def test_running_totals_rise_and_no_release_costs_more_than_the_total_after_it():
    found = total(TRAINING, LAPLACE, POINT, GAUSSIAN, epsilon=3).record()["releases"]
    totals = [r["total_epsilon"] for r in found]
    assert totals == sorted(totals) and found[0]["epsilon"] == totals[0]
    assert all(0 < r["epsilon"] <= r["total_epsilon"] for r in found)
    assert all(r["left"] == pytest.approx(3 - r["total_epsilon"], abs=1e-12) for r in found)
    for k in (1, 3):
        assert total(*(TRAINING, LAPLACE, POINT)[:k]).value == pytest.approx(totals[k - 1], rel=1e-3)


def test_pure_releases_add_up():
    found = total(LAPLACE, {**LAPLACE, "scale": 4}, {"kind": "dp", "epsilon": 0.7, "delta": 0}, delta=0)
    assert found.value == pytest.approx(1, abs=1e-15) and found.value >= 0.05 + 0.25 + 0.7 - 1e-15


@pytest.mark.parametrize("epsilons, budget", [((0.1,) * 10, 1), ((0.1, 0.9), 1), ((0.1,) * 3, 0.3),
                                              ((1.1, 2.2), 3.3), ((0.7, 0.1), 0.8)])
def test_pure_releases_add_up_as_the_decimals_that_were_given(epsilons, budget):
    """As doubles they were over the budget by 2.2e-16, with exit code 3."""
    releases = [{"kind": "dp", "epsilon": epsilon, "delta": 0} for epsilon in epsilons]
    ledger = {"delta": 0, "epsilon": budget, "release": releases}
    done = call(["ledger", "-", "--json"], stdin=json.dumps(ledger))
    found = json.loads(done.stdout)
    assert done.returncode == 0 and found["result"]["epsilon"] == budget and found["result"]["left"] == 0
    assert verify(found).holds
    over = call(["ledger", "-", "--json"], stdin=json.dumps({**ledger, "epsilon": budget * (1 - 3e-14)}))
    assert over.returncode == 3


@pytest.mark.parametrize("scales, budget", [((3, 3, 3), 1), ((6, 3, 2), 1), ((5, 10 / 3, 10), 0.6)])
def test_rounding_errors_of_quotients_are_within_a_budget(scales, budget):
    """Three times the ε of 1/3, rounded up, is 1.0000000000000002."""
    releases = [{"command": "rdp", "mechanism": "laplace", "scale": scale} for scale in scales]
    done = call(["ledger", "-"], stdin=json.dumps({"delta": 0, "epsilon": budget, "release": releases}))
    assert done.returncode == 0 and done.stdout.startswith(f"ε = {budget} ")


def test_deltas_add_up_as_decimals_too():
    releases = [{"kind": "dp", "epsilon": 0.1, "delta": 3e-8}] * 10
    found = total(*releases, delta=3e-7)
    assert found.value == 1.0 and found.bound == "composition-basic" and verify(found.record()).holds


def test_what_is_left_of_a_budget_is_a_decimal():
    releases = [{"kind": "dp", "epsilon": epsilon, "delta": 0} for epsilon in (0.1, 0.2, 0.6)]
    found = total(*releases, delta=0, epsilon=1).record()
    assert [release["left"] for release in found["releases"]] == [0.9, 0.7, 0.1]


def test_results_and_guarantees_stand_for_releases(tmp_path):
    """In files, in line, as several arguments, as inputs in Python."""
    each = [by_command(GAUSSIAN), by_command(LAPLACE)]
    expected = answer("convert", inputs=each, delta=DELTA).value
    (tmp_path / "sub").mkdir()
    for path, result in (("0.json", each[0]), ("sub/1.json", each[1])):
        (tmp_path / path).write_text(result.json())
    ledger = tmp_path / "l.toml"
    ledger.write_text('[[release]]\nfile = "0.json"\n[[release]]\nname = "counts"\nfile = "sub/1.json"\n')
    (tmp_path / "all.jsonl").write_text("\n".join(json.dumps(r.record()) for r in each))
    assert answer("ledger", file=ledger, delta=DELTA).value == expected
    files = [str(tmp_path / "0.json"), str(tmp_path / "sub" / "1.json")]
    assert answer("ledger", file=files, delta=DELTA).value == expected
    assert answer("ledger", file=tmp_path / "all.jsonl", delta=DELTA).value == expected
    assert answer("ledger", inputs=each, delta=DELTA).value == expected
    assert total(each[0].record(), each[1].guarantee).value == expected
    names = [r["name"] for r in answer("ledger", file=ledger, delta=DELTA).record()["releases"]]
    assert names == ["0.json", "counts"]


def test_the_command_line_overrides_the_file():
    file = {"delta": 1e-6, "epsilon": 1, "release": [GAUSSIAN]}
    found = answer("ledger", file=file, delta=DELTA, epsilon=2)
    assert found.value == total(GAUSSIAN).value and found.result["budget"] == 2
    assert answer("ledger", file=file).value > found.value


def test_the_state_of_opacus_is_the_same_run():
    run = answer("subsample", sampling_rate=0.01, noise_multiplier=1.1, steps=700)
    later = answer("subsample", sampling_rate=0.02, noise_multiplier=0.9, steps=50)
    both = answer("convert", inputs=[run, later], delta=DELTA).value
    for mechanism in ("rdp", "prv", "gdp"):
        state = {"history": [[1.1, 0.01, 700], [0.9, 0.02, 50]], "mechanism": mechanism}
        found = answer("ledger", file=state, delta=DELTA)
        assert found.value == pytest.approx(both, rel=1e-3) and found.adjacency == "add-remove"
    one = answer("ledger", file={"history": [[1.1, 0.01, 700]]}, delta=DELTA).value
    assert one == answer("convert", inputs=[run], delta=DELTA).value


# --- the budget ------------------------------------------------------------------------------------------------------


def test_a_total_over_the_budget_is_printed_with_exit_code_3(tmp_path):
    (tmp_path / "l.toml").write_text(SPEC)
    done = call(["ledger", str(tmp_path / "l.toml"), "--epsilon", "0.9"])
    assert done.returncode == 3 and done.stdout.startswith("ε = 0.951809 at δ")
    assert "Over the budget ε ≤ 0.9 at δ = 1e-05 by 0.0518089." in done.stdout
    assert "over the budget ε ≤ 0.9 by 0.0518089" in done.stderr
    done = call(["ledger", str(tmp_path / "l.toml"), "--epsilon", "0.9", "--json"])
    found = json.loads(done.stdout)["result"]
    assert done.returncode == 3 and found["left"] == 0 and found["over"] == pytest.approx(0.051809, abs=1e-6)


SOLVED = [
    slow((LAPLACE, {**TRAINING, "noise_multiplier": "?"}), "noise_multiplier", +1, {}),
    slow((TRAINING, {**GAUSSIAN, "sigma": "?"}), "sigma", +1, {}),
    ((GAUSSIAN, {**GAUSSIAN, "sigma": "?"}), "sigma", +1, {}),
    ((GAUSSIAN, {"kind": "gdp", "mu": "?"}), "mu", -1, {}),
    ((LAPLACE, {**LAPLACE, "scale": "?"}), "scale", +1, {"delta": 0}),
    ((GAUSSIAN, {**POINT, "epsilon": "?"}), "release_epsilon", -1, {}),
]


@pytest.mark.parametrize(("releases", "name", "direction", "options"), SOLVED, ids=lambda x: x if isinstance(x, str) else "")
def test_one_number_is_solved_for(releases, name, direction, options):
    """Written back it meets the budget, and 1 % less noise (or more loss) misses it."""
    found = total(*releases, epsilon=2, **options)
    assert found.solved == name.replace("_", "-")

    def written(x):
        return total(*({k: x if v == "?" else v for k, v in r.items()} for r in releases), **options).value

    assert 1.99 < written(found.value) <= 2 < written(found.value * (1 - direction / 100))
    assert found.record()["releases"][-1]["total_epsilon"] <= 2


@pytest.mark.slow
def test_a_count_is_solved_for():
    found = total(LAPLACE, {**TRAINING, "steps": "?"}, epsilon=1.5)
    steps = int(found.value)
    assert total(LAPLACE, {**TRAINING, "steps": steps}).value <= 1.5 < total(LAPLACE, {**TRAINING,
                                                                                       "steps": steps + 1}).value


@pytest.mark.parametrize(("releases", "says"), [
    (({**GAUSSIAN, "sigma": 0.5}, {**GAUSSIAN, "sigma": "?"}), "the other releases alone have ε = 9.9"),
    ((GAUSSIAN, {"kind": "tv", "tv": 0.1}, {**GAUSSIAN, "sigma": "?"}), "compose to 0.1"),
    ((LAPLACE, {"command": "subsample", "sampling_rate": "?", "sigma": 50, "steps": 1}), "every sampling rate from"),
])
def test_a_budget_that_nothing_or_everything_meets_has_no_solution(releases, says):
    with pytest.raises(NoSolution) as error:
        total(*releases, epsilon=1)
    assert says in str(error.value) and error.value.exit_code == 3


# --- what can be wrong -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("releases", "options", "says"), [
    ((GAUSSIAN, {"command": "rpd", "sigma": 1}), {}, "release 2: there is no calculator 'rpd'"),
    ((GAUSSIAN, {"command": "rdp", "sgima": 1}), {}, "--sgima: release 2 (rdp): rdp has no such option; did you mean si"),
    ((GAUSSIAN, {"command": "rdp", "sigma": -1, "name": "b"}), {}, "--sigma: release 2 (b): -1 is not > 0"),
    (({**GAUSSIAN, "sigma": "?"}, {**LAPLACE, "scale": "?"}), {"epsilon": 1},
     'release 1 (rdp) has "?" for sigma and release 2 (rdp) for scale'),
    (({**GAUSSIAN, "sigma": "?"},), {}, "--epsilon: needed for the"),
    (({**GAUSSIAN, "mechanism": "?"},), {"epsilon": 1}, 'mechanism cannot be "?"'),
    ((GAUSSIAN,), {"delta": None}, "--delta: needed: the δ of the total"),
    ((GAUSSIAN, {"file": "one.json"}), {}, "release 2: JSON in place of a file names no file"),
    ((GAUSSIAN, {"sigma": 1}), {}, 'release 2: command = "…", file = "…" or kind = "…" is needed'),
    ((GAUSSIAN, {"kind": "gdp", "mu": -1}), {}, "release 2: mu: -1 is not"),
    ((GAUSSIAN, {"command": "ledger", "file": "x"}), {}, "release 2: a ledger is no release"),
    (({"history": [[1, 0.1, 5], [0, 0.1, 5]]},), {}, "entry 2 of history: mechanisms.0.noise_multiplier: 0 is not > 0"),
    ((TRAINING, {"command": "subsample", "scheme": "without-replacement", "sampling_rate": 0.1, "steps": 1, "sigma": 1}), {},
     'or convert with adjacency = "replace-one" at the top of the file'),
    ((GAUSSIAN, {"command": "shuffle-pnsgd", "sigma": 1, "lipschitz": 1, "diameter": 1, "learning_rate": 0.25,
                 "smoothness": 0.5, "n": 1000}), {}, "for example delta = 1e-06"),
    ((), {}, "no release is given"),
    ((GAUSSIAN, {"schema": "?"}), {"epsilon": 1}, "release 2: schema '?' is not dpcalc/v1"),
    ((GAUSSIAN,), {"alpha": 2}, "--alpha: not for a ledger"),
    ((GAUSSIAN,), {"solve": "sigma"}, '--solve: not for a ledger; write "?"'),
])
def test_errors_name_the_release_and_the_way_out(releases, options, says):
    with pytest.raises(DpcalcError) as error:
        total(*releases, **options)
    assert says in str(error.value)


@pytest.mark.parametrize(("text", "says"), [
    ("delta = 1e-5\n[[release]]\ncommand = rdp\n", "(at line 3, column 11)"),
    ("delta = 1e-5\n[[release]]\nsigma = ?\n", '(at line 3, column 9); write "?" with quotes'),
    ('{"release": [{"kind": "gdp", "mu": 1}],\n "delta": }', "(line 2, column 11)"),
    ("", "is empty; give a [[release]] for each release"),
    ("delta = 1e-5\n", 'command = "…", file = "…" or kind = "…" is needed'),
    ("[[release]]\nfile = 'nowhere.json'\n", "nowhere.json': No such file"),
    ("x = " + "[" * 20_000, "is nested too deeply"),
    ("\n" + ".".join(["a"] * 20_000) + " = 1\n", "line 2 has more than 50 dots"),
    ("relase = 3\n", "did you mean release?"),
    ("epsilom = 3\n[[release]]\nkind = 'gdp'\nmu = 1\n", "did you mean epsilon?"),
    ("delta = 3\n[[release]]\nkind = 'gdp'\nmu = 1\n", "--delta: in the file: 3 is not"),
])
def test_a_file_with_a_mistake_is_one_sentence(tmp_path, text, says):
    (tmp_path / "l.toml").write_text(text)
    done = call(["ledger", str(tmp_path / "l.toml")])
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1) and says in done.stderr


def test_long_lists_of_decimals_are_no_long_keys(tmp_path):
    orders = ", ".join([*(f"{2 + k / 10}" for k in range(500)), "1.5e1", "2.50E+01"])
    (tmp_path / "l.toml").write_text(f"[[release]]\ncommand = 'rdp'\nsigma = 7\ndelta = 1e-6\norders = [{orders}]\n")
    assert answer("ledger", file=tmp_path / "l.toml", delta=DELTA).value > 0


def test_a_release_that_states_no_neighbours_is_bound_to_those_of_others():
    assert "the sensitivity of release 2 (rdp) must be that of add-remove neighbours" in total(TRAINING, LAPLACE).promises
    assert not any("neighbours" in promise for promise in total(LAPLACE, GAUSSIAN).promises)


def test_a_ledger_of_several_releases_says_that_they_are_fixed_beforehand():
    """Noise that is chosen in view of earlier outputs has a larger loss than its total."""
    fixed = "must be fixed before the first one runs"
    for found in (total(GAUSSIAN, LAPLACE), total(GAUSSIAN, {"kind": "gdp", "mu": "?"}, epsilon=3)):
        assert found.text().count(fixed) == " ".join(found.text("statement").split()).count(fixed) == 1
        assert sum(fixed in promise for promise in json.loads(found.json())["guarantee"]["promises"]) == 1
    assert fixed not in total(GAUSSIAN, epsilon=3).text()


def test_a_state_of_opacus_does_not_tell_how_batches_were_drawn():
    state = {"history": [[1.6, 1 / 49, 2450]], "mechanism": "prv"}
    text = " ".join(total(state).text().split())
    assert "poisson_sampling must have been on, which a state of Opacus does not tell" in text
    assert "batches must be Poisson samples" in text


def test_the_assumptions_of_a_release_are_promises_of_the_ledger_and_of_pipes():
    run = {"command": "noise-feedback", "curvature": 0.7, "learning-rate": 0.1, "sigma": 2, "steps": 6, "lipschitz": 1}
    with pytest.warns(UserWarning, match=r"sensitivity of release 2 \(rdp\) must hold for replace-one"):
        assert any("first iterate" in promise for promise in total(run, GAUSSIAN).promises)
    line = "noise-feedback --curvature .7 --learning-rate .1 --sigma 2 --steps 6 --lipschitz 1 --delta 1e-6 --json"
    piped = json.loads(call(["convert", "-", "--delta", "1e-5", "--json"], call(line.split()).stdout).stdout)
    assert any("first iterate" in promise for promise in piped["promises"])
    assert any("Poisson" in promise for promise in total({"command": "subsample", "n": 1000, "batch-size": 10,
                                                          "steps": 9, "noise-multiplier": 2}).promises)


def test_the_share_of_delta_of_a_release_is_its_own():
    run = {"command": "shuffle-pnsgd", "sigma": 1, "lipschitz": 1, "diameter": 1, "learning-rate": 0.25,
           "smoothness": 0.5, "n": 1000, "delta": 1e-6}
    with pytest.warns(UserWarning, match=r"guarantee of release 2 \(dp\) must hold for replace-one"):
        found = total({**run, "name": "last iterate"}, {"kind": "dp", "epsilon": 0.5, "delta": 1e-6})
    alone = by_command(run).value
    assert alone < found.value <= alone + 0.5


# --- formats ---------------------------------------------------------------------------------------------------------


def test_every_format_lists_the_releases():
    found = total(TRAINING, {**LAPLACE, "name": "counts, by age"}, epsilon=3)
    rows = list(csv.DictReader(io.StringIO(found.text("csv"))))
    assert [float(row["total_epsilon"]) for row in rows] == [r["total_epsilon"] for r in found.record()["releases"]]
    assert rows[1]["name"] == "counts, by age" and list(rows[0]) == ["name", "epsilon", "total_epsilon", "left", "share"]
    for form in ("tsv", "markdown", "latex", "table"):
        assert "counts, by age" in found.text(form)
    assert json.loads(found.text("jsonl"))["releases"] == found.record()["releases"]
    assert "counts, by age, alone ε = 0.04998" in " ".join(found.text("statement").split())
    assert "bound" not in found.text() and "rdp-optimal" in found.text(every_row=True)
    schema = json.loads(call(["schema", "ledger"]).stdout)
    jsonschema.validate(found.record(), schema)


def test_the_record_is_verified_and_a_changed_one_is_not():
    found = total(GAUSSIAN, {"kind": "gdp", "mu": 0.2}, epsilon=3)
    assert verify(json.loads(found.json())).holds
    solved = total(GAUSSIAN, {"kind": "gdp", "mu": "?"}, epsilon=3)
    assert verify(json.loads(solved.json())).holds
    changed = json.loads(found.json())
    changed["releases"][0]["epsilon"] /= 2
    assert not verify(changed).holds
    changed = json.loads(found.json())
    changed["result"]["epsilon"] *= 0.9
    assert not verify(changed).holds


def test_a_line_of_a_batch_holds_its_ledger_itself():
    lines = [{"file": {"release": [GAUSSIAN, {"kind": "gdp", "mu": 0.2}]}}, {"kind": "gdp", "mu": 0.2},
             {"file": "ledger.toml"}, {"file": ["ledger.toml"]}, {"file": {"release": [{"file": "one.json"}]}},
             {"file": {"release": [{"command": "compare", "run": "run.toml"}]}},
             {"file": json.dumps({"release": [{"file": "one.json"}]})},
             {"file": '{"kind": "gdp", "mu": 0.2}\n{"release": [{"file": "one.json"}]}'}]
    found = [json.loads(line) for line in answer_lines(map(json.dumps, lines), "ledger", delta=DELTA)]
    assert found[0]["result"]["epsilon"] == total(GAUSSIAN, {"kind": "gdp", "mu": 0.2}).value
    assert found[1]["result"]["epsilon"] == total({"kind": "gdp", "mu": 0.2}).value
    assert all("a line holds its data itself" in line["error"]["message"] for line in found[2:])


# --- disjoint parts of the data --------------------------------------------------------------------------------------


def parts(*each, **more):
    return {"parallel": [list(part) for part in each], **more}


def test_disjoint_parts_cost_the_worst_of_them():
    found = total(parts([{"sigma": 2}], [{"sigma": 3, "steps": 2}]), LAPLACE)
    assert found.value == pytest.approx(total({"command": "rdp", "sigma": 2}, LAPLACE).value, rel=1e-9)
    both = total(parts([{"sigma": 2}, {"name": "again", "sigma": 2}], [LAPLACE]))
    assert both.value == pytest.approx(total(parts([{"sigma": 2, "steps": 2}])).value, rel=1e-3)
    (one,) = both.record()["releases"]
    assert one["name"] == "2 disjoint parts" and one["parts"][0] == "rdp: sigma = 2; again"
    assert both.record()["promises"][0].startswith("noise, rates and steps of all releases")


def test_a_record_that_moves_to_another_part():
    file = {"release": [parts([{"sigma": 2}], [{"sigma": 2}])]}
    with pytest.warns(UserWarning, match="must hold for replace-one neighbours"):
        moved = answer("ledger", file={**file, "adjacency": "replace-one"}, delta=DELTA)
    assert moved.value == pytest.approx(answer("convert", from_="gdp", mu=0.5**0.5, delta=DELTA).value, rel=1e-9)
    stated = {"release": [parts([{"sigma": 2, "adjacency": "add-remove"}], [{"sigma": 2}])], "adjacency": "replace-one"}
    found = answer("ledger", file=stated, delta=DELTA)  # a record that stays may change a sum by 2
    assert found.value == pytest.approx(answer("convert", from_="gdp", mu=1, delta=DELTA).value, rel=1e-9)
    assert found.notes[-1].startswith("converted to replace-one neighbours")


def test_a_number_of_a_part_is_found():
    found = total(parts([{"sigma": "?"}, LAPLACE], [{"sigma": 3}], name="regions"), GAUSSIAN, epsilon=2)
    given = total(parts([{"sigma": found.value}, LAPLACE], [{"sigma": 3}]), GAUSSIAN)
    assert 1.99 < given.value <= 2 and verify(found.record()).holds
    assert found.record()["releases"][0]["parts"][0].startswith("rdp: sigma = ")
    with pytest.raises(NoSolution, match=r"release 1 \(parallel\): no sigma gives ε ≤ 1"):
        total(parts([{"sigma": "?"}], [{"sigma": 2}]), epsilon=1)


def test_parts_in_files(tmp_path):
    (tmp_path / "one.json").write_text(by_command(GAUSSIAN).json())
    (tmp_path / "l.toml").write_text('delta = 1e-5\n[[release]]\nparallel = [[{file = "one.json"}], [{sigma = 9}]]\n')
    found = answer("ledger", file=tmp_path / "l.toml")
    assert found.value == pytest.approx(total(GAUSSIAN).value, rel=1e-9) and verify(found.record()).holds
    assert found.record()["releases"][0]["parts"][0] == "one.json"
    statement = call(["ledger", str(tmp_path / "l.toml"), "--format", "statement"]).stdout
    assert "2 disjoint parts of the data" in " ".join(statement.split()) and "by a property of the single record" in " ".join(
        statement.split())


@pytest.mark.parametrize("release, said", [
    ({"parallel": []}, "parallel is a list of parts, each a list of its releases"),
    ({"parallel": [{"sigma": 2}]}, "parallel is a list of parts, each a list of its releases"),
    ({"parallel": [[{"sigma": 2}], []]}, "parallel is a list of parts, each a list of its releases"),
    ({"parallel": [[3]]}, "part 1, release 1 is no object"), (parts([parts([{"sigma": 2}])]), "not divided again"),
    (parts([{"sigma": 2}], command="rdp"), "'command' does not stand beside parallel"),
    (parts([{"sgima": 2}]), "release 1, part 1, release 1 (rdp): rdp has no such option; did you mean sigma?"),
    (parts([{"command": "subsample", "n": 9, "sampling-rate": 0.1, "steps": 3, "noise-multiplier": 1}]),
     "n is a size of the part, which is not fixed"),
    (parts([{**TRAINING, "scheme": "without-replacement"}]), "use Poisson batches with a constant sampling-rate"),
    (parts([{"sigma": "?"}, {"sigma": "?"}]), "exactly one number can be solved for"),
    ({"paralel": [[{"sigma": 2}]]}, "did you mean parallel?"),
])
def test_mistakes_in_parts(release, said):
    with pytest.raises(DpcalcError) as raised:
        total(release, epsilon=3)
    assert said in raised.value.message and "\n" not in raised.value.message
