"""The training step."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NoReturn

from torch import Tensor

from fasttrain import _native
from fasttrain._errors import InvalidOption
from fasttrain._optim import SGD, AdamW
from fasttrain._runtime import Runtime
from fasttrain._types import kind, refuse_step, with_clear_types

Batch = Mapping[str, Tensor] | Sequence[Tensor] | Tensor


class Trainer:
    """Takes training steps as the plan says, with a model and a loss of Python's. After a step
    every gradient is None. A step with a gradient that is not finite moves nothing: not the
    weights, not the optimizer's state, not the schedule. Hooks on optimizer.step() do not run: the
    trainer clips and updates in one pass.

    `clip_norm`: largest L2 norm of all gradients together, None for no clipping. `schedule`: what
    linear_warmup() and its like return. Raises InvalidOption for values out of range.
    """

    @with_clear_types("trainer.make")
    def __init__(self, runtime: Runtime, optimizer: AdamW | SGD, *, clip_norm: float | None = None,
                 schedule: _native.Schedule | None = None,
                 max_skips_in_row: int | None = None) -> None:
        if not isinstance(runtime, Runtime):
            raise TypeError(f"Trainer takes a fasttrain.Runtime first, got a {kind(runtime)}")
        if not isinstance(optimizer, AdamW | SGD):
            raise TypeError("Trainer takes a fasttrain.AdamW or SGD, got a "
                            f"{type(optimizer).__module__}.{type(optimizer).__qualname__}")
        self._optimizer = optimizer
        self._native_optimizer = optimizer._native
        self._native = _native.Trainer(runtime._native, optimizer._native, clip_norm,
                                       schedule or _native.constant(), max_skips_in_row)

    def step(self, batch: Batch, loss: Callable[[Any], Tensor],
             weights: Sequence[float] | None = None) -> _native.StepReport:
        """One update from the tensors of one global batch, by name, in order, or one alone; the
        first dimension of each is the sample. `loss(part)` gets a micro-batch of the same form and
        returns the mean loss over its samples, or over `weights`, one a sample, such as valid
        tokens.

        What `loss` or a hook raises comes out and leaves weights and state as they were. Raises
        InvalidOption for a loss that is no differentiable scalar, and Error after max_skips_in_row
        skipped steps in a row, naming a parameter.
        """
        self._optimizer._follow_groups()
        if self._optimizer._native is not self._native_optimizer:
            raise InvalidOption("[trainer.step] the optimizer's groups or state were replaced; "
                                "make a new Trainer")
        if isinstance(batch, Tensor):
            return self.step([batch], lambda part: loss(part[0]), weights)
        if not isinstance(batch, Iterable) or isinstance(batch, str | bytes):
            raise TypeError(f"[trainer.step] wrong type: the batch is {kind(batch)}, expected a "
                            "dict or a list of tensors, or one tensor")
        names = list(batch) if isinstance(batch, Mapping) else None
        tensors = list(batch.values()) if isinstance(batch, Mapping) else list(batch)
        fields = list(zip(names or map(str, range(len(tensors))), tensors))

        def part_loss(part: list[Tensor]) -> Tensor:
            return loss(part if names is None else dict(zip(names, part)))

        try:
            report = self._native.step(fields, part_loss, weights)
        except TypeError:
            refuse_step(fields, loss, weights)
            raise  # the loss function's own
        self._optimizer._share_new_state()
        return report

    @with_clear_types("trainer.values")
    def values(self, report: _native.StepReport) -> _native.StepValues:
        """The values of one of the last steps; waits for the device."""
        return self._native.values(report)

    @property
    def steps(self) -> int:
        """Calls of step() so far."""
        return self._native.steps

    def applied_steps(self) -> int:
        """Updates that moved the weights; waits for the device."""
        return self._native.applied_steps()

    def __reduce__(self) -> NoReturn:
        raise TypeError("cannot pickle a fasttrain.Trainer: it steps the optimizer of this process; "
                        "save the state dicts of model and optimizer, and make a new one")

    def __repr__(self) -> str:
        return f"<fasttrain.Trainer of {type(self._optimizer).__name__}, {self.steps} steps taken>"
