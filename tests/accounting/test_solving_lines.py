"""--solve at lines that once were wrong, or took a search to one of its ends: the solution meets its budget, a little
less privacy does not, and where there is no solution the message says why."""

import json
import re
from math import exp, inf

import numpy as np
import pytest
from answers import answer, number, refusal
from calling import call
from conftest import few_of_each, slow, spread

from dpcalc.bounds import all_bounds
from dpcalc.core.errors import NoSolution
from dpcalc.pld.atoms import profile_at_points
from dpcalc.pld.bracket import log_delta_at_epsilon
from dpcalc.verify.report import verify

BY_ORDER = "--bound shuffled-iteration"


def without(line, option):
    return re.sub(rf" --{option} \S+", "", line)


def said(line, option):
    return line.split(f" --{option} ")[1].split()[0]


def law(line, least=0.0, most=inf, share=0.0, back=False, less=None, row=""):
    """The law of a line with a budget ε and --solve: its solution is from `least` to `most`, and its ε at most the
    budget, and at least that share of it. With `back` the same holds of the solution given back, and with `less` that
    is above the budget: of the headline, of the first row by its own bound, or of all rows whose names begin so."""
    unknown, budget, found = said(line, "solve"), float(said(line, "epsilon")), answer(line)
    key, question = unknown.replace("-", "_"), without(without(line, "epsilon"), "solve")
    assert least <= found["result"][key] <= most and share * budget <= found["result"]["epsilon"] <= budget
    rows = found["bounds"][:1] if row == FIRST else [r for r in found["bounds"] if r["name"].startswith(row)]
    assert rows
    for r in (rows if row else [found["result"]]) if back or less else []:
        def epsilon(x, by=f" --bound {r['name']}" if row else ""):
            return answer(f"{question} --{unknown} {x!r}{by}")["result"]["epsilon"]

        assert share * budget <= epsilon(r[key]) <= budget
        assert less is None or epsilon(less(r[key])) > budget


FIRST = "the first row"


def near(x, rel):
    return {"least": x * (1 - rel), "most": x * (1 + rel)}


def times(factor):
    return {"less": lambda x: type(x)(factor * x)}


def fewer(first):
    """A thousandth of the records from a position on less, or one."""
    return {"less": lambda n: n - max(1, (n - first) // 1000), "row": FIRST}


PASSES = "shuffle-pnsgd --lipschitz 1 --smoothness .5 --diameter 2 --learning-rate .01 --epsilon 1 --delta 1e-6"
STEP = "shuffle-pnsgd --lipschitz 1 --smoothness 1 --learning-rate 1 --diameter"
FAR = "shuffle-pnsgd --lipschitz 5 --smoothness .5 --learning-rate .1 --diameter .5 --index 2500000001"
SCHEDULE = "shuffle-pnsgd --lipschitz 1 --diameter 8 --n 100 --smoothness 0 --c1 30 --c2 2 --epsilon 1 --delta 1e-3"
SHORTER = ("shuffle-pnsgd --lipschitz .42 --diameter 8 --n 138 --smoothness 0 --noise laplace --c1 31.2 --c2 2 "
           "--epsilon .01")
BACK = {"back": True}
CLIFF, PERCENT, RATE = times(0.99) | {"row": "fixed-order-hybrid"}, {"share": 0.998, **times(0.99)}, times(1.001)
LAWS = [  # name, line, law
    # δ falls like a cliff
    ("cliff at the first record", f"{STEP} 1 --index 1 --epochs 1000 --n 1e12 --epsilon 1.14 --delta 2.89e-12 --solve "
     "sigma", near(1.994039e-6, 5e-3) | CLIFF),
    ("cliff in the middle", f"{STEP} .5 --index 500000000001 --epochs 10 --n 1e12 --epsilon .322 --delta 2.91e-10 "
     "--solve sigma", near(1.257566e-6, 5e-3) | CLIFF),
    ("cliff of smoother losses", "shuffle-pnsgd --lipschitz 5 --smoothness .5 --learning-rate 1 --diameter .5 "
     "--index 1 --epochs 10 --n 1e12 --epsilon 1.53 --delta 1.77e-7 --solve sigma", near(7.172844e-7, 5e-3) | CLIFF),
    # many passes, records or positions
    ("1e6 records", f"{PASSES} --n 1e6 --epochs 20 {BY_ORDER} --solve sigma", PERCENT),
    ("1000 records", f"{PASSES} --n 1e3 --epochs 100 {BY_ORDER} --solve sigma", PERCENT),
    ("1e12 records", f"{PASSES} --n 1e12 --epochs 1000 {BY_ORDER} --solve sigma", PERCENT),
    ("position among 1e9", f"{PASSES} --n 1e9 --epochs 1000 --index 500000000 --solve sigma", PERCENT),
    ("records for three passes", f"{PASSES} --sigma 4 --epochs 3 {BY_ORDER} --solve n", PERCENT),
    ("passes over 1e6 records", f"{PASSES} --sigma 4 --n 1e6 {BY_ORDER} --solve epochs",
     {"share": 0.998, **times(1.01)}),
    ("passes with Laplace noise", f"{PASSES} --noise laplace --n 10000 --epochs 1000 --solve scale", PERCENT),
    ("few passes", "shuffle-pnsgd --lipschitz .481 --smoothness .0232 --diameter .108 --learning-rate 3.57 --n 8.1e9 "
     f"--sigma .05 --delta 1.74e-9 --epsilon 95.5 {BY_ORDER} --solve epochs", {"less": lambda epochs: epochs + 1}),
    ("longest search with Laplace noise", "shuffle-pnsgd --lipschitz .361 --smoothness .0284 --diameter .249 "
     "--learning-rate .783 --scale .0404 --noise laplace --epochs 210 --epsilon .0207 --delta 1.76e-12 --bound "
     "shuffled-contraction --solve n", near(6.0663e15, 2e-2)),
    # counts; the first number of records was 2500056414
    ("records beyond a far position", f"{FAR} --epochs 10 --sigma 1.7 --epsilon 4.72 --delta 1.38e-11 --solve n",
     near(2500000015, 0) | fewer(2500000001)),
    ("the same in one pass", f"{FAR} --sigma 1.7 --epsilon 4.72 --delta 1.38e-11 --solve n", fewer(2500000001)),
    ("the same in two passes with more noise", f"{FAR} --epochs 2 --sigma 30 --epsilon 1 --delta 1e-6 --solve n",
     fewer(2500000001)),
    ("stream beyond a far position", "online-noise --lipschitz 1 --smoothness .5 --learning-rate .01 --diameter 2 "
     "--c1 50 --c2 100 --decay 1.2 --index 1000001 --epsilon 1 --delta 1e-6 --solve n", BACK | {"row": FIRST}),
    ("steps on Poisson batches", "subsample --sampling-rate .0013016297375789024 --sigma 3.2542540553853976 "
     "--epsilon .1232362771178066 --delta 1.6569566294707484e-23 --solve steps", {"least": 957, "most": 958}),
    ("releases with Laplace noise", "rdp --mechanism laplace --scale 1.360603123474322 --sensitivity "
     ".5695245183277388 --epsilon 9.670180286868968 --delta 1.2444220391184462e-6 --solve steps",
     {"least": 25, "most": 26}),
    ("steps without replacement", "subsample --sampling-rate .03536836583978662 --sigma 1.851601844279679 --scheme "
     "without-replacement --epsilon .4067656516478 --delta .0004746325550742399 --solve steps",
     {"least": 44, "most": 45}),
    ("steps on rare batches", "subsample --sigma .508 --sampling-rate 7.218416258373194e-5 --epsilon .04 --delta "
     "3.806922117950493e-6 --solve steps", {"least": 9, "most": 10}),
    ("one step by the profile", "burn-in --n 72505 --batch-size 11 --lipschitz .7 --learning-rate .0877 --diameter "
     "19.4 --sigma 93.8 --smoothness 0 --delta 9.3e-13 --epsilon 1e-6 --solve steps", {"least": 1, "most": 1}),
    # a large ε, where δ hardly changes with the unknown
    ("c1 at ε = 5806", "shuffle-pnsgd --smoothness .5 --lipschitz 6.915 --diameter .5449 --learning-rate .3492 --n "
     f"10523855 --epochs 8297 --c2 2.26 --epsilon 5805.823963773321 --delta 1.085e-08 {BY_ORDER} --solve c1",
     {"share": 0.95}),
    ("n at ε = 899", "shuffle-pnsgd --smoothness .5 --lipschitz 1.883 --diameter .229 --learning-rate .02533 "
     f"--epochs 5 --sigma .3814 --epsilon 899.1717505136415 --delta 1e-200 {BY_ORDER} --solve n", {"share": 0.98}),
    ("epochs at ε = 18.9", "shuffle-pnsgd --smoothness .5 --lipschitz .4842 --diameter .1898 --learning-rate .009708 "
     f"--n 18537421117 --c1 73.36 --c2 2.525 --epsilon 18.891730786053312 --delta 1.092e-86 {BY_ORDER} --solve epochs",
     {"share": 0.9999}),
    ("c1 at δ = 3e-95", "shuffle-pnsgd --smoothness .5 --lipschitz .282 --diameter 1.61 --learning-rate .003139 --n "
     f"10594145690 --epochs 96 --c2 2.944 --epsilon .40606501133001344 --delta 3.326e-95 {BY_ORDER} --solve c1",
     {"share": 0.998}),
    ("sigma at ε = 7982", "shuffle-pnsgd --lipschitz 1 --smoothness .02 --diameter .17525856167975085 --n 1983013 "
     "--epochs 20 --learning-rate .16145156063514693 --delta 3.1458496591657265e-6 --epsilon 7981.605373349326 "
     f"{BY_ORDER} --solve sigma", {"least": 0.0157, "most": 0.0215}),
    ("sigma at ε = 5676", "shuffle-pnsgd --lipschitz 1 --smoothness .02 --diameter .1715572086412964 --n 108 "
     "--epochs 8 --learning-rate 2.4268274929485782 --delta 1.5901935928977644e-9 --epsilon 5675.8443186261575 "
     f"{BY_ORDER} --solve sigma", {"least": 0.0420, "most": 0.0433}),
    ("sigma at ε = 709", "shuffle-pnsgd --lipschitz 1 --smoothness .02 --diameter 1.780670902958908 --n 7808947 "
     "--epochs 9 --learning-rate 4.000459932690725 --delta 1.495709072988382e-6 --epsilon 708.6424183292969 "
     f"{BY_ORDER} --solve sigma", {"least": 0.036, "most": 0.04}),
    ("sigma of linear losses", "shuffle-pnsgd --lipschitz 1 --smoothness 0 --learning-rate .3078759001641168 "
     "--diameter 95.53048754946809 --n 290579 --epochs 5 --delta 2.1504264354505984e-11 --epsilon 15993.39352788634 "
     f"{BY_ORDER} --solve sigma", {"most": 0.0171}),
    ("sigma of many linear losses", "shuffle-pnsgd --lipschitz 1 --smoothness 0 --learning-rate 5.183564332273837 "
     f"--diameter 1 --n 24614 --epochs 5946 --delta 9.639052715964276e-08 --epsilon 7253.907015577577 {BY_ORDER} "
     "--solve sigma", {"most": 0.0515}),
    ("no finite loss in one pass", "shuffle-pnsgd --lipschitz 1 --smoothness .5 --strong-convexity .25 --diameter 1 "
     "--n 48 --index 2 --epochs 10 --learning-rate 1 --delta 1e-9 --epsilon 4000 --solve sigma",
     BACK),
    ("next to the least ε of basic composition", "shuffle-pnsgd --smoothness .5 --lipschitz 8.22 --diameter 9.411 "
     "--learning-rate .0888 --n 1000 --epochs 2 --strong-convexity .001092 --c2 1.12 --bound "
     "shuffled-iteration-basic --epsilon 6.832968603477014 --delta 3.149e-49 --solve c1", {"most": 50_000}),
    # a tiny ε, where δ at ε and ε at δ are not known equally well
    ("sigma at a tiny ε", "shuffle-pnsgd --lipschitz 1 --smoothness 0.5 --learning-rate 0.0012389 --diameter 2.2989 "
     f"--n 8234284698 --epochs 173 --delta 0.0015796 --epsilon 0.00029299 {BY_ORDER} --solve sigma",
     {"share": 0.6, **times(0.9)}),
    ("n at a tiny ε", "shuffle-pnsgd --lipschitz 1 --smoothness 0.1 --learning-rate 0.0002979 --diameter 8.3227 "
     f"--epochs 38 --sigma 2.0995 --delta 3.8317e-07 --epsilon 7.9521e-05 {BY_ORDER} --solve n",
     {"share": 0.6, **times(0.9)}),
    ("n where losses are rare", "shuffle-pnsgd --lipschitz 0.83195 --smoothness 0 --learning-rate 0.00040917 "
     f"--diameter 0.15763 --epochs 4 --sigma 31.526 --delta 3.9369e-15 --epsilon 0.00017129 {BY_ORDER} --solve n",
     {"share": 0.6, **times(0.9)}),
    ("n by basic composition", "shuffle-pnsgd --lipschitz 1.3554 --smoothness 0.1 --learning-rate 0.034593 "
     f"--diameter 2.0911 --epochs 80042 --sigma 5.6362 --delta 1.128e-07 --epsilon 0.0002562 {BY_ORDER} --solve n",
     {"share": 0.6, **times(0.9)}),
    ("learning rate at ε = 1e-6", "shuffle-pnsgd --lipschitz 1 --smoothness .024828660066721273 --n 10000 --diameter "
     ".2637097427058237 --sigma .0447095102389736 --epsilon 1.111269340264359e-6 --delta .004889470298465407 --solve "
     "learning-rate", BACK),
    ("sigma at ε = 1e-13", "shuffle-pnsgd --lipschitz 1 --smoothness .2152399806782542 --n 100000 --diameter "
     ".012565464997649104 --learning-rate .002207974058474927 --epsilon 1.4420526801077974e-13 --delta "
     ".00039201530826711605 --solve sigma", BACK),
    # δ at ε would ask for another value of c1
    ("c1 at a tiny δ", "shuffle-pnsgd --smoothness .5 --lipschitz 1.595 --diameter 4.387 --learning-rate .4185 --n 734 "
     "--strong-convexity .0136 --c2 2.258 --index 365 --bound smooth-nonconvex-exact --delta 1e-200 --epsilon "
     "32.64129151440666 --solve c1", BACK),
    ("learning rate where ε hardly changes", "shuffle-pnsgd --lipschitz 1 --smoothness 1 --noise laplace --scale 8 "
     "--diameter 10 --n 10 --epochs 10 --delta 1e-6 --epsilon 2.4989781 --solve learning-rate", BACK | {"least": 0.01}),
    # the largest learning rate under a schedule
    ("schedule of Gaussian noise", f"{SCHEDULE} --solve learning-rate", RATE),
    ("schedule of Laplace noise", f"{SCHEDULE} --noise laplace --solve learning-rate", RATE),
    ("schedule at a small ε", f"{SHORTER} --delta 1e-3 --solve learning-rate", RATE),
    ("schedule at a tiny δ", f"{SHORTER} --index 32 --delta 9e-150 --solve learning-rate", RATE),
    ("sum of few terms that misses the budget", "online-noise --lipschitz 1.5912904969648574 --diameter "
     "0.1935092390557678 --smoothness 0.07446647358652585 --strong-convexity 0.0023553941731813115 --n 103 --c1 "
     "5.243944610230841 --c2 15.240503035126297 --decay 1.1671435864392532 --index 33 --delta 8.115692985394403e-06 "
     "--epsilon 0.000834402630569214 --solve learning-rate", near(26.034253, 1e-6)),
    ("just above what a sum of few terms excludes", "online-noise --lipschitz .6638190035841054 --diameter "
     "4.100584625810045 --smoothness .022950978411218896 --n 50 --index 22 --strong-convexity 8.325504292053044e-5 "
     "--c1 85.86417698042918 --c2 6.097503049455204 --decay 1.0238359007323843 --epsilon .0010503983969679476 "
     "--delta 7.679671285210991e-7 --solve learning-rate", near(0.96328, 1e-4)),
]

SLOW = {  # each takes more than half a second
    "cliff at the first record", "cliff in the middle", "cliff of smoother losses", "position among 1e9",
    "c1 at ε = 5806", "passes with Laplace noise", "sigma at ε = 7982", "records beyond a far position",
    "1e12 records", "n by basic composition", "sigma at a tiny ε", "one step by the profile", "n at a tiny ε",
    "sigma of many linear losses", "no finite loss in one pass", "c1 at δ = 3e-95", "n where losses are rare",
    "learning rate where ε hardly changes", "sigma at ε = 1e-13", "sigma at ε = 709"}


HARD = [  # of shuffle-pnsgd, by shuffled-iteration; the ε of their solutions is next to the budget
    slow("--lipschitz .1 --smoothness .1 --diameter 2 --learning-rate .001 --n 1e12 --sigma .0211 --epsilon .0413 --delta "
         ".000134 --solve epochs"),
    slow("--lipschitz 1 --smoothness .1 --diameter .5 --learning-rate .001 --epochs 29333 --sigma 2.43 --epsilon 7.92 "
         "--delta 6.09e-8 --solve n"),
    slow("--lipschitz 17400 --smoothness 2.34e-5 --diameter 384 --learning-rate 2.34935 --n 5e9 --epochs 20 --epsilon "
         "3440 --delta .0389 --solve sigma"),
    slow("--lipschitz 8.55 --smoothness 4.02 --diameter 3340 --learning-rate 7.70383e-5 --n 1e12 --epochs 100 --epsilon "
         ".000113 --delta .00063 --solve sigma"),
    slow("--lipschitz 444 --smoothness 1 --diameter 2 --learning-rate .00178143 --n 1e12 --sigma 13.9 --epsilon .0375 "
         "--delta 6.31e-6 --solve epochs"),
    slow("--lipschitz 38.7 --smoothness .5 --diameter .0759 --learning-rate .00999 --n 1e12 --epochs 10000 --epsilon 6.35 "
         "--delta 1.03e-8 --solve sigma"),
    "--lipschitz 5.87 --smoothness .5 --diameter .0262 --learning-rate 9.62245e-5 --n 6983266 --epochs 3 --epsilon "
    "9.47 --delta 7.46e-165 --solve sigma",
    slow("--lipschitz 1.86 --smoothness .0132 --diameter 709 --learning-rate 2.29 --sigma .193 --epochs 37 --epsilon 282 "
         "--delta 4.49e-13 --solve n"),
    slow("--lipschitz .788 --smoothness .661 --diameter .384 --learning-rate 1.03 --n 5.4e11 --epochs 41 --epsilon .0145 "
         "--delta .00851 --solve sigma"),
    slow("--lipschitz 17.1 --smoothness 0 --diameter 4.04 --learning-rate .00415 --n 620000 --epochs 950 --epsilon 395 "
         "--delta 2.56e-10 --solve sigma"),
    slow("--lipschitz .511 --smoothness 0 --diameter 4.52 --learning-rate .00837 --epochs 100 --sigma .000219 "
         "--epsilon .00144 --delta .00049 --solve n"),
    slow("--lipschitz 4.33 --smoothness 0 --diameter 26.1 --learning-rate .000221 --n 25000000000 --epochs 11000 "
         "--epsilon .00113 --delta .000248 --solve sigma"),
    slow("--lipschitz 5.99 --smoothness 1.39 --diameter 184 --learning-rate 1.89e-5 --epochs 213 --sigma 3.81 --epsilon "
         ".000184 --delta .000114 --solve n"),
    "--lipschitz 1 --smoothness 0 --diameter .5798607 --learning-rate .4153111 --n 111176 --epochs 4 --delta "
    "2.664118e-6 --epsilon 9744.655 --solve sigma",
    slow("--lipschitz 14.8 --smoothness 0 --diameter 427 --learning-rate 2.06e-05 --n 1.18e+11 --epochs 3 --epsilon "
         "7.29e-05 --delta 1.64e-06 --solve sigma"),
    "--lipschitz 3.22 --smoothness 0 --diameter 248 --learning-rate .0209 --n 131738000000 --sigma 4.29 --epsilon "
    ".000378 --delta 1.46e-6 --solve epochs",
    slow("--lipschitz 5.18 --smoothness 0 --diameter .0183 --learning-rate .006284 --epochs 1280 --n 5.17e9 "
         "--epsilon 6140 --delta 2.96e-6 --solve sigma"),
    slow("--lipschitz .854 --smoothness .201 --diameter 7.82 --learning-rate .000133 --n 678000000000 --sigma .474 "
         "--strong-convexity 4.45e-7 --epsilon .0165 --delta .00028 --solve epochs"),
    slow("--lipschitz 236 --smoothness .247 --diameter .0221 --n 26600000 --epochs 436 --learning-rate .00221 "
         "--epsilon 950 --delta 4.71e-5 --solve sigma"),
    slow("--lipschitz 1 --smoothness .5 --diameter 1 --learning-rate 1 --n 5e9 --epochs 1000 --epsilon .0146 --delta "
         ".00197 --solve sigma"),
    slow("--lipschitz 97.6 --smoothness 0 --diameter .755 --learning-rate 4.03856 --n 1e6 --epochs 1000 --epsilon "
         "7010 --delta .00236 --solve sigma"),
    slow("--lipschitz 89.5 --smoothness 0 --diameter .809 --learning-rate .0594 --n 290000000000 --epochs 400 --epsilon "
         "281 --delta 4.62e-9 --solve sigma"),
]


LAW_OF = {name: (line, expected) for name, line, expected in LAWS}


@pytest.mark.parametrize("name", few_of_each(lambda name: (LAW_OF[name][0].split()[0], said(LAW_OF[name][0], "solve")),
                                             [slow(name) if name in SLOW else name for name in LAW_OF]))
def test_the_law_of_a_line_that_was_wrong(name):
    line, expected = LAW_OF[name]
    law(line, **expected)


@spread("line", HARD)
def test_a_hard_search_ends_next_to_its_budget(line):
    law(f"shuffle-pnsgd {line} {BY_ORDER}", share=0.96 if float(said(line, "epsilon")) > 1e-3 else 0.6)


# --- no solution, and why ------------------------------------------------------------------------------------------

LINEAR = "shuffle-pnsgd --smoothness 0 --lipschitz"
CURVE = "shuffle-pnsgd --lipschitz .1 --n 1000 --smoothness 1.21 --sigma 1.7 --alpha 3.24 --rdp .001 --solve learning-rate"
ROUGH = ("shuffle-pnsgd --lipschitz 877 --smoothness 1 --n 3 --epochs 100 --epsilon .366 --delta 1.58e-7 "
         "--solve learning-rate --sigma")
EVERY = [  # every value meets the budget
    ("subsample --sampling-rate .01 --steps 1 --epsilon 1 --delta .5 --solve sigma", "sigma from "),
    ("subsample --sampling-rate .01 --steps 10 --epsilon 1 --delta .5 --solve sigma", "sigma from 1e-15 to 1e+15"),
    ("subsample --mechanism laplace --sampling-rate .01 --steps 3 --epsilon 1 --delta .5 --solve scale", "scale from "),
    ("subsample --sigma 100 --steps 10 --epsilon 1 --delta .5 --solve sampling-rate", "sampling rate from 1e-15 to 1 "),
    slow("subsample --scheme weighted --sigma 1000 --steps 1 --epsilon 1 --delta .1 --solve max-weight",
     "max weight from 1e-15 to 1 "),
    ("rdp --mechanism randomized-response --epsilon 1000 --delta 0 --solve probability", "probability from 0.5 to 1 "),
    ("tv --mechanism gaussian --tv 1 --solve sigma", "sigma from "),
    slow("burn-in --n 1000 --batch-size 10 --lipschitz 1 --smoothness 1 --learning-rate .1 --diameter 1 --sigma 1 "
     "--epsilon 3 --delta 1e-5 --solve steps", "number of steps from 1 to 9.00719e+15 "),
    slow("shuffle-pnsgd --lipschitz 1 --smoothness .5 --learning-rate .01 --diameter 2 --n 1000 --sigma 1e10 --epsilon 5 "
     "--delta .01 --solve epochs", "number of epochs from 1 to 9.00719e+15 "),
    ("shuffle-pnsgd --lipschitz 1 --smoothness .5 --sigma 1e4 --diameter 2 --n 1000 --epsilon 1 --delta .01 --solve "
     "learning-rate", "learning rate from 1e-15 to 4 "),
    # the loss hardly changes with the rate, so that no step of a search says how far the end is
    ("shuffle-pnsgd --lipschitz .1 --smoothness .5 --diameter 2 --strong-convexity .01 --epochs 1000 --sigma 23.6 "
     f"--n 1000 --epsilon .166 --delta 6.32e-10 {BY_ORDER} --solve learning-rate",
     "learning rate from 1e-15 to 3.92156 gives"),
    slow("shuffle-pnsgd --lipschitz 2.19 --smoothness .0291 --diameter 67.8 --n 3.7e9 --epochs 85 --sigma .472 "
     f"--epsilon .088 --delta 1.19e-5 {BY_ORDER} --solve learning-rate", "learning rate from 1e-15 to 68.7285 gives"),
    (CURVE, "learning rate from 1e-15 to 1.65289 gives"),
    (f"{ROUGH} 2.78e5 --bound smooth-nonconvex", "learning rate from 1e-15 to 1e+15 gives"),
    slow("burn-in --lipschitz .5207926504785778 --smoothness 0 --learning-rate .04676430294704093 --n 269 --batch-size 1 "
     "--steps 6225 --sigma 3.150758882356814 --epsilon .15288488776111206 --delta .004753340643699415 "
     "--solve diameter", "diameter from 1e-15 to 1e+15 gives"),
    # windows of more steps than an integer of numpy holds
    slow("burn-in --n 1000 --batch-size 50 --lipschitz 1 --smoothness 1 --learning-rate .1 --sigma .3 --steps 500 "
     "--epsilon 1 --delta 1e-5 --solve diameter", "diameter from 1e-15 to 1e+15 gives ε ≤ 1"),
]
NONE = [  # no value does
    ("tv --mechanism gaussian --tv 0 --solve sigma", ""),
    ("rdp --alpha 2 --rdp 0 --solve sigma", ""),
    ("rdp --sigma 1 --epsilon .1 --delta 1e-5 --solve steps", ""),
    ("rdp --mechanism laplace --epsilon 0 --delta 0 --solve scale", ""),
    ("rdp --mechanism laplace --scale .5 --epsilon 1 --delta 0 --solve steps",
     "no number of steps gives ε ≤ 1: one step already has ε = 2\n"),
    ("rdp --mechanism gaussian --sigma .1 --alpha 2 --rdp 1 --solve steps", "one step already has ε(α) = 100\n"),
    (f"{FAR} --sigma 1e-9 --epsilon 1e-9 --delta 1e-300 --bound fixed-order --solve n", "even --n 9.0072e+15 has"),
    (f"{LINEAR} 1 --diameter 2.83 --n 1406 --epochs 97 --sigma .0465 --epsilon 4320 --delta 1.07e-8 {BY_ORDER} "
     "--solve learning-rate", "has ε = 49"),  # a plateau
    (f"{LINEAR} 5.55 --diameter 679 --learning-rate .00225 --n 1.12955e9 --sigma .000134 --epsilon .00822 --delta "
     f"6.12e-6 {BY_ORDER} --solve epochs", "no number of epochs gives"),
    (f"{ROUGH} 2.78e3 --diameter .5", "has ε = 26.7"),
    (f"{LINEAR} 64.97907738445888 --diameter 1 --n 1 --epochs 3 --delta .00794490004331989 --sigma 36.833769852355935 "
     "--epsilon 32.5 --solve learning-rate", "has ε = 32.5"),
    # the best that is reached is that of the sharpest bound
    slow("burn-in --n 1000 --batch-size 10 --steps 1000 --lipschitz 1 --smoothness 1 --diameter .1 --sigma .1 --delta 1e-5 "
     "--epsilon 3 --solve learning-rate", "has ε = 3.0685"),
]


@spread("line, says", EVERY)
def test_no_solution_where_every_value_meets_the_budget(line, says):
    err = refusal(line, 3)
    assert f"--solve: every {says}" in err and "there is nothing to solve for" in err and err.count("\n") == 1
    error = json.loads(call([*line.split(), "--json"]).stderr)["error"]
    assert error["code"] == "no-solution" and error["option"] == "--solve"


@spread("line, says", NONE)
def test_no_solution_where_none_does(line, says):
    err = refusal(line, 3)
    assert re.search("--solve: no .* gives .* ≤ .*: .* has ", err) and says in err


@pytest.mark.parametrize("line, least", [("--epsilon 1 --delta .1 --steps 2 --target-delta .1", "0.19"),
                                         ("--epsilon .005 --delta 1e-6 --steps 1e3 --target-delta 1e-4", "0.000999501")])
def test_a_refusal_prints_a_short_number_where_it_is_the_right_one(line, least):
    assert refusal(f"convert --from dp {line}", 3).endswith(f"the least δ it gives is {least}\n")


@pytest.mark.parametrize("rest, option", [
    ("--noise laplace --smoothness 0 --c1 100 --c2 0 --n 21 --learning-rate 1 --solve epochs", "--c2"),
    ("--noise laplace --smoothness 0 --c1 100 --c2 0 --n 21 --epochs 3 --solve learning-rate", "--c2"),
    ("--smoothness .5 --strong-convexity .5 --learning-rate 2 --c1 100 --c2 2 --n 30 --solve epochs",
     "--learning-rate"),
])
def test_a_parameter_out_of_range_is_named_as_bad_input(rest, option):
    assert f" {option}: " in refusal(f"shuffle-pnsgd --lipschitz 1 --diameter 1 --epsilon 1 --delta 1e-6 {rest}", 2)


def test_of_several_refusals_the_message_says_the_best_that_any_reaches():
    nearer = NoSolution("no-solution", "no n meets the budget", "--solve", lambda: (2.0, "the best reachable is 2"))
    farther = NoSolution("no-solution", "no n meets it", "--solve", lambda: (3.0, "the best reachable is 3"))
    assert str(nearer) == "--solve: no n meets the budget"
    message = NoSolution.nearest_to_budget([farther, nearer])
    assert str(message) == "--solve: no n meets the budget: the best reachable is 2"
    assert NoSolution.nearest_to_budget([message]).message.count("best") == 1


def test_a_conversion_named_beside_bounds_over_epochs_changes_nothing():
    line = ("shuffle-pnsgd --lipschitz 1 --n 1000 --smoothness .5 --diameter 1 --sigma 3 --delta 1e-4 --epsilon .8 "
            f"--solve learning-rate {BY_ORDER}")
    other = f"{line} --bound smooth-nonconvex --bound rdp-optimal"
    assert refusal(other, 3) == refusal(line, 3)
    assert "'nope' is not a bound" in refusal(f"{line} --bound nope", 2)


# --- budgets that are computed first -------------------------------------------------------------------------------


@pytest.mark.parametrize("line", [
    "0 --sigma 2 --diameter 1 --learning-rate 1 --n 5 --delta 1e-6",
    "0 --sigma 2.17 --diameter .239 --learning-rate .00322 --n 19 --index 10 --delta 3.43e-5",
    ".5 --noise laplace --scale 3 --diameter 1 --learning-rate .1 --n 40 --delta 1e-4",
])
def test_the_budget_of_one_epoch_is_met_by_one(line):
    """Another bound than the composed one may be the smallest for one epoch, by rounding."""
    line = f"shuffle-pnsgd --lipschitz 1 --smoothness {line}"
    budget = answer(f"{line} --epochs 1")["result"]["epsilon"]
    record = answer(f"{line} --epsilon {budget!r} --solve epochs")
    assert record["result"]["epochs"] == 1 and record["result"]["epsilon"] <= budget and verify(record).holds


def test_two_epochs_are_found_within_2e_4_of_their_epsilon():
    """They are missed only where their ε is within 1e-4 of the budget, as the README says."""
    line = ("shuffle-pnsgd --noise laplace --lipschitz 1 --smoothness .5 --learning-rate 1.077219522300589 --diameter 1 "
            "--n 94049 --strong-convexity .42831589039931883 --scale 1.3957337160060577 --delta 1.512899093188463e-10")
    epsilon = answer(f"{line} --epochs 2")["result"]["epsilon"]
    assert answer(f"{line} --epsilon {epsilon * 1.0002!r} --solve epochs")["result"]["epochs"] == 2


def test_one_epoch_by_basic_composition_is_not_composed():
    line = "shuffle-pnsgd --lipschitz 1 --diameter 2 --learning-rate .01 --smoothness .5 --sigma 4 --n 1000"
    assert "no number of epochs gives ε ≤ 0.1 at δ = 1e-05:" in refusal(
        f"{line} {BY_ORDER} --epsilon .1 --delta 1e-5 --solve epochs", 3)
    one, basic = (answer(f"{line} --epochs 1 --epsilon 1 --bound {name}")["result"]["delta"]
                  for name in ("shuffled-iteration", "shuffled-iteration-basic"))
    assert one <= basic <= one * 1.01


@pytest.mark.parametrize("line, rate", [
    ("2 --sigma 2 --strong-convexity .1 --n 10000 --epochs 5 --delta 1e-8", 0.95238),
    (".5 --sigma 1 --strong-convexity .01 --n 10000 --epochs 2 --delta 1e-6", 3.9215),
])
def test_a_rate_next_to_the_end_of_its_range(line, rate):
    """δ at the budget's ε is composed on a grid of its own, and may miss it there."""
    line = f"shuffle-pnsgd --lipschitz 1 --smoothness {line} {BY_ORDER}"
    budget = answer(f"{line} --learning-rate {rate}")["result"]["epsilon"] * (1 + 1e-4)
    law(f"{line} --epsilon {budget!r} --solve learning-rate", most=rate * (1 + 1e-3), share=0.995)


def test_without_convexity_the_largest_of_the_small_rates_is_found():
    """With convexity any rate has that budget (shuffled-iteration-rdp)."""
    assert number(f"{CURVE} --bound smooth-nonconvex-shuffled") == pytest.approx(0.0174274, rel=1e-5)


CONVEX = "shuffle-pnsgd --lipschitz 1 --diameter 8 --n 100 --smoothness 1 --strong-convexity 1 --c1 30 --c2 2 --delta 1e-5"


# under a schedule the loss of strongly convex losses rises, and falls again
@pytest.mark.parametrize("line, at_least, rises", [
    (f"{CONVEX} --index 50 --epsilon 5e-4", 0.9, False),  # no loss from .002 on
    (f"{CONVEX} --index 1 --epsilon 3e-4 --bound fixed-order-iteration", 0.9, True),
    slow("online-noise --lipschitz 3.66 --diameter 4.5 --smoothness .209 --strong-convexity .0627 --n 22 --index 2 "
         "--decay 1.82 --c1 6.63 --c2 75.3 --delta 5.24e-7 --epsilon .0426", 5, True),
])
def test_where_the_loss_rises_and_falls_with_the_learning_rate(line, at_least, rises):
    """A note says so, and does not say that every smaller rate meets the budget."""
    record, epsilon = answer(f"{line} --solve learning-rate"), float(said(line, "epsilon"))
    eta, rest = record["result"]["learning_rate"], without(line, "epsilon")
    assert eta >= at_least and verify(record).holds
    assert any("may rise and fall" in note for note in record["notes"])
    assert not any(note.startswith("every") for note in record["notes"])
    assert number(f"{rest} --learning-rate {eta!r}") <= epsilon
    between = [number(f"{rest} --learning-rate {eta * share!r}") for share in (0.02, 0.05, 0.1, 0.2, 0.5)]
    assert (max(between) > epsilon) is rises


# --- losses far above what is asked, and tiny ones -----------------------------------------------------------------


@pytest.mark.parametrize("epsilon", [0.5, 2.0, 30.0])
def test_losses_far_above_cost_next_to_nothing(epsilon):
    """Samples that are cut off 40 above ε: δ grows by e^-20 of itself at most, and never falls."""
    p = {"level": 0.0046, "lipschitz": 1.0, "learning_rate": 0.01, "smoothness": 0.5, "strong_convexity": 0.0,
         "n": 10**12}
    at = np.array([0.0, *np.geomspace(1e-3, 1e4, 250).tolist()])
    logs = all_bounds()["shuffled-iteration"].blocks.profile(at, 10, **p)
    kept = int(np.searchsorted(at, epsilon + 40)) + 1
    for asked_about in (epsilon, 2 * epsilon):
        whole, cut = (log_delta_at_epsilon(((profile_at_points(tuple(at[:k].tolist()), tuple(logs[:k].tolist())), 20),),
                                           asked_about, bracket=False)
                      for k in (len(at), kept if asked_about == epsilon else len(at)))
        assert -inf < cut.upper < 0 and whole.upper - 3e-3 <= cut.upper <= whole.upper + 3e-3


def test_a_delta_below_every_sample_is_that_of_basic_composition():
    """Samples are rounded up to e^-690: no grid is of use for less."""
    found = answer("shuffle-pnsgd --lipschitz .1 --smoothness .1 --learning-rate .001 --diameter .5 --strong-convexity "
                   ".1 --index 5800000001 --epochs 10 --sigma 54.1 --n 11600000000 --epsilon 1.74 "
                   "--bound fixed-order-hybrid")["result"]
    assert found["log_delta"] < -1e6 and found["delta"] < exp(-700)


RARE = ("shuffle-pnsgd --lipschitz .854 --smoothness .201 --diameter 7.82 --learning-rate .000133 --n 678000000000 "
        f"--sigma .474 --strong-convexity 4.45e-7 --epochs 128593 {BY_ORDER}")
STEEP = [  # δ falls far more steeply at these ε than the tilt says, as many tiny losses and few large ones make it
    slow("shuffle-pnsgd --lipschitz 0.000774 --smoothness 0.0113 --diameter 5410 --learning-rate 0.137899 --n 1e12 "
         f"--epochs 1000 --sigma 0.0395 --delta 1.96e-7 {BY_ORDER}", 7.1e-6),  # 1.94e-5 at first
    slow("shuffle-pnsgd --lipschitz 0.1 --smoothness 0.5 --diameter 2 --learning-rate 1 --n 5e9 --epochs 5 --sigma 0.5 "
         f"--delta 2.02e-7 {BY_ORDER}", 4.18e-4),
    (f"{RARE} --delta .00028", 0.00833),  # .00857
]


def test_delta_at_a_tiny_epsilon_is_not_that_of_a_coarse_grid():
    """2.75e-4 at first, where much finer grids say 8.6e-5."""
    delta = {row["name"]: row["delta"] for row in answer(f"{RARE} --epsilon .0165")["bounds"]}["shuffled-iteration"]
    assert 8.4e-5 < delta < 8.8e-5
    assert answer(f"{RARE} --delta {delta!r}")["result"]["epsilon"] == pytest.approx(0.0165, rel=0.015)


@pytest.mark.parametrize("line, most", STEEP)
def test_a_tiny_epsilon_is_not_that_of_a_coarse_grid(line, most):
    found = answer(line)
    assert found["result"]["epsilon"] < most
    if not line.startswith(RARE):  # whose proof needs more digits, and 20 seconds
        assert verify(found).holds
