"""Every command in the README runs, and its output there is what it prints."""

import re

from conftest import ROOT
from generate_readme import README, generated


def test_readme_is_current():
    text = README.read_text(encoding="utf-8")
    assert generated(text) == text, "run python tests/generate_readme.py"


def test_the_setup_commands_name_what_exists():
    text = README.read_text(encoding="utf-8")
    commands = re.findall(r"^\$ (python3 -m venv .*)$", text, re.M)
    assert len(commands) == 2 and all(".venv/bin/pip install" in c for c in commands)
    assert "test = [" in (ROOT / "pyproject.toml").read_text()
    assert "<!-- test command -->" in (ROOT / ".ci" / "run").read_text()
