"""A step of a tiny network: a plain Python loop with fused AdamW, on one thread."""

import mlp
import protocol
import torch


class Training:
    def __init__(self, file):
        self.model, self.x, self.y = mlp.load(file)
        self.optimizer = torch.optim.AdamW(
            self.model.parameters(), lr=mlp.LEARNING_RATE, fused=True
        )

    def step(self):
        self.optimizer.zero_grad()
        loss = torch.nn.functional.cross_entropy(self.model(self.x), self.y)
        loss.backward()
        self.optimizer.step()
        return loss


def main():
    settings, channel = protocol.settings(), protocol.Channel()
    torch.set_num_threads(1)
    timed = Training(settings["file"])

    def verify(steps):
        fresh = Training(settings["file"])
        return [fresh.step().item() for _ in range(steps)]

    def repeat(_):
        for _ in range(settings["steps"]):
            timed.step()
        return []

    channel.ready(["torch"], {"fused": True, "threads": torch.get_num_threads()})
    protocol.serve(channel, verify, repeat)


main()
