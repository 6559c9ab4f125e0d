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


def step(batch, weights=None):
    model = torch.nn.Linear(3, 2)
    with ft.Runtime(device="cpu", threads=1) as runtime:
        trainer = ft.Trainer(runtime, ft.AdamW(model.parameters()))
        return trainer.step(batch, lambda part: model(part["x"]).sum(), weights)


def trainer(**options):
    with ft.Runtime(device="cpu", threads=1) as runtime:
        return ft.Trainer(runtime, ft.AdamW(torch.nn.Linear(3, 2).parameters()), **options)


def optimizer(**options):
    return ft.AdamW(torch.nn.Linear(3, 2).parameters(), **options)


X = torch.ones(4, 3)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: step({"x": X, "names": ["a"] * 4}), r'trainer.step.*field "names" is list\[str\], expected a torch.Tensor'),
        (lambda: step({"x": {"y": X}}), r'trainer.step.*field "x" is dict\[str, torch.Tensor\]'),
        (lambda: step({"x": X, 7: X}), r"trainer.step.*named 7, a int, expected a str"),
        (lambda: step(3), r"trainer.step.*the batch is int, expected a dict or a list"),
        (lambda: step("x"), r"trainer.step.*the batch is str"),
        (lambda: step({"x": X}, ["a"] * 4), r"trainer.step.*weights is list\[str\], expected a list of numbers"),
        (lambda: trainer(schedule=lambda step: 1.0), r"trainer.make.*schedule=function\), expected .*Schedule"),
        (lambda: trainer(clip_norm="1"), r"trainer.make.*clip_norm=str\), expected .*clip_norm: float"),
        (lambda: ft.Trainer(None, optimizer()), r"takes a fasttrain.Runtime first, got a NoneType"),
        (lambda: ft.linear_warmup(10.0, 100), r"schedule.linear.*\(float, int\), expected \(warmup_steps: int, total_steps: int\)"),
        (lambda: ft.save_file({"a": {"b": X}}, "f"), r"safetensors.save.*dict\[str, dict\[str, torch.Tensor\]\], str\), expected"),
        (lambda: ft.load_file("f", device="cpu"), r"safetensors.load.*device=str\), expected \(path: str"),
        (lambda: ft.clip_grad_norm_([1], 1.0), r"optim.clip_grad_norm.*list\[int\], float\), expected \(parameters: Tensor"),
        (lambda: optimizer(maximize="yes"), r"optim.options.*maximize='yes'"),
        (lambda: optimizer(skip_non_finite="no"), r"optim.make.*skip_non_finite='no', expected True or False"),
        (lambda: ft.GradScaler("cpu").update("x"), r"amp.update.*\(str\), expected \(new_scale: float"),
        (lambda: ft.Runtime(device="cpu").prepare([X]), r"runtime.prepare.*list\[torch.Tensor\], expected a torch.nn.Module"),
    ],
)
def test_wrong_types_are_said_in_the_callers_words(call, message):
    with pytest.raises(TypeError, match=message) as caught:
        call()
    assert "incompatible" not in str(caught.value) and "tensor(" not in str(caught.value)


@pytest.mark.parametrize("text", ["mine", "f(): incompatible function arguments"])
def test_a_type_error_of_the_loss_comes_out_as_it_is(text):
    def loss(part):
        raise TypeError(text)

    with pytest.raises(TypeError) as caught, ft.Runtime(device="cpu", threads=1) as runtime:
        ft.Trainer(runtime, optimizer()).step({"x": X}, loss)
    assert str(caught.value) == text
