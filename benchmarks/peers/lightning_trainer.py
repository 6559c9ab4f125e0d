"""Lightning's Trainer with nothing set but what the work says."""

import logging
import warnings

import bert
import lightning
import protocol
import texts
import torch


class Module(lightning.LightningModule):
    def __init__(self, model, settings, hooks):
        super().__init__()
        self.model = model
        self._settings, self._hooks = settings, hooks

    def on_train_batch_start(self, *_):
        self._hooks.before_step()

    def training_step(self, batch, _):
        loss = self.model(**batch).loss
        self.log("loss", loss)
        return loss

    def on_train_batch_end(self, outputs, *_):
        self._hooks.after_step(outputs["loss"].item())

    def configure_optimizers(self):
        return bert.adamw(self.model, self._settings)


def main():
    logging.getLogger("lightning.pytorch").setLevel(logging.ERROR)
    warnings.filterwarnings("ignore")
    settings, channel = protocol.settings(), protocol.Channel()
    groups = texts.read_groups(settings["texts"], settings["order"])

    def train(dropout, steps, hooks):
        loader = torch.utils.data.DataLoader(
            texts.EndlessSamples(groups), batch_size=len(groups[0][0]), collate_fn=texts.collate
        )
        trainer = lightning.Trainer(
            max_steps=steps or -1,
            accelerator="cpu",
            gradient_clip_val=settings["clip"],
            default_root_dir=settings["scratch"],
        )
        trainer.fit(Module(bert.load(settings["model"], dropout), settings, hooks), loader)

    channel.ready(
        ["torch", "transformers", "lightning"],
        {"precision": "fp32", "order": settings["order"], "threads": torch.get_num_threads()},
    )
    protocol.serve_trainer(channel, len(groups[0]), train)


main()
