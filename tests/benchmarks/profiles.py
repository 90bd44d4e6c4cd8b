"""Composed profiles: hard questions with their time and memory, and DP-SGD runs beside dp-accounting's PLD, recorded
and random ones.

    python tests/benchmarks/profiles.py

Every question runs in a process of its own. The comparisons need dp-accounting and prv-accountant (pip install
dp-accounting prv-accountant).
"""

import json
import random
import resource
import subprocess
import sys
import time
from math import inf, log
from statistics import geometric_mean

from paths import GOLDEN

HARD = {
    "Gaussian σ=.05": ("rdp", "--sigma", ".05", "--delta", "1e-6"),
    "Gaussian σ=.01": ("rdp", "--sigma", ".01", "--delta", "1e-6"),
    "(.01, .1) × 1000": ("subsample", "--sampling-rate", ".01", "--sigma", ".1", "--steps", "1000", "--delta", "1e-6"),
    "(.01, .05) × 1": ("subsample", "--sampling-rate", ".01", "--steps", "1", "--sigma", ".05", "--delta", "1e-6"),
    "(.999, .3) × 1000": ("subsample", "--sampling-rate", ".999", "--sigma", ".3", "--steps", "1000", "--delta",
                          "1e-6"),
    "(1e-8, 1) × 1e9": ("subsample", "--sampling-rate", "1e-8", "--sigma", "1", "--steps", "1e9", "--delta", "1e-6"),
    "(.01, 1) × 1e9": ("subsample", "--sampling-rate", ".01", "--sigma", "1", "--steps", "1e9", "--delta", "1e-6"),
    "σ for ε=1e-3, δ=1e-9": ("subsample", "--sampling-rate", ".01", "--steps", "1000", "--epsilon", "1e-3", "--delta",
                             "1e-9", "--solve", "sigma"),
    "σ for ε=50": ("subsample", "--sampling-rate", ".01", "--steps", "1000", "--epsilon", "50", "--delta", "1e-6",
                   "--solve", "sigma"),
    "σ for ε=.05": ("subsample", "--sampling-rate", ".01", "--steps", "1e4", "--epsilon", ".05", "--delta", "1e-6",
                    "--solve", "sigma"),
    "allocation, t=1e5": ("subsample", "--scheme", "random-allocation", "--steps-per-epoch", "1e5", "--epochs", "1", "--noise-multiplier",
                          ".7", "--delta", "1e-10"),
    "allocation × 1e4": ("subsample", "--scheme", "random-allocation", "--steps-per-epoch", "1000", "--epochs", "1e4",
                         "--noise-multiplier", "5", "--delta", "1e-6"),
    "δ=1e-16, σ=1": ("subsample", "--sampling-rate", ".01", "--sigma", "1", "--steps", "1e4", "--delta", "1e-16"),
    "δ=1e-30, σ=1": ("subsample", "--sampling-rate", ".01", "--sigma", "1", "--steps", "1e4", "--delta", "1e-30"),
}


def one(arguments):
    """(seconds, peak MB, result, bound) of one command line, cold."""
    code = ("import sys, json, resource, time; from dpcalc.__main__ import main; import io, contextlib; out = "
            "io.StringIO()\n"
            "t = time.perf_counter()\nwith contextlib.redirect_stdout(out):\n    try:\n        main()\n    except "
            "SystemExit:\n        pass\n"
            "print(json.dumps([time.perf_counter() - t, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024, "
            "out.getvalue()]))")
    done = subprocess.run([sys.executable, "-c", code, *arguments, "--json"], capture_output=True, text=True)
    seconds, memory, text = json.loads(done.stdout)
    answer = json.loads(text)
    return seconds, memory, answer["result"], answer["bound"]


def hard():
    print(f"{'question':24} {'s':>6} {'MB':>5}  answer (lower), bound")
    for name, arguments in HARD.items():
        seconds, memory, result, bound = one(arguments)
        value = result.get("sigma", result["epsilon"]) if "σ for" in name else result["epsilon"]
        assert value < inf
        print(f"{name:24} {seconds:6.2f} {memory:5.0f}  {value:.6g} ({result.get('epsilon_lower', float('nan')):.6g}), "
              f"{bound}")


def recorded():
    """Beside what dp-accounting 0.6.0 said of the same questions, and the time it took then on one machine."""
    from dpcalc.pld.bracket import epsilon_at_delta
    from dpcalc.pld.pair import Gaussian
    from dpcalc.pld.sampled import poisson

    print(f"\n{'q':>10} {'σ':>5} {'T':>6} {'δ':>6}  {'[lower, upper]':24} {'ms':>6} {'upper/theirs':>12} "
          f"{'their time/ours':>15}")
    ratios = []
    for case in json.loads((GOLDEN / "pld_cases.json").read_text())["cases"]:
        parts = ((poisson(Gaussian(1 / case["sigma"]), case["q"]), case["steps"]),)
        start = time.process_time()
        found = epsilon_at_delta(parts, log(case["delta"]))
        seconds, theirs = time.process_time() - start, case["dp_accounting_pld"]
        beside = f"{found.upper / theirs:12.4f} {case['dp_accounting_seconds'] / seconds:15.1f}" if theirs else ""
        ratios += [case["dp_accounting_seconds"] / seconds] if theirs else []
        print(f"{case['q']:10g} {case['sigma']:5g} {case['steps']:6.0e} {case['delta']:6.0e}  [{found.lower:10.6g}, "
              f"{found.upper:10.6g}] "
              f"{1e3 * seconds:6.0f} {beside}")
    print(f"geometric mean of the time ratios: {geometric_mean(ratios):.1f}")


def runs(count=50, seed=1):
    rng = random.Random(seed)
    for _ in range(count):
        yield 10 ** rng.uniform(-3, -0.5), rng.uniform(0.6, 4), int(10 ** rng.uniform(1, 4)), 10 ** rng.uniform(-9, -4)


def compare():
    try:
        from dp_accounting import dp_event
        from dp_accounting.pld import pld_privacy_accountant
    except ImportError:
        print("dp-accounting is not installed: no comparison")
        return
    from dpcalc.pld.bracket import epsilon_at_delta
    from dpcalc.pld.pair import Gaussian
    from dpcalc.pld.sampled import poisson

    def theirs(rate, sigma, steps, delta):
        accountant = pld_privacy_accountant.PLDAccountant()
        accountant.compose(dp_event.PoissonSampledDpEvent(rate, dp_event.GaussianDpEvent(sigma)), steps)
        return accountant.get_epsilon(delta)

    def ours(rate, sigma, steps, delta):
        return epsilon_at_delta(((poisson(Gaussian(1 / sigma), rate), steps),), log(delta))

    def timed(f, *arguments):
        start = time.perf_counter()
        return f(*arguments), time.perf_counter() - start

    ours(0.01, 1.0, 10_000, 1e-6), theirs(0.01, 1.0, 10, 1e-6)
    a, ta = timed(ours, 0.01, 1.0, 10_000, 1e-6)
    b, tb = timed(theirs, 0.01, 1.0, 10_000, 1e-6)
    print(f"(.01, 1) × 1e4 at 1e-6: dpcalc [{a.lower:.6f}, {a.upper:.6f}] in {ta:.3f} s; dp-accounting {b:.6f} in "
          f"{tb:.3f} s: {tb / ta:.1f} ×")
    solve_beside_theirs()
    above, below, speed, width = 0, 0, [], []
    for run in runs():
        (a, ta), (b, tb) = timed(ours, *run), timed(theirs, *run)
        below += a.lower > b * (1 + 1e-6)  # theirs is an upper bound: ours must not start above it
        above += a.upper <= b * (1 + 1e-3)
        speed.append(tb / ta)
        width.append((a.upper - a.lower) / a.upper)
    speed.sort()
    print(f"50 random runs: upper <= theirs·1.001 in {above}, lower > theirs in {below}; bracket at most "
          f"{max(width):.2e}; "
          f"speed {speed[0]:.1f} - {speed[25]:.1f} - {speed[-1]:.1f} × (least, median, most)")


def compare_with_prv(count=20):
    """The ordinary runs that prv-accountant answers, at its usual error of .1 in ε and 1e-10 in δ."""
    try:
        from prv_accountant import PoissonSubsampledGaussianMechanism, PRVAccountant
    except ImportError:
        print("prv-accountant is not installed: no comparison")
        return
    from dpcalc.pld.bracket import epsilon_at_delta
    from dpcalc.pld.pair import Gaussian
    from dpcalc.pld.sampled import poisson

    ratios, widths, refused = [], [], 0
    for rate, sigma, steps, delta in runs(count, seed=2):
        start = time.perf_counter()
        ours = epsilon_at_delta(((poisson(Gaussian(1 / sigma), rate), steps),), log(delta))
        between = time.perf_counter()
        try:
            one = PoissonSubsampledGaussianMechanism(sampling_probability=rate, noise_multiplier=sigma)
            accountant = PRVAccountant(prvs=[one], max_self_compositions=[steps], eps_error=0.1, delta_error=1e-10)
            lower, _, upper = accountant.compute_epsilon(delta=delta, num_self_compositions=[steps])
        except (RuntimeError, ValueError):
            refused += 1
            continue
        ratios.append((time.perf_counter() - between) / (between - start))
        widths.append((ours.upper - ours.lower) / (upper - lower))
        assert ours.lower <= upper and lower <= ours.upper
    ratios.sort()
    print(f"{len(ratios)} of {count} random runs (prv refuses {refused}): speed {ratios[0]:.1f} - "
          f"{ratios[len(ratios) // 2]:.1f} - {ratios[-1]:.1f} × (least, median, most); width of the bracket at most "
          f"{max(widths):.1g} of theirs")


def solve_beside_theirs():
    """σ for ε = 2 at (.01, ·) × 1e4, δ = 1e-6, all of dpcalc's rows."""
    import dp_accounting
    from dp_accounting.pld import pld_privacy_accountant

    from dpcalc.commands.subsample import COMMAND
    from dpcalc.core.validate import validate

    said = {"sampling_rate": "0.01", "steps": "10000", "delta": "1e-6", "epsilon": "2", "solve": "sigma"}
    COMMAND.answer(validate(COMMAND, {**said, "epsilon": "3"}))
    start = time.perf_counter()
    answer = COMMAND.answer(validate(COMMAND, said))
    ours = time.perf_counter() - start

    def event(noise):
        return dp_accounting.SelfComposedDpEvent(dp_accounting.PoissonSampledDpEvent(0.01,
                                                                                     dp_accounting.GaussianDpEvent(noise)), 10_000)

    start = time.perf_counter()
    sigma = dp_accounting.calibrate_dp_mechanism(pld_privacy_accountant.PLDAccountant, event, 2.0, 1e-6,
                                                 dp_accounting.ExplicitBracketInterval(1.0, 4.0), tol=1e-4)
    theirs = time.perf_counter() - start
    print(f"σ for ε = 2: dpcalc {answer.value:.6f} in {ours:.3f} s; dp-accounting {sigma:.6f} in {theirs:.3f} s: "
          f"{theirs / ours:.1f} ×")


if __name__ == "__main__":
    hard()
    recorded()
    compare()
    compare_with_prv()
    print(f"peak of this process: {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MB")
