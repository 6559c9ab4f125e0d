"""Plans, and the runtime that applies one."""

from __future__ import annotations

import contextlib
import os
import pathlib
from collections.abc import Callable, Iterator
from types import TracebackType
from typing import TYPE_CHECKING, NoReturn, TypedDict, TypeVar

import torch

from fasttrain import _native
from fasttrain._amp import GradScaler
from fasttrain._simulation import register_device_module
from fasttrain._types import kind

if TYPE_CHECKING:
    from typing_extensions import Unpack

Module = TypeVar("Module", bound=torch.nn.Module)


class PlanOptions(TypedDict, total=False):
    """What can be asked for. None, or leaving a keyword out, leaves the choice to the machine."""

    device: str | torch.device | None
    precision: str | None
    fp32_matmul: str | None
    loss_scaling: bool | None
    attention: str | None
    optimizer: str | None
    memory_format: str | None
    cudnn_benchmark: bool | None
    threads: int | None
    allocator: str | None
    global_batch: int | None
    accumulate: int | None
    arch_list: str | None
    nccl_settings: str | None
    checkpointing: bool | None
    micro_batch: int | None
    cuda_graph: bool | None
    data_workers: int | None
    prefetch: int | None
    pinned_memory: bool | None
    numa_node: int | str | None
    parallelism: str | None
    backend: str | None
    bucket_mib: int | None
    seed: int | None
    allow_process_settings: bool | None


def plan(*, machine: str | os.PathLike[str] | None = None,
         **options: Unpack[PlanOptions]) -> _native.Plan:
    """The plan for this machine, or for the one whose facts the file `machine` holds; applies
    nothing. Raises InvalidOption and Unsupported as Runtime does, BadFile for a file that holds
    something else.
    """
    if machine is None:
        return _native.make_plan(options)
    return _native.make_plan(options, pathlib.Path(machine).read_bytes(), os.fspath(machine))


_MULTIPLYING = (
    torch.nn.Linear,
    torch.nn.MultiheadAttention,
    torch.nn.RNNBase,
    torch.nn.RNNCellBase,
)


def _weights(
    module: torch.nn.Module,
    kinds: tuple[type[torch.nn.Module], ...],
    counts: Callable[[torch.Tensor], bool],
) -> list[torch.Tensor]:
    """What layers of these kinds hold themselves and counts."""
    layers = (part for part in module.modules() if isinstance(part, kinds))
    return [weight for layer in layers for weight in layer.parameters(recurse=False) if counts(weight)]


class Runtime:
    """The plan made for this machine and applied to this process. One at a time; as a context
    manager it puts settings back at the end.

    `simulate` names a file of facts of a machine with GPUs: the plan is that machine's, and runs
    on a simulated GPU (docs/simulated-device.md).

    Raises InvalidOption for a keyword or a value that is not allowed, Unsupported for a request
    that this machine or build cannot serve. Keywords:

    """

    def __init__(self, *, simulate: str | os.PathLike[str] | None = None,
                 **options: Unpack[PlanOptions]) -> None:
        if simulate is None:
            self._native = _native.Runtime(options)
        else:
            facts = pathlib.Path(simulate).read_bytes()
            self._native = _native.Runtime.simulated(options, facts, os.fspath(simulate))
            register_device_module()
        self._module: torch.nn.Module | None = None
        self._scaler: GradScaler | None = None

    @property
    def plan(self) -> _native.Plan:
        """Every choice, whose it is, and why; rows read "pending" until prepare()."""
        return self._native.plan

    @property
    def device(self) -> torch.device:
        """Where the plan trains."""
        return self._native.device

    @property
    def seed(self) -> int:
        """What random numbers start from: the asked seed, else that of PyTorch's generator."""
        return self._native.seed

    @property
    def simulation(self) -> _native.SimulationReport | None:
        """What the simulated device has seen so far; None on a real one."""
        return self._native.simulation

    @property
    def scaler(self) -> GradScaler:
        """The gradient scaler of this run, always the same; disabled unless the plan scales."""
        if self._scaler is None:
            self._scaler = GradScaler(self.device, enabled=self._native.loss_scaling)
        return self._scaler

    def prepare(self, module: Module) -> Module:
        """Completes the plan for this module and moves it, in place, to the device in the planned
        memory format. Make optimizers afterwards.
        """
        if not isinstance(module, torch.nn.Module):
            raise TypeError(f"[runtime.prepare] wrong type: got {kind(module)}, expected a "
                            "torch.nn.Module; call it with the model itself")
        self._native.complete(
            type(module).__name__,
            list(module.parameters()),
            _weights(module, _MULTIPLYING, lambda weight: weight.dim() == 2),
            _weights(module, (torch.nn.modules.conv._ConvNd,), lambda weight: weight.dim() > 2),
            any(isinstance(part, torch.nn.MultiheadAttention) for part in module.modules()),
        )
        module.to(self.device)
        if self._native.channels_last:
            module.to(memory_format=torch.channels_last)
        self._module = module
        return module

    def autocast(self) -> torch.autocast:
        """The planned precision for forward passes: a new context manager. Does nothing where the
        plan trains in fp32.
        """
        device_type, dtype, enabled = self._native.autocast
        return torch.autocast(device_type, dtype=dtype, enabled=enabled)

    @contextlib.contextmanager
    def eval(self) -> Iterator[None]:
        """Evaluation: no gradients are recorded and the prepared module's layers are in evaluation
        mode. Each layer's own mode is put back at the end.
        """
        modes = [(part, part.training) for part in self._module.modules()] if self._module else []
        try:
            for part, _ in modes:
                part.training = False
            with torch.no_grad():
                yield
        finally:
            for part, training in modes:
                part.training = training

    def close(self) -> None:
        """Puts back what can be undone: threads, fp32 precision, cuDNN benchmark, attention order.
        The plan stays readable.
        """
        self._native.restore_settings()

    def __enter__(self) -> Runtime:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None,
                 traceback: TracebackType | None) -> None:
        self.close()

    def __reduce__(self) -> NoReturn:
        raise TypeError("cannot pickle a fasttrain.Runtime: it stands for settings of this process; "
                        "make one in each process")

    def __repr__(self) -> str:
        return f"<fasttrain.Runtime on {self.device}>"


Runtime.__doc__ = f"{Runtime.__doc__}{_native.option_help()}"
