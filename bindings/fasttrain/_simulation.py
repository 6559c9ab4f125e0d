"""PyTorch's side of the simulated device: the module that torch.autocast asks about it."""

from __future__ import annotations

import types

import torch


def register_device_module() -> None:
    """Makes torch.sim, once."""
    if hasattr(torch, "sim"):
        return
    module = types.ModuleType("torch.sim")
    module.__doc__ = "The simulated device of fasttrain."
    module.get_amp_supported_dtype = lambda: [torch.float16, torch.bfloat16]  # type: ignore[attr-defined]
    module.is_available = lambda: True  # type: ignore[attr-defined]
    torch._register_device_module("sim", module)
