"""Writes grad_scaler_cases.json: what torch.amp.GradScaler decides in random sequences of calls.

    python tests/data/make_grad_scaler_cases.py

tests/torch/amp/grad_scaler_parity_test.cpp replays it. A call is [name, argument, result, scale, growth tracker],
the last two after the call. Results: "ok", "applied", "skipped", "none" (no gradients) or "error".

PyTorch raises where an optimizer has no gradients; libtrain reports it and goes on, so here such calls have the
result "none", the scaler's notes on the iteration are cleared by an update() of that kind, and the scale stays.
"""

import json
import pathlib
import random
import warnings

import torch
from torch.amp.grad_scaler import OptState, _refresh_per_optimizer_state
from collections import defaultdict

SEQUENCES = 70
CALLS = 30
NUMBERS = {"finite": 3.0, "infinite": float("inf"), "nan": float("nan")}


class Recorder:
    def __init__(self, rng):
        self.rng = rng
        self.options = dict(
            init_scale=rng.choice([1.0, 4.0, 65536.0]),
            growth_factor=rng.choice([2.0, 1.5, 4.0]),
            backoff_factor=rng.choice([0.5, 0.25, 0.75]),
            growth_interval=rng.choice([1, 2, 3]),
        )
        self.scaler = torch.amp.GradScaler("cpu", **self.options)
        self.weights = [torch.nn.Parameter(torch.tensor([0.0])) for _ in range(2)]
        self.optimizers = [torch.optim.SGD([weight], lr=1.0) for weight in self.weights]
        self.updates = 0
        for optimizer in self.optimizers:
            optimizer.register_step_post_hook(self.count_update)

    def count_update(self, *_):
        self.updates += 1

    def reported_none(self):
        stages = [state["stage"] for state in self.scaler._per_optimizer_states.values()]
        return any(stage is not OptState.READY for stage in stages)

    def call(self, name, argument):
        if name == "scale":
            self.scaler.scale(torch.tensor(1.0))
        elif name == "gradient":
            which, kind = argument
            self.weights[which].grad = None if kind == "none" else torch.tensor([NUMBERS[kind]])
        elif name == "unscale":
            self.scaler.unscale_(self.optimizers[argument])
        elif name == "step":
            before = self.updates
            self.scaler.step(self.optimizers[argument])
            return "applied" if self.updates > before else "skipped"
        elif name == "update":
            self.scaler.update(argument)
        elif name == "interval":
            self.scaler.set_growth_interval(argument)
        elif name == "reload":
            state = self.scaler.state_dict()
            self.scaler = torch.amp.GradScaler("cpu")
            self.scaler.load_state_dict(state)
        return "ok"

    def outcome(self, name, argument):
        try:
            return self.call(name, argument)
        except (RuntimeError, AssertionError, ValueError) as error:
            if "recorded for this optimizer" in str(error):
                self.scaler._per_optimizer_states[id(self.optimizers[argument])]["stage"] = OptState.STEPPED
                return "none"
            if "recorded prior to update" in str(error) and self.reported_none():
                self.scaler._per_optimizer_states = defaultdict(_refresh_per_optimizer_state)
                return "ok"
            return "error"

    def choose(self):
        which = self.rng.randrange(2)
        kind = self.rng.choices(["finite", "infinite", "nan", "none"], [10, 2, 1, 1])[0]
        calls = [
            (4, "scale", None),
            (10, "gradient", [which, kind]),
            (5, "unscale", which),
            (12, "step", which),
            (12, "update", None),
            (1, "update", float(self.rng.choice([2.0, 48.0, 1024.0]))),
            (1, "interval", self.rng.choice([1, 2, 3])),
            (1, "reload", None),
        ]
        return self.rng.choices([call[1:] for call in calls], [call[0] for call in calls])[0]

    def run(self):
        calls = []
        for name, argument in [("scale", None)] * (self.rng.random() < 0.8) + [self.choose() for _ in range(CALLS)]:
            result = self.outcome(name, argument)
            calls.append([name, argument, result, self.scaler.get_scale(), self.scaler._get_growth_tracker()])
        weights = [weight.item() for weight in self.weights]
        return {"options": self.options, "calls": calls, "weights": weights}


def main():
    rng = random.Random(20)
    cases = [Recorder(rng).run() for _ in range(SEQUENCES)]
    lines = ",\n".join(json.dumps(case, separators=(",", ":")) for case in cases)
    pathlib.Path(__file__).with_name("grad_scaler_cases.json").write_text(f"[\n{lines}\n]\n")


warnings.simplefilter("error")
main()
