#!/usr/bin/env python3
"""Fine-tunes a BERT of Hugging Face on lines label<TAB>text with fasttrain: what train_bert does, in Python.

python examples/python/finetune_bert.py --model all-MiniLM-L6-v2 --train train.tsv --eval test.tsv --out run
"""

import argparse
import math
import random

import fasttrain as ft
import torch
from fasttrain.integrations.transformers_encoder import pack_encoder
from transformers import AutoModelForSequenceClassification, AutoTokenizer

parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
for name in ("model", "train", "eval", "out"):
    parser.add_argument(f"--{name}", required=True)
parser.add_argument("--steps", type=int, default=625)
parser.add_argument("--batch", type=int, default=32)
parser.add_argument("--lr", type=float, default=2e-4)
parser.add_argument("--warmup", type=float, default=0.1, help="share of the steps")
parser.add_argument("--seed", type=int, default=0)
args = parser.parse_args()

rows = {file: [line.rstrip("\n").split("\t") for line in open(file, encoding="utf-8")] for file in (args.train, args.eval)}
labels = sorted({label for label, _ in rows[args.train]})
tokenizer = AutoTokenizer.from_pretrained(args.model)


def collate(batch: list[list[str]]) -> dict[str, torch.Tensor]:
    texts = tokenizer([text for _, text in batch], padding=True, truncation=True, max_length=128, return_tensors="pt")
    return {**texts, "labels": torch.tensor([labels.index(label) for label, _ in batch])}


with ft.Runtime(seed=args.seed) as runtime:
    model = AutoModelForSequenceClassification.from_pretrained(
        args.model, num_labels=len(labels), id2label=dict(enumerate(labels)), label2id={x: i for i, x in enumerate(labels)}
    )
    pack_encoder(runtime.prepare(model)).train()  # computes no padding; the model stays Hugging Face's
    print(runtime.plan)
    matrices, vectors = ([p for p in model.parameters() if (p.dim() > 1) == wide] for wide in (True, False))
    optimizer = ft.AdamW([{"params": matrices, "weight_decay": 0.01}, {"params": vectors, "weight_decay": 0.0}], lr=args.lr)
    schedule = ft.linear_warmup(math.ceil(args.warmup * args.steps), args.steps)
    trainer = ft.Trainer(runtime, optimizer, clip_norm=1.0, schedule=schedule)
    order, epoch = random.Random(args.seed), list[list[str]]()
    while trainer.steps < args.steps:
        epoch = epoch or order.sample(rows[args.train], len(rows[args.train]))
        batch, epoch = collate(epoch[: args.batch]), epoch[args.batch :]
        report = trainer.step({name: x.to(runtime.device) for name, x in batch.items()}, lambda part: model(**part).loss)
        if report.latest and report.step % 25 == 0:
            print(f"step {report.step:4}  loss {report.latest.loss:.3f}", flush=True)
    held_out, correct = rows[args.eval], 0
    with runtime.eval(), runtime.autocast():
        for start in range(0, len(held_out), 128):
            batch = {name: x.to(runtime.device) for name, x in collate(held_out[start : start + 128]).items()}
            correct += int((model(**batch).logits.argmax(1) == batch["labels"]).sum())
    print(f"accuracy {correct / len(held_out):.4f} on {len(held_out)} held-out texts")
model.save_pretrained(args.out)
tokenizer.save_pretrained(args.out)
