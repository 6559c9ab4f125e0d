"""How to train on this machine, decided, explained and applied by libtrain, for PyTorch's modules.

    import fasttrain as ft

    with ft.Runtime() as runtime:
        model = runtime.prepare(model)        # an ordinary torch.nn.Module
        print(runtime.plan)                   # every choice, and why
        optimizer = ft.AdamW(model.parameters(), lr=1e-3)
        for x, y in batches:
            with runtime.autocast():
                loss = loss_function(model(x.to(runtime.device)), y.to(runtime.device))
            loss.backward()
            ft.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            optimizer.zero_grad()
"""

import torch  # first: the native part is linked to the libraries this loads

from fasttrain import _build
from fasttrain._torch_version import check_torch_version

check_torch_version(found=torch.__version__, built_with=_build.TORCH_VERSION)

from fasttrain import nn
from fasttrain._amp import GradScaler
from fasttrain._cmake import cmake_prefix_path
from fasttrain._errors import (
    BadFile,
    DeviceError,
    Error,
    InternalError,
    InvalidOption,
    OutOfMemory,
    Unsupported,
)
from fasttrain._functions import (
    constant,
    cosine,
    inverse_sqrt,
    linear_warmup,
    load_file,
    one_cycle,
    save_file,
)
from fasttrain._native import Plan, Schedule, SimulationReport, StepReport, StepValues
from fasttrain._optim import SGD, AdamW, clip_grad_norm_
from fasttrain._runtime import Runtime, plan
from fasttrain._train import Trainer

__version__ = _build.VERSION
__all__ = [
    "AdamW",
    "BadFile",
    "DeviceError",
    "Error",
    "GradScaler",
    "InternalError",
    "InvalidOption",
    "OutOfMemory",
    "Plan",
    "Runtime",
    "SGD",
    "Schedule",
    "SimulationReport",
    "StepReport",
    "StepValues",
    "Trainer",
    "Unsupported",
    "clip_grad_norm_",
    "cmake_prefix_path",
    "constant",
    "cosine",
    "inverse_sqrt",
    "linear_warmup",
    "load_file",
    "nn",
    "one_cycle",
    "plan",
    "save_file",
]
