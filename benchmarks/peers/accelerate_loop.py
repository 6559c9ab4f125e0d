"""A loop with accelerate and a DataLoader, at defaults."""

import accelerate
import bert
import protocol
import texts
import torch


def main():
    settings, channel = protocol.settings(), protocol.Channel()
    groups = texts.read_groups(settings["texts"], settings["order"])
    accelerator = accelerate.Accelerator(cpu=True)

    def train(dropout, steps, hooks):
        model = bert.load(settings["model"], dropout)
        optimizer = bert.adamw(model, settings)
        loader = torch.utils.data.DataLoader(
            texts.EndlessSamples(groups), batch_size=len(groups[0][0]), collate_fn=texts.collate
        )
        model, optimizer, loader = accelerator.prepare(model, optimizer, loader)
        for done, batch in enumerate(loader):
            if done == steps:
                return
            hooks.before_step()
            loss = model(**batch).loss
            accelerator.backward(loss)
            accelerator.clip_grad_norm_(model.parameters(), settings["clip"])
            optimizer.step()
            optimizer.zero_grad()
            hooks.after_step(loss.item())

    channel.ready(
        ["torch", "transformers", "accelerate"],
        {"precision": "fp32", "order": settings["order"], "threads": torch.get_num_threads()},
    )
    protocol.serve_trainer(channel, len(groups[0]), train)


main()
