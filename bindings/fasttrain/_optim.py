"""PyTorch's optimizers with libtrain's step, and gradient clipping."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable
from itertools import chain
from typing import Any

import torch
from torch import Tensor

from fasttrain import _native
from fasttrain._errors import Error
from fasttrain._groups import named_groups
from fasttrain._types import refuse_options, with_clear_types


class _NativeStep(torch.optim.Optimizer):
    """Before a torch.optim class: groups, hooks and state dicts stay PyTorch's, the step and the
    state are C++'s. `state` holds the C++ tensors themselves. Whenever groups or state are
    replaced, a new C++ optimizer is made out of them.
    """

    _step_supports_amp_scaling = True  # torch.amp.GradScaler leaves found_inf and grad_scale here
    _native: Any = None
    _shared_states = 0
    _built_for: list[list[Tensor]]
    skip_non_finite: bool

    def _make(self, groups: list[list[tuple[str, Tensor]]]) -> Any:
        raise NotImplementedError

    def _group_options(self, group: dict[str, Any]) -> tuple[Any, ...]:
        raise NotImplementedError

    def _state_to_native(self, state: dict[str, Any]) -> dict[str, Tensor]:
        raise NotImplementedError

    def _state_from_native(self, state: dict[str, Tensor]) -> dict[str, Tensor]:
        raise NotImplementedError

    def _build(self) -> None:
        groups = named_groups(self.param_groups)
        native = self._make(groups)
        saved = {
            f"{key}.{name}": value
            for group in groups
            for name, parameter in group
            for key, value in self._state_to_native(self.state.get(parameter, {})).items()
        }
        if any(not key.startswith("step.") for key in saved):
            native.load_state_dict(saved)
        if not isinstance(self.skip_non_finite, bool):
            raise TypeError("[optim.make] wrong type: skip_non_finite="
                            f"{self.skip_non_finite!r}, expected True or False")
        native.set_skip_non_finite(self.skip_non_finite)
        self._push_options(native)
        self._native = native
        self._built_for = [list(group["params"]) for group in self.param_groups]
        self._share_state()

    def _follow_groups(self) -> None:
        """A new C++ optimizer where param_groups hold other parameters than at the last step."""
        now, before = [group["params"] for group in self.param_groups], self._built_for
        same_sizes = [*map(len, now)] == [*map(len, before)]
        if same_sizes and all(map(operator.is_, chain(*now), chain(*before))):
            self._push_options()
        else:
            self._build()

    def _push_options(self, native: Any = None) -> None:
        """param_groups are what counts: schedulers and users change them."""
        for number, group in enumerate(self.param_groups):
            try:
                (native or self._native).set_options(number, *self._group_options(group))
            except (TypeError, ValueError, KeyError) as error:
                if isinstance(error, Error):
                    raise
                refuse_options("optim.options", group)

    def _share_new_state(self) -> None:
        if self._native.state_count() != self._shared_states:
            self._share_state()

    def _share_state(self) -> None:
        parameters = (p for group in self.param_groups for p in group["params"])
        for number, parameter in enumerate(parameters):
            if state := self._native.state(number):
                self.state[parameter].update(self._state_from_native(state))
        self._shared_states = self._native.state_count()

    def add_param_group(self, param_group: dict[str, Any]) -> None:
        super().add_param_group(param_group)
        if self._native is not None:
            try:
                self._build()
            except BaseException:
                self.param_groups.pop()
                raise

    def __getstate__(self) -> dict[str, Any]:
        return {**super().__getstate__(), "skip_non_finite": self.skip_non_finite}

    def __setstate__(self, state: dict[str, Any]) -> None:
        before = {key: value for key, value in self.__dict__.items() if key in state}
        try:
            super().__setstate__(state)
            self._build()
        except BaseException:
            self.__dict__.update(before)
            raise

    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """Applies the gradients; returns what `closure`, which computes them anew, returned."""
        loss = None
        if closure is not None:
            with torch.enable_grad():
                loss = closure()
        self._follow_groups()
        native = self._native
        found_inf = getattr(self, "found_inf", None)
        if found_inf is None:
            native.step()
        else:
            native.step_scaled(found_inf, getattr(self, "grad_scale", None))
        self._share_new_state()
        return loss


class AdamW(_NativeStep, torch.optim.AdamW):
    """torch.optim.AdamW with libtrain's step: its formulas, arguments, param_groups, hooks and
    state dict. fp32 parameters on the CPU are updated in one pass over memory, others by ATen's
    fused operator.

    Unlike PyTorch it skips a step that has a gradient which is not finite; `skip_non_finite` false
    leaves that check, one pass over the gradients, out. amsgrad must be the same in all groups.
    Raises InvalidOption and Unsupported, naming the parameter, for gradients it cannot apply.
    """

    def __init__(self, params: Iterable[Any], lr: float | Tensor = 1e-3,
                 betas: tuple[float, float] = (0.9, 0.999), eps: float = 1e-8,
                 weight_decay: float = 1e-2, amsgrad: bool = False, *, maximize: bool = False,
                 skip_non_finite: bool = True) -> None:
        self.skip_non_finite = skip_non_finite
        super().__init__(params, lr, betas, eps, weight_decay, amsgrad, maximize=maximize)
        self._build()

    def _make(self, groups: list[list[tuple[str, Tensor]]]) -> Any:
        return _native.AdamW(groups, self.param_groups[0]["amsgrad"])

    def _group_options(self, group: dict[str, Any]) -> tuple[Any, ...]:
        return (float(group["lr"]), group["betas"], group["eps"], group["weight_decay"],
                group["amsgrad"], group["maximize"])

    def _state_to_native(self, state: dict[str, Any]) -> dict[str, Tensor]:
        step = torch.as_tensor(state.get("step", 0.0), dtype=torch.float32)
        return {**state, "step": step}

    def _state_from_native(self, state: dict[str, Tensor]) -> dict[str, Tensor]:
        return state


class SGD(_NativeStep, torch.optim.SGD):
    """torch.optim.SGD with libtrain's step; what AdamW says holds here too. Whether there is a
    momentum must be the same in all groups.
    """

    def __init__(self, params: Iterable[Any], lr: float | Tensor = 1e-3, momentum: float = 0.0,
                 dampening: float = 0.0, weight_decay: float = 0.0, nesterov: bool = False, *,
                 maximize: bool = False, skip_non_finite: bool = True) -> None:
        self.skip_non_finite = skip_non_finite
        super().__init__(params, lr, momentum, dampening, weight_decay, nesterov, maximize=maximize)
        self._build()

    def _make(self, groups: list[list[tuple[str, Tensor]]]) -> Any:
        return _native.SGD(groups, self.param_groups[0]["momentum"])

    def _group_options(self, group: dict[str, Any]) -> tuple[Any, ...]:
        return (float(group["lr"]), group["momentum"], group["dampening"], group["weight_decay"],
                group["nesterov"], group["maximize"])

    def _state_to_native(self, state: dict[str, Any]) -> dict[str, Tensor]:
        buffer = state.get("momentum_buffer")
        if buffer is None:
            return {"step": torch.tensor(0.0)}
        return {"step": torch.tensor(1.0), "momentum_buffer": buffer}  # PyTorch does not count

    def _state_from_native(self, state: dict[str, Tensor]) -> dict[str, Tensor]:
        return {"momentum_buffer": state["momentum_buffer"]}


@with_clear_types("optim.clip_grad_norm")
def clip_grad_norm_(parameters: Tensor | Iterable[Tensor], max_norm: float, norm_type: float = 2.0,
                    error_if_nonfinite: bool = False) -> Tensor:
    """Scales the gradients so that their joint norm is at most `max_norm`; returns the norm before,
    fp32 [] on the gradients' device. As torch.nn.utils.clip_grad_norm_, but gradients are left as
    they are when the norm is not finite, and norms are computed in double.

    Raises InvalidOption for a negative max_norm, Error for `error_if_nonfinite`.
    """
    listed = [parameters] if isinstance(parameters, Tensor) else list(parameters)
    return _native.clip_grad_norm_(listed, float(max_norm), float(norm_type), error_if_nonfinite)
