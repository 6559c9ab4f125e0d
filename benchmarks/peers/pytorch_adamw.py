"""Clipping and AdamW alone, on tensors of BERT-base's shapes: fused, Python's fastest form."""

import json
import pathlib

import protocol
import torch

CLIP_NORM = 1.0


class Updates:
    """benchmarks/programs/parameters.cpp makes the same tensors."""

    def __init__(self, shapes):
        torch.manual_seed(0)
        self.parameters = []
        for shape in shapes:
            parameter = torch.randn(shape).mul_(0.02).requires_grad_()
            parameter.grad = torch.randn(shape).mul_(1e-3)
            self.parameters.append(parameter)
        self.optimizer = torch.optim.AdamW(self.parameters, lr=1e-3, weight_decay=0.01, fused=True)

    def step(self):
        """The norm before clipping."""
        norm = torch.nn.utils.clip_grad_norm_(self.parameters, CLIP_NORM, foreach=True)
        self.optimizer.step()
        return norm.item()

    def size(self):
        """Sum of magnitudes over all parameters."""
        return sum(
            parameter.detach().abs().sum(dtype=torch.float64).item()
            for parameter in self.parameters
        )


def main():
    settings, channel = protocol.settings(), protocol.Channel()
    shapes = json.loads(pathlib.Path(settings["shapes"]).read_text())
    timed = None

    def verify(steps):
        fresh = Updates(shapes)
        norm = fresh.step()
        for _ in range(steps - 1):
            fresh.step()
        return [norm, fresh.size()]

    def repeat(_):
        nonlocal timed
        timed = timed or Updates(shapes)
        for _ in range(settings["steps"]):
            timed.step()
        return []

    channel.ready(
        ["torch"], {"fused": True, "foreach_clip": True, "threads": torch.get_num_threads()}
    )
    protocol.serve(channel, verify, repeat)


main()
