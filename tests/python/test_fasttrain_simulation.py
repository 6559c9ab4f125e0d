"""A recorded machine simulated: its plan, run on a simulated GPU, from Python. Each test in a process of its own,
since the simulated device is a process's accelerator for good."""

import os
import pathlib
import re
import shutil
import subprocess
import sys

import fasttrain as ft
import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
MACHINES = ROOT / "tests/machines"
ENVIRONMENT = {**os.environ, "PYTHONPATH": str(pathlib.Path(ft.__file__).parents[1])}
LOOP = """
import fasttrain as ft, torch
runtime = ft.Runtime(simulate={machine!r}, seed=0, accumulate=2)
model = runtime.prepare(torch.nn.Sequential(torch.nn.Linear(8, 16), torch.nn.ReLU(), torch.nn.Linear(16, 3)))
x, y = torch.randn(12, 8).pin_memory(), torch.randint(3, (12,)).pin_memory()
batch = {{"x": x.to(runtime.device, non_blocking=True), "y": y.to(runtime.device, non_blocking=True)}}
loss = lambda part: torch.nn.functional.cross_entropy(model(part["x"]), part["y"])
"""


def simulate(machine, code):
    """What the program prints that `code` ends, on the first GPU of a recorded machine."""
    program = LOOP.format(machine=str(MACHINES / f"{machine}.facts")) + code
    done = subprocess.run([sys.executable, "-c", program], env=ENVIRONMENT, capture_output=True, text=True, timeout=100)
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


@pytest.mark.parametrize(("machine", "dtype", "scaling"), [("h100-slurm-one-gpu", "torch.bfloat16", "False"),
                                                           ("v100-sxm2-x8", "torch.float16", "True")])
def test_the_trainer_runs_the_machines_plan_without_a_wait(machine, dtype, scaling):
    words = simulate(machine, """
trainer = ft.Trainer(runtime, ft.AdamW(model.parameters(), lr=1e-2), clip_norm=1.0)
waits = runtime.simulation.host_waits
for _ in range(20):
    report = trainer.step(batch, loss)
seen = runtime.simulation
print(runtime.device, seen.races or "none", seen.host_waits - waits, seen.peak_bytes > 0, trainer.values(report).loss < 1.0)
with runtime.autocast():
    print(model(batch["x"]).dtype, runtime.scaler.is_enabled())
""")
    assert words == ["sim:0", "none", "0", "True", "True", dtype, scaling]


def test_ones_own_loop_is_seen_waiting():
    words = simulate("h100-slurm-one-gpu", """
optimizer = ft.AdamW(model.parameters(), lr=1e-2)
before = runtime.simulation.host_waits
with runtime.autocast():
    value = loss(batch)
value.backward()
optimizer.step()
print(runtime.simulation.host_waits - before)
value.item()
print(runtime.simulation.host_waits - before, "_local_scalar_dense" in runtime.simulation.waits[-1])
""")
    assert words == ["0", "1", "True"]


def test_a_machine_whose_plan_is_the_cpus_is_refused():
    code = f"import fasttrain as ft; ft.Runtime(simulate={str(MACHINES / 'v100-torch-2.15.facts')!r})"
    done = subprocess.run([sys.executable, "-c", code], env=ENVIRONMENT, capture_output=True, text=True, timeout=100)
    last = done.stderr.strip().splitlines()[-1]
    assert last.startswith("fasttrain.Unsupported: [runtime.simulate]") and "V100" in last and "7.0" in last


def test_the_page_of_the_documentation_runs(tmp_path):
    page = (ROOT / "docs/simulated-device.md").read_text()
    (code,) = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    shutil.copy(MACHINES / "h100-slurm-one-gpu.facts", tmp_path / "h100.facts")
    done = subprocess.run([sys.executable, "-c", code], env=ENVIRONMENT, cwd=tmp_path, capture_output=True, text=True, timeout=100)
    assert done.returncode == 0, done.stderr


def test_a_real_device_has_no_report():
    with ft.Runtime(device="cpu") as runtime:
        assert runtime.simulation is None
