"""transformers' Trainer with nothing set but what the work says: batch, learning rate, clip."""

import bert
import protocol
import texts
import torch
import transformers


class InOrder(transformers.Trainer):
    """The batches of the texts' file instead of random ones, and the loss of each step."""

    latest_loss = None

    def _get_train_sampler(self, *_):
        return torch.utils.data.SequentialSampler(self.train_dataset)

    def training_step(self, *arguments, **options):
        loss = super().training_step(*arguments, **options)
        self.latest_loss = loss.item()
        return loss


class Steps(transformers.TrainerCallback):
    def __init__(self, hooks):
        self._hooks = hooks
        self.trainer = None

    def on_step_begin(self, *_, **__):
        self._hooks.before_step()

    def on_step_end(self, *_, **__):
        self._hooks.after_step(self.trainer.latest_loss)


def main():
    settings, channel = protocol.settings(), protocol.Channel()
    groups = texts.read_groups(settings["texts"], settings["order"])
    batch_size = len(groups[0][0])

    def train(dropout, steps, hooks):
        arguments = transformers.TrainingArguments(
            settings["scratch"],
            per_device_train_batch_size=batch_size,
            max_steps=steps or 1_000_000,
            learning_rate=settings["lr"],
            weight_decay=settings["weight_decay"],
            max_grad_norm=settings["clip"],
            save_strategy="no" if steps else "steps",
            report_to="none",
            use_cpu=True,
            **({"lr_scheduler_type": "constant"} if steps else {}),
        )
        callback = Steps(hooks)
        trainer = InOrder(
            model=bert.load(settings["model"], dropout),
            args=arguments,
            train_dataset=texts.EndlessSamples(groups),
            data_collator=texts.collate,
            callbacks=[callback],
        )
        callback.trainer = trainer
        trainer.train()

    channel.ready(
        ["torch", "transformers", "accelerate"],
        {"precision": "fp32", "order": settings["order"], "threads": torch.get_num_threads()},
    )
    protocol.serve_trainer(channel, len(groups[0]), train)


main()
