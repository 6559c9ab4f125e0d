"""The tokenised texts all sides train on, as benchmarks/harness/inputs.py wrote them.

{"samples": [{"ids": [101, ...], "label": 3}, ...],
 "groups": [{"random": [[12, 7, ...], ...], "sorted": [[...], ...]}, ...]}

A group is what one repeat trains on: the same samples in both orders, each a list of batches.
"""

import json
import pathlib

import torch


def read_groups(path, order):
    """Groups of batches of samples."""
    texts = json.loads(pathlib.Path(path).read_text())
    samples = texts["samples"]
    return [[[samples[i] for i in batch] for batch in group[order]] for group in texts["groups"]]


def padded(samples):
    """int64 tensors, as long as the longest sample."""
    length = max(len(sample["ids"]) for sample in samples)
    ids = torch.zeros(len(samples), length, dtype=torch.long)
    mask = torch.zeros(len(samples), length, dtype=torch.long)
    for row, sample in enumerate(samples):
        ids[row, : len(sample["ids"])] = torch.tensor(sample["ids"])
        mask[row, : len(sample["ids"])] = 1
    labels = torch.tensor([sample["label"] for sample in samples])
    return {"input_ids": ids, "attention_mask": mask, "labels": labels}


def padded_groups(path, order):
    """Groups of padded batches."""
    return [[padded(batch) for batch in group] for group in read_groups(path, order)]


class EndlessSamples(torch.utils.data.Dataset):
    """The samples in the order of the groups, over and over: for trainers that make the batches."""

    def __init__(self, groups):
        self._samples = [sample for group in groups for batch in group for sample in batch]

    def __len__(self):
        return len(self._samples) * 1000

    def __getitem__(self, index):
        sample = self._samples[index % len(self._samples)]
        return {
            "input_ids": sample["ids"],
            "attention_mask": [1] * len(sample["ids"]),
            "labels": sample["label"],
        }


def collate(features):
    """A batch out of what EndlessSamples yields."""
    return padded(
        [{"ids": feature["input_ids"], "label": feature["labels"]} for feature in features]
    )
