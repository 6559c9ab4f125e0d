"""Lightning's Trainer as a worker: its batches in their order, and what is told of each step."""

import logging
import warnings

import lightning
import torch


class Module(lightning.LightningModule):
    """Of a model that trains under `hooks`."""

    def __init__(self, model, hooks):
        super().__init__()
        self.model = model
        self._hooks = hooks

    def on_train_batch_start(self, *_):
        self._hooks.before_step()

    def on_train_batch_end(self, outputs, *_):
        self._hooks.after_step(outputs["loss"].item())


def be_quiet():
    logging.getLogger("lightning.pytorch").setLevel(logging.ERROR)
    warnings.filterwarnings("ignore")


def fit(module, samples, batch_size, collate, steps, **options):
    """Takes `steps` steps, without end if None."""
    loader = torch.utils.data.DataLoader(samples, batch_size=batch_size, collate_fn=collate)
    lightning.Trainer(max_steps=steps or -1, accelerator="cpu", **options).fit(module, loader)
