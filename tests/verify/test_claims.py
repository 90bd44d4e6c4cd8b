"""What a record claims in several places is one claim, and every place of it is checked."""

import json

import pytest
from answers import answer
from calling import call
from conftest import spread

from dpcalc.bounds import all_bounds
from dpcalc.verify.composition_parts import has_parts
from dpcalc.verify.report import verify

RUN = "--lipschitz 1 --diameter 2 --learning-rate .01 --smoothness .5"
CONVEX = "shuffle-pnsgd --lipschitz 1 --diameter 1 --learning-rate .1 --smoothness 1 --alpha 8"


@spread("path", [("guarantee", "delta"), ("result", "delta"), ("result", "log_delta"),
                                  ("bounds", 0, "delta"), ("bounds", 0, "log_delta")])
def test_a_number_that_differs_in_one_place_is_refused(path):
    record = answer(f"shuffle-pnsgd {RUN} --n 100 --sigma 1 --epsilon 1")
    assert verify(record).holds
    place = record
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] *= 1 + 5e-13 if path[-1] == "log_delta" else 1 - 5e-13
    assert not verify(record).holds


@pytest.mark.parametrize(("command", "key"), [("convert --from gdp --mu 1 --delta 1e-5", "mu"),
                                              ("rdp --sigma 2 --alpha 3", "noise_multiplier"),
                                              ("shuffle-pnsgd --lipschitz 1 --smoothness .5 --learning-rate .01 --n 9 "
                                               "--sigma 1 --alpha 2 --bound shuffled-iteration-rdp", "rdp")])
def test_a_guarantee_of_any_kind_follows_from_the_record(command, key):
    record = answer(command)
    assert verify(record).holds
    found = record["guarantee"]
    found = found["mechanisms"][0] if "mechanisms" in found else found
    value = found[key][0] if isinstance(found[key], list) else found[key]
    changed = value * (1 + 1e-12 if key == "noise_multiplier" else 1 - 1e-12)
    found[key] = [changed] if isinstance(found[key], list) else changed
    assert not verify(record).holds


def test_an_infinite_number_beside_a_claim_does_not_follow():
    record = json.loads(call([*CONVEX.replace("--alpha 8", "--epsilon 1").split(), "--sigma", "2", "--n", "100",
                              "--index", "3", "--json"]).stdout)
    record["result"]["worst_delta"] = "inf"
    assert call(["verify", "-"], json.dumps(record)).returncode == 3


@pytest.mark.parametrize("delta", [None, 0.0])
def test_a_delta_of_0_is_a_claim(delta):
    record = answer("rdp --sigma 1 --epsilon 3")
    rows = [{**row, "log_delta": "-inf", **({} if delta is None else {"delta": delta})} for row in record["bounds"]]
    result = {**record["result"], "log_delta": "-inf", **({} if delta is None else {"delta": delta})}
    found = verify({**record, "bounds": rows, "result": result})
    assert not found.holds
    assert all(any(f.verdict == "not verified" and f.bound.startswith(name) for f in (*found.head, *found.others))
               for name in ("gaussian-exact", "gaussian-rdp (rdp-optimal)", "gaussian-rdp (rdp-improved)"))
    assert verify(answer("rdp --mechanism laplace --scale 1 --epsilon 3")).holds


def test_a_row_that_answers_another_question_is_refuted():
    record = answer("rdp --sigma 1 --delta 1e-5")
    record["bounds"][1]["delta"] = 1e-300
    assert not verify(record).holds


def test_the_distributions_of_every_bound_that_is_composed_are_known():
    unknown = [bound.name for bound in all_bounds().values()
               if (bound.kind == "composition" or getattr(bound, "pair", None)) and not has_parts(bound)]
    assert not unknown, f"PARTS in verify/scheme_uses.py or composition_parts.py lacks {unknown}"
