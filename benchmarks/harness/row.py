"""What a comparison is made of: a row is ours and its peers, run in turns."""

import dataclasses
import json
import pathlib
import sys

from harness.maths import Goal, Tolerance

BENCHMARKS = pathlib.Path(__file__).resolve().parents[1]
PEERS = BENCHMARKS / "peers"


@dataclasses.dataclass(frozen=True)
class Folders:
    build: pathlib.Path  # where ./dev built
    work: pathlib.Path  # ours to write

    @property
    def inputs(self) -> pathlib.Path:
        return self.work / "inputs"


@dataclasses.dataclass(frozen=True)
class Side:
    """A worker: how it is called in the table, and how it is started."""

    label: str
    command: tuple[str, ...]


@dataclasses.dataclass(frozen=True)
class Peer:
    side: Side
    goal: Goal | None = None  # None: shown beside the others
    quick: bool = True  # part of a quick run


@dataclasses.dataclass(frozen=True)
class Unit:
    """What a repeat's cost is shown as: `scale` / cost for a rate, else `scale` * cost."""

    name: str
    scale: float = 1.0
    is_rate: bool = False

    def figure(self, cost: float) -> float:
        return self.scale / cost if self.is_rate else self.scale * cost


@dataclasses.dataclass(frozen=True)
class Row:
    name: str
    title: str
    ours: Side
    peers: tuple[Peer, ...]
    unit: Unit
    tolerance: Tolerance
    cost: str = "seconds"  # the field of a Measurement that is compared
    fresh: bool = False  # a new process for each repeat
    needs_bf16: bool = False
    quick: bool = True  # part of a quick run that names no rows


class Sides:
    """Makes sides out of programs and their settings."""

    def __init__(self, folders: Folders):
        self.folders = folders

    def program(self, name: str, label: str, **settings) -> Side:
        """One of benchmarks/programs/."""
        path = self.folders.build / "benchmarks" / f"{name}_worker"
        return Side(label, (str(path), json.dumps(settings)))

    def script(self, name: str, label: str, **settings) -> Side:
        """One of benchmarks/peers/."""
        return Side(label, (sys.executable, str(PEERS / f"{name}.py"), json.dumps(settings)))

    def package(self, name: str, label: str, **settings) -> Side:
        """One of benchmarks/python/, with the Python package of the build folder."""
        path = f"PYTHONPATH={self.folders.build / 'python'}:{PEERS}"
        script = str(BENCHMARKS / "python" / f"{name}.py")
        return Side(label, ("env", path, sys.executable, script, json.dumps(settings)))
