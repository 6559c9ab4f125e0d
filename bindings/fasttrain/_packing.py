"""Between padded batches and packed rows."""

from __future__ import annotations

from collections.abc import Sequence

from torch import Tensor

from fasttrain._native import PackedLayout


def rows_of(mask: Tensor) -> tuple[Tensor, PackedLayout]:
    """Which rows of [batch * length, ...] a `mask` [batch, length] keeps, int64, and their layout."""
    kept = mask.bool()
    return kept.flatten().nonzero().squeeze(1), PackedLayout(kept.sum(1).tolist())


def put_back(packed: Tensor, rows: Tensor, shape: Sequence[int], padding_value: float = 0.0) -> Tensor:
    """[len(rows), ...] -> [batch, length, ...] with `padding_value` elsewhere; `shape` starts with
    batch and length.
    """
    batch, length = shape[:2]
    padded = packed.new_full((batch * length, *packed.shape[1:]), padding_value)
    return padded.index_copy(0, rows, packed).view(batch, length, *packed.shape[1:])
