"""Writes tests/data/bert_golden.safetensors: a tiny BertForSequenceClassification of transformers, its
weights, a batch, and the logits, loss and gradients transformers computes for it in fp32, dropout off.

    python tests/data/make_bert_golden.py      # needs torch, transformers, safetensors
"""

import pathlib

import torch
import transformers
from safetensors.torch import save_file

torch.manual_seed(20261130)
config = transformers.BertConfig(
    vocab_size=48, hidden_size=16, num_hidden_layers=2, num_attention_heads=2, intermediate_size=40,
    max_position_embeddings=12, type_vocab_size=2, pad_token_id=0, num_labels=3,
    initializer_range=0.4, attn_implementation="eager",
)
model = transformers.BertForSequenceClassification(config).eval()
with torch.no_grad():  # biases and norms away from 0 and 1, so that each of them matters
    for parameter in model.parameters():
        if parameter.dim() == 1:
            parameter.add_(0.2 * torch.randn_like(parameter))

lengths = [5, 12, 1, 3]
samples = [torch.randint(1, config.vocab_size, (length,)) for length in lengths]
types = [(torch.arange(length) >= length // 2).long() for length in lengths]
labels = torch.tensor([2, 0, 1, 0])


def padded(rows):
    return torch.nn.utils.rnn.pad_sequence(rows, batch_first=True)


def run():
    return model(
        input_ids=padded(samples), token_type_ids=padded(types), labels=labels,
        attention_mask=padded([torch.ones(length, dtype=torch.long) for length in lengths]),
    )


result = run()
result.loss.backward()
tensors = {
    "lengths": torch.tensor(lengths),
    "input_ids": torch.cat(samples),
    "token_type_ids": torch.cat(types),
    "labels": labels,
    "logits.gelu": result.logits.detach(),
    "loss": result.loss.detach(),
}
for name, parameter in model.named_parameters():
    tensors[f"weight.{name}"] = parameter.detach()
    tensors[f"grad.{name}"] = parameter.grad
for activation in ("gelu_new", "relu"):
    for layer in model.bert.encoder.layer:
        layer.intermediate.intermediate_act_fn = transformers.activations.ACT2FN[activation]
    tensors[f"logits.{activation}"] = run().logits.detach()

path = pathlib.Path(__file__).with_name("bert_golden.safetensors")
save_file({name: tensor.contiguous() for name, tensor in tensors.items()}, path,
          metadata={"transformers": transformers.__version__, "torch": torch.__version__})
print(path, path.stat().st_size, "bytes, loss", result.loss.item())
