"""The benchmarks' harness: its arithmetic, what it refuses, what it writes. Nothing is timed."""

import json
import pathlib
import random
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "benchmarks"))

from harness import callgrind, inputs, machine, maths, measure, plot, report  # noqa: E402
from harness.maths import Goal, Tolerance  # noqa: E402
from harness.row import Folders, Peer, Row, Side, Unit  # noqa: E402
from harness.rows import all_rows  # noqa: E402
from harness.worker import Worker, WorkerError  # noqa: E402

READY = {"ready": True, "versions": {"tool": "1.0"}, "flags": {"threads": 1}}


def worker_script(*statements):
    """A worker's command: `say` answers, `ask` reads a request."""
    lines = [
        "import json, sys",
        "say = lambda value: print(json.dumps(value), flush=True)",
        "ask = lambda: json.loads(sys.stdin.readline() or 'null')",
        f"say({READY!r})",
        *statements,
    ]
    return (sys.executable, "-c", "\n".join(lines))


def steady(values, seconds):
    """A worker whose repeats all take `seconds`, by its own account."""
    answer = {"seconds": seconds, "values": [], "peak_mb": 100.0}
    return worker_script(
        "while request := ask():",
        f"    say({{'values': {values}}} if 'verify' in request else {answer})",
    )


def a_row(ours, *peers, **options):
    return Row(
        "toy",
        "A toy",
        Side("ours", ours),
        peers,
        Unit("steps/s", 10, is_rate=True),
        Tolerance(1e-4),
        **options,
    )


def run(row, tmp_path, repeats=3, quick=False):
    said = []
    result = measure.run_row(row, measure.Conditions(repeats, quick, tmp_path, said.append))
    return result, said


def results_of(*rows):
    return {
        "date": "2026-01-31",
        "commit": "abc",
        "machine": machine.describe("model name : A CPU\nflags : avx2 amx_bf16\n"),
        "repeats": 3,
        "rows": list(rows),
    }


def test_ratios_are_taken_pair_by_pair():
    ours, theirs = [1.0, 2.0, 4.0], [3.0, 4.0, 20.0]
    assert (
        maths.ratios(ours, theirs, Goal(at_least=2.0))
        == maths.ratios(ours, theirs, None)
        == [3.0, 2.0, 5.0]
    )
    assert maths.ratios(ours, theirs, Goal(at_most=0.5)) == pytest.approx([1 / 3, 0.5, 0.2])
    assert maths.spread([3.0, 2.0, 5.0]) == maths.Spread(median=3.0, least=2.0, most=5.0)
    with pytest.raises(ValueError):
        maths.ratios([1.0], [1.0, 2.0], None)


@pytest.mark.parametrize(
    ("goal", "ratio", "verdict"),
    [
        (Goal(at_least=2.0), 2.0, "met"),
        (Goal(at_least=2.0), 1.5, "missed by 25%"),
        (Goal(at_most=0.5), 0.5, "met"),
        (Goal(at_most=0.5), 0.6, "missed by 20%"),
        (None, 1.0, ""),
    ],
)
def test_a_goal_is_met_or_missed_by_a_share(goal, ratio, verdict):
    assert report.verdict(ratio, goal) == verdict


def test_values_must_agree_within_a_tolerance_that_grows():
    tolerance = Tolerance(1e-4, growth=2.0)
    assert maths.disagreement([1.0, 1.0], [1.00009, 1.00019], tolerance) is None
    assert "value 1 differs" in maths.disagreement([1.0, 1.0], [1.00011, 1.0], tolerance)
    assert "value 2 differs" in maths.disagreement([1.0, 1.0], [1.0, 1.00021], tolerance)
    assert "not finite" in maths.disagreement([1.0], [float("nan")], Tolerance(1e9))
    assert "2 values against 1" in maths.disagreement([1.0, 1.0], [1.0], tolerance)
    assert maths.disagreement([], [], tolerance) == "no values to compare"


def test_sides_take_turns_and_the_first_turn_does_not_count(tmp_path):
    log = tmp_path / "turns"

    def logged(name):
        answer = {"seconds": 1.0, "values": [], "peak_mb": 1.0}
        return worker_script(
            "while request := ask():",
            f"    open({str(log)!r}, 'a').write('{name}' + str(request.get('repeat', 'v')) + ' ')",
            f"    say({answer} if 'repeat' in request else {{'values': [1.0]}})",
        )

    result, _ = run(
        a_row(logged("a"), Peer(Side("b", logged("b"))), Peer(Side("c", logged("c")), quick=False)),
        tmp_path,
        repeats=2,
    )
    assert log.read_text().split() == [
        "av",
        "bv",
        "cv",
        "a0",
        "b0",
        "c0",
        "a1",
        "b1",
        "c1",
        "a2",
        "b2",
        "c2",
    ]
    assert result["ours"]["costs"] == [1.0, 1.0]
    quick, _ = run(
        a_row(logged("a"), Peer(Side("b", logged("b"))), Peer(Side("c", logged("c")), quick=False)),
        tmp_path,
        quick=True,
    )
    assert [peer["label"] for peer in quick["peers"]] == ["b"]


def test_a_row_with_fresh_processes_compares_what_it_names(tmp_path):
    row = a_row(
        steady([1.0], 1.0),
        Peer(Side("theirs", steady([1.0], 4.0)), Goal(at_most=0.8)),
        fresh=True,
        cost="peak_mb",
    )
    assert run(row, tmp_path)[0]["peers"][0]["ratios"] == [1.0, 1.0, 1.0]


def test_a_peer_that_computes_something_else_does_not_count(tmp_path):
    row = a_row(
        steady([2.5, 2.0], 1.0),
        Peer(Side("other", steady([2.5, 2.1], 9.0)), Goal(at_least=2.0)),
        Peer(Side("same", steady([2.5, 2.00001], 3.0)), Goal(at_least=2.0)),
    )
    result, said = run(row, tmp_path)
    other, same = result["peers"]
    assert (
        "ratio" not in other
        and "other computes something else: value 2 differs: 2 against 2.1" in other["failed"]
    )
    assert any("left out: other computes something else" in line for line in said)
    assert same["ratio"] == {"median": 3.0, "least": 3.0, "most": 3.0}
    assert (
        "does not count" in report.table_lines(result)[0]
        and "**3.00×**" in report.table_lines(result)[1]
    )


def test_a_worker_that_dies_is_told_with_its_last_words(tmp_path):
    dying = worker_script("ask()", "sys.exit('out of luck')")
    result, _ = run(a_row(steady([1.0], 1.0), Peer(Side("frail", dying))), tmp_path)
    assert "frail ended with exit code 1" in result["peers"][0]["failed"]
    assert "out of luck" in result["peers"][0]["failed"]
    with pytest.raises(WorkerError, match="ours ended with exit code 1"):
        run(a_row(dying, Peer(Side("theirs", steady([1.0], 1.0)))), tmp_path)


@pytest.mark.parametrize(
    ("statements", "message"),
    [
        (["ask()", "print('42', flush=True)"], "no JSON object"),
        (["ask()", "print('hello', flush=True)"], "no JSON object"),
        (["ask()", "say({'values': [1.0]})"], 'without numbers under "seconds"'),
        (["ask()", "say({'seconds': 0.0, 'values': [], 'peak_mb': 1.0})"], "measured 0.0 seconds"),
        (
            ["ask()", "say({'seconds': 1.0, 'values': ['x'], 'peak_mb': 1.0})"],
            'without numbers under "values"',
        ),
        (["ask()", "import time; time.sleep(1.5)"], "said nothing for 0.5 s"),
    ],
)
def test_a_worker_that_breaks_the_protocol_is_refused(statements, message, tmp_path):
    with Worker("odd", list(worker_script(*statements)), tmp_path / "log", timeout=5.0) as worker:
        worker._timeout = 0.5
        with pytest.raises(WorkerError, match=message):
            worker.repeat(0)


def test_a_program_that_is_no_worker_is_refused(tmp_path):
    with pytest.raises(WorkerError, match="instead of that it is ready"):
        Worker("odd", [sys.executable, "-c", "print('{}')"], tmp_path / "log", timeout=5.0)


def test_only_what_stands_between_the_marks_is_replaced():
    page = f"# By hand\n\n{report.BEGIN}\nold\n{report.END}\n\nAlso by hand.\n"
    assert report.replace_generated(page, f"{report.BEGIN}\nnew\n{report.END}") == page.replace(
        "old", "new"
    )
    with pytest.raises(ValueError):
        report.replace_generated("# No marks\n", "new")


def test_the_page_shows_ratio_goal_and_the_command_to_rerun(tmp_path):
    row, _ = run(
        a_row(
            steady([1.0], 1.0),
            Peer(Side("slow", steady([1.0], 3.0)), Goal(at_least=2.0)),
            Peer(Side("fast", steady([1.0], 1.5)), Goal(at_least=2.0)),
        ),
        tmp_path,
    )
    text = report.text(
        results_of(
            row, {"name": "toy-bf16", "title": "A toy, bf16", "not_run": "this CPU has no bf16"}
        )
    )
    assert (
        "| A toy | slow | 10 steps/s | 3.33 steps/s | **3.00×** (3.00 to 3.00) | ≥ 2× | met |"
        in text
    )
    assert (
        "| fast | 10 steps/s | 6.67 steps/s | **1.50×** (1.50 to 1.50) | ≥ 2× | missed by 25% |"
        in text
    )
    assert "not run: this CPU has no bf16" in text
    assert "`./dev bench --only toy`" in text
    assert "2026-01-31" in text and "A CPU (avx2, amx_bf16)" in text and "tool 1.0" in text


def test_the_plot_shows_more_as_better_for_every_kind_of_goal(tmp_path):
    row, _ = run(
        a_row(
            steady([1.0], 1.0),
            Peer(Side("a", steady([1.0], 4.0)), Goal(at_most=0.5)),
            Peer(Side("b", steady([1.0], 4.0)), Goal(at_least=2.0)),
        ),
        tmp_path,
    )
    assert [(bar["median"], bar["goal"]) for bar in plot.bars(results_of(row))] == [
        (4.0, 2.0),
        (4.0, 2.0),
    ]


def test_groups_hold_the_same_samples_in_both_orders():
    texts = inputs.Texts("toy", batch=4, batches_a_group=3, max_length=64)
    rng = random.Random(1)
    lengths = [rng.randint(3, 64) for _ in range(5 * texts.samples_a_repeat)]
    groups = inputs.group_by_length(lengths, texts, 5, rng)
    assert sorted(i for group in groups for batch in group["random"] for i in batch) == list(
        range(len(lengths))
    )
    for group in groups:
        assert [len(batch) for batch in group["random"] + group["sorted"]] == [4] * 6
        assert sorted(sum(group["random"], [])) == sorted(sum(group["sorted"], []))
    padding = {
        order: sum(4 * max(lengths[i] for i in batch) for group in groups for batch in group[order])
        / sum(lengths)
        for order in ("random", "sorted")
    }
    assert padding["sorted"] < 1.2 < padding["random"]


def test_the_machine_says_whether_it_has_bf16():
    assert machine.has_bf16(machine.describe("flags : avx2 avx512_bf16\n"))
    assert not machine.has_bf16(machine.describe("flags : avx2 avx512f\n"))


def test_instructions_of_kernels_and_libtorch_are_not_the_steps_own():
    text = """
ob=(1) /build/lib/libtrain.so.0.1.0
fn=(1) libtrain::Trainer::step()
10 100
cob=(2) /usr/lib/libc.so.6
cfn=(2) malloc
calls=3 20
11 40
cob=(3) /torch/lib/libtorch_cpu.so
cfn=(3) at::relu
calls=1 30
+1 7000
cfn=(4) libtrain::gradient_norm()
calls=1 40
12 50

ob=(4) /build/lib/libtrain_core.so.0.1.0
fn=(5) libtrain::kernels::avx2::update()
50 9000
fn=(6) libtrain::factor()
60 5

ob=(2)
fn=(2)
20 40

ob=(1)
fn=(4)
* 50
"""
    assert callgrind.own_instructions(text) == 100 + 40 + 5 + 50


def test_every_row_starts_programs_that_exist(tmp_path):
    rows = all_rows(Folders(build=tmp_path / "build", work=tmp_path), bf16=True)
    assert len({row.name for row in rows}) == len(rows)
    programs = (ROOT / "benchmarks/programs/CMakeLists.txt").read_text()
    for side in [side for row in rows for side in (row.ours, *(peer.side for peer in row.peers))]:
        json.loads(side.command[-1])
        path = pathlib.Path(side.command[-2])
        assert (
            path.is_file()
            or f"libtrain_add_worker({path.name.removesuffix('_worker')} " in programs
        ), path


def test_a_quick_run_takes_the_rows_named_or_those_that_are_quick():
    def listed(*options):
        command = [sys.executable, str(ROOT / "benchmarks/run.py"), "--list", *options]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        return [line.split()[0] for line in done.stdout.splitlines()]

    assert set(listed()) - set(listed("--quick")) >= {"bertbase-fp32", "python-minilm"}
    assert "minilm-bf16" in listed("--quick")
    assert listed("--quick", "--only", "bertbase-fp32") == ["bertbase-fp32"]
