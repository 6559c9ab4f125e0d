"""The example fine-tunes a BERT of Hugging Face's form, learns, and leaves a folder that loads."""

import os
import pathlib
import re
import subprocess
import sys

import fasttrain as ft
import pytest
import torch

ROOT = pathlib.Path(__file__).resolve().parents[2]
EXAMPLE = ROOT / "examples/python/finetune_bert.py"
WORDS = ["red", "green", "blue", "one", "two", "three", "the", "of"]


def write_model(folder):
    transformers = pytest.importorskip("transformers")
    torch.manual_seed(0)
    (folder / "vocab.txt").write_text("\n".join(["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *WORDS]) + "\n")
    transformers.BertTokenizer(str(folder / "vocab.txt")).save_pretrained(folder)
    config = transformers.BertConfig(
        vocab_size=len(WORDS) + 5, hidden_size=32, num_hidden_layers=1, num_attention_heads=2, intermediate_size=64,
        max_position_embeddings=128,
    )  # fmt: skip
    transformers.BertModel(config).save_pretrained(folder)


def write_texts(path, count):
    texts = [("colour", f"the {WORDS[i % 3]}") if i % 2 else ("number", f"the {WORDS[3 + i % 3]} of") for i in range(count)]
    path.write_text("".join(f"{label}\t{text}\n" for label, text in texts))


def test_it_learns_and_its_folder_loads(tmp_path):
    write_model(tmp_path)
    write_texts(tmp_path / "train.tsv", 64)
    write_texts(tmp_path / "test.tsv", 40)
    out = tmp_path / "out"
    files = {"model": tmp_path, "train": tmp_path / "train.tsv", "eval": tmp_path / "test.tsv", "out": out}
    options = [f"--{name}={value}" for name, value in {**files, "steps": 30, "batch": 16, "lr": 1e-2}.items()]
    environment = {**os.environ, "PYTHONPATH": str(pathlib.Path(ft.__file__).parents[1]), "HF_HUB_OFFLINE": "1"}
    done = subprocess.run([sys.executable, EXAMPLE, *options], env=environment, capture_output=True, text=True, timeout=280)
    assert done.returncode == 0, done.stderr
    losses = [float(x) for x in re.findall(r"loss ([0-9.]+)", done.stdout)]
    assert losses[-1] < losses[0] / 2 and "accuracy 1.0000 on 40 held-out texts" in done.stdout

    import transformers

    model = transformers.AutoModelForSequenceClassification.from_pretrained(out)
    tokens = transformers.AutoTokenizer.from_pretrained(out)("the red", return_tensors="pt")
    assert model.config.id2label[model(**tokens).logits.argmax().item()] == "colour"


def test_it_fits_a_page():
    assert len(EXAMPLE.read_text().splitlines()) <= 60
