"""Pieces of models that a CPU computes faster than PyTorch's own, with autograd.

    rows, layout = ft.nn.pack_padded(hidden, attention_mask)  # [rows, width]
    qkv = projection(rows).view(-1, 3, heads, width // heads)
    rows = ft.nn.varlen_attention_qkvpacked(qkv, layout, dropout_p=0.1 if self.training else 0.0)
    hidden = ft.nn.pad_packed(rows.flatten(1), layout)

A layout says where each sample's rows lie when samples lie one after another without padding.
Whether dropout drops an element is a function of seed, step, sample and its index in the sample
(docs/random.md): a sample is what the layout says or, without one, an index of the first dimension.

fp32 and bf16 on the CPU take the library's kernels: the same bits for any number of threads, and a
RuntimeError that says so from a second derivative. Other dtypes and devices take PyTorch's
operators and random numbers. All raise InvalidOption for shapes or options that do not fit.
"""

from __future__ import annotations

import torch
from torch import Tensor

from fasttrain import _native
from fasttrain._errors import InvalidOption
from fasttrain._native import PackedLayout
from fasttrain._packing import put_back, rows_of

__all__ = [
    "Dropout",
    "PackedLayout",
    "dropout",
    "dropout_add_layer_norm",
    "embedding",
    "gelu",
    "pack_padded",
    "pad_packed",
    "varlen_attention",
    "varlen_attention_qkvpacked",
]


def pack_padded(input: Tensor, mask: Tensor) -> tuple[Tensor, PackedLayout]:
    """The rows of [batch, length, ...] where `mask` [batch, length] is not 0, one sample after
    another, [rows, ...], and their layout.
    """
    if mask.dim() != 2 or mask.shape != input.shape[:2]:
        raise InvalidOption(f"[nn.pack_padded] mask is {list(mask.shape)}, expected the first two "
                            f"dimensions of the input, {list(input.shape)}")
    rows, layout = rows_of(mask)
    return input.flatten(0, 1).index_select(0, rows), layout


def pad_packed(input: Tensor, layout: PackedLayout, padding_value: float = 0.0,
               total_length: int | None = None) -> Tensor:
    """[rows, ...] -> [batch, length, ...]: each sample and, after it, `padding_value` up to the
    longest sample or to `total_length`.
    """
    length = layout.longest if total_length is None else total_length
    if length < layout.longest or input.size(0) != layout.rows:
        raise InvalidOption(f"[nn.pad_packed] {input.size(0)} rows, total_length={length}; "
                            f"expected {layout.rows} rows and at least the longest sample, "
                            f"{layout.longest}")
    lengths = torch.tensor(layout.offsets).diff()
    rows, _ = rows_of(torch.arange(length) < lengths[:, None])
    return put_back(input, rows.to(input.device), (layout.samples, length), padding_value)


def varlen_attention(query: Tensor, key: Tensor, value: Tensor, layout: PackedLayout,
                     dropout_p: float = 0.0, *, scale: float | None = None) -> Tensor:
    """torch.nn.functional.scaled_dot_product_attention within each sample: [rows, heads, head_dim]
    each, of one dtype, which is also the result's, autocast or not. `dropout_p`, below 1, is
    applied whenever it is not 0: pass 0.0 in evaluation. `scale`: 1 / sqrt(head_dim) when None.
    """
    if query.dim() != 3:
        raise InvalidOption(f"[nn.varlen_attention] query is {list(query.shape)}, expected "
                            "[rows, heads, head_dim]")
    out = _native.attention(query.flatten(1), key.flatten(1), value.flatten(1), layout,
                            query.size(1), dropout_p, scale)
    return out.view(query.shape)


def varlen_attention_qkvpacked(qkv: Tensor, layout: PackedLayout, dropout_p: float = 0.0, *,
                               scale: float | None = None) -> Tensor:
    """varlen_attention() on [rows, 3, heads, head_dim], as one projection gives them: faster, since
    there is one gradient. -> [rows, heads, head_dim].
    """
    if qkv.dim() != 4 or qkv.size(1) != 3:
        raise InvalidOption(f"[nn.varlen_attention_qkvpacked] qkv is {list(qkv.shape)}, expected "
                            "[rows, 3, heads, head_dim]")
    heads, head_dim = qkv.shape[2:]
    out = _native.attention_qkvpacked(qkv.flatten(1), layout, heads, dropout_p, scale)
    return out.view(-1, heads, head_dim)


def dropout(input: Tensor, p: float = 0.5, training: bool = True,
            layout: PackedLayout | None = None) -> Tensor:
    """torch.nn.functional.dropout; keeps no mask for backward."""
    return _native.dropout(input, p, training, layout)


class Dropout(torch.nn.Dropout):
    """torch.nn.Dropout by dropout(). `inplace` changes nothing: the input is left as it is."""

    def forward(self, input: Tensor) -> Tensor:
        return dropout(input, self.p, self.training)


def dropout_add_layer_norm(input: Tensor, residual: Tensor, weight: Tensor, bias: Tensor,
                           p: float = 0.0, eps: float = 1e-5, training: bool = True,
                           layout: PackedLayout | None = None) -> Tensor:
    """layer_norm(dropout(input) + residual) over the last dimension, in one pass over the rows with
    arithmetic in fp32 throughout: what follows attention and feed-forward in a transformer layer.
    `input` in fp32 or bf16, the others and the result in fp32.
    """
    return _native.add_norm(input, residual, weight, bias, p, eps, training, layout)


def gelu(input: Tensor) -> Tensor:
    """torch.nn.functional.gelu without approximation."""
    return _native.gelu(input)


def embedding(input: Tensor, weight: Tensor, padding_idx: int | None = None) -> Tensor:
    """torch.nn.functional.embedding. Where weight.grad is kept (zero_grad(set_to_none=False)) or
    Trainer.step() runs, backward touches only the rows that the batch uses.
    """
    return _native.embedding(weight, input.flatten(), padding_idx).view(*input.shape, -1)
