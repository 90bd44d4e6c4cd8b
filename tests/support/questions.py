"""Random questions to every command that answers some: command lines, from a seed."""

import random
from math import exp, log


def log_uniform(rng, low, high):
    return float(f"{exp(rng.uniform(log(low), log(high))):.6g}")


def _asks(rng, budget=True):
    """--delta, --epsilon or --alpha."""
    kind = rng.choice(("delta", "delta", "epsilon", "alpha"))
    if kind == "delta":
        return f"--delta {log_uniform(rng, 1e-12, 1e-2)}"
    return f"--epsilon {log_uniform(rng, 0.1, 5)}" if kind == "epsilon" else f"--alpha {1 + log_uniform(rng, 0.1, 50):.5g}"


def _budget(rng):
    return f"--epsilon {log_uniform(rng, 0.3, 4)} --delta {log_uniform(rng, 1e-10, 1e-3)}"


def _mechanism(rng):
    name = rng.choice(("gaussian", "gaussian", "laplace", "randomized-response"))
    level = {"gaussian": f"--sigma {log_uniform(rng, 0.5, 20)}", "laplace": f"--scale {log_uniform(rng, 0.5, 20)}",
             "randomized-response": f"--probability {rng.uniform(0.55, 0.95):.4f}"}[name]
    return name, level


def rdp(rng):
    name, level = _mechanism(rng)
    steps = rng.choice((1, 1, 2, 10, 100))
    if rng.random() < 0.3:
        unknown = {"gaussian": ("sigma", "sensitivity"), "laplace": ("scale", "sensitivity"),
                   "randomized-response": ("probability",)}[name]
        pick = rng.choice((*unknown, "steps") if name != "laplace" else unknown)
        level = "" if pick in ("sigma", "scale", "probability") else level
        steps = f"--steps {rng.choice((1, 5))}" if pick != "steps" else ""
        budget = _budget(rng) if rng.random() < 0.7 else f"--alpha {1 + log_uniform(rng, 0.5, 20):.4g} --rdp {log_uniform(rng, 0.05, 2)}"
        if pick == "steps":
            level = {"gaussian": "--sigma 40", "randomized-response": "--probability 0.52"}[name]
        return f"rdp --mechanism {name} {level} {steps} {budget} --solve {pick}"
    asks = _asks(rng)
    if name != "gaussian" and asks.startswith("--epsilon"):  # the least δ of pure noise can lie below 1e-100000000
        asks = "--delta 1e-5"
    return f"rdp --mechanism {name} {level} --steps {steps} {asks}"


def convert(rng):
    kind = rng.choice(("rdp", "gdp", "zcdp", "dp", "dp-tv", "dp-gdp", "dp-rdp", "outcomes", "solve", "slack"))
    delta = f"--delta {log_uniform(rng, 1e-10, 1e-3)}"
    if kind == "rdp":
        return f"convert --from rdp --alpha 2,4,8,16 --rdp {','.join(str(log_uniform(rng, 0.05, 0.4) + k / 5) for k in range(4))} {delta}"
    if kind == "gdp":
        return f"convert --from gdp --mu {log_uniform(rng, 0.1, 4)} --steps {rng.choice((1, 7))} {_asks(rng)}"
    if kind == "zcdp":
        return f"convert --from zcdp --rho {log_uniform(rng, 0.01, 2)} {_asks(rng)}"
    if kind == "dp":
        return f"convert --from dp --epsilon {log_uniform(rng, 0.01, 0.3)} --delta 1e-7 --steps {rng.randint(2, 300)} --target-epsilon {log_uniform(rng, 0.5, 4)}"
    if kind == "dp-tv":
        return f"convert --from dp --epsilon {log_uniform(rng, 0.1, 3)} --delta {log_uniform(rng, 1e-8, 0.1)} --to tv"
    if kind == "dp-gdp":
        return f"convert --from dp --epsilon {log_uniform(rng, 0.01, 10)} --delta 0 --steps {rng.randint(1, 9)} --to gdp"
    if kind == "dp-rdp":
        return f"convert --from dp --epsilon {log_uniform(rng, 0.01, 10)} --delta 0 --alpha {1 + log_uniform(rng, 0.1, 30):.4g}"
    if kind == "slack":
        return f"convert --from dp --epsilon {log_uniform(rng, 0.01, 0.2)} --delta 1e-8 --steps {rng.randint(20, 200)} --slack 1e-6"
    if kind == "outcomes":
        return f"convert --from outcomes --p .3,.5,.2 --q .25,.45,.3 {rng.choice(('--epsilon .05', '--delta .01', '--alpha 3', '--to tv', '--delta 0'))}"
    return f"convert --from zcdp {_budget(rng)} --solve rho"


def subsample(rng):
    rate = log_uniform(rng, 0.002, 0.2)
    kind = rng.choice(("rdp", "rdp", "wor-rdp", "wor-rdp", "weighted", "weighted", "poisson", "wor", "one", "one",
                       "point", "solve"))
    sigma = log_uniform(rng, 0.8, 4)
    if kind == "rdp":
        return f"subsample --sampling-rate {rate} --sigma {sigma} --steps {rng.randint(1, 2000)} --bound {rng.choice(('poisson-rdp', 'rdp-optimal'))} --delta 1e-6"
    if kind == "wor-rdp":
        return f"subsample --scheme without-replacement --sampling-rate {rate} --sigma {sigma} --steps {rng.randint(1, 900)} --bound wor-rdp --delta 1e-6"
    if kind == "weighted":
        return f"subsample --scheme weighted --max-weight {rate} --sigma {sigma} --steps {rng.randint(1, 900)} --epsilon {log_uniform(rng, 1, 5)}"
    if kind == "poisson":
        return f"subsample --n 10000 --batch-size {rng.randint(50, 500)} --epochs {rng.randint(1, 3)} --sigma {sigma + 1:.4f} {rng.choice(('--delta 1e-5', '--epsilon 0.1'))}"
    if kind == "wor":
        steps = rng.randint(2, 300)
        line = f"subsample --scheme without-replacement --sampling-rate {rate} --sigma {sigma} --steps {steps} --delta 1e-6"
        run = f"--noise-multiplier {sigma} --steps {steps} --delta 1e-6"
        return random.Random(line).choice((  # so that the questions after it stay what they are
            line, f"subsample --sampling-rate {rate} {run} --adjacency replace-one",
            f"subsample --scheme without-replacement --sampling-rate {rate} {run} --adjacency zero-out",
            f"subsample --scheme with-replacement --n 1000 --batch-size {1 + int(100 * rate)} {run}"))
    if kind == "one":
        scheme = rng.choice(("poisson", "without-replacement"))
        name, level = _mechanism(rng)
        if name == "randomized-response":  # a report is not sampled; this noise has the same two losses
            p = float(level.split()[1])
            name, level = "discrete-laplace", f"--scale {1 / log(p / (1 - p)):.6g}"
        return f"subsample --scheme {scheme} --mechanism {name} {level} --sampling-rate {rate} --steps 1 {rng.choice(('--delta 1e-6', '--epsilon 0.1'))}"
    if kind == "point":
        return f"subsample --sampling-rate {rate} --epsilon {log_uniform(rng, 0.1, 4)} --delta 1e-6"
    return f"subsample --sampling-rate 0.01 --steps {rng.randint(10, 400)} --epsilon {log_uniform(rng, 0.5, 3)} --delta 1e-6 --solve sigma"


_RUN = "--lipschitz 1 --smoothness .5 --learning-rate {eta} --diameter {d}"


def shuffle(rng):
    run = _RUN.format(eta=log_uniform(rng, 0.01, 0.3), d=log_uniform(rng, 0.5, 4))
    kind = rng.choice(("ask", "ask", "laplace", "c1", "index", "solve", "smooth", "conjecture"))
    n = rng.choice((50, 1000, 100000, 10**9))
    if kind == "laplace":
        return f"shuffle-pnsgd --noise laplace --scale {log_uniform(rng, 0.5, 4)} {run} --n {n} {rng.choice(('--epsilon .3', '--delta 1e-3'))}"
    if kind == "c1":
        return f"shuffle-pnsgd --noise {rng.choice(('gaussian', 'laplace'))} --c1 1e4 --c2 2 {run} --n 100000 --epsilon 1"
    if kind == "index":
        return f"shuffle-pnsgd --sigma {log_uniform(rng, 0.5, 5)} {run} --n 500 --index {rng.randint(1, 500)} {rng.choice(('--epsilon .3', '--delta 1e-6', '--alpha 3'))}"
    if kind == "solve":
        return f"shuffle-pnsgd {run} --n {rng.choice((100, 5000))} --epsilon 1 --delta 1e-5 --solve sigma"
    if kind == "smooth":
        return f"shuffle-pnsgd --sigma {log_uniform(rng, 2, 9)} {run} --n 300 --bound {rng.choice(('smooth-nonconvex', 'output-perturbation --strong-convexity .3'))} {rng.choice(('--epsilon .3', '--delta 1e-6', '--alpha 3'))}"
    if kind == "conjecture":
        return f"shuffle-pnsgd --sigma 4 --lipschitz 1 --n 1000 --tau .5 --bound without-replacement-conjecture --alpha {rng.randint(2, 9)}"
    return f"shuffle-pnsgd --sigma {log_uniform(rng, 0.5, 5)} {run} --n {n} {rng.choice(('--epsilon .3', '--delta 1e-6', '--epsilon 1 --strong-convexity .1'))}"


def online(rng):
    noise = rng.choice(("gaussian", "laplace"))
    run = f"online-noise --noise {noise} --lipschitz 1 --smoothness .5 --learning-rate {log_uniform(rng, 0.01, 0.1)} --diameter {log_uniform(rng, .5, 2)}"
    if rng.random() < 0.3:
        option = "sigmas" if noise == "gaussian" else "scales"
        return f"{run} --{option} {','.join(str(log_uniform(rng, 0.5, 5)) for _ in range(8))} --index {rng.randint(1, 8)} {rng.choice(('--epsilon .5', '--delta .01'))}"
    n = rng.randint(200, 900)
    if rng.random() < 0.3:
        return f"{run} --c2 2 --decay 1.5 --index 10 --n {n} --epsilon 1 --delta 1e-3 --solve c1"
    return f"{run} --c1 50 --c2 50 --decay {rng.uniform(1.1, 2):.3f} --index {rng.randint(1, 150)} --n {n} {rng.choice(('--epsilon 1', '--delta 1e-4'))}"


def burn_in(rng):
    loss = rng.choice(("", "", "-nonconvex"))
    run = f"burn-in --lipschitz 1 --smoothness 1 --learning-rate {log_uniform(rng, 0.02, 0.2)} --diameter {log_uniform(rng, 0.5, 3)}"
    run += " --loss any" if loss else ""
    kind = rng.choice(("full", "fixed", "rdp", "rdp", "one", "solve"))
    if kind == "full":
        return f"{run} --n 1000 --batch-size 1000 --steps {rng.randint(1, 2000)} --sigma {log_uniform(rng, .01, .1)} --bound iteration{loss} {_asks(rng)}"
    if kind == "fixed":
        return f"{run} --order fixed --n 1000 --batch-size 100 --steps {rng.randint(30, 900)} --sigma {log_uniform(rng, .05, .3)} {_asks(rng)}"
    if kind == "one":
        return f"{run} --n 1000 --batch-size 50 --steps 1 --sigma {log_uniform(rng, .1, .3)} --delta 1e-6"
    if kind == "solve":
        return f"{run} --n 1000 --batch-size 100 --steps {rng.randint(30, 900)} --order fixed --epsilon 1 --delta 1e-6 --solve sigma"
    which = rng.choice(("composition", f"burn-in-rdp{loss}"))
    return f"{run} --n 10000 --batch-size 100 --steps {rng.randint(100, 5000)} --sigma {log_uniform(rng, .05, .3)} --bound {which} {rng.choice(('--delta 1e-6', '--alpha 4', '--epsilon 3'))}"


def tv(rng):
    name, level = _mechanism(rng)
    kind = rng.choice(("once", "often", "solve", "gdp", "dp", "kl", "tpr", "zcdp"))
    if kind == "once":
        return f"tv --mechanism {name} {level}"
    if kind == "often":
        return f"tv --sigma {log_uniform(rng, 2, 50)} --steps {rng.randint(2, 50)}"
    if kind == "solve":
        unknown = {"gaussian": "sigma", "laplace": "scale"}.get(name, "probability")
        return f"tv --tv {log_uniform(rng, .01, .5)} --mechanism {name} --solve {unknown}"
    if kind == "gdp":
        return f"tv --mu {log_uniform(rng, .1, 3)}"
    if kind == "dp":
        return f"tv --epsilon {log_uniform(rng, .1, 2)} --delta 1e-5 --steps {rng.choice((1, 4))}"
    if kind == "kl":
        return f"tv --kl {log_uniform(rng, .01, 1)} --steps {rng.randint(1, 4)}"
    if kind == "zcdp":
        return f"tv --rho {log_uniform(rng, .01, 1)}"
    return f"tv --fpr {rng.choice((.01, .1))} --tpr {rng.choice((.2, .3))} --solve sigma"


def feedback(rng):
    run = f"noise-feedback --curvature {log_uniform(rng, .1, 2)} --learning-rate {log_uniform(rng, .02, .4)} --steps {rng.randint(1, 400)} --lipschitz 1"
    own = random.Random(run)  # so that the questions after it stay what they are
    run += own.choice(("", f" --feedback {own.random():.4g}", f" --feedback {own.random():.4g} --release every-iterate"))
    if rng.random() < 0.3:
        return f"{run} {_budget(rng)} --solve sigma"
    return f"{run} --sigma {log_uniform(rng, .05, 3)} {_asks(rng)}"


COMMANDS = (rdp, rdp, convert, convert, subsample, subsample, shuffle, shuffle, online, burn_in, tv, feedback)


def questions(count, seed):
    """Different ones, the commands in turn."""
    rng, found = random.Random(seed), []
    while len(found) < count:
        line = COMMANDS[len(found) % len(COMMANDS)](rng)
        found += [line] if line not in found else []
    return found
