"""What objects print as, and which of them are pickled and copied."""

import copy
import pickle

import fasttrain as ft
import pytest
import torch

SCHEDULES = [
    ft.constant(3),
    ft.linear_warmup(2, 30),
    ft.cosine(1, 20, 1.5, 0.1),
    ft.inverse_sqrt(4),
    ft.one_cycle(10, 0.2, 20.0, 1e3),
]
both = pytest.mark.parametrize(
    "again", [lambda thing: pickle.loads(pickle.dumps(thing)), copy.deepcopy], ids=["pickle", "deepcopy"]
)


@both
@pytest.mark.parametrize("schedule", SCHEDULES, ids=repr)
def test_schedules_are_data_and_print_as_their_call(again, schedule):
    assert again(schedule) == schedule
    assert eval(f"ft.{schedule!r}") == schedule


def test_a_schedule_prints_the_numbers():
    assert repr(ft.linear_warmup(2, 30)) == "linear_warmup(2, 30)"


@both
def test_reports_are_data(again):
    weight = torch.nn.Parameter(torch.zeros(1))
    with ft.Runtime(device="cpu", precision="fp32") as runtime:
        report = ft.Trainer(runtime, ft.SGD([weight])).step([torch.ones(2)], lambda part: (weight * part[0]).mean())
    assert repr(report) == (
        "StepReport(step=0, samples=2, weight=2.0, latest=StepValues(step=0, applied=True, loss=0.0, "
        "grad_norm=1.0, lr_factor=1.0, loss_scale=1.0, skipped_in_row=0))"
    )
    assert repr(again(report)) == repr(report)
    assert again(report.latest).grad_norm == 1.0


def test_a_plan_prints_its_decisions_in_one_line():
    text = repr(ft.plan(device="cpu", threads=2))
    assert text.startswith("<fasttrain.Plan device=cpu, precision=") and ", threads=2, " in text and "\n" not in text


@pytest.mark.parametrize("take", [pickle.dumps, copy.copy, copy.deepcopy], ids=["pickle", "copy", "deepcopy"])
def test_what_belongs_to_this_process_is_refused_with_a_reason(take):
    with ft.Runtime(device="cpu") as runtime:
        trainer = ft.Trainer(runtime, ft.SGD([torch.nn.Parameter(torch.zeros(1))]))
        assert repr(trainer) == "<fasttrain.Trainer of SGD, 0 steps taken>"
        for thing, reason in [(runtime.plan, "to_dict"), (runtime, "settings of this process"), (trainer, "state dicts")]:
            with pytest.raises(TypeError, match=f"cannot pickle a fasttrain.*: .*{reason}"):
                take(thing)


def iterate(scaler, weight, optimizer):
    scaler.scale(weight.sum()).backward()
    scaler.step(optimizer)
    scaler.update()


@both
def test_a_scaler_goes_on_where_it_was(again):
    weight = torch.nn.Parameter(torch.ones(2))
    optimizer = ft.SGD([weight])
    scaler = ft.GradScaler("cpu", 8.0, growth_factor=4.0, backoff_factor=0.25, growth_interval=3)
    iterate(scaler, weight, optimizer)
    copied = again(scaler)
    assert copied.state_dict() == scaler.state_dict() and copied.get_scale() == 8.0
    for _ in range(2):
        iterate(copied, weight, optimizer)
    assert copied.get_scale() == 32.0 and scaler.get_scale() == 8.0
    assert not again(ft.GradScaler("cpu", enabled=False)).is_enabled()


def test_a_scaler_in_mid_iteration_is_refused():
    weight = torch.nn.Parameter(torch.ones(2))
    optimizer, scaler = ft.SGD([weight]), ft.GradScaler("cpu")
    scaler.scale(weight.sum()).backward()
    scaler.unscale_(optimizer)
    with pytest.raises(TypeError, match=r"between unscale_\(\) or step\(\) and update\(\)"):
        pickle.dumps(scaler)
