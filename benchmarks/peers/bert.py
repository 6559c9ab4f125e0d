"""BERT by transformers, from a folder of weights, and AdamW as the work asks for it."""

import torch
import transformers


def load(folder, dropout, attention=None):
    """`attention` None leaves the choice to transformers."""
    transformers.logging.set_verbosity_error()
    transformers.logging.disable_progress_bar()
    options = {} if attention is None else {"attn_implementation": attention}
    if not dropout:
        options |= {"hidden_dropout_prob": 0.0, "attention_probs_dropout_prob": 0.0}
    model = transformers.BertForSequenceClassification.from_pretrained(folder, **options)
    return model.train()


def adamw(model, settings, **options):
    return torch.optim.AdamW(
        model.parameters(), lr=settings["lr"], weight_decay=settings["weight_decay"], **options
    )
