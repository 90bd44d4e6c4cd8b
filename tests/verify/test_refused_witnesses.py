"""Free choices in a witness that are none prove nothing: the headline is unchecked, with the reason."""

import functools
import json

import pytest
from conftest import spread
from verifying import ask

from dpcalc.verify.report import verify

RUN = "shuffle-pnsgd --lipschitz 1 --smoothness .5"
HIDING = f"{RUN} --learning-rate .01"
STREAM = ("online-noise --noise gaussian --lipschitz 1 --smoothness .5 --diameter 1 --learning-rate .1 --decay 1.2 "
          "--c1 1e6 --c2 1e6 --index 999993 --n 1e6 --epsilon .1 --bound online-hybrid")
HYBRID = f"{RUN} --learning-rate .05 --diameter 20 --sigma 1 --n 1e6 --index 999000 --delta 1e-6 --bound fixed-order-hybrid"
EPOCHS = (f"{RUN} --learning-rate .05 --diameter 2 --sigma 4 --n 300 --index 280 --epochs 7 --epsilon .5 "
          "--bound fixed-order-hybrid")
MANY_EPOCHS = ("shuffle-pnsgd --lipschitz .1 --smoothness 1 --learning-rate .01 --diameter 10 --epochs 1000000 --noise "
               "laplace --scale 5869 --n 7 --delta 1.8e-10 --bound shuffled-contraction")
NO_WAY = [True, "1", None, -1.0, float("inf"), [16, -1.0], [16, 3, 3], [0, 1.0], [1.5, 2.0], [1, 2, 3, 4], {}, ["1"],
          [16, float("nan")], [10**6, 1.0]]
ABSENT = object()

# name → (line, cases: (place in the witness, value there, or ABSENT))
WITNESSES = {
    "links": (STREAM, [
        *((("links",), x) for x in ([2], [-2], [1.0], [True], ["1"], 3, None, [1] * 5000, [0, 3], [-(10**30)], [10**30])),
        *((("fine",), x) for x in (0, 10**9, 2.5, None)),
        *((("by",), x) for x in ("shuffled-contraction", None))]),
    "a step and its links": (HYBRID, [
        *((("way", 0), x) for x in (0, -1, 2.5, True, None, 1002, 10**9, "7")),
        *((("way",), x) for x in ([], 3, 3.5, None, "8", {"8": 1}, [8, 2], [8, -20], [8, 1.0], [8, *[1] * 30_000]))]),
    "a plan of convex losses": (f"{HIDING} --sigma 2 --n 1000 --epsilon 1 --bound shuffled-hiding",
                                [(("way",), x) for x in NO_WAY]),
    "a plan of smooth losses": (f"{HIDING} --sigma 2 --n 1000 --delta 1e-5 --bound smooth-nonconvex-shuffled-hiding",
                                [(("way",), x) for x in (*NO_WAY, [16, 10, 20])]),  # about a set, where there is none
    "a plan of the output": (f"{HIDING} --sigma .02 --n 1000 --strong-convexity .1 --epsilon 1 --bound "
                             "output-perturbation-shuffled-hiding", [(("way",), x) for x in (*NO_WAY, [16, 10, 20])]),
    "a plan of Laplace noise": (
        "shuffle-pnsgd --noise laplace --scale 2 --lipschitz 1 --diameter 8 --learning-rate 1 --smoothness .5 --n 10000 "
        "--delta 1e-6 --bound shuffled-hiding-laplace",
        [(("way",), x) for x in (None, 1.5, [1, 2], [5, 4, 1.0], [1, 10_000, 1.0], [-1, 4, 1.0], [1.5, 2, 1.0], [1, 2, "1"],
                                 [1, 2, 1e3], [1, 2, None], [1, 2, float("nan")], [1, float("inf"), 1.0])]),
    "epochs": (EPOCHS, [
        *((("epoch", "epsilon"), x) for x in ([], None, [0.0, 0.0], [1.0, 0.5], [-1.0, 1.0], ["0", "1"], [True],
                                              [k / 9 for k in range(3000)])),
        *((("epoch", "ways"), x) for x in ([], None, 3)),
        *((("epoch", "ways", 3), x) for x in ("-1*3", [], [0], [1, 9], [1, 1.5], [True], 3, 0.5, None, [1] * 50_000))]),
    "grids": (MANY_EPOCHS, [
        (("tilt",), -1.0), (("tilt",), "x"), (("steps", -1), ABSENT), (("steps",), []), (("steps", -1), 3.0),
        (("digits", 0), 0), (("digits", 0), "x"), (("digits",), 3),
        (("windows", -1), ABSENT), (("windows", 0, -1), ABSENT), (("grids", -1), ABSENT), (("grids", 0), []),
        (("grids", 0, 0, 0), 3.0), (("grids", 0, 0, 0), 0.0), (("grids", 0, 0, 1), 10**9), (("grids", 0, 0, 2), ABSENT)]),
}


@functools.cache
def _text(line):
    """The record with its headline alone."""
    record = ask(line)
    record["bounds"] = record["bounds"][:1]
    return json.dumps(record)


@pytest.mark.filterwarnings("ignore")
@spread("what, path, value", [(what, *case) for what, (_, cases) in WITNESSES.items() for case in cases])
def test_what_is_no_choice_is_refused(what, path, value):
    record = json.loads(_text(WITNESSES[what][0]))
    at = record["bounds"][0]["witness"]
    for name in path[:-1]:
        at = at[name]
    if value is ABSENT:
        del at[path[-1]]
    else:
        at[path[-1]] = value
    head = verify(record).head[0]
    assert head.verdict == "unchecked" and "out of range" in head.text, head.text
