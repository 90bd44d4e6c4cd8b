"""Calls of the command line, good and bad, drawn from the table of commands."""

import contextlib
import shlex

from hypothesis import strategies as st

from dpcalc.bounds import all_bounds
from dpcalc.commands import COMMANDS, PAGES, calculator
from dpcalc.core.quantities import FORMAT

SEEDS = """
rdp --mechanism gaussian --sigma 1 --delta 1e-5
rdp --mechanism gaussian --sigma 3 --steps 100 --epsilon 1
rdp --mechanism laplace --scale 2 --alpha 8
rdp --mechanism laplace --scale 2 --steps 30 --delta 1e-6
rdp --mechanism randomized-response --probability 0.75 --steps 5 --epsilon 1
rdp --mechanism discrete-gaussian --sigma 3 --sensitivity 2 --steps 5 --delta 1e-6
rdp --mechanism discrete-laplace --scale 4 --sensitivity 3 --epsilon 0.2
rdp --mechanism randomized-response --categories 5 --step-epsilon 0.5 --steps 5 --epsilon 1
rdp --mechanism unary --probability 0.7 --flip-probability 0.2 --delta 1e-6
rdp --epsilon 1 --delta 1e-5 --solve sigma -q
rdp --sigma 50 --epsilon 1 --delta 1e-5 --solve steps
rdp --sigma 2 --alpha 4 --rdp 0.1 --solve steps
convert --from gdp --mu 1 --delta 1e-5
convert --from rdp --alpha 2,8 --rdp 0.1,0.5 --delta 1e-5
convert --from zcdp --rho 0.5 --delta 1e-6
convert --from dp --epsilon 0.005 --delta 1e-5 --steps 1000 --target-epsilon 0.15
convert --from dp --epsilon 0.1 --delta 1e-6 --steps 100 --slack 1e-6
convert --from dp --epsilon 1 --delta 1e-6 --to tv
convert --from dp --epsilon 1 --delta 0 --to gdp
convert --from outcomes --p 0.4167,0.1667,0.4166 --q 0.1667,0.6667,0.1666 --delta 0
subsample --scheme poisson --sampling-rate 0.01 --sigma 1 --steps 100 --delta 1e-6
subsample --scheme poisson --sampling-rate 0.01 --sigma 1 --steps 10 --group-size 3 --delta 1e-6
subsample --n 60000 --batch-size 256 --epochs 1 --sigma 1.1 --delta 1e-5
subsample --scheme without-replacement --sampling-rate 0.01 --sigma 2 --steps 10 --epsilon 1
subsample --scheme weighted --max-weight 0.01 --mechanism laplace --scale 2 --steps 10 --alpha 4
subsample --sampling-rate 0.01 --epsilon 1 --delta 1e-5 --steps 10 --solve sigma --bound poisson-rdp
shuffle-pnsgd --noise gaussian --sigma 1 --lipschitz 1 --diameter 1 --learning-rate 0.25 --smoothness 0.5 --n 1000 --epsilon 1
shuffle-pnsgd --noise laplace --c1 1e5 --c2 2 --lipschitz 10 --diameter 1 --learning-rate 0.1 --smoothness 0.5 --n 1e6 --epsilon 1
shuffle-pnsgd --sigma 1 --lipschitz 1 --diameter 1 --learning-rate 0.25 --smoothness 0.5 --strong-convexity 0.1 --n 100 --index 50 --epsilon 0.5
online-noise --noise laplace --lipschitz 10 --diameter 1 --learning-rate 0.01 --smoothness 0.5 --decay 1.5 --c1 100 --c2 100 --index 100 --n 1e4 --epsilon 1
online-noise --sigmas 3,2,1 --lipschitz 1 --diameter 1 --learning-rate 0.1 --smoothness 0.5 --epsilon 1
burn-in --n 600 --batch-size 12 --steps 1e3 --lipschitz 1 --smoothness 1 --learning-rate 0.05 --diameter 2 --sigma 0.5 --delta 1e-5
burn-in --n 100 --batch-size 100 --steps 50 --lipschitz 1 --smoothness 1 --learning-rate 0.05 --diameter 2 --sigma 0.5 --alpha 4
burn-in --n 100 --batch-size 10 --steps 50 --order fixed --lipschitz 1 --smoothness 1 --learning-rate 0.05 --diameter 2 --sigma 0.5 --epsilon 1
burn-in --n 100 --batch-size 10 --steps 50 --order fixed --loss any --lipschitz 1 --smoothness 1 --learning-rate 0.05 --sigma 0.5 --delta 1e-5
burn-in --n 100 --batch-size 10 --steps 50 --loss any --lipschitz 1 --smoothness 0.01 --learning-rate 0.05 --diameter 2 --sigma 0.5 --alpha 4
tv --mechanism gaussian --sigma 50
tv --mechanism laplace --tv 0.01 --solve scale
tv --mechanism randomized-response --probability 0.75 --steps 10
tv --sampling-rate 0.01 --sigma 1 --steps 10 --fpr 0.01,0.1
tv --mu 1 --roc 5
tv --kl 0.1 --steps 3 --prior 0.3
noise-feedback --curvature 0.7 --learning-rate 0.1 --sigma 2 --steps 6 --lipschitz 1 --delta 1e-5
noise-feedback --curvature 0.7,0.1 --learning-rate 0.1 --sigma 2 --steps 6 --lipschitz 1 --feedback 0.5 --used-at 1,4 --epsilon 1
noise-feedback --learning-rate 0.1 --sigma 2 --steps 1000 --lipschitz 1 --feedback 0.9 --release every-iterate --index 3 --delta 1e-5
noise-feedback --curvature 0.7 --learning-rate 0.1 --steps 6 --solve feedback
correlated --steps 50 --separation 10 --participations 3 --strategy banded-sqrt:5 --sigma 2 --delta 1e-5
correlated --steps 50 --strategy blt --blt-scale 0.2,0.3 --blt-decay 0.9,0.5 --epsilon 1 --delta 1e-5 --solve sigma
correlated --steps 50 --order cyclic --separation 10 --coefficients 1,-0.5,0.3 --contraction 0.9 --sigma 2 --epsilon 1
correlated --steps 50 --strategy feedback:0.9 --schedule 1:5
audit --true-positives 500/1000 --false-positives 10/1000 --delta 1e-5
audit --canaries 100 --guesses 50 --right 45 --delta 1e-5 --epsilon 1 --tests 2
schema rdp
"""
NUMBERS = ("0", "1", "-1", "2", "0.5", "1e-5", "1e-300", "5e-324", "1e-320", "1e-400", "1e300",
           "1.7976931348623157e308", "1e308", "1e400",
           "1/3", "2^-20", "sqrt(2)", "0.9999999999999999", "1.0000000000000002", "1.0000000001", "9007199254740991",
           "9007199254740992",
           "1e12", "1e9", "1e6", "1e5", "100", "10", "3", "1e-15", "1e-30", "1e-100", "0.1", "0.01", "700", "1e10",
           "15", "30")
SWEEPS = ("1,2", "0.1,0.2,1", "1:3:3", "1:100:3:log", "1e-6:1e-3:2:log", "1:2", "1:2:3:4", "1::3", "1:2:1", "0:1:3:log",
          ",", "1,,2", "1:2:1e9", "1,nan")
BAD = ("", " ", "nan", "inf", "-inf", "abc", "-", "--", "1e", "1_000", "0x10", "１", "1;2", "1 2", "(", "sqrt(", "1/0",
       "2^2^2^2^9", "sqrt(-1)", "1e5e5",
       "9" * 300, "(" * 150, "-" * 190 + "1", "@nowhere", "@.", "@list", "\x00", "ε", "\ud800", "--json", "{}", "[1,2]",
       "null", "true")
JSON_NUMBERS = ("0", "1", "-1", "0.5", "1e-5", "1e308", "1e-320", "1e400", "-1e400", "NaN", "Infinity", "-Infinity",
                "9007199254740993", "1" * 400,
                "1" * 5000, '"1"', "true", "null", "[]", "{}", "1.5", "100", "1e6", "2", "0.01")
EXPONENTS = st.one_of(st.floats(-0.5, 0.5), st.floats(-2, 2), st.floats(-5, 5), st.floats(-40, 40))
WORDS = ("gaussian", "laplace", "randomized-response", "poisson", "without-replacement", "weighted", "gdp", "sigma",
         "steps", "json", "inf")


def commands():
    """Name → (options by kind, words that can be solved for), from the commands themselves."""
    return {name: None if name in PAGES else calculator(name) for name in COMMANDS}


TABLE = commands()
FORMATS = FORMAT.choices


def seeds():
    lines = [shlex.split(line) for line in SEEDS.strip().splitlines()]
    said = [shlex.split(text) for command in TABLE.values() if command for text,
            _ in command.examples if "|" not in text]
    return lines + [s for s in said if s and s[0] in TABLE]


def values(option):
    """Texts for an option: in its range, at its ends, and out of it."""
    q = option.quantity
    ends = tuple(repr(x) for x in (q.gt, q.ge, q.lt, q.le) if x is not None)
    ordinary = st.floats(-20, 20).map(lambda e: f"{10**e:.3g}")
    kinds = [st.sampled_from(NUMBERS + ends), ordinary]
    if q.kind in ("choice", "text"):
        kinds = [st.sampled_from((option.choices or q.choices or WORDS) + WORDS)]
    if q.kind == "numbers":
        kinds.append(st.lists(st.sampled_from(NUMBERS), max_size=4).map(",".join))
    if q.name == "digits":
        kinds = [st.sampled_from(("15", "20", "50", "14", "1001"))]
    return st.one_of(*kinds, *kinds, *kinds, st.sampled_from(SWEEPS), st.sampled_from(BAD))


@st.composite
def calls(draw):
    """The arguments of a call: a good one with some options changed, dropped, added or said twice; or anything at
    all."""
    args = list(draw(st.sampled_from(SEED_CALLS)))
    command = TABLE.get(args[0])
    if command is None or draw(st.integers(0, 24)) == 0:
        return draw(st.lists(st.sampled_from((*COMMANDS, *BAD, *NUMBERS, "-q", "--json", "--help", "--version",
                                              "--sigma", "-h")), max_size=6))
    # --output would write files of any name; batches are drawn below
    options = {o.quantity.option: o for o in command.all_options() if o.name not in ("output", "batch")}
    for _ in range(draw(st.integers(0, 4))):
        at = [i for i, a in enumerate(args) if a in options and i + 1 < len(args)]
        change = draw(st.sampled_from(("scale", "scale", "scale", "scale", "change", "change", "add", "drop", "repeat",
                                       "switch", "solve", "bound")))
        if change == "change" and at:
            i = draw(st.sampled_from(at))
            args[i + 1] = draw(values(options[args[i]]))
        elif change == "scale" and at:
            i = draw(st.sampled_from(at))
            with contextlib.suppress(ValueError):
                x = float(args[i + 1]) * 10 ** draw(EXPONENTS)
                args[i + 1] = str(round(x) or 1) if "." not in args[i + 1] and x < 1e15 and x > 0.5 else f"{x:.12g}"
        elif change == "drop" and at:
            i = draw(st.sampled_from(at))
            del args[i : i + 2]
        elif change == "repeat" and at:
            i = draw(st.sampled_from(at))
            args += args[i : i + 2]
        elif change == "add":
            option = draw(st.sampled_from(sorted(options)))
            args += [option, draw(values(options[option]))]
        elif change == "switch":
            args.append(draw(st.sampled_from(("-q", "--json", "--explain", "--nonsense", "-x"))))
        elif change == "solve" and command.solvable():
            args += ["--epsilon", "1", "--delta", "1e-5", "--solve", draw(st.sampled_from(command.solvable()))]
        elif change == "bound":
            args += ["--bound", draw(st.sampled_from(BOUND_NAMES))]
    if draw(st.booleans()) and "--format" not in args and "-q" not in args:
        args += ["--format", draw(st.sampled_from(("json", "json", "json", *FORMATS)))]
    return args


@st.composite
def guarantees(draw):
    """JSON for standard input: a guarantee or a result with numbers of every kind, then perhaps broken."""
    x = st.sampled_from(JSON_NUMBERS)
    some = lambda: "[" + ",".join(draw(st.lists(x, max_size=3))) + "]"  # noqa: E731
    sampling = lambda: draw(st.sampled_from(("null", '{"scheme":"poisson","rate":0.01}',  # noqa: E731
                                             '{"scheme":"without-replacement","rate":0.1}',
                                             '{"scheme":"weighted","rate":1}', '{"scheme":"poisson","rate":2}',
                                             '{"scheme":5}')))
    good = (
        lambda: f'{{"kind":"dp","epsilon":{draw(x)},"delta":{draw(x)}}}',
        lambda: f'{{"kind":"gdp","mu":{draw(x)}}}',
        lambda: f'{{"kind":"tv","tv":{draw(x)}}}',
        lambda: f'{{"kind":"rdp","alpha":{some()},"rdp":{some()}}}',
        lambda: f'{{"kind":"rdp","alpha":[2,4],"rdp":[{draw(x)},{draw(x)}]}}',
        lambda: f'{{"kind":"profile","epsilon":[0,{draw(x)}],"delta":[{draw(x)},{draw(x)}]}}',
        lambda: f'{{"kind":"mechanisms","mechanisms":[{{"name":"gaussian","noise_multiplier":{draw(x)},"sampling":{sampling()},"count":{draw(x)}}}]}}',
        lambda: f'{{"kind":"mechanisms","mechanisms":[{{"name":"laplace","scale":{draw(x)},"sampling":{sampling()},"count":{draw(x)}}},'
                f'{{"name":"randomized-response","probability":0.7,"sampling":{sampling()},"count":2}}]}}',
    )
    text = draw(st.sampled_from(good))()
    change = draw(st.sampled_from(("no", "no", "no", "result", "old", "cut", "twice", "deep", "key", "word", "bytes")))
    if change == "result":
        text = f'{{"schema":"dpcalc/v1","guarantee":{text}}}'
    elif change == "old":
        text = f'{{"schema":{draw(st.sampled_from(("0", "null", "[]", chr(34) + "dpcalc/v2" + chr(34))))},"guarantee":{text}}}'
    elif change == "cut":
        text = text[: draw(st.integers(0, len(text)))]
    elif change == "twice":
        text += text
    elif change == "deep":
        depth = draw(st.sampled_from((10, 900, 100_000)))
        text = draw(st.sampled_from(("[", '{"kind":', '{"guarantee":'))) * depth + text
    elif change == "key":
        text = text.replace("{", '{"' + draw(st.text(max_size=5)).replace('"', "").replace("\\", "") + '":1,', 1)
    elif change == "word":
        text = draw(st.sampled_from((*JSON_NUMBERS, '"kind"', '{"kind":"x"}', '{"kind":null}', '{"kind":{}}',
                                     "\ufeff{}", "[[[")))
    if change == "bytes":
        return draw(st.binary(max_size=40)) + text.encode()
    return text.encode("utf-8", "surrogatepass")


@st.composite
def pipes(draw):
    """A command that reads a guarantee, and what it reads."""
    question = draw(st.sampled_from((["--delta", "1e-5"], ["--epsilon", "1"], ["--alpha", "4"], ["--to", "tv"], [],
                                     ["--delta", "0"],
                                     ["--steps", "10", "--delta", "1e-5"],
                                     ["--epsilon", "1", "--delta", "1e-5", "--solve", "steps"])))
    reader = draw(st.sampled_from(READERS))
    extra = draw(st.sampled_from(([], ["--json"], ["-q"], ["--format", "csv"])))
    more = {"subsample": ["--sampling-rate", "0.01"],
            "audit": ["--true-positives", "9/10", "--false-positives", "1/10"]}.get(reader, [])
    return [reader, "-", *more, *question, *extra], draw(guarantees())


LINES = (
    ("rdp", ("sigma", "delta", "epsilon", "alpha", "steps", "solve", "id", "sensitivity", "nonsense")),
    ("convert", ("from", "mu", "rho", "delta", "epsilon", "steps", "input", "kind", "schema", "error", "id")),
    ("audit", ("true_positives", "false_positives", "canaries", "guesses", "right", "delta", "epsilon", "kind", "id")),
    ("tv", ("sigma", "mu", "tv", "solve", "fpr", "steps", "kind", "id")),
)
JSON_WORDS = ('"gdp"', '"zcdp"', '"sigma"', '"gaussian"', '"@list"', '"1,2"', '"1e-5"', '{"kind":"gdp","mu":1}')


@st.composite
def batches(draw):
    """A command with --batch, and lines, among which bad ones, empty ones and ones that are no JSON."""
    name, keys = draw(st.sampled_from(LINES))
    good = {"rdp": b'{"sigma": 2, "delta": 1e-5}', "convert": b'{"from": "gdp", "mu": 1, "delta": 1e-5}',
            "audit": b'{"canaries": 90, "guesses": 9, "right": 9, "delta": 0}', "tv": b'{"sigma": 2}'}[name]

    def line():
        kind = draw(st.sampled_from(("good", "good", "object", "object", "junk", "bytes")))
        if kind == "good":
            return good
        if kind == "object":
            pairs = draw(st.lists(st.tuples(st.sampled_from(keys), st.sampled_from(JSON_NUMBERS + JSON_WORDS)),
                                  max_size=4))
            return ("{" + ",".join(f'"{k}":{v}' for k, v in pairs) + "}").encode()
        return draw(st.binary(max_size=20)).replace(b"\n", b"") if kind == "bytes" else draw(st.sampled_from(JUNK))

    lines = [good, *(line() for _ in range(draw(st.integers(0, 6))))]  # the first one says that they are no CSV
    return [name, "--batch",
            *draw(st.sampled_from(([], [], ["-q"], ["--json"])))], b"\n".join(lines) + draw(st.sampled_from((b"",
                                                                                                             b"\n")))


JUNK = (b"", b" ", b"{", b"[1,2]", b"null", b"NaN", b'{"sigma": NaN, "delta": 1e-5}', b"{" * 100_000, b"[" * 100_000,
        b'{"sigma": ' + b"1" * 5000 + b"}",
        b'{"sigma": 1' + b" " * 1_100_000 + b"}", b'{"sigma": 1, "sigma": 2, "delta": 1e-5}', "\ufeff{}".encode(),
        b'"text"', b"\xff\xfe", b"{}", b"\r")


SEED_CALLS = seeds()
READERS = sorted(name for name, command in TABLE.items() if command and command.inputs)
BOUND_NAMES = sorted(all_bounds())
