"""--output: a file that holds a complete answer, or stays as it was."""

import json
import os
import signal
import subprocess
import time

import pytest
from calling import call
from conftest import SCRIPT
from terminals import on_terminal

from dpcalc.cli.app import main
from dpcalc.core.quantities import FORMAT
from dpcalc.core.style import OURS
from dpcalc.output.formats import FORMATS

RDP = ("rdp", "--sigma", "1", "--delta", "1e-5")
SWEEP = ("rdp", "--sigma", "1,2", "--delta", "1e-5")
FILES = {"a.json": "json", "a.jsonl": "jsonl", "a.csv": "csv", "a.tsv": "tsv", "a.md": "markdown", "a.tex": "latex", "a.bib": "bibtex",
         "a.txt": "table", "a": "table"}


def written(path, *args, code=0, stdin=""):
    """The content of the file, where nothing is printed."""
    done = call([*args, "--output", path], stdin)
    assert (done.returncode, done.stdout) == (code, ""), done.stderr
    return path.read_text(encoding="utf-8")


@pytest.mark.parametrize("args", [RDP, SWEEP])
def test_files_have_the_formats_of_their_suffixes_and_the_screen_the_table(tmp_path, args):
    files = {tmp_path / name: format for name, format in FILES.items() if args == RDP or name != "a.txt"}
    outputs = [word for path in files for word in ("--output", path)]
    assert call([*args, *outputs]).stdout == call(args).stdout
    before = {path: path.read_text(encoding="utf-8") for path in files}
    assert before == {path: call([*args, "--format", format]).stdout for path, format in files.items()}
    for path in files:
        path.unlink()
    assert call([*args, *outputs, "-q"]).stdout == ""
    assert {path: text for path, text in before.items() if files[path] != "table"} == {
        path: path.read_text(encoding="utf-8") for path in files if files[path] != "table"}
    assert sorted(p.name for p in tmp_path.iterdir()) == sorted(path.name for path in files)


def test_several_files_are_of_one_computation(tmp_path):
    """Standard input can be read once."""
    guarantee = call([*RDP, "--json"]).stdout
    line = ["convert", "-", "--steps", "1,2", "--delta", "1e-6"]
    done = call([*line, "--output", tmp_path / "a.csv", "--output", tmp_path / "a.jsonl"], guarantee)
    assert done.returncode == 0 and done.stdout == call(line, guarantee).stdout
    assert (tmp_path / "a.jsonl").read_text() == call([*line, "--format", "jsonl"], guarantee).stdout
    assert (tmp_path / "a.csv").read_text() == call([*line, "--format", "csv"], guarantee).stdout


@pytest.mark.parametrize("options, screen, file", [
    (["--format", "csv"], "table", "csv"), (["--format", "statement"], "table", "statement"), (["--json"], "table", "json"),
    ([], "table", "table"), (["-q"], "", "-q"), (["-q", "--format", "csv"], "", "csv"), (["-q", "--json"], "", "json"),
    (["--output", "-"], "table", "table"), (["--output", "-", "-q"], "-q", "-q"), (["--output", "-", "--json"], "json", "json")])
def test_a_file_without_a_suffix_has_the_format_that_the_options_choose(tmp_path, options, screen, file):
    def printed(form):
        return call([*RDP, *(["-q"] if form == "-q" else ["--format", form])]).stdout if form else ""

    for name in ("a", "a.txt"):
        path = tmp_path / name
        done = call([*RDP, *options, "--output", path])
        assert (done.returncode, done.stdout) == (0, printed(screen)) and path.read_text() == printed(file)


def test_standard_output_may_be_written_beside_a_file(tmp_path):
    path = tmp_path / "a.json"
    for form in (["-q"], ["--format", "csv"], []):
        done = call([*RDP, *form, "--output", "-", "--output", path])
        assert done.stdout == call([*RDP, *form]).stdout and path.read_text() == call([*RDP, "--json"]).stdout


def test_options_of_tables_and_of_json_may_be_given_together(tmp_path):
    path = tmp_path / "a.json"
    done = call([*RDP, "--all", "--explain", "--output", path])
    assert done.stdout == call([*RDP, "--all", "--explain"]).stdout and "statements" in json.loads(path.read_text())["bounds"][0]
    for option, name in (("--all", "a.json"), ("--explain", "a.csv"), ("--digits", "a.csv")):
        done = call([*RDP, option, *(["30"] if option == "--digits" else []), "-q", "--output", tmp_path / name])
        assert done.returncode == 2 and option in done.stderr


def test_a_description_is_json_alone(tmp_path):
    line = ("rdp", "--sigma", "1")
    assert written(tmp_path / "a.json", *line) == call([*line, "--json"]).stdout
    done = call([*line, "--output", tmp_path / "b.json", "--output", tmp_path / "b.csv"])
    assert done.returncode == 2 and not (tmp_path / "b.json").exists()


def test_every_value_of_format_has_a_record():
    assert tuple(FORMATS) == FORMAT.choices


def test_a_file_never_holds_another_format_than_its_suffix_says(tmp_path, capsys):
    suffixes = {"json": "json", "jsonl": "jsonl", "csv": "csv", "tsv": "tsv", "markdown": "md", "latex": "tex", "bibtex": "bib"}
    for chosen in FORMATS:
        for own, suffix in suffixes.items():
            path = tmp_path / f"{chosen}.{suffix}"
            agrees = chosen == own or (chosen, own) in (("statement", "markdown"), ("statement", "latex"))
            args = ["subsample", "--sampling-rate", ".1", "--sigma", "9", "--steps", "2", "--delta", "1e-5"]
            code = main([*args, "--format", chosen, "--output", str(path)])
            text = capsys.readouterr()
            assert (code, path.exists()) == ((0, True) if agrees else (2, False)), path
            assert agrees or (f"has the suffix of {own}, and the format is {chosen}" in text.err and text.err.count("\n") == 1)


@pytest.mark.parametrize("name, more, says", [
    ("a.png", (), "--plot a.png draws"), ("a.PDF", ("-q",), "--plot a.PDF draws"), ("a.jpg", (), "--plot a.png draws"),
    ("a.xlsx", ("--format", "csv"), "spreadsheets read --output a.csv"), ("a.docx", (), "--output a.md"),
    ("a.csv", ("--json",), "drop --json"), ("a.csv", ("--batch", "--json"), "drop --json"),
    ("a.csv", ("-q", "--json"), "drop --json"), ("a.csv", ("--batch", "--output", "a.json"), "a batch is written to one file")])
def test_what_no_suffix_of_ours_says_is_refused_with_the_way_out(name, more, says, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main([*RDP, *more, "--output", name]) == 2
    assert says in capsys.readouterr().err and not list(tmp_path.iterdir())


@pytest.mark.parametrize("args", [("rdp", "--sigma", "0", "--delta", "1e-5"), ("rdp", "--sgma", "1"),
                                  ("rdp", "--epsilon", "1", "--delta", "1e-5", "--solve", "epochs"),
                                  (*RDP, "--batch", "absent.csv")])
def test_an_error_leaves_the_file_as_it_was(tmp_path, args):
    path = tmp_path / "a.json"
    for before in (None, "old"):
        if before:
            path.write_text(before)
        done = call([*args, "--output", path, *([] if "--batch" in args else ["--output", tmp_path / "b.csv"])])
        assert done.returncode in (2, 3) and done.stdout == "" and done.stderr.count("\n") == 1
        assert [p.read_text() for p in tmp_path.iterdir()] == ([before] if before else [])


def test_the_new_answer_replaces_the_old_one_and_keeps_its_mode(tmp_path):
    path, link = tmp_path / "a.txt", tmp_path / "link"
    path.write_text("old")
    path.chmod(0o640)
    link.symlink_to(path)
    assert float(written(link, *RDP, "-q")) > 4 and link.is_symlink()
    assert float(path.read_text()) > 4 and path.stat().st_mode & 0o777 == 0o640


@pytest.mark.parametrize("name,says", [("absent/a.json", "no directory"), (".", "is a directory")])
def test_a_file_that_cannot_be_written_is_one_line(tmp_path, name, says):
    done = call(["subsample", "--sampling-rate", ".1", "--sigma", "1", "--steps", "1e9", "--delta", "1e-5",
                 "--output", tmp_path / name])  # found before it computes
    assert done.returncode == 2 and done.stderr.count("\n") == 1
    assert done.stderr.startswith("dpcalc subsample: --output: cannot write ") and says in done.stderr


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no /dev/full on this system")
def test_a_full_disk_is_one_line():
    done = call([*RDP, "--output", "/dev/full"])
    assert done.returncode == 2 and "--output: cannot write '/dev/full': No space" in done.stderr


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_directory_without_permission_is_one_line(tmp_path):
    tmp_path.chmod(0o500)
    done = call([*RDP, "--output", tmp_path / "a.json"])
    tmp_path.chmod(0o700)
    assert done.returncode == 2 and "permission denied" in done.stderr


def test_a_batch_with_lines_that_failed_is_complete(tmp_path):
    stdin = "sigma\n1\n0\n2\n"
    text = written(tmp_path / "a.csv", "rdp", "--delta", "1e-5", "--batch", code=1, stdin=stdin)
    assert text == call(["rdp", "--delta", "1e-5", "--batch"], stdin).stdout and text.count("\n") == 4
    assert written(tmp_path / "b.csv", "rdp", "--delta", "1e-5", "--batch", "-q", code=1, stdin=stdin) == text
    for name, form in (("a.jsonl", []), ("a.json", ["--json"])):
        records = written(tmp_path / name, "rdp", "--delta", "1e-5", "--batch", *form, code=1, stdin=stdin)
        assert ["error" in json.loads(line) for line in records.splitlines()] == [False, True, False]
    numbers = written(tmp_path / "a.txt", "rdp", "--delta", "1e-5", "--batch", "-q", code=1, stdin=stdin)
    assert numbers == call(["rdp", "--delta", "1e-5", "--batch", "-q"], stdin).stdout


def test_a_batch_is_no_text_for_papers(tmp_path):
    done = call(["rdp", "--delta", "1e-5", "--batch", "--output", tmp_path / "a.tex"], "sigma\n1\n")
    assert done.returncode == 2 and done.stderr.startswith("dpcalc rdp: --output: a batch is JSON Lines, CSV or TSV")


def test_a_batch_may_replace_its_own_file(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("sigma\n1\n2\n")
    assert written(path, "rdp", "--delta", "1e-5", "--batch", path).startswith("sigma,epsilon,")


def test_a_sweep_with_points_that_failed_is_complete(tmp_path):
    path = tmp_path / "a.jsonl"
    done = call(["rdp", "--sigma", "0,1", "--delta", "1e-5", "--output", path])
    assert done.returncode == 1 and "No answer at σ = 0" in done.stdout and done.stderr == ""
    assert ["error" in json.loads(line) for line in path.read_text().splitlines()] == [True, False]
    done = call(["rdp", "--sigma", "0,1", "--delta", "1e-5", "--output", path, "-q"])
    assert done.returncode == 1 and "No answer at σ = 0" in done.stderr and done.stdout == ""


def test_a_ledger_over_its_budget_is_written(tmp_path):
    ledger = tmp_path / "a.toml"
    ledger.write_text("[[release]]\nname = 'a'\ncommand = 'rdp'\nsigma = 1\n")
    done = call(["ledger", ledger, "--epsilon", "1", "--delta", "1e-5", "--output", tmp_path / "a.json"])
    assert done.returncode == 3 and "Over the budget" in done.stdout and json.loads((tmp_path / "a.json").read_text())["releases"]


def test_a_plot_and_an_answer(tmp_path):
    pytest.importorskip("matplotlib")
    done = call([*SWEEP, "--output", tmp_path / "a.csv", "--plot", tmp_path / "a.svg"])
    assert done.stdout == call(SWEEP).stdout and b"<svg" in (tmp_path / "a.svg").read_bytes()
    assert (tmp_path / "a.csv").read_text() == call([*SWEEP, "--format", "csv"]).stdout


def test_a_plot_in_the_terminal_and_an_answer(tmp_path):
    done = call([*SWEEP, "--output", tmp_path / "a.csv", "--plot", "-"])
    assert done.stdout == call([*SWEEP, "--plot", "-"]).stdout
    assert (tmp_path / "a.csv").read_text() == call([*SWEEP, "--format", "csv"]).stdout


@pytest.mark.parametrize("old", [None, "old"])
def test_an_interrupt_leaves_nothing(tmp_path, old):
    path = tmp_path / "a.jsonl"
    if old:
        path.write_text(old)
    process = subprocess.Popen([SCRIPT, "rdp", "--delta", "1e-5", "--batch", "--output", path], stdin=subprocess.PIPE,
                               stderr=subprocess.PIPE)
    process.stdin.write(b'{"sigma": 1}\n' * 100)
    process.stdin.flush()
    before = time.time()
    while not list(tmp_path.glob(".dpcalc-*")) and time.time() < before + 20:
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    assert process.wait(30) == 130 and process.stderr.read() == b""
    assert [p.read_text() for p in tmp_path.iterdir()] == ([old] if old else [])
    process.stdin.close()


def test_widths_and_colours_are_those_of_a_pipe(tmp_path):
    line = [SCRIPT, *RDP, "--all", "--explain"]
    code, screen, _ = on_terminal([*line, "--output", tmp_path / "a", "--color", "always"], columns=50)
    assert code == 0 and max(len(OURS.sub("", text)) for text in screen.splitlines()) <= 50 and "\x1b[1m" in screen
    environment = {k: v for k, v in os.environ.items() if k != "COLUMNS"}
    piped = subprocess.run(line, capture_output=True, text=True, env=environment).stdout
    assert (tmp_path / "a").read_text(encoding="utf-8") == piped


def test_an_unknown_format_is_no_fault_of_a_file(capsys, tmp_path):
    assert main(["rdp", "--sigma", "2", "--delta", "1e-5", "--output", str(tmp_path / "o"), "--format", "bogus"]) == 2
    assert "'bogus' is not one of" in capsys.readouterr().err and not (tmp_path / "o").exists()


def test_a_plot_in_the_terminal_does_not_replace_json_that_is_asked_for(capsys, tmp_path):
    line = ["rdp", "--sigma", "1,2", "--delta", "1e-5", "--plot", "-", "--json", "--output", str(tmp_path / "o.json"), "--output", "-"]
    assert main(line) == 2 and "--plot" in capsys.readouterr().err
