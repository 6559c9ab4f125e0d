"""The gradient scaler."""

from __future__ import annotations

import warnings
from typing import Any

import torch
from torch import Tensor

from fasttrain import _native
from fasttrain._groups import named_groups
from fasttrain._types import with_clear_types


class _Step:
    """The step of a Python optimizer as the C++ scaler calls it."""

    def __init__(self, optimizer: torch.optim.Optimizer) -> None:
        self._optimizer: Any = optimizer
        self.args: tuple[Any, ...] = ()
        self.kwargs: dict[str, Any] = {}

    def __call__(self, found_inf: Tensor | None) -> Any:
        """`found_inf` is None where the host has decided for the step, else a number on a device
        that decides, which only optimizers that can read it need not wait for.
        """
        optimizer = self._optimizer
        if found_inf is None:
            return optimizer.step(*self.args, **self.kwargs)
        if not getattr(optimizer, "_step_supports_amp_scaling", False):
            return None if found_inf.item() else optimizer.step(*self.args, **self.kwargs)
        optimizer.grad_scale, optimizer.found_inf = None, found_inf
        try:
            return optimizer.step(*self.args, **self.kwargs)
        finally:
            del optimizer.grad_scale, optimizer.found_inf


class GradScaler:
    """torch.amp.GradScaler by libtrain: its calls, decisions and state dict, for any
    torch.optim.Optimizer. Unlike it the scale stays between 1 and 2^24, and step() refuses fp16
    gradients as unscale_() does. On the CPU update() raises Error once too many steps in a row had
    gradients that were not finite.
    """

    @with_clear_types("amp.make")
    def __init__(self, device: str | torch.device = "cuda", init_scale: float = 2.0**16,
                 growth_factor: float = 2.0, backoff_factor: float = 0.5,
                 growth_interval: int = 2000, enabled: bool = True) -> None:
        if enabled and torch.device(device).type == "cuda" and not torch.cuda.is_available():
            warnings.warn("GradScaler is disabled: there is no CUDA device", stacklevel=2)
            enabled = False
        self._device = torch.device(device)
        self._native = _native.GradScaler(self._device, init_scale, growth_factor,
                                          backoff_factor, growth_interval, enabled)
        self._iterations: dict[torch.optim.Optimizer, tuple[_Step, _native.PythonOptimizer]] = {}

    def _of(self, optimizer: torch.optim.Optimizer) -> tuple[_Step, _native.PythonOptimizer]:
        """The optimizer as C++ knows it until the next update()."""
        if optimizer not in self._iterations:
            step = _Step(optimizer)
            groups = named_groups(optimizer.param_groups)
            self._iterations[optimizer] = step, _native.PythonOptimizer(groups, step)
        return self._iterations[optimizer]

    def scale(self, outputs: Any) -> Any:
        """A tensor, or each tensor of an iterable, times the scale."""
        if isinstance(outputs, Tensor):
            return self._native.scale(outputs)
        return type(outputs)(map(self.scale, outputs))

    def unscale_(self, optimizer: torch.optim.Optimizer) -> None:
        """Divides the optimizer's gradients by the scale: to clip or look at them before step()."""
        self._native.unscale_(self._of(optimizer)[1])

    def step(self, optimizer: torch.optim.Optimizer, *args: Any, **kwargs: Any) -> Any:
        """optimizer.step(*args, **kwargs) unless a gradient is not finite; returns what it does."""
        step, native = self._of(optimizer)
        step.args, step.kwargs = args, kwargs
        return self._native.step(native)

    @with_clear_types("amp.update")
    def update(self, new_scale: float | Tensor | None = None) -> None:
        """Ends the iteration: the scale backs off, grows or is set."""
        if new_scale is None:
            self._native.update()
        else:
            self._native.update(new_scale)
        self._iterations.clear()

    def is_enabled(self) -> bool:
        return self._native.is_enabled()

    def get_scale(self) -> float:
        """1 when disabled. Waits for the device."""
        return self._native.get_scale()

    def get_growth_factor(self) -> float:
        return self._native.get_growth_factor()

    @with_clear_types("amp.set_growth_factor")
    def set_growth_factor(self, new_factor: float) -> None:
        self._native.set_growth_factor(new_factor)

    def get_backoff_factor(self) -> float:
        return self._native.get_backoff_factor()

    @with_clear_types("amp.set_backoff_factor")
    def set_backoff_factor(self, new_factor: float) -> None:
        self._native.set_backoff_factor(new_factor)

    def get_growth_interval(self) -> int:
        return self._native.get_growth_interval()

    @with_clear_types("amp.set_growth_interval")
    def set_growth_interval(self, new_interval: int) -> None:
        self._native.set_growth_interval(new_interval)

    def state_dict(self) -> dict[str, Any]:
        """PyTorch's; empty when disabled. Waits for the device."""
        counts = ("growth_interval", "_growth_tracker")
        state = self._native.state_dict()
        return {key: int(value) if key in counts else value for key, value in state.items()}

    @with_clear_types("amp.load_state_dict")
    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Takes PyTorch's too. Raises InvalidOption for what does not fit, and changes nothing."""
        self._native.load_state_dict(state_dict)
        self._iterations.clear()

    def __getstate__(self) -> dict[str, Any]:
        if self._iterations:
            raise TypeError("cannot pickle a fasttrain.GradScaler between unscale_() or step() and "
                            "update(): it holds the optimizers of this iteration")
        return {
            "device": self._device,
            "init_scale": self.get_scale(),
            "growth_factor": self.get_growth_factor(),
            "backoff_factor": self.get_backoff_factor(),
            "growth_interval": self.get_growth_interval(),
            "enabled": self.is_enabled(),
            "state_dict": self.state_dict(),
        }

    def __setstate__(self, state: dict[str, Any]) -> None:
        state_dict = state.pop("state_dict")
        self.__init__(**state)  # type: ignore[misc]
        if state_dict:
            self.load_state_dict(state_dict)
