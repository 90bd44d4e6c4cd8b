"""Where the tests find the files of the project."""

from pathlib import Path

TESTS = Path(__file__).parents[1]
ROOT, GOLDEN = TESTS.parent, TESTS / "golden"
