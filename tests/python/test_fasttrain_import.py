"""Importing fasttrain: orders, another torch, what it touches, and how it ends."""

import os
import pathlib
import subprocess
import sys

import fasttrain as ft
import pytest
import torch

ENVIRONMENT = {**os.environ, "PYTHONPATH": str(pathlib.Path(ft.__file__).parents[1])}


def python(code):
    """Runs `code` in a fresh interpreter."""
    return subprocess.run([sys.executable, "-c", code], env=ENVIRONMENT, capture_output=True, text=True, timeout=100)


@pytest.mark.parametrize("imports", ["import fasttrain", "import torch, fasttrain", "import fasttrain, torch"])
def test_every_import_order_works(imports):
    done = python(f"{imports}; print(fasttrain.plan(device='cpu').to_dict()['device']['value'])")
    assert (done.returncode, done.stdout, done.stderr) == (0, "cpu\n", "")


def test_another_minor_version_of_torch_is_one_clear_error():
    done = python("import torch; torch.__version__ = '2.99.1+cu132'; import fasttrain")
    last = done.stderr.strip().splitlines()[-1]
    assert done.returncode == 1
    assert last == (
        f"ImportError: fasttrain was built with torch {ft._build.TORCH_VERSION}, and this Python has torch 2.99.1+cu132; "
        "in libtrain's sources, with this Python active, build it again: ./dev build, or "
        "pip install --no-build-isolation --no-deps --force-reinstall ."
    )


def test_another_patch_version_is_none():
    minor = ".".join(ft._build.TORCH_VERSION.split(".")[:2])
    assert python(f"import torch; torch.__version__ = '{minor}.99'; import fasttrain").returncode == 0


def test_import_touches_no_device_and_no_setting():
    done = python(
        "import torch\n"
        "def settings(): return torch.get_num_threads(), torch.get_float32_matmul_precision(), torch.initial_seed()\n"
        "torch.manual_seed(7); before = settings()\n"
        "import fasttrain\n"
        "assert settings() == before and not torch.cuda.is_initialized()"
    )
    assert done.returncode == 0, done.stderr


def test_pybind11_is_the_copy_that_torch_brings():
    """Two copies of its internals would mean two sets of types."""
    done = python(
        "import builtins, sys, fasttrain, ctypes\n"
        "state = ctypes.pythonapi.PyInterpreterState_GetDict\n"
        "state.restype, state.argtypes = ctypes.py_object, [ctypes.c_void_p]\n"
        "get = ctypes.pythonapi.PyInterpreterState_Get; get.restype = ctypes.c_void_p\n"
        "keys = {str(key) for key in [*vars(builtins), *state(get())]}\n"
        "print(sum(key.startswith('__pybind11_internals') for key in keys))"
    )
    assert done.stdout == "1\n", done.stdout + done.stderr


def test_exit_with_everything_alive_is_clean():
    done = python(
        "import torch, fasttrain as ft\n"
        "runtime = ft.Runtime(device='cpu', threads=1)\n"
        "model = runtime.prepare(torch.nn.Linear(3, 2))\n"
        "optimizer = ft.AdamW(model.parameters())\n"
        "trainer = ft.Trainer(runtime, optimizer)\n"
        "report = trainer.step({'x': torch.ones(4, 3)}, lambda part: model(part['x']).sum())\n"
        "print(report.latest.applied)"
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "True\n", "")


def test_everything_that_is_offered_has_a_description():
    undocumented = [name for name in ft.__all__ if not (getattr(ft, name).__doc__ or "").strip()]
    assert undocumented == []
    assert torch.__version__.split(".")[:2] == ft._build.TORCH_VERSION.split(".")[:2]
