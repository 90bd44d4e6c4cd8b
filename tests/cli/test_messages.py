"""What is wrong is told in one line that names the option, with its exit code."""

import json

import pytest

BAD = [
    ("rdp --sigma 0 --delta 1e-5", "--sigma", 2), ("rdp --sigma nan --delta 1e-5", "--sigma", 2),
    ("rdp --sigma inf --delta 1e-5", "--sigma", 2),
    ("rdp --sigma x --delta 1e-5", "--sigma", 2), ("rdp --sigma 1e400 --delta 1e-5", "--sigma", 2),
    ("rdp --sigma 1 --delta 1e-400", "--delta", 2),
    ("rdp --sigma 1 --delta 1", "--delta", 2), ("rdp --sigma 1 --delta -1", "--delta", 2),
    ("rdp --sigma 1 --epsilon -1", "--epsilon", 2),
    ("rdp --sigma 1 --alpha 1", "--alpha", 2), ("rdp --sigma 1 --alpha 1e11", "--alpha", 2),
    ("rdp --sigma 1 --steps 0 --delta .1", "--steps", 2),
    ("rdp --sigma 1 --steps 1.5 --delta .1", "--steps", 2),
    ("rdp --sigma 1 --sensitivity 0 --delta .1", "--sensitivity", 2),
    ("rdp --mechanism laplace --scale -1 --delta 0", "--scale", 2),
    ("rdp --mechanism gauss --sigma 1 --delta .1", "did you mean gaussian", 2),
    ("rdp --mechanism randomized-response --probability 1 --delta 0", "--probability", 2),
    ("rdp --sigma 1", "--delta", 2),
    ("rdp --delta 1e-5", "--sigma", 2), ("rdp --sigma 1 --scale 2 --delta .1", "--scale", 2),
    ("rdp --sigma 1 --delta .1 --epsilon 1", "--solve", 2),
    ("rdp --sigma 1 --delta .1 --alpha 2", "--alpha", 2),
    ("rdp --sigma 1 --epsilon 1 --delta .1 --solve sigma", "--solve", 2),
    ("rdp --epsilon 1 --delta .1 --solve sgma", "did you mean sigma", 2),
    ("rdp --epsilon 1 --solve sigma", "--solve", 2),
    ("rdp --epsilon 1 --delta 0 --solve sigma", "--delta", 3),
    ("rdp --sigma 1 --noise-multiplier 2 --delta .1", "--sigma", 2),
    ("rdp --sigma 0.01 --epsilon 1 --delta 1e-5 --solve steps", "--solve", 3),
    ("rdp --sigma 1 --delta 1e-5 --digits 5", "--digits", 2),
    ("rdp --sigma 1 --delta 1e-5 --format xml", "--format", 2), ("rdp --sigma", "--sigma", 2),
    ("rdp --sigma 1 --delta 1e-5 extra", "extra", 2),
    ("rdp --sgma 1", "did you mean --sigma", 2), ("rpd", "did you mean rdp", 2),
    ("rdp --sigma 1 --delta 1e-5 --json --format csv", "--format", 2),
    ("subsample --sigma 1 --delta 1e-5", "--sampling-rate", 2),
    ("subsample --sampling-rate 2 --steps 1 --sigma 1 --delta 1e-5", "--sampling-rate", 2),
    ("subsample --sampling-rate .1 --steps 1 --n 5 --batch-size 1 --sigma 1 --delta 1e-5", "--sampling-rate", 2),
    ("subsample --n 5 --sigma 1 --delta 1e-5", "--batch-size", 2),
    ("subsample --n 5 --batch-size 6 --sigma 1 --delta 1e-5", "--batch-size", 2),
    ("subsample --sampling-rate .1 --epochs 1 --steps 2 --sigma 1 --delta 1e-5", "--steps", 2),
    ("subsample --sampling-rate .1 --max-weight .1 --sigma 1 --delta 1e-5", "--max-weight", 2),
    ("subsample --scheme weighted --sigma 1 --delta 1e-5", "--max-weight", 2),
    ("subsample --scheme without-replacement --adjacency add-remove --sampling-rate .1 --steps 1 --sigma 1 --delta 1e-5",
     "--adjacency", 2),
    ("subsample --scheme without-replacement --sampling-rate .1 --steps 1 --sigma 1 --alpha 2.5 --bound wor-rdp", "--alpha", 2),
    ("subsample --sampling-rate .1 --epsilon 1 --delta .1 --steps 3",
     "no noise given: add --noise-multiplier, or --solve noise-multiplier for this budget", 2),
    ("subsample --n 50000 --batch-size 1024 --epochs 10 --delta 1e-5", "no noise given: add --noise-multiplier (or --sigma)", 2),
    ("subsample --mechanism laplace --sampling-rate .1 --steps 1 --delta 0", "no noise given: add --scale", 2),
    ("convert --from zcdp --rho .5 --to gdp", "zCDP does not imply GDP; ask with --delta, --epsilon or --alpha", 2),
    ("subsample --mechanism laplace --scale 1 --sampling-rate .1 --steps 9 --alpha 2",
     "RDP of subsampled Laplace noise is not supported; ask with --delta", 2),
    ("convert --delta 1e-5", "--from", 2), ("convert --from gdp --delta 1e-5", "--mu", 2),
    ("convert --from rdp --alpha 2,3 --rdp 1,2,3 --delta .1", "--rdp", 2),
    ("convert --from gdp --mu 1", "--delta", 2), ("convert --from dp --epsilon 1 --delta 1e-5", "--target-delta", 2),
    ("convert --from dp --epsilon 1 --delta 1e-5 --to gdp", "--delta", 2),
    ("convert --from dp --epsilon 1 --delta 1e-5 --to rdp --alpha 2", "converse", 2),
    ("convert --from outcomes --p .5,.5 --q .5,.6 --delta .1", "--q", 2),
    ("convert --from outcomes --p .5,.5 --q 1 --delta .1", "--q", 2),
    ("convert --from outcomes --p 1,0 --q .5,.5 --delta 0", "--delta", 3),
    ("convert --from gdp --mu 1 --to rdp --delta .1", "--to", 2),
    ("convert --from gdp --mu 1 --rho 2 --delta .1", "--rho", 2), ("convert nosuchfile --delta .1", "nosuchfile", 2),
    ("convert / --delta .1", "/", 2),
    ("convert - - --delta .1", "--input", 2),
    ("rdp --sigma 5e-324 --delta 1e-5", "--sigma", 3),
    ("rdp --sigma 1 --sensitivity 1e300 --delta 1e-5", "--sensitivity", 3),
    ("rdp --sigma 5e-324 --alpha 2", "--sigma", 3),
    ("rdp --mechanism laplace --scale 1e-320 --delta 1e-5", "--scale", 3),
    ("subsample --sigma 5e-324 --sampling-rate .1 --steps 1 --delta 1e-5", "--sigma", 3),
    ("convert --from gdp --mu 1e300 --delta 1e-5", "--mu", 3),
    ("subsample --sigma 1 --sensitivity 1e300 --sampling-rate .1 --steps 1 --delta 1e-5", "--sensitivity", 3),
    ("convert --from dp --epsilon 1e308 --delta 0 --steps 10 --target-delta 1e-5", "--epsilon", 3),
    ("convert --from rdp --alpha 2 --rdp 1e308 --steps 1e10 --delta 1e-5", "--steps", 3),
    ("rdp --sigma 1 --sigma 2 --delta 1e-5", "--sigma: given 2 times", 2),
    ("subsample --delta 1e-5 --sampling-rate .1 --steps 1 --sigma 1 -d 1e-6", "--delta", 2),
    ("rdp --sigma 0.01 --epsilon 1 --delta 1e-5 --solve steps", "no number of steps gives ε ≤ 1 at δ = 1e-05: one step already has ε = 5425.51\n", 3),  # 5425.504…: rounded up
    ("rdp --alpha 2 --rdp 0 --steps 1e15 --solve sigma", "--solve", 3),
    ("rdp --sigma 1 --json --digits 20", "--digits", 2), ("rdp --sigma 1 --json --bound foo", "--bound", 2),
    ("rdp --sigma 1 --json --orders 2", "--orders", 2),
    ("rdp --mechanism laplace --noise-multiplier 2 --delta 1e-5", "--noise-multiplier", 2),
    ("rdp --noise-multiplier 0 --delta .1", "--noise-multiplier", 2),
    ("convert --from gdp --mu 1", "--to tv", 2), ("convert --from dp --epsilon 1 --delta 0", "--to tv", 2),
    ("rdp --sigma 1 --steps 9007199254740993 --delta 1e-5", "2^53", 2),
    ("rdp --sigma 1 --delta 1e-400", "the least positive double", 2),
    *((f"{line} --sigma 1 --delta 1e-5 -q {how}", f"--quiet: prints the number alone; drop {how} or --quiet", 2)
      for line in ("rdp", "rdp --batch") for how in ("--json", "--format jsonl")),
    ("rdp --sigma 1 --delta 1e-5 --quiet --format csv", "drop --format csv or --quiet", 2),
    ("verify - -q --json", "drop --json or --quiet", 2),
    ("subsample --mechanism laplace --scale 1 --sampling-rate .1 --steps 1 --alpha 2", "--alpha", 2),
    ("rdp --sigma 1 --alpha 2 --bound gaussian-exact", "--alpha", 2),
]


@pytest.mark.parametrize("line, says, code", BAD, ids=lambda x: x if isinstance(x, str) else "")
def test_bad_input_is_one_line(line, says, code, cli):
    done = cli(*line.split())
    assert (done.returncode, done.stdout) == (code, ""), done.stderr
    told = json.loads(done.stderr)["error"] if "-q --json" in line or "-q --format json" in line else {}
    text = f"{told['option']}: {told['message']}" if told else done.stderr
    assert done.stderr.count("\n") == 1 and says in text and "Traceback" not in done.stderr and "fault of dpcalc" not in done.stderr


def test_errors_as_json(cli):
    done = cli("rdp", "--sigma", "1", "--delta", "2", "--json")
    error = json.loads(done.stderr)["error"]
    assert (done.stdout, done.returncode) == ("", 2)
    assert error["code"] == "out-of-range" and error["option"] == "--delta" and "2 is not ≥ 0 and < 1" in error["message"]
    assert json.loads(cli("rdp", "--sgma", "1", "--json").stderr)["error"]["code"] == "unknown-option"


def test_unreachable_budget_says_the_best(cli):
    done = cli("rdp", "--sigma", "0.01", "--epsilon", "1", "--delta", "1e-5", "--solve", "steps")
    assert done.returncode == 3 and "one step already has ε = 5425.51" in done.stderr


CONTROL = "\x1b[31m\x07\x7f\x9b2J\x85\u2028\u2029\u202e\u2066\u200b\ufeff"
UNPRINTABLE = {c for c in CONTROL if not c.isprintable()}
TEXT = f"a{CONTROL}z"


@pytest.mark.parametrize("form", [(), ("--json",)])
@pytest.mark.parametrize("args, stdin", [
    (("rdp", "--sigma", TEXT, "--delta", "1e-5"), ""), ((TEXT,), ""), (("rdp", f"--{TEXT}"), ""), (("rdp", TEXT), ""),
    (("rdp", f"-{TEXT}"), ""),
    (("rdp", "--sigma", "1", "--delta", "1e-5", "--bound", TEXT), ""),
    (("rdp", "--sigma", "1,2", "--delta", "1e-5", "--plot", f"/{TEXT}/a.svg"), ""),
    (("convert", TEXT, "--delta", "1e-5"), ""), (("explain", TEXT), ""), (("schema", TEXT), ""), (("verify", TEXT), ""),
    (("convert", "-", "--delta", "1e-5"), json.dumps({"kind": TEXT})),
    (("convert", "-", "--delta", "1e-5"), json.dumps({TEXT: 1})),
    (("verify", "-"), json.dumps({"schema": TEXT})), (("compare", "--run", "-"), json.dumps({TEXT: 1})),
    (("compare", "--run", "-"), f'{TEXT} = "'),
    (("rdp", "--batch"), json.dumps({"sigma": TEXT})), (("rdp", "--batch"), json.dumps({TEXT: 1}, ensure_ascii=False)),
    (("rdp", "--batch"), json.dumps({"error": {"message": TEXT}, "id": TEXT}, ensure_ascii=False))],
                         ids=lambda x: ascii(x)[:30])
def test_no_control_character_reaches_the_terminal(args, stdin, form, cli):
    done = cli(*args, *form, stdin=stdin)
    assert done.returncode != 0 and done.stdout + done.stderr
    assert not UNPRINTABLE & set(done.stdout + done.stderr)
    if form and args[0] not in ("explain", "schema", "verify", "-" + TEXT):
        json.loads(done.stderr or done.stdout)


def test_what_is_escaped_in_json_is_the_same_text(cli):
    done = cli("rdp", "--batch", "--delta", "1e-5", stdin=json.dumps({"sigma": 1, "id": TEXT}, ensure_ascii=False))
    assert json.loads(done.stdout)["id"] == TEXT and not UNPRINTABLE & set(done.stdout)


def test_a_name_of_a_file_is_one_line_without_control_characters(cli, tmp_path):
    done = cli("rdp", "--sigma", "1,2", "--delta", "1e-5", "--plot", tmp_path / f"{TEXT}\n.svg")
    assert done.returncode == 0 and done.stderr.count("\n") == 1 and not UNPRINTABLE & set(done.stderr)


@pytest.mark.parametrize("form", ["csv", "tsv"])
def test_a_repeated_cell_of_a_batch_has_no_control_characters(form, cli):
    text = TEXT.replace("\u2028", "").replace("\u2029", "")
    done = cli("rdp", "--batch", "--format", form, stdin=f'sigma,delta,_note\n1,1e-5,"{text}"\n"{text}",1e-5,=1+1\n')
    assert "4.377" in done.stdout and ",=1+1," in done.stdout.replace("\t", ",")
    assert not UNPRINTABLE & set(done.stdout)


@pytest.mark.parametrize("release", [r'file = "g\u0000.json"', 'command = "convert"\ninput = ["g\\u0000.json"]',
                                     'command = "correlated"\ncoefficients = "@nu\\u0000ms"'])
def test_a_null_character_in_the_name_of_a_file_of_a_ledger_is_an_error(release, cli, tmp_path):
    (tmp_path / "z.toml").write_text(f"delta = 1e-5\n[[release]]\n{release}\n")
    done = cli("ledger", tmp_path / "z.toml")
    assert done.returncode == 2 and "is no name of a file" in done.stderr and done.stderr.count("\n") == 1


@pytest.mark.parametrize("inputs", [17, True, 1.5, "a"])
@pytest.mark.parametrize("line", ["convert - --delta 1e-6", "ledger -", "tv -", "subsample -"])
def test_a_result_whose_inputs_are_no_list_is_an_error(inputs, line, cli):
    record = json.loads(cli("rdp", "--sigma", "1", "--delta", "1e-5", "--json").stdout) | {"inputs": inputs}
    done = cli(*line.split(), stdin=json.dumps(record))
    assert done.returncode == 2 and 'has no list "inputs"' in done.stderr and done.stderr.count("\n") == 1
