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
    ("dpcalc subsample --scheme witho", "subsample --scheme without-replacement"),
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


PATIENCE = 20  # seconds for a shell to say something
PAUSES = (0.1, 1.0, 3.0)  # seconds that a shell has for a completion: longer where it was too slow


def read(fd, pause, until=b""):
    """What a shell says until it has said this and is silent for a while."""
    seen, start = b"", time.time()
    while time.time() - start < PATIENCE:
        if select.select([fd], [], [], pause)[0]:
            seen += os.read(fd, 65536)
        elif until in seen:
            break
    return seen


def press_tab(fd, line, pause):
    """Type the line and a Tab into a shell; what the completed command was called with."""
    os.write(fd, f"{line}\t".encode())
    read(fd, pause)
    os.write(fd, b"\n")
    seen = read(fd, 0.1, b"GOT:")
    lines = seen.decode(errors="replace").replace("\r", "\n").split("\n")
    got = [x.removeprefix("GOT:").strip() for x in lines if x.startswith("GOT:")]
    return got[-1].rstrip("=") if got else seen


@pytest.mark.parametrize("shell", [pytest.param(shell, marks=needs(shell)) for shell in SHELLS])
def test_tab(shell):
    """Every line in one interactive shell."""
    argv, setup = SHELLS[shell]
    pid, fd = pty.fork()
    if pid == 0:
        try:
            os.execvpe(argv[0], argv, {**os.environ, "TERM": "dumb" if argv[0] != "fish" else "xterm", "PS1": "$ "})
        finally:
            os._exit(127)  # without that shell the rest of the tests would run here once more
    try:
        read(fd, 0.2)
        os.write(fd, f"{setup}; echo RE''ADY\n".encode())
        read(fd, 0.2, b"READY")
        wrong = dict(CASES)
        for pause in PAUSES:
            found = {line: press_tab(fd, line, pause) for line in wrong}
            wrong = {line: found[line] for line, want in CASES if line in found and found[line] != want}
        assert not wrong
    finally:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
        os.close(fd)


def test_fish_describes_bounds_commands_and_topics_by_themselves():
    script = (FOLDER / "dpcalc.fish").read_text(encoding="utf-8")
    for value, text in (("gaussian-exact", "Balle & Wang 2018, Thm 8"), ("rdp", "privacy of one mechanism"),
                        ("tuning", "what a search over hyper-parameters costs")):
        assert f"{value}\\t'{text}" in script
