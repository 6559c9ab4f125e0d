"""A step of a tiny network: a plain Python loop with fused AdamW, on one thread."""

import protocol
import safetensors.torch
import torch


class Training:
    def __init__(self, file):
        tensors = safetensors.torch.load_file(file)
        self.x, self.y = tensors.pop("x"), tensors.pop("y")
        self.model = torch.nn.Sequential(
            torch.nn.Linear(64, 128),
            torch.nn.ReLU(),
            torch.nn.Linear(128, 128),
            torch.nn.ReLU(),
            torch.nn.Linear(128, 10),
        )
        self.model.load_state_dict(tensors)
        self.optimizer = torch.optim.AdamW(self.model.parameters(), lr=1e-3, fused=True)

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
