#!/usr/bin/env python3
"""Counts what a training step costs beside LibTorch and the kernels, in instructions, and fails
when it is more than what benchmarks/instructions.json keeps. Needs valgrind and a build with
-DLIBTRAIN_BENCHMARKS=ON.

Unlike times, instructions are the same in every run. Another compiler or LibTorch counts otherwise:
then the count is shown, and nothing is compared.
"""

import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "benchmarks"))

from harness import callgrind, inputs  # noqa: E402

KEPT = ROOT / "benchmarks/instructions.json"
TOLERANCE = 0.05  # over what is kept
FEW, MANY = 10, 30  # steps: the difference leaves out what happens once


def counted(worker: pathlib.Path, file: pathlib.Path, steps: int) -> tuple[int, dict[str, str]]:
    """Own instructions of Trainer::step over so many steps, and the versions they hold for."""
    with tempfile.TemporaryDirectory() as folder:
        out = pathlib.Path(folder) / "callgrind.out"
        command = [
            "valgrind",
            "--tool=callgrind",
            f"--callgrind-out-file={out}",
            "--collect-atstart=no",
            "--toggle-collect=libtrain::Trainer::step*",
            worker,
            json.dumps({"file": str(file), "steps": steps}),
        ]
        # Bound at the start, so that no step pays for finding a function.
        done = subprocess.run(
            command,
            input='{"repeat": 0}\n',
            capture_output=True,
            text=True,
            env=os.environ | {"LD_BIND_NOW": "1"},
        )
        if done.returncode != 0:
            sys.exit(f"instructions: {worker.name} under valgrind: {done.stderr[-2000:]}")
        ready = json.loads(done.stdout.split("\n")[0])
        return callgrind.own_instructions(out.read_text()), ready["versions"]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build/release")
    parser.add_argument("--keep", action="store_true", help="keep this count as the one to compare")
    arguments = parser.parse_args()

    folder = ROOT / "build/bench/inputs"
    inputs.prepare(folder)
    worker = arguments.build / "benchmarks/libtrain_mlp_worker"
    few, versions = counted(worker, folder / "mlp.safetensors", FEW)
    many, _ = counted(worker, folder / "mlp.safetensors", MANY)
    found = {"step": round((many - few) / (MANY - FEW)), "versions": versions}
    print(f"instructions of a step beside LibTorch and kernels: {found['step']:,}")
    if arguments.keep:
        KEPT.write_text(json.dumps(found, indent=1) + "\n")
        return 0
    kept = json.loads(KEPT.read_text())
    if kept["versions"] != versions:
        print(f"kept for {kept['versions']}, here is {versions}: not compared")
        return 0
    print(f"kept: {kept['step']:,}; allowed: {TOLERANCE:.0%} more")
    return 1 if found["step"] > kept["step"] * (1 + TOLERANCE) else 0


if __name__ == "__main__":
    sys.exit(main())
