"""The command burn-in: its figures, schedules, words and errors."""

import json
from functools import cache

import pytest
from burn_in_runs import LINE, answer

from dpcalc.core.errors import DpcalcError

BURN_IN = ("burn-in-profile", "burn-in-rdp", "burn-in-contraction")


@cache
def rdp_after(steps):
    rows = {row.route.bound.name: row.result["rdp"]
            for row in answer(**{**LINE, "steps": repr(steps)}, alpha="4", bound=("burn-in-rdp", "composition")).rows}
    return rows["composition"], rows["burn-in-rdp"]


def test_figure_1_linear_then_flat():
    """Altschuler & Talwar, Figure 1: ε over T grows like T, then not at all; composition grows for ever."""
    early = [rdp_after(t) for t in (1e3, 1e4, 1e5)]
    assert [burn / early[0][1] for _, burn in early] == pytest.approx([1, 10, 100], rel=1e-9)
    assert [burn for _, burn in early] == [composed for composed, _ in early]
    late = [rdp_after(t) for t in (1e7, 1e9, 1e12)]
    assert len({burn for _, burn in late}) == 1
    assert [composed / late[0][0] for composed, _ in late] == pytest.approx([1, 1e2, 1e5], rel=1e-9)
    ladder = [rdp_after(round(10 ** (k / 4)))[1] for k in range(12, 33)]
    assert ladder == sorted(ladder)


@pytest.mark.slow
def test_json_and_sentence(ask, cli):
    line = ["burn-in", *(x for k, v in LINE.items() for x in ("--" + k.replace("_", "-"), v)), "--delta", "1e-5"]
    argv = [*line, "--bound", "burn-in-profile", "--bound", "lower-bound"]
    head, got = ask(*line), ask(*argv)
    assert head["bound"] == "burn-in-contraction" and head["result"]["epsilon"] < got["result"]["epsilon"] / 2
    r = got["result"]["burn_in_steps"]
    assert got["result"]["horizon"] == 2400000 and 1e6 < r < 2.4e6
    assert got["bounds"][0]["witness"]["r"] == r and 0 < got["bounds"][0]["witness"]["sigma1"] < 0.1
    assert 0 < got["result"]["epsilon_lower"] < got["result"]["epsilon"]
    assert (got["bound"], got["status"], got["released"], got["adjacency"]) == ("burn-in-profile", "proven",
                                                                                "last iterate", "replace-one")
    assert f"the last R = {r} of T = " in cli(*argv).stdout and "horizon of" in cli(*argv, "--all").stdout
    assert "horizon of" not in cli(*argv, "--strong-convexity", ".1", "--all").stdout  # T̄ is of convex losses
    steps = got["parameters"]["steps"]
    assert f"depends on all T = {steps} steps" in cli(*line, "--bound", "composition").stdout


@pytest.mark.slow
def test_as_published_only_by_name_and_with_a_warning(cli):
    argv = ["burn-in", *(x for k, v in LINE.items() for x in ("--" + k.replace("_", "-"), v)), "--alpha", "2"]
    assert "as-published" not in cli(*argv).stdout
    done = cli(*argv, "--bound", "burn-in-as-published", "--json")
    assert "not a guarantee" in done.stderr and json.loads(done.stdout)["status"] == "as-published"


@pytest.mark.parametrize("change, option", [
    ({"learning_rate": "2.1"}, "--learning-rate"), ({"batch_size": "60001"}, "--batch-size"),
    ({"strong_convexity": "1.5"}, "--strong-convexity"),
    ({"smoothness": None}, "--smoothness"), ({"loss": "any", "strong_convexity": ".1"}, "--strong-convexity"),
    ({"index": "3"}, "--index"),
    ({"order": "fixed", "batch_size": "7"}, "--batch-size"),
    ({"order": "fixed", "batch_size": "60", "index": "1001"}, "--index"),
    ({"delta": "0"}, "--delta"), ({"schedule": "nosuch"}, "--steps"),
    ({"schedule": "nosuch", "steps": None}, "--schedule")], ids=str)
def test_conditions_are_checked(change, option):
    with pytest.raises(DpcalcError) as error:
        answer(**{**LINE, "delta": "1e-5", **change})
    assert error.value.option == option


@pytest.mark.slow
def test_the_boundary_step_size_is_allowed():
    assert answer(**{**LINE, "smoothness": "3", "learning_rate": "2/3"}, alpha="2").value > 0


def test_steps_far_beyond_the_burn_in_change_nothing():
    early, late = ({row.route.bound.name: row.result["epsilon"] for row in answer(
        **{**LINE, "steps": steps}, delta="1e-3", bound=BURN_IN).rows} for steps in ("1e9", "1e12"))
    assert early == late and len(late) == len(BURN_IN)


# --- schedules ------------------------------------------------------------------------------------------------------


def test_a_schedule_that_is_constant_is_iteration(tmp_path):
    common = {k: v for k, v in LINE.items() if k not in ("steps", "learning_rate", "sigma", "batch_size",
                                                         "n")} | {"n": "50", "batch_size": "50", "delta": "1e-5"}
    file = tmp_path / "schedule.json"
    file.write_text(json.dumps({"sigma": [0.1] * 300, "learning_rate": [0.05] * 300}))
    by_schedule = answer(**common, schedule=str(file))
    plain = answer(**common, steps="300", learning_rate="0.05", sigma="0.1", bound=("iteration",))
    assert by_schedule.value == pytest.approx(plain.value, rel=1e-9)
    assert by_schedule.extra["burn_in_steps"] == plain.extra["burn_in_steps"]
    file.write_text(json.dumps({"sigma": [0.1] * 300, "uses": [int(k % 10 == 9) for k in range(300)]}))
    uses = answer(**{**common, "n": "500"}, schedule=str(file), learning_rate="0.05", order="fixed")
    fixed = answer(**{**common, "n": "500"}, steps="300", learning_rate="0.05", sigma="0.1", order="fixed")
    assert uses.value == pytest.approx(fixed.value, rel=1e-9)
    file.write_text(json.dumps({"sigma": [[1e2, 0.1], 0.1, [199, 0.1]], "learning_rate": [[300, 0.05]]}))
    assert answer(**common, schedule=str(file)).value == by_schedule.value


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"sigma": []}', '{"sigma": [1, 0]}',
                                  '{"sigma": [1], "uses": [1, 1]}', '{"sigma": [1], "uses": [2]}',
                                  '{"sigma": ["1"]}', '{"sigma": [[0, 1]]}', '{"sigma": [[2, 1, 1]]}',
                                  '{"sigma": [[true, 1]]}', '{"sigma": [[2, [1]]]}', '{"sigma": [[1.5, 1]]}',
                                  '{"sigma": [[1e9, 1]]}', '{"sigma": [NaN]}', '{"noise": [1]}', '{"sigma": 1}',
                                  "\x00"])
def test_bad_schedules_are_one_sentence(text, tmp_path):
    (tmp_path / "s").write_text(text)
    said = {k: v for k, v in LINE.items() if k not in ("steps", "sigma")} | {"batch_size": "60000"}
    with pytest.raises(DpcalcError) as error:
        answer(**said, schedule=str(tmp_path / "s"), delta="1e-5")
    assert error.value.option == "--schedule" and error.value.exit_code == 2
