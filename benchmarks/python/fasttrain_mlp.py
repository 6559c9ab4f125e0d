"""A step of a tiny network by ft.Trainer, on one thread."""

import fasttrain as ft
import mlp
import protocol
import torch


class Training:
    def __init__(self, runtime, file):
        model, x, y = mlp.load(file)
        self.model = runtime.prepare(model)
        self.batch = {"x": x, "y": y}
        self.optimizer = ft.AdamW(self.model.parameters(), lr=mlp.LEARNING_RATE)
        self.trainer = ft.Trainer(runtime, self.optimizer)

    def loss(self, part):
        return torch.nn.functional.cross_entropy(self.model(part["x"]), part["y"])

    def step(self):
        return self.trainer.step(self.batch, self.loss)


def main():
    settings, channel = protocol.settings(), protocol.Channel()
    runtime = ft.Runtime(precision="fp32", threads=1, seed=0)
    timed = Training(runtime, settings["file"])

    def verify(steps):
        fresh = Training(runtime, settings["file"])
        return [fresh.trainer.values(fresh.step()).loss for _ in range(steps)]

    def repeat(_):
        for _ in range(settings["steps"]):
            timed.step()
        return []

    channel.ready(["torch"], {"threads": torch.get_num_threads()})
    protocol.serve(channel, verify, repeat)


main()
