"""Writes optimizer_cases.json: what torch.optim makes of fixed parameters and gradients in 50 steps.

    python tests/data/make_optimizer_cases.py

tests/torch/optim/torch_parity_test.cpp replays it. Values and gradients come from an integer generator that
the test repeats exactly: value(n) = (h(n) >> 8) / 2^24 - 0.5 with h(n) a 32-bit mix of n.
"""

import json
import pathlib

import torch

STEPS = 50
SHAPES = [[5, 3], [7], [1]]  # the last one has no gradient in every third step
CASES = [
    ("AdamW", dict(lr=1e-2)),
    ("AdamW", dict(lr=1e-2, betas=(0.8, 0.95), eps=1e-6, weight_decay=0.1)),
    ("AdamW", dict(lr=1e-2, amsgrad=True, weight_decay=0.05)),
    ("AdamW", dict(lr=1e-2, maximize=True)),
    ("AdamW", dict(lr=1e-2, amsgrad=True, maximize=True, betas=(0.3, 0.9))),
    ("Adam", dict(lr=1e-2)),
    ("Adam", dict(lr=1e-2, weight_decay=0.1)),
    ("Adam", dict(lr=1e-2, weight_decay=0.1, amsgrad=True, maximize=True)),
    ("SGD", dict(lr=1e-2)),
    ("SGD", dict(lr=1e-2, weight_decay=0.1, maximize=True)),
    ("SGD", dict(lr=1e-2, momentum=0.9)),
    ("SGD", dict(lr=1e-2, momentum=0.9, dampening=0.3, weight_decay=0.1)),
    ("SGD", dict(lr=1e-2, momentum=0.9, nesterov=True, weight_decay=0.05)),
    ("SGD", dict(lr=1e-2, momentum=0.5, dampening=0.1, maximize=True)),
]
# Options of the second group, which holds the second parameter; None: one group.
GROUPS = [None, dict(lr=3e-2, weight_decay=0.0)]


def mixed(n):
    x = (n * 0x9E3779B1) & 0xFFFFFFFF
    x ^= x >> 16
    x = (x * 0x85EBCA6B) & 0xFFFFFFFF
    x ^= x >> 13
    return x


def values(shape, start):
    count = torch.Size(shape).numel()
    return torch.tensor([(mixed(start + i) >> 8) / 2**24 - 0.5 for i in range(count)]).reshape(shape)


def run(name, options, second_group):
    parameters = [torch.nn.Parameter(values(shape, 1000 * i)) for i, shape in enumerate(SHAPES)]
    groups = parameters
    if second_group is not None:
        groups = [{"params": [parameters[0], parameters[2]]}, {"params": [parameters[1]], **second_group}]
    optimizer = getattr(torch.optim, name)(groups, **options)
    for step in range(STEPS):
        for i, parameter in enumerate(parameters):
            parameter.grad = values(SHAPES[i], 1000 * i + 100_000 * (step + 1))
        if step % 3 == 0:
            parameters[2].grad = None
        optimizer.step()
    return [parameter.detach().flatten().tolist() for parameter in parameters]


def main():
    cases = []
    for name, options in CASES:
        for second_group in GROUPS:
            cases.append({"optimizer": name, "options": options, "second_group": second_group,
                          "result": run(name, options, second_group)})
    text = json.dumps({"steps": STEPS, "shapes": SHAPES, "cases": cases}, indent=1)
    pathlib.Path(__file__).with_name("optimizer_cases.json").write_text(text + "\n")


main()
