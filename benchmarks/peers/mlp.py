"""The tiny network, its batch and its start, as benchmarks/harness/inputs.py wrote them."""

import safetensors.torch
import torch

LEARNING_RATE = 1e-3


def load(file):
    """Model, input and labels."""
    tensors = safetensors.torch.load_file(file)
    x, y = tensors.pop("x"), tensors.pop("y")
    model = torch.nn.Sequential(
        torch.nn.Linear(64, 128),
        torch.nn.ReLU(),
        torch.nn.Linear(128, 128),
        torch.nn.ReLU(),
        torch.nn.Linear(128, 10),
    )
    model.load_state_dict(tensors)
    return model, x, y


class EndlessSamples(torch.utils.data.Dataset):
    """The batch's samples over and over, for trainers that make the batches."""

    def __init__(self, x, y):
        self._x, self._y = x, y

    def __len__(self):
        return len(self._x) * 1_000_000

    def __getitem__(self, index):
        return {"x": self._x[index % len(self._x)], "labels": self._y[index % len(self._y)]}


def same_batch(x, y):
    """For `collate_fn`: the batch is there already, so that no trainer pays for making it."""
    return lambda _: {"x": x, "labels": y}
