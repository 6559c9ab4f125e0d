"""Wrong types at the border to C++, in the caller's words: pybind11's message shows every value."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NoReturn, ParamSpec, TypeVar

from torch import Tensor

P = ParamSpec("P")
R = TypeVar("R")
PYBIND_TYPES = {
    " | typing.SupportsIndex": "",  # newer versions add it
    "typing.SupportsInt": "int",
    "typing.SupportsFloat": "float",
    "path: object": "path: str | os.PathLike",
    "collections.abc.": "",
}


def kind(value: Any, depth: int = 2) -> str:
    """The type of a value, and of what a container holds: dict[str, numpy.ndarray]."""
    name = type(value).__qualname__
    if type(value).__module__ != "builtins":
        name = f"{type(value).__module__}.{name}"
    if not depth or type(value) not in (dict, list, tuple):
        return name
    parts = [value.keys(), value.values()] if isinstance(value, Mapping) else [value]
    inside = [" | ".join(dict.fromkeys(kind(item, depth - 1) for item in part)) for part in parts]
    return f"{name}[{', '.join(inside)}]" if value else f"empty {name}"


def expected_arguments(function: Callable[..., Any]) -> str:
    """What stands between the parentheses of its signature."""
    try:
        parameters = list(inspect.signature(function).parameters.values())
        return ", ".join(str(part).replace("'", "") for part in parameters if part.name != "self")
    except ValueError:  # of C++, where pybind11 writes it into the first line
        line = (function.__doc__ or "").split("\n", 1)[0]
        text = line.rsplit(" -> ", 1)[0].split("(", 1)[-1][:-1]
        for spelled, meant in PYBIND_TYPES.items():
            text = text.replace(spelled, meant)
        return text


def with_clear_types(where: str) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Turns pybind11's TypeError into `[where] wrong types: got ..., expected ...`."""

    def wrap(function: Callable[P, R]) -> Callable[P, R]:
        @functools.wraps(function)
        def call(*args: P.args, **kwargs: P.kwargs) -> R:
            try:
                return function(*args, **kwargs)
            except TypeError as error:
                if "(): incompatible " not in str(error):
                    raise
            code = getattr(function, "__code__", None)  # None for C++'s
            bound = code is not None and code.co_varnames[:1] == ("self",)
            given = [kind(value) for value in args[bound:]]
            given += [f"{name}={kind(value)}" for name, value in kwargs.items()]
            raise TypeError(f"[{where}] wrong types: got ({', '.join(given)}), "
                            f"expected ({expected_arguments(function)})")

        return call

    return wrap


def refuse_step(fields: Iterable[tuple[Any, Any]], loss: Any, weights: Any) -> None:
    """Raises TypeError for the first field that is no tensor with a name, for a loss that cannot be
    called, and for weights that are no numbers.
    """
    for name, value in fields:
        if not isinstance(name, str):
            raise TypeError(f"[trainer.step] wrong type: the batch has a field named {name!r}, a "
                            f"{kind(name)}, expected a str; name fields by strings, or pass a list")
        if not isinstance(value, Tensor):
            raise TypeError(f"[trainer.step] wrong type: batch field \"{name}\" is {kind(value)}, "
                            "expected a torch.Tensor whose first dimension is the sample; convert "
                            "it, or keep it out of the batch")
    if not callable(loss):
        raise TypeError(f"[trainer.step] wrong type: loss is {kind(loss)}, expected a function of "
                        "the batch that returns a scalar tensor")
    if weights is not None and not _are_numbers(weights):
        raise TypeError(f"[trainer.step] wrong type: weights is {kind(weights)}, expected a list "
                        "of numbers, one a sample")


def _are_numbers(values: Any) -> bool:
    return isinstance(values, Sequence) and all(isinstance(value, float | int) for value in values)


def refuse_options(where: str, group: Mapping[str, Any]) -> NoReturn:
    """Raises TypeError that shows a group's options."""
    options = ", ".join(f"{name}={value!r}" for name, value in group.items() if name != "params")
    raise TypeError(f"[{where}] wrong type: an option of param_groups has one that does not fit: "
                    f"{options}; expected numbers, betas of two, and True or False for switches")
