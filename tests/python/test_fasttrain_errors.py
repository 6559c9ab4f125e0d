"""Every error of the library has its twin, with the same message; warnings are Python's."""

import copy
import pickle
import threading
import warnings

import fasttrain as ft
import pytest
import torch
from fasttrain import _native

TWINS = {
    "Error": RuntimeError,
    "InvalidOption": ValueError,
    "Unsupported": NotImplementedError,
    "OutOfMemory": MemoryError,
    "DeviceError": RuntimeError,
    "BadFile": OSError,
    "InternalError": RuntimeError,
}
MESSAGE = '[area.verb] what is wrong: name="é", expected {}; what to do'


@pytest.mark.parametrize(("name", "builtin"), TWINS.items())
def test_each_type_is_its_twin_with_the_message_unchanged(name, builtin):
    with pytest.raises(getattr(ft, name)) as caught:
        _native._throw(name, MESSAGE)
    assert str(caught.value) == MESSAGE
    assert type(caught.value) is getattr(ft, name)
    assert isinstance(caught.value, (builtin,)) and isinstance(caught.value, ft.Error)
    assert type(caught.value).__module__ == "fasttrain"


def test_errors_carry_what_the_library_knows():
    with pytest.raises(ft.BadFile) as file:
        _native._throw("BadFile", "m")
    with pytest.raises(ft.OutOfMemory) as memory:
        _native._throw("OutOfMemory", "m")
    assert (file.value.filename, file.value.offset) == ("file", 7)
    assert (memory.value.estimated_bytes, memory.value.available_bytes) == (3, 2)


def test_a_warning_of_the_library_is_a_python_warning():
    weight = torch.nn.Parameter(torch.zeros(2, dtype=torch.bfloat16))
    with pytest.warns(RuntimeWarning, match=r"\[optim.create\] 1 parameters are in 16 bit"):
        ft.SGD([weight])


def test_a_warning_turned_into_an_error_does_no_harm():
    weight = torch.nn.Parameter(torch.zeros(2, dtype=torch.bfloat16))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ft.SGD([weight])


def test_a_warning_from_another_thread_arrives():
    weight = torch.nn.Parameter(torch.zeros(2, dtype=torch.bfloat16))
    with pytest.warns(RuntimeWarning, match="16 bit"):
        thread = threading.Thread(target=ft.SGD, args=([weight],))
        thread.start()
        thread.join(20)
    assert not thread.is_alive()


@pytest.mark.parametrize("take", [pickle.dumps, copy.copy], ids=["pickle", "copy"])
def test_what_belongs_to_this_process_is_not_pickled(take):
    with pytest.raises(TypeError, match="pickle"):
        take(ft.plan(device="cpu"))
