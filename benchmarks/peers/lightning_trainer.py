"""Lightning's Trainer with nothing set but what the work says."""

import bert
import lightning_hooks
import protocol
import texts
import torch


class Module(lightning_hooks.Module):
    def __init__(self, model, settings, hooks):
        super().__init__(model, hooks)
        self._settings = settings

    def training_step(self, batch, _):
        loss = self.model(**batch).loss
        self.log("loss", loss)
        return loss

    def configure_optimizers(self):
        return bert.adamw(self.model, self._settings)


def main():
    lightning_hooks.be_quiet()
    settings, channel = protocol.settings(), protocol.Channel()
    groups = texts.read_groups(settings["texts"], settings["order"])

    def train(dropout, steps, hooks):
        lightning_hooks.fit(
            Module(bert.load(settings["model"], dropout), settings, hooks),
            texts.EndlessSamples(groups),
            len(groups[0][0]),
            texts.collate,
            steps,
            gradient_clip_val=settings["clip"],
            default_root_dir=settings["scratch"],
        )

    channel.ready(
        ["torch", "transformers", "lightning"],
        {"precision": "fp32", "order": settings["order"], "threads": torch.get_num_threads()},
    )
    protocol.serve_trainer(channel, len(groups[0]), train)


main()
