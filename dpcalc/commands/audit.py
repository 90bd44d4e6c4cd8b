"""dpcalc audit: a lower bound on ε from what an attack on a program achieved, beside what the program promises."""

from dpcalc.core import audits, plotting
from dpcalc.core import quantities as q
from dpcalc.core.command import ATTACK, GUARANTEE, OUTPUT, QUESTION, Command, Option, options

_COUNT = "give counts, as --true-positives 500/1000 and --false-positives 10/1000"

COMMAND = Command(
    "audit",
    "From an attack on a program to a lower bound on its ε, with a confidence; beside a result of dpcalc, whether the "
    "attack refutes it (exit code 3).",
    (
        *options(ATTACK, *audits.COUNTS, *audits.ONE_RUN, audits.SCORES, audits.SCORE_THRESHOLD,
                 q.ROC._replace(help="curves at so many false-positive rates; the true-positive rates that the counts "
                                "show")),
        Option(audits.CONFIDENCE, QUESTION, default=0.95),
        Option(audits.TESTS, QUESTION, default=1),
        Option(q.DELTA._replace(help="δ of the bound (default: that of the claim); 0 asks for pure differential "
                                "privacy"), QUESTION),
        Option(q.EPSILON._replace(help="claimed ε at --delta, in place of a result"), GUARANTEE),
        Option(q.ADJACENCY._replace(help="neighbours that the attack tells apart: a claim that names none is bound to "
                                         "them, and replace-one converts other claims"), GUARANTEE),
        Option(plotting.PLOT._replace(help="draw the attack beside the claim, or a sweep, into FILE.svg, FILE.png or "
                               "FILE.pdf, or in the terminal (-)"), OUTPUT), *options(OUTPUT, *plotting.OPTIONS[1:]),
    ),
    examples=(
        ("audit --true-positives 500/1000 --false-positives 10/1000 --delta 1e-5", "ε ≥ 3.24199"),
        ("audit --canaries 1000 --guesses 200 --right 180 --delta 1e-5", "ε ≥ 1.79628"),
        ("subsample --n 60000 --batch-size 256 --epochs 15 --noise-multiplier 1.1 --delta 1e-5 --json | dpcalc audit - "
         "--true-positives 500/1000 --false-positives 10/1000", "ε ≥ 3.24199"),
    ),
    inputs=True,
    asks="Give the counts of an attack, and --delta or the result that it is to be compared with.",
    usual=("true_positives", "false_positives", "canaries", "guesses", "right", "scores", "delta", "confidence",
           "tests", "epsilon"),
    without=("alpha", "rdp", "solve"),
    elsewhere={
        "alpha": "the probability of an error is 1 − --confidence, as --confidence 0.95",
        "solve": "an audit finds no parameter; give several values, as in --right 160,170,180, or a --batch",
        **dict.fromkeys(("fpr", "tpr", "fnr", "tnr"), f"a rate says nothing about how sure it is: {_COUNT}"),
        **dict.fromkeys(("auc", "auroc", "accuracy", "advantage"), f"no bound follows from it alone: {_COUNT}"),
        **dict.fromkeys(("significance", "level"), "--confidence is 1 less it"),
        "threshold": "--score-threshold is the threshold of --scores",
        **dict.fromkeys(("false-negatives", "true-negatives", "fn", "tn", "misses"), "give hits and false alarms: 30 "
                        "misses in 500 runs are --true-positives 470/500"),
        **dict.fromkeys(("hits", "alarms", "precision"), "give the hits of all runs with the record as "
                        "--true-positives 500/1000, and the false alarms as --false-positives 10/1000"),
        **dict.fromkeys(("thresholds", "attacks", "tries"), "--tests counts the attacks and thresholds tried"),
        **dict.fromkeys(("claim", "result"), "name the file of the claim without an option, or - for standard input"),
        **dict.fromkeys(("members", "non-members", "runs", "trials"), "give it behind the hits, as in --true-positives "
                        "500/1000"),
        **dict.fromkeys(("steps", "sigma", "noise-multiplier", "n", "batch-size", "epochs"), "describe the program "
                        "with rdp or subsample --json, and pipe it into dpcalc audit -"),
    },
)
