"""A step of a tiny network by transformers' Trainer with nothing set, on one thread."""

import mlp
import protocol
import torch
import transformers
import transformers_hooks


class Model(torch.nn.Module):
    """In the form that the Trainer asks for."""

    def __init__(self, layers):
        super().__init__()
        self.layers = layers

    def forward(self, x, labels):
        return {"loss": torch.nn.functional.cross_entropy(self.layers(x), labels)}


def main():
    settings, channel = protocol.settings(), protocol.Channel()
    torch.set_num_threads(1)

    def train(dropout, steps, hooks):  # it has no dropout
        layers, x, y = mlp.load(settings["file"])
        arguments = transformers.TrainingArguments(
            settings["scratch"],
            per_device_train_batch_size=len(x),
            max_steps=steps or 1_000_000,
            learning_rate=mlp.LEARNING_RATE,
            weight_decay=0.01,  # AdamW's of PyTorch
            max_grad_norm=0.0,
            lr_scheduler_type="constant",
            save_strategy="no",
            report_to="none",
            use_cpu=True,
        )
        transformers_hooks.train(
            hooks, Model(layers), arguments, mlp.EndlessSamples(x, y), mlp.same_batch(x, y)
        )

    channel.ready(["torch", "transformers", "accelerate"], {"threads": torch.get_num_threads()})
    protocol.serve_trainer(channel, settings["steps"], train)


main()
