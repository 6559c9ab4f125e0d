"""The plan for Lightning's Trainer:

    with ft.Runtime() as runtime:
        trainer = lightning.Trainer(**trainer_arguments(runtime, max_epochs=1))
        trainer.fit(module, loader)       # module.configure_optimizers may return a ft.AdamW
"""

from __future__ import annotations

from typing import Any

from lightning import Callback, LightningModule, Trainer

from fasttrain._optim import SGD, AdamW
from fasttrain._runtime import Runtime

_PRECISIONS = {"fp32": "32-true", "tf32": "32-true", "bf16": "bf16-mixed", "fp16": "16-mixed"}


class ApplyPlan(Callback):
    """Prepares the module before its optimizers are made, and has Lightning unscale gradients, since
    it refuses to clip for an optimizer that does so itself.
    """

    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime

    def setup(self, trainer: Trainer, pl_module: LightningModule, stage: str) -> None:
        self._runtime.prepare(pl_module)

    def on_fit_start(self, trainer: Trainer, pl_module: LightningModule) -> None:
        for optimizer in trainer.optimizers:
            if isinstance(optimizer, AdamW | SGD):
                optimizer._step_supports_amp_scaling = False


def trainer_arguments(runtime: Runtime, **arguments: Any) -> dict[str, Any]:
    """Keyword arguments of lightning.Trainer with what the plan decides for device and precision,
    and a callback that prepares the module; the runtime itself has applied threads, TF32, attention
    order, cuDNN's benchmark and the allocator. What you give stays as it is.
    """
    device = runtime.device
    if "accelerator" not in arguments:
        arguments["accelerator"] = device.type
        arguments.setdefault("devices", [device.index or 0] if device.type == "cuda" else 1)
    if not {"precision", "plugins"} & arguments.keys():
        arguments["precision"] = _PRECISIONS[runtime.plan.to_dict()["precision"]["value"]]
    callbacks = arguments.get("callbacks") or []
    listed = [callbacks] if isinstance(callbacks, Callback) else list(callbacks)
    arguments["callbacks"] = [*listed, ApplyPlan(runtime)]
    return arguments
