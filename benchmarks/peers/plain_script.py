"""The demo as a plain script: reads and tokenises the glosses, trains, logs each step's loss."""

import argparse
import json
import os
import pathlib

import torch
import transformers


def main():
    parser = argparse.ArgumentParser()
    for name in ("--model", "--train", "--out"):
        parser.add_argument(name, required=True)
    parser.add_argument("--steps", type=int, required=True)
    arguments = parser.parse_args()

    rows = [line.split("\t", 1) for line in pathlib.Path(arguments.train).read_text().splitlines()]
    classes = {label: number for number, label in enumerate(sorted({label for label, _ in rows}))}
    os.environ["TOKENIZERS_PARALLELISM"] = "true"
    tokenizer = transformers.AutoTokenizer.from_pretrained(arguments.model)
    encoded = tokenizer([text for _, text in rows], truncation=True, max_length=128)["input_ids"]
    samples = [
        {"input_ids": ids, "labels": classes[label]} for ids, (label, _) in zip(encoded, rows)
    ]

    model = transformers.AutoModelForSequenceClassification.from_pretrained(arguments.model).train()
    optimizer = torch.optim.AdamW(model.parameters(), lr=5e-5)
    loader = torch.utils.data.DataLoader(
        samples,
        batch_size=32,
        shuffle=True,
        collate_fn=transformers.DataCollatorWithPadding(tokenizer),
    )
    with open(pathlib.Path(arguments.out) / "metrics.jsonl", "w") as metrics:
        for step, batch in zip(range(arguments.steps), loader):
            loss = model(**batch).loss
            loss.backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            optimizer.zero_grad()
            metrics.write(json.dumps({"step": step + 1, "train/loss": loss.item()}) + "\n")
            metrics.flush()


main()
