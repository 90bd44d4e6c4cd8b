"""One call of the command line, and what must hold for every one of them."""

import itertools
import json
import os
import resource
import shlex
import signal
import time
from math import inf
from typing import NamedTuple

import calling
from fuzz_draws import TABLE

EXIT_CODES = {0, 1, 2, 3, 130}
SECONDS = 60.0  # of processor time, for one call
MEMORY = 1 << 30


class Outcome(NamedTuple):
    code: int
    out: str
    err: str
    seconds: float  # of processor time


class OutOfTime(BaseException):
    """Not an Exception: nothing may catch it."""


def call(args, stdin=b"", seconds=SECONDS):
    """One call in this process. Raises OutOfTime."""

    def stop(*_):
        raise OutOfTime

    before = signal.signal(signal.SIGPROF, stop)
    start = time.process_time()
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        done = calling.call(args, stdin)
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)
    return Outcome(*done, time.process_time() - start)


def answered(args, stdin=b""):
    """A call that shows no fault."""
    done = call(args, stdin)
    found = faults(args, done, stdin)
    assert not found, found
    return done


def faults(args, done, stdin=b""):
    """What is wrong with an outcome: a list of sentences, empty when all is well."""
    if "--batch" in args and done.code in (0, 1) and not {"-h", "--help"} & set(args):
        return batch_faults(args, stdin, done)
    found = []
    if done.code not in EXIT_CODES:
        found.append(f"exit code {done.code}")
    if "Traceback" in done.err + done.out or "a fault of dpcalc" in done.err:
        found.append(f"a fault: {done.err.strip()[:300]}")
    if "Warning:" in done.err:
        found.append(f"a warning of a library: {done.err.strip()[:300]}")
    if done.code in (0, 1) and not done.out:
        found.append("nothing printed")
    errors = [line for line in done.err.splitlines() if not line.startswith("warning: ")]
    refutes = done.code == 3 and args[:1] == ["audit"] and done.out and not errors
    if done.code in (2, 3) and (done.out or len(errors) != 1) and not refutes:
        found.append(f"not one line: {done.err[:300]!r} {done.out[:100]!r}")
    if done.code == 0 and errors:
        found.append(f"said on stderr: {errors[0][:200]}")
    if done.code in (0, 1):
        found += _odd_output(args, done.out)
    if memory() > MEMORY:
        found.append(f"{memory() >> 20} MB")
    return found


def batch_faults(args, stdin, done):
    """A line for each line, strict JSON, and the exit code that says whether all were answered."""
    asked = sum(bool(line.strip(b" \t\r\n\x0b\x0c")) for line in stdin.split(b"\n"))
    answers = done.out.split("\n")[:-1]
    if len(answers) != asked:
        return [f"{asked} lines, {len(answers)} answers"]
    if "-q" in args:
        failed = [a for a in answers if not a]
    else:
        try:
            read = [strict(a) for a in answers]
        except ValueError as error:
            return [f"JSON: {error}"]
        failed = [a for a in read if "error" in a]
        if bad := [fault for a in read if "error" not in a for fault in numbers(a)]:
            return bad
    told = "Traceback" in done.err or "a fault of dpcalc" in done.err + done.out or "Warning:" in done.err
    return [f"exit code {done.code}, {len(failed)} failed"] * (done.code != (1 if failed
                                                                             else 0)) + [f"a fault: {done.err[:300]}{done.out[:300]}"] * told


def memory():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def _odd_output(args, text):
    if not any("nan" in a.lower()
               for a in args) and "nan" in text.replace("\t", " ").replace(",", " ").replace("|", " ").lower().split():
        return ["a NaN"]
    formats = [b for a, b in itertools.pairwise(args) if a == "--format"] + ["json"] * ("--json" in args)
    kind = formats[-1] if formats and args[0] != "schema" and not {"-h", "--help", "--version"} & set(args) else ""
    if {"-q", "--quiet"} & set(args) and args[0] in TABLE and "--help" not in args and "-h" not in args:
        return [f"{line!r} is no number >= 0" for line in text.splitlines() if line and not 0 <= float(line) < inf]
    try:
        if kind == "json":
            return numbers(strict(text))
        if kind == "jsonl":
            return [fault for line in text.splitlines() for fault in numbers(strict(line))]
    except ValueError as error:
        return [f"JSON: {error}: {text[:200]}"]
    return []


def strict(text):
    """JSON as the standard has it: no NaN, no Infinity."""

    def refuse(name):
        raise ValueError(name)

    return json.loads(text, parse_constant=refuse)


UNIT = {"delta", "delta_lower", "delta_limit", "tv", "tv_lower", "success", "tpr", "worst_delta"}
FREE = {"log_delta", "log_delta_limit", "worst_log_delta", "tilt", "error", "id"}  # id: what a line of a batch says


def numbers(data, key=""):
    """Complaints about the numbers of a parsed answer."""
    if isinstance(data, dict):
        return [fault for k, v in data.items() if k != "witness" for fault in numbers(v, k)]
    if isinstance(data, list):
        return [fault for v in data for fault in numbers(v, key)]
    if isinstance(data, bool) or not isinstance(data, int | float):
        return []
    if key in UNIT and not 0 <= data <= 1:
        return [f"{key} = {data}"]
    if key.startswith("log_") and data > 0:
        return [f"{key} = {data}"]
    return [f"{key} = {data}"] if data < 0 and key not in FREE and not key.startswith("log_") else []


def shown(args, stdin=b""):
    """A line that repeats the call."""
    text = shlex.join(["dpcalc", *(a.encode("utf-8", "backslashreplace").decode() for a in args)])
    return f"echo {shlex.quote(stdin[:300].decode('utf-8', 'backslashreplace'))} | {text}" if stdin else text


def in_a_new_folder(folder):
    """The fuzzed calls name the files `list` and `nowhere`; only the first exists."""
    os.chdir(folder)
    with open("list", "w", encoding="utf-8") as file:
        file.write("3, 2\n1")
