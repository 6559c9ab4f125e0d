"""A step of a tiny network by Lightning's Trainer with nothing set, on one thread."""

import lightning_hooks
import mlp
import protocol
import torch


class Module(lightning_hooks.Module):
    def training_step(self, batch, _):
        return torch.nn.functional.cross_entropy(self.model(batch["x"]), batch["labels"])

    def configure_optimizers(self):
        return torch.optim.AdamW(self.model.parameters(), lr=mlp.LEARNING_RATE)


def main():
    lightning_hooks.be_quiet()
    settings, channel = protocol.settings(), protocol.Channel()
    torch.set_num_threads(1)

    def train(dropout, steps, hooks):  # it has no dropout
        model, x, y = mlp.load(settings["file"])
        lightning_hooks.fit(
            Module(model, hooks),
            mlp.EndlessSamples(x, y),
            len(x),
            mlp.same_batch(x, y),
            steps,
            default_root_dir=settings["scratch"],
        )

    channel.ready(["torch", "lightning"], {"threads": torch.get_num_threads()})
    protocol.serve_trainer(channel, settings["steps"], train)


main()
