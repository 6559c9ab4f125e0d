"""1.3 GB of tensors: saved and loaded, every byte read."""

import os
import pathlib

import protocol
import safetensors.torch
import torch

LOADERS = {
    "torch": lambda path: torch.load(path, mmap=True),
    "safetensors": safetensors.torch.load_file,
}


def load(loader, path):
    """Tensors of their own: what is mapped is copied."""
    return {name: tensor.clone() for name, tensor in LOADERS[loader](path).items()}


def checksum(tensors):
    return [
        len(tensors),
        sum(tensor.abs().sum(dtype=torch.float64).item() for tensor in tensors.values()),
    ]


def save(tensors, path, fsync):
    safetensors.torch.save_file(tensors, path)
    if fsync:
        with open(path, "rb") as file:
            os.fsync(file.fileno())


def main():
    settings, channel = protocol.settings(), protocol.Channel()
    path = settings["file"]
    packages = ["torch", "safetensors"]
    if settings["action"] == "load":
        channel.ready(packages, {"loader": settings["loader"]})
        protocol.serve(
            channel,
            verify=lambda _: checksum(load(settings["loader"], path)),
            repeat=lambda _: [len(load(settings["loader"], path))],
        )
        return
    target = pathlib.Path(settings["scratch"]) / f"peer-{settings['fsync']}.safetensors"
    tensors = load("safetensors", path)

    def verify(_):
        save(tensors, target, fsync=False)
        return checksum(load("safetensors", target))

    def repeat(_):
        save(tensors, target, settings["fsync"])
        return [len(tensors)]

    channel.ready(packages, {"fsync": settings["fsync"]})
    protocol.serve(channel, verify, repeat, before=os.sync)
    target.unlink(missing_ok=True)


main()
