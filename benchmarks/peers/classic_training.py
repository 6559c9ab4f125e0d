"""The demo in the classic form: transformers' BERT on padded batches in fp32, PyTorch's AdamW, with
the settings of train_bert. Prints the held-out accuracy as JSON."""

import argparse
import json
import math
import pathlib

import torch
import transformers


def read(path: pathlib.Path) -> list[tuple[str, str]]:
    return [tuple(line.split("\t", 1)) for line in path.read_text().splitlines()]


def groups(model: torch.nn.Module) -> list[dict]:
    """Matrices decay, biases and norms do not."""
    parameters = list(model.parameters())
    return [
        {"params": [p for p in parameters if p.dim() > 1], "weight_decay": 0.01},
        {"params": [p for p in parameters if p.dim() <= 1], "weight_decay": 0.0},
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    for name in ("--model", "--train", "--eval"):
        parser.add_argument(name, required=True, type=pathlib.Path)
    for name in ("--steps", "--batch", "--seed"):
        parser.add_argument(name, required=True, type=int)
    parser.add_argument("--lr", required=True, type=float)
    arguments = parser.parse_args()

    transformers.logging.set_verbosity_error()
    torch.manual_seed(arguments.seed)
    train, held_out = read(arguments.train), read(arguments.eval)
    classes = {label: number for number, label in enumerate(sorted({label for label, _ in train}))}
    tokenizer = transformers.AutoTokenizer.from_pretrained(arguments.model)

    def batches(rows, order, size):
        for chosen in torch.split(order, size):
            texts = [rows[i][1] for i in chosen.tolist()]
            batch = tokenizer(
                texts, truncation=True, max_length=128, padding=True, return_tensors="pt"
            )
            yield batch, torch.tensor([classes.get(rows[i][0], -1) for i in chosen.tolist()])

    model = transformers.AutoModelForSequenceClassification.from_pretrained(
        arguments.model, num_labels=len(classes)
    ).train()
    optimizer = torch.optim.AdamW(groups(model), lr=arguments.lr, fused=True)
    schedule = transformers.get_linear_schedule_with_warmup(
        optimizer, math.ceil(0.1 * arguments.steps), arguments.steps
    )
    step = 0
    while step < arguments.steps:
        for batch, labels in batches(train, torch.randperm(len(train)), arguments.batch):
            model(**batch, labels=labels).loss.backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            schedule.step()
            optimizer.zero_grad()
            step += 1
            if step == arguments.steps:
                break

    model.eval()
    by_length = torch.tensor([len(text) for _, text in held_out]).argsort()
    right = 0
    with torch.inference_mode():
        for batch, labels in batches(held_out, by_length, 64):
            right += int((model(**batch).logits.argmax(-1) == labels).sum())
    print(json.dumps({"eval/accuracy": right / len(held_out)}))


main()
