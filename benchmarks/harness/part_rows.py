"""Parts of training by themselves: update, step overhead, start, tokenizer, files."""

import sys

from harness.inputs import MINILM, TRAIN_GLOSSES
from harness.maths import FP32, Goal, Tolerance
from harness.row import PEERS, Peer, Row, Side, Sides, Unit

# Sums of exact numbers in another order.
SUMS = Tolerance(1e-9)
# PyTorch sums a norm's squares in fp32, which loses 3e-4 over 110 M of them; libtrain in double.
NORMS = Tolerance(1e-3)
# The first loss of a new classifier on other batches, dropout on: about ln 45 on either side.
FIRST_LOSS = Tolerance(0.05)
STATE_GB = 1.314
ADAMW_STEPS, MLP_STEPS = 5, 1000
ADAMW_UNIT, MLP_UNIT = Unit("ms/step", 1e3 / ADAMW_STEPS), Unit("µs/step", 1e6 / MLP_STEPS)


def rows(sides: Sides) -> list[Row]:
    return [
        _adamw(sides),
        _mlp(sides),
        _startup(sides),
        _wordpiece(sides),
        _load(sides),
        _save(sides),
    ]


def adamw_settings(sides: Sides) -> dict:
    return {"shapes": str(sides.folders.inputs / "shapes.json"), "steps": ADAMW_STEPS}


def fused_adamw(sides: Sides) -> Side:
    label = "PyTorch, fused + clip_grad_norm_"
    return sides.script("pytorch_adamw", label, **adamw_settings(sides))


def _adamw(sides: Sides) -> Row:
    settings = adamw_settings(sides)
    in_cpp = sides.program("libtorch_adamw", "LibTorch, torch::optim + clip_grad_norm_", **settings)
    return Row(
        "adamw-clip",
        "Clipping and AdamW, 110 M parameters in 199 tensors",
        sides.program("libtrain_adamw", "libtrain", **settings),
        (Peer(fused_adamw(sides), Goal(at_least=1.2)), Peer(in_cpp, Goal(at_least=4.8))),
        ADAMW_UNIT,
        NORMS,
    )


def mlp_settings(sides: Sides) -> dict:
    return {"file": str(sides.folders.inputs / "mlp.safetensors"), "steps": MLP_STEPS}


def plain_mlp_loop(sides: Sides) -> Side:
    return sides.script("pytorch_mlp", "plain Python loop, fused", **mlp_settings(sides))


def _mlp(sides: Sides) -> Row:
    settings = mlp_settings(sides)
    in_cpp = sides.program("libtorch_mlp", "plain LibTorch loop", **settings)
    return Row(
        "mlp-step",
        "A step of a tiny network (64-128-128-10, batch 32, AdamW), one thread",
        sides.program("libtrain_mlp", "libtrain", **settings),
        (Peer(in_cpp, Goal(at_most=0.75)), Peer(plain_mlp_loop(sides), Goal(at_most=0.5))),
        MLP_UNIT,
        FP32,
    )


def _startup(sides: Sides) -> Row:
    inputs, scratch = sides.folders.inputs, sides.folders.work / "scratch"

    def starts(label: str, program: list[str], out: str) -> Side:
        arguments = [
            "--model",
            str(inputs / MINILM.name),
            "--train",
            str(inputs / "wordnet/train.tsv"),
            "--out",
            str(scratch / out),
            "--steps",
            "1",
        ]
        return sides.script(
            "first_step",
            label,
            program=program + arguments,
            metrics=str(scratch / out / "metrics.jsonl"),
        )

    return Row(
        "startup",
        "Process start to the end of the demo's first step, 20,000 glosses tokenised",
        starts("libtrain", [str(sides.folders.build / "bin/train_bert")], "start-libtrain"),
        (
            Peer(
                starts(
                    "plain PyTorch script",
                    [sys.executable, str(PEERS / "plain_script.py")],
                    "start-pytorch",
                ),
                Goal(at_most=0.5),
            ),
        ),
        Unit("s"),
        FIRST_LOSS,
    )


def _wordpiece(sides: Sides) -> Row:
    settings = {
        "tokenizer": str(sides.folders.inputs / MINILM.name),
        "max_length": MINILM.max_length,
        "texts": str(sides.folders.inputs / "wordnet/train.tsv"),
    }
    return Row(
        "wordpiece",
        "WordPiece on glosses, one core",
        sides.program("libtrain_wordpiece", "libtrain", **settings),
        (Peer(sides.script("tokenizers_wordpiece", "tokenizers", **settings), Goal(at_least=3.0)),),
        Unit("glosses/s", TRAIN_GLOSSES, is_rate=True),
        SUMS,
    )


def _load(sides: Sides) -> Row:
    inputs = sides.folders.inputs

    def peer(loader: str, file: str, label: str) -> Side:
        return sides.script(
            "tensor_files", label, action="load", loader=loader, file=str(inputs / file)
        )

    return Row(
        "safetensors-load",
        "Load 1.3 GB, every byte read, file in the page cache",
        sides.program(
            "libtrain_files", "libtrain", action="load", file=str(inputs / "state.safetensors")
        ),
        (
            Peer(peer("torch", "state.pt", "torch.load(mmap) + clone"), Goal(at_least=0.8)),
            Peer(peer("safetensors", "state.safetensors", "safetensors package + clone")),
        ),
        Unit("GB/s", STATE_GB, is_rate=True),
        SUMS,
    )


def _save(sides: Sides) -> Row:
    settings = {
        "action": "save",
        "file": str(sides.folders.inputs / "state.safetensors"),
        "scratch": str(sides.folders.work / "scratch"),
    }
    goal = Goal(at_least=0.9)
    return Row(
        "safetensors-save",
        "Save 1.3 GB; libtrain's file is on the disk (fsync) when the call returns",
        sides.program("libtrain_files", "libtrain", **settings),
        (
            Peer(
                sides.script(
                    "tensor_files", "safetensors package, then fsync", **settings, fsync=True
                ),
                goal,
            ),
            Peer(
                sides.script("tensor_files", "safetensors package", **settings, fsync=False), goal
            ),
        ),
        Unit("GB/s", STATE_GB, is_rate=True),
        SUMS,
    )
