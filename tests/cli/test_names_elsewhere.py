"""Names of options and values from other tools: the same answer as our own names, which every answer shows."""

import json

import pytest

import dpcalc
from dpcalc.cli.app import main
from dpcalc.commands.catalogue import calculators

PAIRS = [
    ("rdp --sigma 1 --target-delta 1e-5", "rdp --sigma 1 --delta 1e-5"),
    ("rdp --sigma 1 --num-steps 3 --target-epsilon 1", "rdp --sigma 1 --steps 3 --epsilon 1"),
    ("rdp --mechanism rr --probability 0.75 --delta 0", "rdp --mechanism randomized-response --probability 0.75 --delta 0"),
    ("rdp --mechanism randomised-response --probability 0.75 --delta 0",
     "rdp --mechanism randomized-response --probability 0.75 --delta 0"),
    *((f"rdp --mechanism {name} --scale 3 --delta 0", f"rdp --mechanism {own} --scale 3 --delta 0") for own, names in (
        ("report-noisy-max", "rnm noisy-max noisy-max-laplace report-noisy-max-exponential"),
        ("noisy-max-gumbel", "gumbel-max report-noisy-max-gumbel")) for name in names.split()),
    ("subsample --sample-rate 0.01 --iterations 9 --noise-multiplier 1 --l2-norm-clip 2 --target-delta 1e-5",
     "subsample --sampling-rate 0.01 --steps 9 --noise-multiplier 1 --clipping-norm 2 --delta 1e-5"),
    ("subsample --dataset-size 1000 --expected-batch-size 10 --num-steps 9 --noise-multiplier 1 --delta 1e-5",
     "subsample --n 1000 --batch-size 10 --steps 9 --noise-multiplier 1 --delta 1e-5"),
    ("compare --num-examples 1000 --batches full --iterations 9 --noise-multiplier 9 --max-grad-norm 2 --delta 1e-5",
     "compare --n 1000 --batches full --steps 9 --noise-multiplier 9 --clipping-norm 2 --delta 1e-5"),
    ("rdp --target-epsilon 1 --target-delta 1e-5 --sigma 20 --solve iterations",
     "rdp --epsilon 1 --delta 1e-5 --sigma 20 --solve steps"),
    ("rdp --sigma 1,2 --num-steps 1:3:3 --target-delta 1e-5", "rdp --sigma 1,2 --steps 1:3:3 --delta 1e-5"),
]


@pytest.mark.parametrize("line, own", PAIRS, ids=[line for line, _ in PAIRS])
def test_the_answer_is_the_same(line, own, capsys):
    answers = []
    for text in (line, own):
        assert main([*text.split(), "--json"]) == 0
        answers.append(json.loads(capsys.readouterr().out))
    assert answers[0] == answers[1]


def test_in_batch_lines_and_in_python():
    ours, theirs = dpcalc.answer_lines(
        ['{"steps": 3, "delta": 1e-5}', '{"num-steps": 3, "target_delta": 1e-5}'], "rdp", sigma=2)
    assert ours == theirs
    ours = dpcalc.answer("subsample", n=1000, batch_size=10, steps=5, noise_multiplier=1, delta=1e-5)
    theirs = dpcalc.answer("subsample", dataset_size=1000, expected_batch_size=10, iterations=5, noise_multiplier=1,
                           target_delta=1e-5)
    assert ours.value == theirs.value
    assert dpcalc.answer("rdp", mechanism="rr", probability=0.75, delta=0).value == pytest.approx(1.0986, rel=1e-3)


def test_convert_keeps_its_target_options(capsys):
    assert main(["convert", "--from", "dp", "--epsilon", "0.1", "--delta", "0", "--steps", "9", "--target-delta", "1e-5", "-q"]) == 0
    composed = float(capsys.readouterr().out)
    assert 0.1 < composed < 0.9
    option = {o.name: o.quantity for o in calculators()["convert"].all_options()}
    assert option["target_delta"].name == "target_delta" and not option["delta"].aliases


def test_the_help_lists_our_own_names(capsys):
    assert main(["subsample", "--help"]) == 0
    text = capsys.readouterr().out
    assert not any(f"--{name}" in text for name in ("target", "sample-rate", "num-steps", "l2-norm", "max-grad-norm"))


def test_two_names_of_one_option_are_two_values(capsys):
    assert main(["rdp", "--sigma", "1", "--delta", "1e-5", "--target-delta", "1e-6"]) == 2
    assert "--delta: given 2 times" in capsys.readouterr().err


def test_names_do_not_clash():
    for name, command in calculators().items():
        spelled = [form for o in command.all_options() for form in o.quantity.names]
        assert len(spelled) == len(set(spelled)), name


@pytest.mark.parametrize("line, ours", [
    ("rdp --std 2 --num-compositions 3 -d 1e-5", "rdp --sigma 2 --steps 3 --delta 1e-5"),
    ("rdp --mechanism warner --probability .7 --adjacency substitute --delta 0",
     "rdp --mechanism randomized-response --probability .7 --adjacency replace-one --delta 0"),
    ("rdp --mechanism grr --step-epsilon 1 --categories 4 --delta 0 -f csv",
     "rdp --mechanism k-randomized-response --step-epsilon 1 --categories 4 --delta 0 --format csv"),
    ("subsample --num-records 1000 --lot-size 10 --num-epochs 2 --noise-multiplier 2 --group 2 --adjacency unbounded --delta 1e-5",
     "subsample --n 1000 --batch-size 10 --epochs 2 --noise-multiplier 2 --group-size 2 --adjacency add-remove --delta 1e-5"),
    ("shuffle-pnsgd --sigma 1 --lipschitz 1 --smoothness .5 --lr .1 --diameter 1 --num-samples 99 --num-epochs 3 --delta 1e-5",
     "shuffle-pnsgd --sigma 1 --lipschitz 1 --smoothness .5 --learning-rate .1 --diameter 1 --n 99 --epochs 3 --delta 1e-5")])
def test_more_names_from_elsewhere(line, ours, cli):
    assert cli(*line.split()).stdout == cli(*ours.split()).stdout != ""


def test_options_may_be_written_with_underscores(cli):
    line = "subsample --n 1000 --batch_size 10 --epochs 2 --noise_multiplier 2 --max_grad_norm 1 --delta 1e-5"
    assert cli(*line.split()).stdout == cli(*line.replace("_", "-").split()).stdout != ""
