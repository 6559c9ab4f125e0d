"""A step of a tiny network by Lightning's Trainer with nothing set, on one thread."""

import logging
import warnings

import lightning
import mlp
import protocol
import torch


class Module(lightning.LightningModule):
    def __init__(self, model, hooks):
        super().__init__()
        self.model = model
        self._hooks = hooks

    def on_train_batch_start(self, *_):
        self._hooks.before_step()

    def training_step(self, batch, _):
        return torch.nn.functional.cross_entropy(self.model(batch["x"]), batch["labels"])

    def on_train_batch_end(self, outputs, *_):
        self._hooks.after_step(outputs["loss"].item())

    def configure_optimizers(self):
        return torch.optim.AdamW(self.model.parameters(), lr=mlp.LEARNING_RATE)


def main():
    logging.getLogger("lightning.pytorch").setLevel(logging.ERROR)
    warnings.filterwarnings("ignore")
    settings, channel = protocol.settings(), protocol.Channel()
    torch.set_num_threads(1)

    def train(dropout, steps, hooks):  # it has no dropout
        model, x, y = mlp.load(settings["file"])
        loader = torch.utils.data.DataLoader(
            mlp.EndlessSamples(x, y), batch_size=len(x), collate_fn=mlp.same_batch(x, y)
        )
        trainer = lightning.Trainer(
            max_steps=steps or -1, accelerator="cpu", default_root_dir=settings["scratch"]
        )
        trainer.fit(Module(model, hooks), loader)

    channel.ready(["torch", "lightning"], {"threads": torch.get_num_threads()})
    protocol.serve_trainer(channel, settings["steps"], train)


main()
