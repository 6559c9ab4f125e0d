"""pack_encoder(): layers of BERT-type models of transformers on packed rows."""

from __future__ import annotations

import types
from typing import Any, NamedTuple, TypeVar

import torch
from torch import Tensor
from transformers import PreTrainedModel
from transformers.activations import GELUActivation

from fasttrain import nn
from fasttrain._errors import Unsupported
from fasttrain._native import PackedLayout
from fasttrain._packing import put_back, rows_of
from fasttrain.integrations.transformers_attention import has_kernels, packed_layout

Model = TypeVar("Model", bound=PreTrainedModel)

_FAMILIES = ("bert", "camembert", "electra", "roberta", "xlm-roberta")


def pack_encoder(model: Model) -> Model:
    """Makes the encoder of a BERT, RoBERTa, XLM-RoBERTa, CamemBERT or ELECTRA model, with any head,
    compute packed rows alone; returns the model, changed in place. Batches stay as they are,
    [batch, length] with an attention_mask: embeddings and heads see padding, layers do not, and
    hidden states at padding come out as 0. Parameters, their names and state dicts do not change.

    On the CPU in fp32 and bf16, layers run on fasttrain.nn: attention and dropout as in
    docs/random.md, norms in one pass with residual and dropout, GELU, touched rows of embeddings;
    hooks run on each layer and its Linears, not on the modules between. Elsewhere, and with
    output_hidden_states or masks of more than two dimensions, layers run as transformers wrote
    them. Raises Unsupported for other families and for decoders.
    """
    family, is_decoder = model.config.model_type, getattr(model.config, "is_decoder", False)
    if family not in _FAMILIES or is_decoder:
        raise Unsupported(f"[nn.pack_encoder] model_type={family!r}, is_decoder={is_decoder}, "
                          f"expected an encoder among {', '.join(_FAMILIES)}; use "
                          'attn_implementation="fasttrain" alone')
    model.set_attn_implementation("fasttrain")
    encoder = model.base_model.encoder
    if encoder.layer[0].forward.__func__ is _layer_forward:
        return model
    for layer in encoder.layer:
        layer.forward = types.MethodType(_layer_forward, layer)
    encoder.register_forward_pre_hook(_pack, with_kwargs=True)
    encoder.register_forward_hook(_unpack, with_kwargs=True)
    for module in list(model.modules()):
        if type(module) is torch.nn.Dropout:
            module.forward = types.MethodType(nn.Dropout.forward, module)
    for module in model.base_model.embeddings.children():
        if type(module) is torch.nn.Embedding and module.max_norm is None:
            module.forward = types.MethodType(_embedding_forward, module)
    return model


class _Packing(NamedTuple):
    """How the rows of a batch are packed, on their way through the encoder's keywords."""

    layout: PackedLayout  # with filler
    rows: Tensor          # int64: those of [batch * length, width] that are packed, without filler
    shape: torch.Size     # [batch, length, width]


def _pack(encoder: Any, args: tuple[Any, ...],
          kwargs: dict[str, Any]) -> tuple[tuple[Any, ...], dict[str, Any]] | None:
    hidden, mask = args[0], kwargs.get("attention_mask")
    recorded = kwargs.get("output_hidden_states", encoder.config.output_hidden_states)
    if recorded or not has_kernels(hidden) or (mask is not None and mask.dim() != 2):
        return None
    batch, length, width = hidden.shape
    if mask is None:
        layout = packed_layout(batch, mask, kwargs) or PackedLayout([length] * batch)
        rows = torch.arange(batch * length)
    else:
        rows, layout = rows_of(mask)
    filled = layout.for_products(hidden.device)
    filler = rows.new_zeros(filled.rows - layout.rows)  # any row will do: nobody reads the results
    packed = hidden.reshape(-1, width).index_select(0, torch.cat([rows, filler]))
    packing = _Packing(filled, rows, hidden.shape)
    return (packed[None], *args[1:]), {**kwargs, "attention_mask": None, "packing": packing}


def _unpack(encoder: Any, args: tuple[Any, ...], kwargs: dict[str, Any], output: Any) -> Any:
    packing = kwargs.get("packing")
    if packing is not None:
        packed = output.last_hidden_state[0].narrow(0, 0, len(packing.rows))
        output.last_hidden_state = put_back(packed, packing.rows, packing.shape)
    return output


def _layer_forward(self: Any, hidden_states: Tensor, *args: Any, packing: _Packing | None = None,
                   **kwargs: Any) -> Tensor:
    if packing is None:
        return type(self).forward(self, hidden_states, *args, **kwargs)
    rows, layout = hidden_states[0], packing.layout
    attention = self.attention.self
    heads = (rows.size(0), attention.num_attention_heads, attention.attention_head_size)
    projections = (attention.query, attention.key, attention.value)
    out = nn.varlen_attention(*(project(rows).view(heads) for project in projections), layout,
                              attention.dropout.p if self.training else 0.0,
                              scale=attention.scaling)
    rows = _add_norm(self.attention.output, out.flatten(1), rows, layout)
    wide = self.intermediate.dense(rows)
    activation = self.intermediate.intermediate_act_fn
    wide = nn.gelu(wide) if type(activation) is GELUActivation else activation(wide)
    return _add_norm(self.output, wide, rows, layout)[None]


def _add_norm(output: Any, rows: Tensor, residual: Tensor, layout: PackedLayout) -> Tensor:
    norm = output.LayerNorm
    return nn.dropout_add_layer_norm(output.dense(rows), residual, norm.weight, norm.bias,
                                     output.dropout.p, norm.eps, output.training, layout)


def _embedding_forward(self: Any, input: Tensor) -> Tensor:
    return nn.embedding(input, self.weight, self.padding_idx)
