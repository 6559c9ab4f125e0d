"""Runs one row: all sides are started, their values compared, then they take turns."""

import contextlib
import dataclasses
import pathlib
from collections.abc import Callable

from harness.maths import disagreement, largest_difference, ratios, spread
from harness.row import Peer, Row, Side
from harness.worker import Measurement, Worker, WorkerError

VERIFIED_STEPS, QUICKLY_VERIFIED_STEPS = 5, 3
TIMEOUT_SECONDS = 900.0  # torch.compile takes minutes before its first step

Say = Callable[[str], None]


@dataclasses.dataclass(frozen=True)
class Conditions:
    repeats: int
    quick: bool
    logs: pathlib.Path
    say: Say


class _Runner:
    """One side while its row runs. A peer that failed takes no more turns; ours may not fail."""

    def __init__(self, side: Side, row: Row, conditions: Conditions, number: int):
        self.side = side
        self.failed: str | None = None
        self.measured: list[Measurement] = []
        self.versions: dict[str, str] = {}
        self.flags: dict[str, object] = {}
        self.verified: list[float] = []
        self._row = row
        self._quick = conditions.quick
        self._log = conditions.logs / f"{row.name}-{number}.log"
        self._worker: Worker | None = None

    def start(self) -> None:
        self._worker = self._started()

    def verify(self) -> None:
        if self._row.fresh:
            self.start()
        self.verified = self._worker.verify(
            QUICKLY_VERIFIED_STEPS if self._quick else VERIFIED_STEPS
        )
        if self._row.fresh:
            self.stop()

    def take_turn(self, number: int, counts: bool) -> Measurement:
        if self._row.fresh:
            self.start()
        measurement = self._worker.repeat(0 if self._row.fresh else number)
        if self._row.fresh:
            self.stop()
        if counts:
            self.measured.append(measurement)
        return measurement

    def stop(self) -> None:
        if self._worker is not None:
            self._worker.stop()
            self._worker = None

    def costs(self) -> list[float]:
        return [getattr(measurement, self._row.cost) for measurement in self.measured]

    def _started(self) -> Worker:
        worker = Worker(self.side.label, list(self.side.command), self._log, TIMEOUT_SECONDS)
        self.versions, self.flags = worker.versions, worker.flags
        return worker


def run_row(row: Row, conditions: Conditions) -> dict:
    """The row's part of the results. Throws WorkerError when ours fails."""
    peers = [peer for peer in row.peers if peer.quick or not conditions.quick]
    ours, *others = runners = [
        _Runner(side, row, conditions, number)
        for number, side in enumerate([row.ours, *(peer.side for peer in peers)])
    ]
    with contextlib.ExitStack() as stack:
        for runner in runners:
            stack.callback(runner.stop)
        _start_and_verify(runners, row, conditions.say)
        # A fresh process has nothing to warm up.
        for number in range(1 if row.fresh else 0, conditions.repeats + 1):
            for runner in runners:
                _try(runner, lambda: runner.take_turn(number, counts=number > 0), ours)
            _say_progress(row, conditions, number, runners)
    return {
        "name": row.name,
        "title": row.title,
        "unit": row.unit.name,
        "ours": _described(ours, row),
        "peers": [
            _compared(ours, runner, peer, row) for runner, peer in zip(others, peers, strict=True)
        ],
    }


def _start_and_verify(runners: list[_Runner], row: Row, say: Say) -> None:
    ours = runners[0]
    for runner in runners:
        say(f"{row.name}: start {runner.side.label}")
        if not row.fresh:
            _try(runner, runner.start, ours)
        _try(runner, runner.verify, ours)
        if runner is not ours and not runner.failed:
            runner.failed = _refusal(ours, runner, row)
        if runner.failed:
            say(f"{row.name}: left out: {runner.failed}")


def _try(runner: _Runner, action: Callable[[], object], ours: _Runner) -> None:
    """Nothing more happens to a peer that has failed; what happens to ours ends the row."""
    if runner.failed:
        return
    try:
        action()
    except WorkerError as error:
        if runner is ours:
            raise
        runner.failed = str(error)


def _refusal(ours: _Runner, theirs: _Runner, row: Row) -> str | None:
    difference = disagreement(ours.verified, theirs.verified, row.tolerance)
    return f"{theirs.side.label} computes something else: {difference}" if difference else None


def _say_progress(row: Row, conditions: Conditions, number: int, runners: list[_Runner]) -> None:
    what = f"repeat {number}/{conditions.repeats}" if number else "warm-up"
    figures = [
        f"{runner.side.label} {row.unit.figure(runner.costs()[-1]):.4g}"
        for runner in runners
        if number and not runner.failed
    ]
    conditions.say(
        f"{row.name}: {what} {', '.join(figures)}{' ' + row.unit.name if figures else ''}".rstrip()
    )


def _described(runner: _Runner, row: Row) -> dict:
    figures = spread([row.unit.figure(cost) for cost in runner.costs()])
    return {
        "label": runner.side.label,
        "costs": runner.costs(),
        "figure": dataclasses.asdict(figures),
        "peak_mb": max(measurement.peak_mb for measurement in runner.measured),
        "versions": runner.versions,
        "flags": runner.flags,
        "verified": runner.verified,
    }


def _compared(ours: _Runner, theirs: _Runner, peer: Peer, row: Row) -> dict:
    goal = dataclasses.asdict(peer.goal) if peer.goal else None
    if theirs.failed:
        return {"label": theirs.side.label, "goal": goal, "failed": theirs.failed}
    pairs = ratios(ours.costs(), theirs.costs(), peer.goal)
    return _described(theirs, row) | {
        "goal": goal,
        "ratios": pairs,
        "ratio": dataclasses.asdict(spread(pairs)),
        "largest_difference": largest_difference(ours.verified, theirs.verified),
    }
