"""Command lines of shuffle-pnsgd and online-noise: values of 60 digits, and exact losses of concrete runs."""

import json

import pytest
from last_iterate_lines import DATA, asked


@pytest.mark.parametrize("case", DATA["cases"], ids=lambda c: c["id"])
def test_case(case):
    code, out, err = asked(case["argv"])
    if case["how"] == "error":
        assert (code, out) == (case["code"], "")
        assert all(word in err for word in (*case["says"], "--learning-rate", "2/(β+ρ) = 4", "Theorem 1"))
        return
    assert code == 0, err
    value = json.loads(out)["result"][case["key"]]
    if case["how"] == "between":
        assert case["low"] <= value <= case["high"]
        return
    expected = float(case["expected"])
    assert value == pytest.approx(expected, rel=case["rtol"], abs=0)
    assert value >= expected - 1e-15 * abs(expected)


@pytest.mark.parametrize("command", ["shuffle-pnsgd", "online-noise"])
def test_proven_bounds_are_above_the_exact_loss_of_concrete_runs(command):
    cases = [i for i in DATA["instances"] if i["argv"][0] == command]
    assert len(cases) >= 12
    for case in cases:
        code, out, err = asked(case["argv"])
        assert code == 0, (case["id"], err)
        answer = json.loads(out)
        assert answer["status"] == "proven"
        assert answer["result"][case["key"]] >= case["true"] * (1 - 1e-9), case["id"]
