"""The types that the package states: mypy's stubtest on the stub, mypy --strict on what users write."""

import os
import pathlib
import subprocess
import sys

import fasttrain as ft
import pytest

pytest.importorskip("mypy")
pytestmark = pytest.mark.timeout(900)  # mypy reads torch's and transformers' types first

ROOT = pathlib.Path(__file__).resolve().parents[2]
PACKAGES = pathlib.Path(ft.__file__).parents[1]
OF_PYBIND11 = ("metaclass differs", '.__init__ is inconsistent, stub does not have *args parameter "args"')
WRONG = """
import torch
import fasttrain as ft

ft.Runtime(precision=16)
ft.AdamW([torch.zeros(1)], lr="1e-3")
ft.linear_warmup(10)
reveal_type(ft.plan().to_dict())
"""


def mypy(cache, *arguments):
    environment = {**os.environ, "MYPYPATH": str(PACKAGES), "PYTHONPATH": str(PACKAGES), "MYPY_CACHE_DIR": str(cache)}
    command = [sys.executable, "-m", *arguments]
    return subprocess.run(command, env=environment, cwd=cache, capture_output=True, text=True, timeout=850)


@pytest.fixture(scope="module")
def cache(tmp_path_factory):
    return tmp_path_factory.mktemp("mypy")


def test_the_stub_says_what_the_module_has(cache):
    done = mypy(cache, "mypy.stubtest", "--concise", "fasttrain._native")
    errors = [line for line in done.stdout.splitlines() if not any(text in line for text in OF_PYBIND11)]
    assert errors == [] and OF_PYBIND11[0] in done.stdout, done.stdout + done.stderr


def test_the_example_is_clean(cache):
    pytest.importorskip("transformers")
    done = mypy(cache, "mypy", "--strict", "--follow-imports=silent", str(ROOT / "examples/python"))
    assert done.returncode == 0, done.stdout + done.stderr


def test_wrong_calls_are_found(cache):
    (cache / "wrong.py").write_text(WRONG)
    done = mypy(cache, "mypy", "--strict", "--follow-imports=silent", "wrong.py")
    lines = [line for line in done.stdout.splitlines() if line.startswith("wrong.py:")]
    assert [line.split(":")[1] for line in lines] == ["5", "6", "7", "8"], done.stdout
    assert 'Revealed type is "dict[str, dict[str, str]]"' in lines[3].replace("builtins.", "")
