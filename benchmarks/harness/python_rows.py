"""The Python package: transformers' own model and a tiny network by ft.Trainer, ft.AdamW alone."""

from harness import bert_rows, part_rows
from harness.inputs import MINILM
from harness.maths import BF16, FP32, Goal
from harness.row import Peer, Row, Sides


def rows(sides: Sides, bf16: bool) -> list[Row]:
    precision = "bf16" if bf16 else "fp32"
    in_cpp = bert_rows.libtrain_of(sides, MINILM, precision, "libtrain, its own BERT in C++")
    goal_in_cpp = Goal(at_least=0.97)
    return [
        _minilm(sides, precision, pack=False, tuned=1.0),
        _minilm(sides, precision, pack=True, tuned=2.2, others=(Peer(in_cpp, goal_in_cpp),)),
        _mlp(sides),
        _adamw(sides),
    ]


def _minilm(
    sides: Sides, precision: str, pack: bool, tuned: float, others: tuple[Peer, ...] = ()
) -> Row:
    data = bert_rows.data_of(sides, MINILM)
    tuned_pytorch = bert_rows.tuned_pytorch(sides, MINILM, precision, "tuned PyTorch")
    how = "by pack_encoder and ft.Trainer" if pack else "as it is by ft.Trainer"
    return Row(
        "python-minilm-packed" if pack else "python-minilm",
        f"transformers' MiniLM {how}, {precision}",
        sides.package("fasttrain_bert", "fasttrain", **data, precision=precision, pack=pack),
        (Peer(tuned_pytorch, Goal(at_least=tuned)), *others),
        bert_rows.MINILM_UNIT,
        BF16 if precision == "bf16" else FP32,
        quick=False,
    )


def _mlp(sides: Sides) -> Row:
    settings = part_rows.mlp_settings(sides)
    trainers = settings | {"scratch": str(sides.folders.work / "scratch")}
    lightning = sides.script("lightning_mlp", "Lightning Trainer", **trainers)
    transformers = sides.script("transformers_mlp", "transformers Trainer", **trainers)
    return Row(
        "python-mlp-step",
        "The tiny network's step by ft.Trainer, one thread",
        sides.package("fasttrain_mlp", "fasttrain", **settings),
        (
            Peer(part_rows.plain_mlp_loop(sides), Goal(at_most=0.9)),
            Peer(lightning, Goal(at_most=0.33)),
            Peer(transformers, Goal(at_most=0.4)),
        ),
        part_rows.MLP_UNIT,
        FP32,
        quick=False,
    )


def _adamw(sides: Sides) -> Row:
    return Row(
        "python-adamw-clip",
        "ft.clip_grad_norm_ and ft.AdamW, 110 M parameters in 199 tensors",
        sides.package("fasttrain_adamw", "fasttrain", **part_rows.adamw_settings(sides)),
        (Peer(part_rows.fused_adamw(sides), Goal(at_least=1.2)),),
        part_rows.ADAMW_UNIT,
        part_rows.NORMS,
        quick=False,
    )
