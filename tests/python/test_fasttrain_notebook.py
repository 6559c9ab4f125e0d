"""A notebook: the plan is a table, training runs, an interrupt ends a cell, and training goes on."""

import json
import os
import pathlib
import subprocess
import sys

import fasttrain as ft
import pytest

pytest.importorskip("nbconvert")
pytest.importorskip("ipykernel")

CELLS = [
    "import signal, torch, fasttrain as ft\n"
    "runtime = ft.Runtime(device='cpu', precision='fp32')\n"
    "model = runtime.prepare(torch.nn.Linear(4, 1))\n"
    "trainer = ft.Trainer(runtime, ft.AdamW(model.parameters()))",
    "runtime.plan",
    "def loss(part):\n"
    "    if trainer.steps == 2:\n"
    "        signal.raise_signal(signal.SIGINT)  # what the stop button sends\n"
    "    return model(part).square().mean()\n"
    "while trainer.steps < 5:\n"
    "    report = trainer.step(torch.ones(8, 4), loss)",
    "trainer.step(torch.ones(8, 4), lambda part: model(part).square().mean())",
]


def test_a_notebook_runs(tmp_path):
    cells = [
        {"cell_type": "code", "id": str(number), "execution_count": None, "metadata": {}, "outputs": [], "source": source}
        for number, source in enumerate(CELLS)
    ]
    cells[2]["metadata"] = {"tags": ["raises-exception"]}
    notebook = {"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
    (tmp_path / "session.ipynb").write_text(json.dumps(notebook))
    environment = {**os.environ, "PYTHONPATH": str(pathlib.Path(ft.__file__).parents[1]), "IPYTHONDIR": str(tmp_path)}
    command = [sys.executable, "-m", "nbconvert", "--to", "notebook", "--execute", "--output", "done.ipynb", "session.ipynb"]
    done = subprocess.run(command, env=environment, cwd=tmp_path, capture_output=True, text=True, timeout=280)
    assert done.returncode == 0, done.stderr
    outputs = [cell["outputs"] for cell in json.loads((tmp_path / "done.ipynb").read_text())["cells"]]
    assert "".join(outputs[1][0]["data"]["text/html"]).startswith("<table>\n<tr><th>decision</th>")
    assert [output["ename"] for output in outputs[2]] == ["KeyboardInterrupt"]
    assert "applied=True" in "".join(outputs[3][0]["data"]["text/plain"])
