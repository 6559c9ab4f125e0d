#!/usr/bin/env python3
"""Runs the same work in libtrain and in the tools people use today, and writes the table."""

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
    parser.add_argument(
        "--quick", action="store_true", help="fewer repeats, rows and peers, at most 10 minutes"
    )
    parser.add_argument(
        "--only", metavar="NAME", action="append", help="this row alone; may stand several times"
    )
    parser.add_argument("--list", action="store_true", help="names of the rows")
    parser.add_argument(
        "--build",
        type=pathlib.Path,
        default=ROOT / "build/release",
        help="build folder with the workers",
    )
    return parser.parse_args()


def chosen(rows: list[Row], names: list[str] | None, quick: bool) -> list[Row]:
    unknown = set(names or ()) - {row.name for row in rows}
    if unknown:
        wrong, known = ", ".join(sorted(unknown)), ", ".join(row.name for row in rows)
        sys.exit(f"bench: --only {wrong}, expected one of {known}")
    return [row for row in rows if (row.name in names if names else row.quick or not quick)]


def commit() -> str:
    done = subprocess.run(
        ["git", "-C", ROOT, "describe", "--always", "--dirty"], capture_output=True, text=True
    )
    return done.stdout.strip() or "unknown"


def result_of(row: Row, conditions: Conditions, bf16: bool) -> dict:
    if row.needs_bf16 and not bf16:
        return {"name": row.name, "title": row.title, "not_run": NO_BF16}
    try:
        return run_row(row, conditions)
    except WorkerError as error:
        conditions.say(f"{row.name}: FAILED: {error}")
        reason = f"ours failed: {str(error).splitlines()[0]}"
        return {"name": row.name, "title": row.title, "not_run": reason}


def is_complete(row: dict) -> bool:
    """Whether all that this machine can run was run, and counts."""
    if "not_run" in row:
        return row["not_run"] == NO_BF16
    return not any("failed" in peer for peer in row["peers"])


def write_page(page: pathlib.Path, results: dict) -> None:
    if not page.is_file():
        page.write_text(NEW_PAGE)
    report.write(page, report.text(results))
    plot.draw(page.parent / "images/benchmarks.png", results)


def main() -> int:
    arguments = parse_arguments()
    folders = Folders(build=arguments.build.resolve(), work=ROOT / "build/bench")
    here = machine.describe()
    rows = chosen(all_rows(folders, machine.has_bf16(here)), arguments.only, arguments.quick)
    if arguments.list:
        print("\n".join(f"{row.name:20} {row.title}" for row in rows))
        return 0
    os.environ |= {
        "CUDA_VISIBLE_DEVICES": "",
        "HF_HUB_OFFLINE": "1",
        "TOKENIZERS_PARALLELISM": "false",
        "TORCHINDUCTOR_CACHE_DIR": str(folders.work / "inductor"),
    }
    start = time.monotonic()
    conditions = Conditions(
        QUICK_REPEATS if arguments.quick else REPEATS,
        arguments.quick,
        folders.work / "logs",
        lambda line: print(f"[{time.monotonic() - start:5.0f} s] {line}", flush=True),
    )
    conditions.say("inputs")
    inputs.prepare(folders.inputs)
    (folders.work / "scratch").mkdir(exist_ok=True)
    results = {
        "date": datetime.date.today().isoformat(),
        "commit": commit(),
        "machine": here,
        "repeats": conditions.repeats,
        "rows": [],
    }
    kept = folders.work / "results.json"
    for row in rows:
        results["rows"].append(result_of(row, conditions, machine.has_bf16(here)))
        kept.write_text(json.dumps(results, indent=1, ensure_ascii=False) + "\n")
        print("\n".join(report.table_lines(results["rows"][-1])), flush=True)

    # A whole full run becomes the documentation; any other stays in the build folder.
    whole = not arguments.only and not arguments.quick
    page = (ROOT / "docs" if whole else folders.work) / "benchmarks.md"
    write_page(page, results)
    print(f"written: {page.relative_to(ROOT)}, {kept.relative_to(ROOT)}")
    return 0 if all(map(is_complete, results["rows"])) else 1


if __name__ == "__main__":
    sys.exit(main())
