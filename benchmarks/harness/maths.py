"""Ratios, and when two sides have computed the same thing."""

import dataclasses
import math
import statistics


@dataclasses.dataclass(frozen=True)
class Spread:
    median: float
    least: float
    most: float


def spread(values: list[float]) -> Spread:
    return Spread(statistics.median(values), min(values), max(values))


@dataclasses.dataclass(frozen=True)
class Goal:
    """What a ratio must reach; one of the two is set: speed `at_least` (their cost / ours) or cost
    `at_most` (ours / theirs)."""

    at_least: float | None = None
    at_most: float | None = None

    def is_met(self, ratio: float) -> bool:
        return ratio >= self.at_least if self.at_least is not None else ratio <= self.at_most

    def shortfall(self, ratio: float) -> float:
        """By which share the goal is missed: 0.1 means 10 %. Negative when it is met."""
        return 1 - ratio / self.at_least if self.at_least is not None else ratio / self.at_most - 1

    def __str__(self) -> str:
        return f"≥ {self.at_least:g}×" if self.at_least is not None else f"≤ {self.at_most:g}×"


def ratios(ours: list[float], theirs: list[float], goal: Goal | None) -> list[float]:
    """Pair by pair, in the order they ran. Without a goal: how much faster ours is."""
    pairs = zip(ours, theirs, strict=True)
    if goal is not None and goal.at_most is not None:
        return [a / b for a, b in pairs]
    return [b / a for a, b in pairs]


@dataclasses.dataclass(frozen=True)
class Tolerance:
    """Relative difference allowed at the first value; each further step may add rounding of its
    own, so that the bound grows by `growth`."""

    first: float
    growth: float = 1.0

    def at(self, index: int) -> float:
        return self.first * self.growth**index


EXACT = Tolerance(0.0)
FP32 = Tolerance(1e-4, growth=2.0)
BF16 = Tolerance(1e-3, growth=1.5)


def disagreement(ours: list[float], theirs: list[float], tolerance: Tolerance) -> str | None:
    """What differs more than it may, None when the two agree."""
    if len(ours) != len(theirs):
        return f"{len(ours)} values against {len(theirs)}"
    if not ours:
        return "no values to compare"
    for index, (a, b) in enumerate(zip(ours, theirs)):
        if not (math.isfinite(a) and math.isfinite(b)):
            return f"value {index + 1} is not finite: {a:.7g} against {b:.7g}"
        difference = largest_difference([a], [b])
        if difference > tolerance.at(index):
            return (
                f"value {index + 1} differs: {a:.7g} against {b:.7g}, relative {difference:.1e}, "
                f"allowed {tolerance.at(index):.1e}"
            )
    return None


def largest_difference(ours: list[float], theirs: list[float]) -> float:
    """Relative to the larger of the two."""
    return max(abs(a - b) / max(abs(a), abs(b), 1e-300) for a, b in zip(ours, theirs, strict=True))
