"""A BERT of transformers by ft.Trainer. Settings: model, texts, order, lr, weight_decay, clip;
precision (None is the plan's choice); pack: by pack_encoder, else the model as it is."""

import bert
import fasttrain as ft
import protocol
import texts
import torch
from fasttrain.integrations.transformers_encoder import pack_encoder


class Training:
    def __init__(self, runtime, settings, dropout):
        self.model = runtime.prepare(bert.load(settings["model"], dropout))
        if settings["pack"]:
            pack_encoder(self.model)
        self.optimizer = ft.AdamW(
            self.model.parameters(), lr=settings["lr"], weight_decay=settings["weight_decay"]
        )
        self.trainer = ft.Trainer(runtime, self.optimizer, clip_norm=settings["clip"])

    def loss(self, part):
        return self.model(**part).loss

    def run(self, batches):
        return [
            self.trainer.values(self.trainer.step(batch, self.loss)).loss for batch in batches
        ]


def main():
    settings, channel = protocol.settings(), protocol.Channel()
    options = {} if settings["precision"] is None else {"precision": settings["precision"]}
    runtime = ft.Runtime(seed=0, **options)
    groups = texts.padded_groups(settings["texts"], settings["order"])
    common = [batch for group in groups for batch in group]
    training = None

    def verify(steps):
        return Training(runtime, settings, dropout=False).run(common[:steps])

    def repeat(number):
        nonlocal training
        training = training or Training(runtime, settings, dropout=True)
        return training.run(groups[number % len(groups)])

    plan = runtime.plan.to_dict()
    flags = {name: plan[name]["value"] for name in ("precision", "attention", "optimizer")}
    flags |= {"pack_encoder": settings["pack"], "order": settings["order"]}
    channel.ready(["torch", "transformers"], flags | {"threads": torch.get_num_threads()})
    protocol.serve(channel, verify, repeat)


main()
