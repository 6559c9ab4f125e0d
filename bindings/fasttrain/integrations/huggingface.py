"""The plan for Hugging Face's Trainer and its subclasses:

    with ft.Runtime() as runtime:
        trainer = Trainer(**trainer_arguments(runtime, model=model, args=args, train_dataset=...))
        trainer.train()
"""

from __future__ import annotations

import dataclasses
from typing import Any

from transformers import TrainingArguments

from fasttrain._optim import AdamW
from fasttrain._runtime import Runtime


def trainer_arguments(runtime: Runtime, **arguments: Any) -> dict[str, Any]:
    """Keyword arguments of transformers.Trainer as the plan has them; the runtime itself has
    applied threads, TF32, attention order and the allocator. The model is prepared; `args`, copied,
    get device and precision; AdamW takes the place of the Trainer's own.

    What you set stays: an optimizer of yours and every field of `args` that is not at its default.
    To ask for a field's default, ask the plan: Runtime(precision="fp32").
    """
    args = arguments.get("args") or TrainingArguments("trainer_output")
    arguments["args"] = args = dataclasses.replace(args, **_planned_fields(runtime, args))
    if arguments.get("model") is not None:
        runtime.prepare(arguments["model"])
    own_optimizer = arguments.get("optimizers", (None, None))[0]
    if own_optimizer is None and _is_default(args, "optim") and _is_default(args, "optim_args"):
        options = {"lr": args.learning_rate, "betas": (args.adam_beta1, args.adam_beta2),
                   "eps": args.adam_epsilon}
        arguments.setdefault("optimizer_cls_and_kwargs", (AdamW, options))
    return arguments


def _planned_fields(runtime: Runtime, args: TrainingArguments) -> dict[str, bool]:
    planned = {"use_cpu": runtime.device.type == "cpu"}
    if _is_default(args, "bf16") and _is_default(args, "fp16"):
        precision = runtime.plan.to_dict()["precision"]["value"]
        planned |= {"bf16": precision == "bf16", "fp16": precision == "fp16"}
    return {name: value for name, value in planned.items() if _is_default(args, name)}


def _is_default(args: TrainingArguments, name: str) -> bool:
    return bool(getattr(args, name) == args.__dataclass_fields__[name].default)
