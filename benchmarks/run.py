#!/usr/bin/env python3
"""Runs the same work in libtrain and in the tools people use today, in turns, and writes the table."""

import argparse
import datetime
import json
import os
import pathlib
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "benchmarks"))

from harness import inputs, machine, plot, report  # noqa: E402
from harness.measure import Conditions, run_row  # noqa: E402
from harness.row import Folders, Row  # noqa: E402
from harness.rows import all_rows  # noqa: E402
from harness.worker import WorkerError  # noqa: E402

REPEATS, QUICK_REPEATS = 5, 3
NO_BF16 = "this CPU has no bf16"
NEW_PAGE = f"# Benchmarks\n\n{report.BEGIN}\n{report.END}\n"


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="./dev bench", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="fewer repeats and peers, at most 10 minutes")
    parser.add_argument("--only", metavar="NAME", action="append", help="this row alone; may stand several times")
    parser.add_argument("--list", action="store_true", help="names of the rows")
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build/release", help="build folder with the workers")
    return parser.parse_args()


def chosen(rows: list[Row], names: list[str] | None) -> list[Row]:
    unknown = set(names or ()) - {row.name for row in rows}
    if unknown:
        sys.exit(f"bench: --only {', '.join(sorted(unknown))}, expected one of {', '.join(row.name for row in rows)}")
    return [row for row in rows if not names or row.name in names]


def commit() -> str:
    done = subprocess.run(["git", "-C", ROOT, "describe", "--always", "--dirty"], capture_output=True, text=True)
    return done.stdout.strip() or "unknown"


def run_rows(rows: list[Row], conditions: Conditions, bf16: bool) -> list[dict]:
    results = []
    for row in rows:
        if row.needs_bf16 and not bf16:
            results.append({"name": row.name, "title": row.title, "not_run": NO_BF16})
            continue
        try:
            results.append(run_row(row, conditions))
        except WorkerError as error:
            conditions.say(f"{row.name}: FAILED: {error}")
            results.append({"name": row.name, "title": row.title, "not_run": f"ours failed: {str(error).splitlines()[0]}"})
            continue
        print("\n".join(report.table_lines(results[-1])), flush=True)
    return results


def write(results: dict, folder: pathlib.Path, whole: bool) -> None:
    """A whole full run becomes the documentation; any other stays in the build folder."""
    (folder / "results.json").write_text(json.dumps(results, indent=1, ensure_ascii=False) + "\n")
    page = ROOT / "docs/benchmarks.md" if whole else folder / "benchmarks.md"
    if not page.is_file():
        page.write_text(NEW_PAGE)
    report.write(page, results)
    plot.draw(page.parent / "images/benchmarks.png", results)
    print(f"written: {page.relative_to(ROOT)}, {(folder / 'results.json').relative_to(ROOT)}")


def main() -> int:
    arguments = parse_arguments()
    folders = Folders(build=arguments.build.resolve(), work=ROOT / "build/bench")
    here = machine.describe()
    rows = chosen(all_rows(folders, machine.has_bf16(here)), arguments.only)
    if arguments.list:
        print("\n".join(f"{row.name:16} {row.title}" for row in rows))
        return 0
    os.environ |= {"HF_HUB_OFFLINE": "1", "TOKENIZERS_PARALLELISM": "false",
                   "TORCHINDUCTOR_CACHE_DIR": str(folders.work / "inductor")}
    start = time.monotonic()
    conditions = Conditions(QUICK_REPEATS if arguments.quick else REPEATS, arguments.quick, folders.work / "logs",
                            lambda line: print(f"[{time.monotonic() - start:5.0f} s] {line}", flush=True))
    conditions.say("inputs")
    inputs.prepare(folders.inputs)
    (folders.work / "scratch").mkdir(exist_ok=True)
    results = {"date": datetime.date.today().isoformat(), "commit": commit(), "machine": here, "quick": arguments.quick,
               "rows": run_rows(rows, conditions, machine.has_bf16(here))}
    write(results, folders.work, whole=not arguments.only and not arguments.quick)
    complete = all("not_run" not in row or row["not_run"] == NO_BF16 for row in results["rows"])
    return 0 if complete and not any("failed" in peer for row in results["rows"] for peer in row.get("peers", [])) else 1


if __name__ == "__main__":
    sys.exit(main())
