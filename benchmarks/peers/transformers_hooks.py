"""transformers' Trainer as a worker: its batches in their order, and what is told of each step."""

import torch
import transformers


class _InOrder(transformers.Trainer):
    """The samples as they come instead of random ones, and the loss of each step."""

    latest_loss = None

    def _get_train_sampler(self, *_):
        return torch.utils.data.SequentialSampler(self.train_dataset)

    def training_step(self, *arguments, **options):
        loss = super().training_step(*arguments, **options)
        self.latest_loss = loss.item()
        return loss


class _Steps(transformers.TrainerCallback):
    def __init__(self, hooks):
        self._hooks = hooks
        self.trainer = None

    def on_step_begin(self, *_, **__):
        self._hooks.before_step()

    def on_step_end(self, *_, **__):
        self._hooks.after_step(self.trainer.latest_loss)


def train(hooks, model, arguments, samples, collate):
    callback = _Steps(hooks)
    trainer = _InOrder(
        model=model,
        args=arguments,
        train_dataset=samples,
        data_collator=collate,
        callbacks=[callback],
    )
    callback.trainer = trainer
    trainer.train()
