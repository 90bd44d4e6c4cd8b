"""What dpcalc never does: evaluate text, unpickle, open connections, start programs, write files."""

import ast
import os
import re
import subprocess
import sys
import time
from pathlib import Path

import pytest
from conftest import ROOT, SCRIPT, slow

from dpcalc.core.numbers import NotANumber, number

SOURCES = sorted((ROOT / "dpcalc").rglob("*.py"))
FORBIDDEN_CALLS = {"eval", "exec", "compile", "__import__", "breakpoint", "input"}
FORBIDDEN_ATTRIBUTES = {("os", name) for name in ("system", "popen", "fork", "execv", "execve", "spawnv", "remove",
                                                  "unlink", "rename", "replace", "mkdir", "makedirs", "rmdir")}
FORBIDDEN_MODULES = {"pickle", "cPickle", "dill", "marshal", "shelve", "joblib", "socket", "ssl", "http", "urllib",
                     "ftplib", "smtplib", "requests", "httpx", "aiohttp", "asyncio", "subprocess", "multiprocessing",
                     "ctypes", "tempfile", "code", "runpy", "xmlrpc", "webbrowser"}
FROM_SHUTIL = {"get_terminal_size"}
# Where files are written: those that --plot (drawn in memory) and --output name.
WRITERS = {"whole_file.py", "figure.py"}
RENAMES = {("os", "replace"), ("os", "remove")}  # written beside the old file


# What the calls and attributes that are looked for have in their text; most modules have none of it.
WORDS = re.compile(rf"(?<![.\w])({'|'.join(sorted(FORBIDDEN_CALLS))})\s*\(|\.\s*loads?\s*\(|\b(os|shutil)\s*\.|stderr|"
                   r"\b(print|open|write_bytes|savefig|touch|tofile|savez|mkdir)\s*\(")
IMPORTS = re.compile(r"^ *((?:from|import) [^(\n]+(?:\([^)]*\))?)", re.M)


def parsed(text):
    """The syntax tree of a module; of its imports alone where it has none of those words."""
    if WORDS.search(text):
        return ast.parse(text)
    return ast.Module([ast.parse(line) for line in IMPORTS.findall(text) if "import " in line], [])


@pytest.fixture(scope="module")
def nodes():
    """(path, node of its syntax tree) of every import of the package, and of every call and attribute in modules that
    have one that is looked for."""
    return [(path, node) for path in SOURCES for node in ast.walk(parsed(path.read_text(encoding="utf-8")))
            if isinstance(node, ast.Import | ast.ImportFrom | ast.Call | ast.Attribute)]


def places(found):
    """Where such nodes are, for the message of a test."""
    return [f"{path.relative_to(ROOT)}:{node.lineno}: {ast.unparse(node)[:80]}" for path, node in found]


def has_forbidden_import(node):
    if isinstance(node, ast.Import):
        return bool({a.name.split(".")[0] for a in node.names} & FORBIDDEN_MODULES)
    if not isinstance(node, ast.ImportFrom):
        return False
    module, names = (node.module or "").split(".")[0], {a.name for a in node.names}
    return module in FORBIDDEN_MODULES or (module == "shutil" and not names <= FROM_SHUTIL)


def is_forbidden_attribute(path, node):
    if not (isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name)):
        return False
    allowed = RENAMES if path.name == "whole_file.py" else set()
    return ((node.value.id, node.attr) in FORBIDDEN_ATTRIBUTES - allowed
            or (node.value.id == "shutil" and node.attr not in FROM_SHUTIL))


def is_forbidden_call(node):
    if not isinstance(node, ast.Call):
        return False
    if isinstance(node.func, ast.Attribute) and node.func.attr in {"load", "loads"}:  # numpy.load unpickles
        return not (isinstance(node.func.value, ast.Name) and node.func.value.id in {"json", "tomllib"})
    return isinstance(node.func, ast.Name) and node.func.id in FORBIDDEN_CALLS


def test_no_code_from_data_no_network_no_programs(nodes):
    assert not places((path, node) for path, node in nodes if has_forbidden_import(node) or is_forbidden_call(node)
                      or is_forbidden_attribute(path, node))


def writes_a_file(node):
    if not isinstance(node, ast.Call):
        return False
    name = node.func.id if isinstance(node.func, ast.Name) else getattr(node.func, "attr", "")
    if name != "open" or not isinstance(node.func, ast.Name):
        return name in {"write_bytes", "savefig", "touch", "tofile", "savez", "mkdir"}
    mode = next((k.value for k in node.keywords if k.arg == "mode"),
                node.args[1] if len(node.args) > 1 else ast.Constant("r"))
    return not (isinstance(mode, ast.Constant) and mode.value in {"r", "rb"})


def test_files_are_opened_for_reading_only(nodes):
    assert not places((path, node) for path, node in nodes if path.name not in WRITERS and writes_a_file(node))


def test_standard_error_is_written_in_one_place(nodes):
    """Where control characters are escaped."""
    assert not places((path, node) for path, node in nodes if isinstance(node, ast.Call)
                      and path.name not in ("standard_streams.py", "text.py")
                      and (ast.unparse(node.func) == "sys.stderr.write" or (
                          getattr(node.func, "id", "") == "print" and any(k.arg == "file" for k in node.keywords))))


@pytest.mark.parametrize("line", ["eval('1')", "import pickle", "from urllib.request import urlopen", "os.system('ls')",
                                  "numpy.load('a')", "shutil.rmtree('a')", "open('a', 'w')", "open('a', mode=m)",
                                  "path.write_bytes(b'')"])
def test_these_laws_find_an_offender(line):
    path = ROOT / "dpcalc" / "offender.py"
    assert any(has_forbidden_import(node) or is_forbidden_call(node) or is_forbidden_attribute(path, node)
               or writes_a_file(node) for node in ast.walk(parsed(line)))


def test_only_declared_packages_are_imported(nodes):
    """A supply chain is as long as its imports. (pydantic requires one version of pydantic_core, which is a part of
    it.)"""
    declared = {"typer", "rich", "numpy", "scipy", "mpmath", "pydantic", "pydantic_core", "matplotlib", "flint"}
    found = set()
    for _, node in nodes:
        if isinstance(node, ast.Import):
            found |= {a.name.split(".")[0] for a in node.names}
        if isinstance(node, ast.ImportFrom) and not node.level:
            found.add((node.module or "").split(".")[0])
    assert found - set(sys.stdlib_module_names) - {"dpcalc"} <= declared


COMMANDS = (
    ("rdp", "--sigma", "1", "--delta", "1e-5"),
    ("rdp", "--sigma", "1", "--delta", "1e-5", "--json"),
    ("rdp", "--sigma", "1,2", "--delta", "1e-5", "--format", "csv"),
    ("subsample", "--sampling-rate", "0.01", "--sigma", "1", "--steps", "10", "--delta", "1e-5"),
    ("burn-in", "--help"),
    ("tv", "--sigma", "50", "--explain"),
    ("rdp", "--sigma", "1", "--alpha", "2", "--digits", "20"),
    ("schema", "rdp"),
)


@pytest.mark.parametrize("lines", [COMMANDS[:1], slow(COMMANDS[1:])])
def test_nothing_is_written(lines, tmp_path):
    """Home and working folder stay as they were; both are read-only where the user is not root."""
    home, here = tmp_path / "home", tmp_path / "here"
    for folder in (home, here):
        folder.mkdir()
        folder.chmod(0o500)
    environment = {"HOME": str(home), "PATH": os.environ["PATH"], "TMPDIR": str(home), "XDG_CACHE_HOME": str(home),
                   "XDG_CONFIG_HOME": str(home),
                   "PYTHONDONTWRITEBYTECODE": "1", "OPENBLAS_NUM_THREADS": "1"}
    try:
        for args in lines:
            done = subprocess.run([SCRIPT, *args], cwd=here, env=environment, capture_output=True, text=True,
                                  timeout=60)
            assert done.returncode == 0 and done.stderr == "", done.stderr
        assert not [*home.iterdir(), *here.iterdir()]
    finally:
        for folder in (home, here):
            folder.chmod(0o700)


def opened(lines):
    """What calls in one process open for writing or connect to, as Python's audit hook reports it."""
    program = (
        "import sys, os\n"
        "seen = []\n"
        "def hook(event, args):\n"
        "    if event == 'open' and (set('wax+') & set(args[1] or '') or (args[2] or 0) & (os.O_WRONLY | os.O_RDWR | "
        "os.O_CREAT)):\n"
        "        seen.append((event, str(args[0])))\n"
        "    elif event.split('.')[0] in ('socket', 'subprocess', 'ctypes', 'pickle', 'urllib') or event in "
        "('os.system', 'os.exec', 'os.fork',\n"
        "                                 'os.posix_spawn', 'os.remove', 'os.rename', 'os.mkdir'):\n"
        "        seen.append((event, str(args)[:80]))\n"
        "from dpcalc.cli.app import main\n"
        "import dpcalc.cli.run, dpcalc.core.validate, numpy, pydantic, mpmath\n"
        "sys.addaudithook(hook)\n"
        f"for line in {lines!r}: main([*line])\n"
        "print('SEEN', seen)\n"
    )
    done = subprocess.run([sys.executable, "-B", "-c", program], capture_output=True, text=True, timeout=60)
    return done.stdout.splitlines()[-1]


@pytest.mark.parametrize("lines", [COMMANDS[:3], slow(COMMANDS[:4])])
def test_the_interpreter_reports_no_writing_and_no_connection(lines):
    seen = opened(lines)
    assert not [event for event in ast.literal_eval(seen.removeprefix("SEEN ")) if event[0] != "ctypes.dlsym"], seen


@pytest.mark.parametrize("text", [
    "2^2^2^2^9", "9^9^9^9", "10^400", "1e400", "1e999999999", "exp(1000)", "sqrt(" * 1000 + "4" + ")" * 1000,
    "(" * 10_000, "-" * 10_000 + "1",
    "9" * 100_000, "0." + "0" * 100_000 + "1", "1+" * 50_000 + "1", "2^" * 90 + "2", "(" * 99 + "1" + ")" * 99 + "^9e9",
    "__import__('os')", "os.system(1)",
    "1 if 1 else 2", "[1]", "lambda: 1", "1;1", "１２", "1__000", "_1", "1_", "1_e5", "0x10", "1j", "sqrt", "sqrt()",
    "sqrt(1,2)", "", " ", "nan", "inf", "-inf", "1e-400", "exp(-1000)", "0/0"])
def test_a_number_is_small_text_in_a_small_grammar(text):
    start = time.process_time()
    with pytest.raises(NotANumber) as refused:
        number(text)
    assert len(str(refused.value)) < 200 and "\n" not in str(refused.value)
    assert time.process_time() - start < 0.5


def test_numbers_of_any_allowed_length_are_read():
    assert number("0." + "0" * 90 + "1" + "0" * 100) == 1e-91
    assert number("(" * 60 + "1/3" + ")" * 60) == 1 / 3
    assert number("sqrt(" * 30 + "1" + ")" * 30) == 1.0
    assert number("10_000") == 10_000 and number("2*1_0.5_0e1") == 210 and number("0_0") == 0
    assert number("2^-20") == 2**-20 and number("-2^2") == -4 and number("2^3^2") == 512


def test_every_dependency_is_pinned_by_a_range():
    import tomllib

    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    for requirement in project["dependencies"]:
        assert ">=" in requirement and ",<" in requirement, requirement


def test_the_versions_at_both_ends_are_tested():
    ci = (ROOT / ".ci" / "full").read_text(encoding="utf-8")
    assert ".ci/lowest.txt" in ci and ".ci/newest.py" in ci
    assert "-c .ci/lowest.txt" in (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    printed = subprocess.run([sys.executable, ROOT / ".ci" / "newest.py"], capture_output=True, text=True,
                             check=True).stdout
    assert {line.split()[0] for line in printed.splitlines()} >= {"typer", "rich", "numpy", "scipy", "mpmath",
                                                                  "pydantic"}


def test_the_record_of_accuracy_travels_with_the_package():
    assert (Path(ROOT) / "dpcalc" / "accuracy.json").exists()
