"""Clipping and an optimizer's step alone, on tensors of BERT-base's shapes."""

import json
import pathlib

import protocol
import torch

CLIP_NORM = 1.0
LEARNING_RATE, WEIGHT_DECAY = 1e-3, 0.01


class Updates:
    """What to clip and update; benchmarks/programs/parameters.cpp makes the same tensors."""

    def __init__(self, shapes):
        torch.manual_seed(0)
        self.parameters = []
        for shape in shapes:
            parameter = torch.randn(shape).mul_(0.02).requires_grad_()
            parameter.grad = torch.randn(shape).mul_(1e-3)
            self.parameters.append(parameter)

    def step(self):
        """The norm before clipping."""
        raise NotImplementedError

    def size(self):
        """Sum of magnitudes over all parameters."""
        return sum(
            parameter.detach().abs().sum(dtype=torch.float64).item()
            for parameter in self.parameters
        )


def serve(make, flags):
    """make(shapes) gives a fresh `Updates`."""
    settings, channel = protocol.settings(), protocol.Channel()
    shapes = json.loads(pathlib.Path(settings["shapes"]).read_text())
    timed = None

    def verify(steps):
        fresh = make(shapes)
        norm = fresh.step()
        for _ in range(steps - 1):
            fresh.step()
        return [norm, fresh.size()]

    def repeat(_):
        nonlocal timed
        timed = timed or make(shapes)
        for _ in range(settings["steps"]):
            timed.step()
        return []

    channel.ready(["torch"], flags | {"threads": torch.get_num_threads()})
    protocol.serve(channel, verify, repeat)
