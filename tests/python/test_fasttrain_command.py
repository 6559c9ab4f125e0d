"""`python -m fasttrain` is the C++ program: same text, same exit codes, same end by a signal."""

import os
import pathlib
import signal
import subprocess
import sys

import fasttrain as ft
import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
PACKAGE = pathlib.Path(ft.__file__).parent
ENVIRONMENT = {**os.environ, "PYTHONPATH": str(PACKAGE.parent)}
PROGRAM = [PACKAGE / "bin" / "fasttrain"]
MODULE = [sys.executable, "-m", "fasttrain"]
SCRIPT = [sys.executable, PACKAGE / "__main__.py"]  # what an installed package has as its command
MACHINE = ROOT / "tests/machines/cpu-amx.facts"


def run(command, *arguments):
    return subprocess.run([*command, *arguments], env=ENVIRONMENT, capture_output=True, text=True, timeout=100)


CASES = [
    (["plan", "--machine", MACHINE], 0),
    (["plan", "--machine", MACHINE, "--set", "precision=bf17"], 78),
    (["plan", "--machine", MACHINE.with_name("missing.facts")], 74),
    (["plan", "--machine", ROOT / "README.md"], 65),
    (["env", "--machine", MACHINE, "--format", "json"], 0),
    (["probe", "--help"], 0),
    (["doctor", "--no-such-option"], 2),
    ([], 2),
]


@pytest.mark.parametrize(
    ("command", "arguments", "code"),
    [(SCRIPT, *case) for case in CASES] + [(MODULE, *CASES[0]), (MODULE, *CASES[1])],
)
def test_text_and_exit_code_are_the_programs(command, arguments, code):
    expected, got = run(PROGRAM, *arguments), run(command, *arguments)
    assert (got.stdout, got.stderr, got.returncode) == (expected.stdout, expected.stderr, code)
    assert got.stdout or got.stderr


def test_the_command_does_not_wait_for_torch():
    done = run([sys.executable, "-X", "importtime", PACKAGE / "__main__.py"], "--version")
    assert done.stdout.startswith("fasttrain ") and "torch" not in done.stderr


def test_a_closed_pipe_ends_it_as_it_ends_any_program():
    reader, writer = os.pipe()
    os.close(reader)
    with os.fdopen(writer, "w") as closed:
        done = subprocess.run([*SCRIPT, "--version"], env=ENVIRONMENT, stdout=closed, timeout=100)
    assert done.returncode == -signal.SIGPIPE


def test_a_package_without_the_program_says_so(tmp_path):
    (tmp_path / "fasttrain").mkdir()
    done = subprocess.run(SCRIPT, env={**ENVIRONMENT, "PYTHONPATH": str(tmp_path)}, capture_output=True, text=True, timeout=100)
    assert done.returncode == 1 and done.stderr.startswith("fasttrain: the program was not built: none of " + str(tmp_path))
