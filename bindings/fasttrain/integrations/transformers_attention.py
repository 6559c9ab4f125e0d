"""attn_implementation="fasttrain" for transformers, which importing this registers, and packed
batches for it:

    from fasttrain.integrations import transformers_attention

    model = AutoModel.from_pretrained(name, attn_implementation="fasttrain")
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import torch
from torch import Tensor
from transformers import AttentionInterface, AttentionMaskInterface
from transformers.integrations.sdpa_attention import sdpa_attention_forward
from transformers.masking_utils import bidirectional_mask_function, flash_attention_mask, sdpa_mask

from fasttrain import _native
from fasttrain._errors import InvalidOption, Unsupported
from fasttrain._native import PackedLayout
from fasttrain._packing import put_back, rows_of

_OTHER_KINDS = ("position_bias", "softcap", "sliding_window", "s_aux")


def attention_mask(*args: Any, mask_function: Any, use_vmap: bool = False, **kwargs: Any) -> Any:
    """The mask that attention() takes: bool [batch, length], None without padding; of other kinds
    of attention what "sdpa" takes.
    """
    if mask_function is bidirectional_mask_function and not use_vmap:
        return flash_attention_mask(*args, mask_function=mask_function, **kwargs)
    return sdpa_mask(*args, mask_function=mask_function, use_vmap=use_vmap, **kwargs)


def attention(module: torch.nn.Module, query: Tensor, key: Tensor, value: Tensor,
              attention_mask: Tensor | None, dropout: float = 0.0, scaling: float | None = None,
              is_causal: bool | None = None, **kwargs: Any) -> tuple[Tensor, None]:
    """What transformers calls for attn_implementation="fasttrain": [batch, heads, length, head_dim]
    -> [batch, length, heads, head_dim], 0 at padding.

    Self-attention of encoders on the CPU, fp32 and bf16, takes the library's kernels, everything
    else "sdpa". Packed batches are those of PackingCollator and of DataCollatorWithFlattening:
    Unsupported where a decoder gets one. Attention weights are never made: Unsupported where they
    are asked for.
    """
    if kwargs.get("output_attentions"):
        raise Unsupported('[nn.attention] output_attentions=True, expected False with '
                          'attn_implementation="fasttrain"; use "eager"')
    causal = getattr(module, "is_causal", True) if is_causal is None else is_causal
    plain = (not causal and query.shape == key.shape == value.shape
             and all(kwargs.get(kind) is None for kind in _OTHER_KINDS))
    layout = packed_layout(query.size(0), attention_mask, kwargs)
    if layout is not None and not plain:
        raise Unsupported("[nn.attention] a packed batch in causal, cross or windowed attention, "
                          "expected self-attention of an encoder; pad the batch")
    padding_only = attention_mask is None or attention_mask.dim() == 2
    if layout is None and not (plain and padding_only and has_kernels(query)):
        if attention_mask is not None and padding_only:
            attention_mask = attention_mask[:, None, None, :]
        return sdpa_attention_forward(module, query, key, value, attention_mask, dropout, scaling,
                                      is_causal, **kwargs)

    batch, heads, length, head_dim = query.shape
    q, k, v = (x.transpose(1, 2).reshape(batch * length, -1) for x in (query, key, value))
    if attention_mask is None:
        layout = layout or PackedLayout([length] * batch)
        out = _native.attention(q, k, v, layout, heads, dropout, scaling)
    else:
        rows, layout = rows_of(attention_mask)
        q, k, v = (x.index_select(0, rows) for x in (q, k, v))
        out = _native.attention(q, k, v, layout, heads, dropout, scaling)
        out = put_back(out, rows, (batch, length))
    return out.view(batch, length, heads, head_dim), None


def has_kernels(x: Tensor) -> bool:
    return x.device.type == "cpu" and x.dtype in (torch.float32, torch.bfloat16)


def packed_layout(batch: int, attention_mask: Tensor | None,
                  kwargs: dict[str, Any]) -> PackedLayout | None:
    """Of a packed batch, which is one row of tokens: cu_seq_lens_q, or position_ids that do not
    only count on, say so, as for "flash_attention_2".
    """
    if batch != 1 or attention_mask is not None:
        return None
    offsets, positions = kwargs.get("cu_seq_lens_q"), kwargs.get("position_ids")
    if offsets is not None:
        return PackedLayout(offsets.diff().tolist())
    if positions is None:
        return None
    starts = (positions.flatten().diff() != 1).nonzero().flatten() + 1
    if len(starts) == 0:
        return None
    edges = torch.nn.functional.pad(starts, (1, 0))
    return PackedLayout(edges.diff(append=edges.new_tensor([positions.numel()])).tolist())


class PackingCollator:
    """Makes one row of tokens out of tokenized samples, [1, tokens], without padding: input_ids,
    token_type_ids and labels, one a token, where the samples have them; position_ids that start
    again from `first_position` at each sample (RoBERTa's start from padding_idx + 1); and the
    bounds that attn_implementation="fasttrain" reads. For heads that give each token a result.

    Raises InvalidOption for a label a sample: classifiers of transformers read the first row of the
    batch, which here is the first sample's alone; pad, and use pack_encoder().
    """

    def __init__(self, first_position: int = 0) -> None:
        self.first_position = first_position

    def __call__(self, features: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
        ids = [torch.as_tensor(feature["input_ids"]) for feature in features]
        lengths = [len(sample) for sample in ids]
        first = self.first_position
        batch: dict[str, Any] = {
            "input_ids": torch.cat(ids)[None],
            "position_ids": torch.cat([torch.arange(first, first + n) for n in lengths])[None],
        }
        for name in ("token_type_ids", "labels", "label"):
            if name not in features[0]:
                continue
            values = [torch.as_tensor(feature[name]) for feature in features]
            if any(value.shape != sample.shape for value, sample in zip(values, ids)):
                raise InvalidOption(f"[nn.collate] {name} of a sample and its input_ids differ in "
                                    "length, expected one a token; for one a sample pad the batch "
                                    "and use pack_encoder()")
            batch[name] = torch.cat(values)[None]
        offsets = torch.tensor([0, *lengths]).cumsum(0).int()
        batch["cu_seq_lens_q"] = batch["cu_seq_lens_k"] = offsets
        batch["max_length_q"] = batch["max_length_k"] = max(lengths)
        return batch


AttentionInterface.register("fasttrain", attention)
AttentionMaskInterface.register("fasttrain", attention_mask)
