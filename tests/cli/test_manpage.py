"""The manual page: generated (test_completions.py compares), complete, and valid roff."""

import re
import subprocess

from conftest import ROOT, needs
from manual_page import escape, page

from dpcalc.cli.app import load
from dpcalc.commands import COMMANDS

FILE = ROOT / "completions" / "dpcalc.1"
REQUESTS = {".TH", ".SH", ".SS", ".PP", ".TP", ".B", ".BR", ".I", ".br", ".nf", ".fi", ".RS", ".RE", ".nh", ".ad"}


def plain(text):
    for glyph, char in (("\\-", "-"), ("\\(aq", "'"), ("\\(ga", "`"), ("\\(ha", "^"), ("\\(ti", "~"), ("\\&", ""),
                        ("\\fB", ""), ("\\fI", ""), ("\\fR", ""), ("\\e", "\\")):
        text = text.replace(glyph, char)
    return text


def test_sections():
    found = re.findall(r"^\.SH (.*)$", page(), re.M)
    assert found == ["NAME", "SYNOPSIS", "DESCRIPTION", "COMMANDS", "OPTIONS OF EVERY CALCULATOR", "EXIT STATUS",
                     "EXAMPLES", "ENVIRONMENT", "FILES", "SEE ALSO"]
    assert re.findall(r"^\.SS (.*)$", plain(page()), re.M) == [f"dpcalc {name}" for name in COMMANDS]


def test_every_option_is_there_with_its_help():
    text = plain(page())
    shared = text[text.index(".SH OPTIONS") : text.index(".SH EXIT")]
    for name in COMMANDS:
        own = text[text.index(f".SS dpcalc {name}\n") :]
        own = own[: re.search(r"^\.S[SH] (?!dpcalc " + name + r"$)", own, re.M).start()] + shared
        for option in load(name).options:
            assert re.search(rf"^.*{option.opts[0]}\b.*\n{re.escape(option.help)}$", own, re.M), (name, option.opts)


def test_only_known_requests_and_nothing_raw():
    for line in page().splitlines():
        if line.startswith("."):
            assert line.split()[0] in REQUESTS or line.startswith(".\\\"")
        assert not line.startswith("'") and "--" not in line.replace("\\-\\-", "")
    assert escape(".x\n'y\\-z") == "\\&.x\n\\(aqy\\e\\-z"


@needs("groff")
def test_groff_finds_no_fault():
    done = subprocess.run(["groff", "-man", "-Kutf8", "-ww", "-Tutf8", FILE], capture_output=True)
    assert done.stderr == b"" and "differential privacy" in done.stdout.decode()
