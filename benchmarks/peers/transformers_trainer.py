"""transformers' Trainer with nothing set but what the work says: batch, learning rate, clip."""

import bert
import protocol
import texts
import torch
import transformers
import transformers_hooks


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
        model = bert.load(settings["model"], dropout)
        transformers_hooks.train(
            hooks, model, arguments, texts.EndlessSamples(groups), texts.collate
        )

    channel.ready(
        ["torch", "transformers", "accelerate"],
        {"precision": "fp32", "order": settings["order"], "threads": torch.get_num_threads()},
    )
    protocol.serve_trainer(channel, len(groups[0]), train)


main()
