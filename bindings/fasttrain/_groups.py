"""param_groups as the library takes them."""

from __future__ import annotations

from typing import Any

from torch import Tensor


def named_groups(param_groups: list[dict[str, Any]]) -> list[list[tuple[str, Tensor]]]:
    """Each parameter of each group with its name, or else its place: errors name parameters."""
    named = []
    for number, group in enumerate(param_groups):
        parameters = group["params"]
        places = [f"param_groups[{number}]['params'][{index}]" for index in range(len(parameters))]
        named.append(list(zip(group.get("param_names") or places, parameters, strict=True)))
    return named
