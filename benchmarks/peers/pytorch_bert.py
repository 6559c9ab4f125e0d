"""A PyTorch loop over BERT. Settings choose between what a user writes and what an expert does."""

import contextlib

import bert
import protocol
import texts
import torch


class Training:
    def __init__(self, settings, dropout):
        self.model = bert.load(settings["model"], dropout, settings["attention"])
        self.forward = (
            torch.compile(self.model, dynamic=True) if settings["compile"] else self.model
        )
        self.optimizer = bert.adamw(self.model, settings, fused=settings["fused"])
        self.clip = settings["clip"]
        self.foreach_clip = settings["foreach_clip"]
        self.bf16 = settings["precision"] == "bf16"

    def run(self, batches):
        losses = []
        for batch in batches:
            with torch.autocast("cpu", torch.bfloat16) if self.bf16 else contextlib.nullcontext():
                loss = self.forward(**batch).loss
            loss.backward()
            torch.nn.utils.clip_grad_norm_(
                self.model.parameters(), self.clip, foreach=self.foreach_clip
            )
            self.optimizer.step()
            self.optimizer.zero_grad()
            losses.append(loss.item())
        return losses


def main():
    settings, channel = protocol.settings(), protocol.Channel()
    timed, common = (
        texts.padded_groups(settings["texts"], order) for order in (settings["order"], "random")
    )
    common = [batch for group in common for batch in group]
    training = None

    def verify(steps):
        return Training(settings, dropout=False).run(common[:steps])

    def repeat(number):
        nonlocal training
        training = training or Training(settings, dropout=True)
        return training.run(timed[number % len(timed)])

    flags = {
        name: settings[name] for name in ("precision", "order", "attention", "fused", "compile")
    }
    channel.ready(["torch", "transformers"], flags | {"threads": torch.get_num_threads()})
    protocol.serve(channel, verify, repeat)


main()
