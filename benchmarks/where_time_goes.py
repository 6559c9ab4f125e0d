#!/usr/bin/env python3
"""Where libtrain's time goes in the rows that train BERT: samples of perf over both threads while
the worker repeats its work, by kind of function. Writes the table into docs/benchmarks.md. Needs
perf and a build with -DLIBTRAIN_BENCHMARKS=ON."""

import argparse
import collections
import pathlib
import re
import signal
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "benchmarks"))

from harness import inputs, machine, report  # noqa: E402
from harness.row import Folders, Row  # noqa: E402
from harness.rows import all_rows  # noqa: E402
from harness.worker import Worker  # noqa: E402

ROWS = ("minilm-bf16", "minilm-fp32", "bertbase-bf16", "bertbase-fp32")
BEGIN = "<!-- written by benchmarks/where_time_goes.py: begin -->"
END = "<!-- written by benchmarks/where_time_goes.py: end -->"
REPEATS, WARM_UP = 4, 1
SAMPLES_A_SECOND = 499

# The first that fits the library and the function of a sample, "LIBRARY FUNCTION", names its part.
PARTS = (
    ("waiting for the other thread", r"^libgomp"),
    ("operating system", r"^\[kernel"),
    ("matrix products (oneDNN, MKL)", r"^(//anon|\[JIT\]|perf-)|mkl_|dnnl|ideep|gemm"),
    ("AdamW and the norm of the gradients", r"^libtrain_core.*::(update|sum_of_squares)"),
    ("attention, dropout, residual norms, GELU", r"^libtrain_core|for_each_(head|block)"),
    ("casts and copies", r"copy_kernel|memcpy|memmove|memset"),
    ("memory allocation", r"malloc|free|memalign|unlink_chunk|operator (new|delete)"),
    ("other operators, autograd, the step", r""),
)


def part_of(library: str, function: str) -> str:
    sample = f"{library} {function}"
    return next(name for name, pattern in PARTS if re.search(pattern, sample))


def samples_of(row: Row, folders: Folders) -> collections.Counter:
    with tempfile.TemporaryDirectory() as folder:
        data = pathlib.Path(folder) / "perf.data"
        log = folders.work / "logs" / f"{row.name}-profile.log"
        with Worker(row.ours.label, list(row.ours.command), log, timeout=600) as worker:
            for number in range(WARM_UP):
                worker.repeat(number)
            perf = subprocess.Popen(
                ["perf", "record", "-q", "-F", str(SAMPLES_A_SECOND), "-e", "cpu-clock"]
                + ["-p", str(worker.pid), "-o", str(data)]
            )
            for number in range(WARM_UP, WARM_UP + REPEATS):
                worker.repeat(number)
            perf.send_signal(signal.SIGINT)
            perf.wait(timeout=60)
        script = subprocess.run(
            ["perf", "script", "-i", str(data), "-F", "ip,sym,dso"],
            capture_output=True,
            text=True,
            check=True,
        ).stdout
    counts: collections.Counter = collections.Counter()
    for found in re.finditer(r"^\s*[0-9a-f]+\s+(.*?)\s+\((.*)\)\s*$", script, re.MULTILINE):
        function, library = found.groups()
        counts[part_of(library.rsplit("/", 1)[-1] if "//" not in library else library, function)] += 1
    return counts


def text(counts: dict[str, collections.Counter], here: dict) -> str:
    lines = [
        BEGIN,
        f"{here['cores']} cores of {here['cpu']}; share of all samples, {REPEATS} repeats.",
        "",
        report.line("part", *counts),
        "|---|" + "---|" * len(counts),
    ]
    for name, _ in PARTS:
        shares = [row[name] / max(1, row.total()) for row in counts.values()]
        lines.append(report.line(name, *(f"{share:.0%}" for share in shares)))
    return "\n".join([*lines, END])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build/release")
    arguments = parser.parse_args()
    folders = Folders(build=arguments.build.resolve(), work=ROOT / "build/bench")
    here = machine.describe()
    inputs.prepare(folders.inputs)
    bf16 = machine.has_bf16(here)
    rows = [row for row in all_rows(folders, bf16) if row.name in ROWS]
    counts = {row.name: samples_of(row, folders) for row in rows if bf16 or not row.needs_bf16}
    generated = text(counts, here)
    print(generated)
    report.write(ROOT / "docs/benchmarks.md", generated, BEGIN, END)


if __name__ == "__main__":
    main()
