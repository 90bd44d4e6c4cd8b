"""Asks the installed dpcalc a handful of questions: `PYTHON .ci/smoke.py`, from a folder without the sources."""

import json
import subprocess
import sys
from pathlib import Path

import dpcalc

DPCALC = Path(sys.executable).with_name("dpcalc")


def run(*args: str, stdin: str = "") -> str:
    return subprocess.run([DPCALC, *args], input=stdin, capture_output=True, text=True, check=True).stdout


assert "site-packages" in dpcalc.__file__ and (Path(dpcalc.__file__).parent / "py.typed").exists()
assert run("--version") == f"dpcalc {dpcalc.__version__}\n"
assert "--delta" in run("rdp", "--help")
assert all("convert" in run("completion", shell) for shell in ("bash", "zsh", "fish"))
assert "{mironov2017renyi," in run("rdp", "--sigma", "1", "--alpha", "8", "--format", "bibtex")
readme = ("--n", "60000", "--batch-size", "256", "--epochs", "15", "--sigma", "1.1", "--delta", "1e-5")
assert 1.13 < float(run("subsample", *readme, "-q")) < 1.14
assert abs(float(run("rdp", "--sigma", "1", "--delta", "1e-5", "-q")) / 4.3771780956812246 - 1) < 1e-12
curve = run("rdp", "--mechanism", "laplace", "--scale", "20", "--json")
piped = json.loads(run("convert", "-", "--steps", "10", "--delta", "1e-5", "--json", stdin=curve))
assert 0 < piped["result"]["epsilon"] <= 0.5 and piped["status"] == "proven"
assert run("verify", "-", "-q", stdin=run("subsample", *readme, "--json")) == "verified\n"
answer = dpcalc.answer("subsample", n=60000, batch_size=256, epochs=15, sigma=1.1, delta=1e-5)
assert answer.value == float(run("subsample", *readme, "-q"))
assert dpcalc.solve("rdp", "sigma", epsilon=1, delta=1e-5).value < 3.7307
print(f"smoke test passed: dpcalc {dpcalc.__version__} on Python {sys.version.split()[0]}")
