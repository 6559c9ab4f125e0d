"""BERT by transformers, from a folder of weights."""

import transformers

LEARNING_RATE = 5e-5
WEIGHT_DECAY = 0.01
CLIP_NORM = 1.0


def load(folder, dropout, attention=None):
    """`attention` None leaves the choice to transformers."""
    transformers.logging.set_verbosity_error()
    transformers.logging.disable_progress_bar()
    options = {} if attention is None else {"attn_implementation": attention}
    if not dropout:
        options |= {"hidden_dropout_prob": 0.0, "attention_probs_dropout_prob": 0.0}
    model = transformers.BertForSequenceClassification.from_pretrained(folder, **options)
    return model.train()
