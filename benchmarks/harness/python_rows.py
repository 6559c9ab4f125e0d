"""The Python package: transformers' own model and a tiny network by ft.Trainer, ft.AdamW alone."""

from harness import bert_rows
from harness.inputs import MINILM
from harness.maths import BF16, FP32, Goal
from harness.part_rows import ADAMW_STEPS, ADAMW_UNIT, MLP_STEPS, MLP_UNIT, NORMS
from harness.row import Peer, Row, Side, Sides


def rows(sides: Sides, bf16: bool) -> list[Row]:
    return [_as_it_is(sides, bf16), _packed(sides, bf16), _mlp(sides), _adamw(sides)]


def _fasttrain_bert(sides: Sides, precision: str, pack: bool) -> Side:
    data = bert_rows.data_of(sides, MINILM)
    return sides.package("fasttrain_bert", "fasttrain", **data, precision=precision, pack=pack)


def _as_it_is(sides: Sides, bf16: bool) -> Row:
    precision = "bf16" if bf16 else "fp32"
    tuned = bert_rows.tuned_pytorch(sides, MINILM, precision, "tuned PyTorch")
    return Row(
        "python-minilm",
        f"transformers' MiniLM as it is by ft.Trainer, {precision}",
        _fasttrain_bert(sides, precision, pack=False),
        (Peer(tuned, Goal(at_least=1.0)),),
        bert_rows.MINILM_UNIT,
        BF16 if bf16 else FP32,
    )


def _packed(sides: Sides, bf16: bool) -> Row:
    precision = "bf16" if bf16 else "fp32"
    tuned = bert_rows.tuned_pytorch(sides, MINILM, precision, "tuned PyTorch")
    in_cpp = bert_rows.libtrain_of(sides, MINILM, precision, "libtrain, its own BERT in C++")
    return Row(
        "python-minilm-packed",
        f"transformers' MiniLM by pack_encoder and ft.Trainer, {precision}",
        _fasttrain_bert(sides, precision, pack=True),
        (Peer(tuned, Goal(at_least=2.2)), Peer(in_cpp, Goal(at_least=0.97))),
        bert_rows.MINILM_UNIT,
        BF16 if bf16 else FP32,
    )


def _mlp(sides: Sides) -> Row:
    settings = {"file": str(sides.folders.inputs / "mlp.safetensors"), "steps": MLP_STEPS}
    trainers = settings | {"scratch": str(sides.folders.work / "scratch")}
    return Row(
        "python-mlp-step",
        "The tiny network's step by ft.Trainer, one thread",
        sides.package("fasttrain_mlp", "fasttrain", **settings),
        (
            Peer(
                sides.script("pytorch_mlp", "plain Python loop, fused", **settings),
                Goal(at_most=0.9),
            ),
            Peer(
                sides.script("lightning_mlp", "Lightning Trainer", **trainers), Goal(at_most=0.33)
            ),
            Peer(
                sides.script("transformers_mlp", "transformers Trainer", **trainers),
                Goal(at_most=0.4),
            ),
        ),
        MLP_UNIT,
        FP32,
    )


def _adamw(sides: Sides) -> Row:
    settings = {"shapes": str(sides.folders.inputs / "shapes.json"), "steps": ADAMW_STEPS}
    return Row(
        "python-adamw-clip",
        "ft.clip_grad_norm_ and ft.AdamW, 110 M parameters in 199 tensors",
        sides.package("fasttrain_adamw", "fasttrain", **settings),
        (
            Peer(
                sides.script("pytorch_adamw", "PyTorch, fused + clip_grad_norm_", **settings),
                Goal(at_least=1.2),
            ),
        ),
        ADAMW_UNIT,
        NORMS,
    )
