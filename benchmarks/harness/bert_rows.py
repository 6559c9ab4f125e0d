"""Training BERT: MiniLM on short texts, BERT-base on full rows."""

from harness.inputs import BERT_BASE, MINILM
from harness.maths import BF16, FP32, Goal
from harness.row import Peer, Row, Side, Sides, Unit

MINILM_UNIT = Unit("samples/s", MINILM.samples_a_repeat, is_rate=True)
# The demo's. What one side did not do, or did twice, shows in the losses of a few steps.
WORK = {"lr": 2e-4, "weight_decay": 0.01, "clip": 1.0, "order": "random"}
BERT_BASE_UNIT = Unit("samples/s", BERT_BASE.samples_a_repeat, is_rate=True)


def rows(sides: Sides, bf16: bool) -> list[Row]:
    return [
        _minilm(sides, "bf16", tuned=2.8, by_length=1.25),
        _minilm(sides, "fp32", tuned=3.0, by_length=1.35),
        _defaults(sides, bf16),
        _bert_base(sides, "bf16", 1.3),
        _bert_base(sides, "fp32", 1.25),
        _peak_memory(sides, bf16),
    ]


def data_of(sides: Sides, model) -> dict:
    return {
        "model": str(sides.folders.inputs / model.name),
        "texts": str(sides.folders.inputs / f"{model.name}.json"),
        "scratch": str(sides.folders.work / "scratch"),
        **WORK,
    }


def libtrain_of(sides: Sides, model, precision: str | None, label: str = "libtrain") -> Side:
    return sides.program("libtrain_bert", label, **data_of(sides, model), precision=precision)


def tuned_pytorch(sides: Sides, model, precision: str, label: str, **settings) -> Side:
    """Fused AdamW, one norm over all gradients, and matmul attention, which on CPUs beats SDPA with
    dropout."""
    options = {
        "attention": "eager",
        "fused": True,
        "foreach_clip": True,
        "compile": False,
        "precision": precision,
    }
    return sides.script("pytorch_bert", label, **(data_of(sides, model) | options | settings))


def _plain(sides: Sides) -> Side:
    return sides.script(
        "pytorch_bert",
        "plain PyTorch, fp32",
        **data_of(sides, MINILM),
        attention=None,
        fused=None,
        foreach_clip=None,
        compile=False,
        precision="fp32",
    )


def _minilm(sides: Sides, precision: str, tuned: float, by_length: float) -> Row:
    peers = [
        Peer(tuned_pytorch(sides, MINILM, precision, "tuned PyTorch"), Goal(at_least=tuned)),
        Peer(
            tuned_pytorch(
                sides, MINILM, precision, "tuned PyTorch, batches sorted by length", order="sorted"
            ),
            Goal(at_least=by_length),
        ),
        Peer(
            tuned_pytorch(sides, MINILM, precision, "tuned PyTorch, torch.compile", compile=True),
            quick=False,
        ),
    ]
    return Row(
        f"minilm-{precision}",
        f"MiniLM on WordNet glosses, random batches of 32, {precision}",
        libtrain_of(sides, MINILM, precision),
        tuple(peers),
        MINILM_UNIT,
        BF16 if precision == "bf16" else FP32,
        needs_bf16=precision == "bf16",
    )


def _defaults(sides: Sides, bf16: bool) -> Row:
    goal = Goal(at_least=5.0 if bf16 else 3.0)
    data = data_of(sides, MINILM)
    peers = (
        Peer(sides.script("transformers_trainer", "transformers Trainer", **data), goal),
        Peer(sides.script("lightning_trainer", "Lightning Trainer", **data), goal),
        Peer(sides.script("accelerate_loop", "accelerate", **data), quick=False),
        Peer(_plain(sides), quick=False),
    )
    return Row(
        "minilm-defaults",
        "MiniLM as above, nothing set by the user on either side",
        libtrain_of(sides, MINILM, None),
        peers,
        MINILM_UNIT,
        BF16 if bf16 else FP32,
    )


def _bert_base(sides: Sides, precision: str, goal: float) -> Row:
    return Row(
        f"bertbase-{precision}",
        f"BERT-base, 8 texts of 128 tokens, no padding, {precision}",
        libtrain_of(sides, BERT_BASE, precision),
        (Peer(tuned_pytorch(sides, BERT_BASE, precision, "tuned PyTorch"), Goal(at_least=goal)),),
        BERT_BASE_UNIT,
        BF16 if precision == "bf16" else FP32,
        needs_bf16=precision == "bf16",
        quick=precision == "bf16",
    )


def _peak_memory(sides: Sides, bf16: bool) -> Row:
    return Row(
        "peak-memory",
        "Peak resident memory of MiniLM's training, whole process",
        libtrain_of(sides, MINILM, None),
        (Peer(_plain(sides), Goal(at_most=0.8)),),
        Unit("MB"),
        BF16 if bf16 else FP32,
        cost="peak_mb",
        fresh=True,
        quick=False,
    )
