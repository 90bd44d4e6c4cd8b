"""Completions, in the real shells, with a Tab."""

import os
import pty
import select
import signal
import time

import pytest
from conftest import ROOT, needs

FOLDER = ROOT / "completions"
CASES = [
    ("dpcalc conv", "convert"), ("dpcalc subs", "subsample"), ("dpcalc convert --sla", "convert --slack"),
    ("dpcalc rdp --mechanism lap", "rdp --mechanism laplace"), ("dpcalc rdp --format js", "rdp --format json"),
    ("dpcalc subsample --scheme wi", "subsample --scheme without-replacement"),
    ("dpcalc rdp --bound gaussian-cl", "rdp --bound gaussian-classic"),
    ("dpcalc rdp --mechanism=lap", "rdp --mechanism=laplace"),
    ("dpcalc explain burn-in-as", "explain burn-in-as-published"),
    ("dpcalc bounds --command noise", "bounds --command noise-feedback"),
    ("dpcalc ledg", "ledger"), ("dpcalc completion zs", "completion zsh"), ("dpcalc help poi", "help poisson"),
    ("dpcalc compare --solve noise", "compare --solve noise-multiplier"),
    ("dpcalc rdp --format stat", "rdp --format statement"), ("dpcalc --color nev", "--color never"),
]
SHELLS = {
    "bash": (["bash", "--norc", "-i"], f"source {FOLDER}/dpcalc.bash; dpcalc() {{ echo GOT:$*; }}"),
    "zsh": (["zsh", "-f", "-i"],
            f"fpath=({FOLDER} $fpath); autoload -Uz compinit; compinit -u -D; dpcalc() {{ echo GOT:$*; }}"),
    "fish": (["fish", "--no-config", "-i"], f"source {FOLDER}/dpcalc.fish; function dpcalc; echo \"GOT:$argv\"; end"),
}


def test_checked_in_files_are_current():
    pytest.importorskip("shtab")
    from generate_completions import render

    for name, text in render().items():
        assert (FOLDER / name).read_text(encoding="utf-8") == text, "run python tests/generate_completions.py"


def press_tab(argv, setup, line, patience=20):
    """Type the line and a Tab into an interactive shell; what the completed command was called with."""
    pid, fd = pty.fork()
    if pid == 0:
        try:
            os.execvpe(argv[0], argv, {**os.environ, "TERM": "dumb" if argv[0] != "fish" else "xterm", "PS1": "$ "})
        finally:
            os._exit(127)  # without that shell the rest of the tests would run here once more
    seen, stage, start, typed = b"", 0, time.time(), 0.0
    while time.time() - start < patience:
        if select.select([fd], [], [], 0.2)[0]:
            try:
                seen += os.read(fd, 65536)
            except OSError:
                break
            continue
        if stage == 0:
            os.write(fd, (setup + "; echo RE''ADY\n").encode())
            stage = 1
        elif stage == 1 and b"READY" in seen:
            os.write(fd, (line + "\t").encode())
            stage, typed = 2, time.time()
        elif stage == 2 and time.time() - typed > 0.8:
            os.write(fd, b"\n")
            stage = 3
        elif stage == 3 and b"GOT:" in seen.split(b"READY")[-1]:
            break
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    os.close(fd)
    lines = seen.decode(errors="replace").replace("\r", "\n").split("\n")
    got = [x.removeprefix("GOT:").strip() for x in lines if x.startswith("GOT:")]
    return got[-1].rstrip("=") if got else seen


@pytest.mark.parametrize("shell", [pytest.param(shell, marks=needs(shell)) for shell in SHELLS])
@pytest.mark.parametrize("line, want", CASES, ids=[c[0] for c in CASES])
def test_tab(shell, line, want):
    assert press_tab(*SHELLS[shell], line) == want
