"""Every command in the README runs, and its output there is what it prints."""

import re
import subprocess
import sys

import pytest
from conftest import ROOT
from generate_readme import README, alike, generated, settled


def test_readme_is_current(monkeypatch):
    for name in ("COLUMNS", "LINES"):
        monkeypatch.setenv(name, "80")  # restored at the end
    text = README.read_text(encoding="utf-8")
    assert generated(text) == text, "run python tests/generate_readme.py"


def test_numbers_in_full_may_differ_in_their_last_digits_only():
    """One processor adds in another order than the next; what people read has six digits."""
    assert alike("[1,2.1008351326139194]", "[1,2.100835132613921]") and not alike("[1,2.1008351326139194]", "[2,2.100835132613921]")
    assert not alike("ε ≤ 0.9542504550096399 (a)", "ε ≤ 0.9542504590096399 (a)") and not alike("ε = 0.954250", "ε = 0.954251")
    assert not alike("1.0000000000000002", "1.0") and alike("3.1234567890123e-5", "3.1234567890124e-5")
    assert settled("x 2.1008351326139194\nold", "x 2.1008351326139207\nnew") == "x 2.1008351326139194\nnew"
    assert settled("a\nb", "c") == "c"


def test_the_setup_commands_name_what_exists():
    text = README.read_text(encoding="utf-8")
    commands = re.findall(r"^\$ (python3 -m venv .*)$", text, re.M)
    assert len(commands) == 2 and all(".venv/bin/pip install" in c for c in commands)
    assert "test = [" in (ROOT / "pyproject.toml").read_text()
    assert "<!-- test command -->" in (ROOT / ".ci" / "run").read_text()


PYTHON = re.findall(r"^```python\n(.*?)^```", README.read_text(encoding="utf-8"), re.M | re.S)


@pytest.mark.parametrize("code", PYTHON, ids=range(len(PYTHON)))
def test_the_python_of_the_readme_runs(code, tmp_path):
    (tmp_path / "questions.jsonl").write_text('{"sigma": 1}\n{"sigma": 2}\n')
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr


def test_the_numbers_in_its_comments_are_true(tmp_path):
    """A number after `# ` with an ellipsis is how the value of that line begins."""
    shown = re.findall(r"^(\S.*?)\s+# (?:ε, in full: )?(\d+\.\d+)…", "".join(PYTHON), re.M)
    assert len(shown) >= 2
    code = PYTHON[[("solve(" in c) for c in PYTHON].index(True)]
    for expression, start in shown:
        done = subprocess.run([sys.executable, "-c", f"{code}\nprint(repr({expression}))"], cwd=tmp_path, capture_output=True, text=True, timeout=120)
        assert done.stdout.startswith(start), (expression, done.stdout, done.stderr)
