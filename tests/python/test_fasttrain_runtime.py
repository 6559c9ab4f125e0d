"""The runtime: settings made and put back, models prepared, autocast, evaluation."""

import fasttrain as ft
import pytest
import torch
from torch import nn


@pytest.fixture(autouse=True)
def threads_stay():
    before = torch.get_num_threads()
    yield
    assert torch.get_num_threads() == before


def other_than(threads):
    return 1 if threads != 1 else 2


def test_settings_are_restored_at_exit_and_the_plan_stays_readable():
    before = torch.get_num_threads()
    with ft.Runtime(device="cpu", threads=other_than(before)) as runtime:
        assert torch.get_num_threads() == other_than(before)
    assert torch.get_num_threads() == before
    assert runtime.plan.to_dict()["threads"]["value"] == str(other_than(before))
    runtime.close()
    assert torch.get_num_threads() == before


def test_settings_are_restored_by_an_exception_and_by_the_end_of_the_object():
    before = torch.get_num_threads()
    with pytest.raises(KeyError), ft.Runtime(device="cpu", threads=other_than(before)):
        raise KeyError
    assert torch.get_num_threads() == before
    runtime = ft.Runtime(device="cpu", threads=other_than(before))
    assert torch.get_num_threads() == other_than(before)
    del runtime
    assert torch.get_num_threads() == before


def test_seed_makes_numbers_repeat():
    def numbers(seed):
        with ft.Runtime(device="cpu", seed=seed) as runtime:
            assert runtime.seed == seed
            return torch.rand(3)

    assert torch.equal(numbers(3), numbers(3)) and not torch.equal(numbers(3), numbers(4))


def test_prepare_completes_the_plan_and_returns_the_module():
    model = nn.Sequential(nn.Conv2d(3, 8, 3), nn.Flatten(), nn.Linear(288, 2))
    with ft.Runtime(device="cpu", memory_format="channels_last") as runtime:
        assert runtime.plan.to_dict()["memory_format"]["value"].startswith(("pending", "channels_last"))
        assert runtime.prepare(model) is model
        assert runtime.plan.to_dict()["memory_format"]["value"] == "channels_last"
        assert runtime.device == torch.device("cpu")
    assert model[0].weight.is_contiguous(memory_format=torch.channels_last)


def test_prepare_sees_convolutions_of_python_modules():
    def reason(model):
        with ft.Runtime(device="cpu", precision="fp32") as runtime:
            assert "pending" in runtime.plan.to_dict()["memory_format"]["value"]
            runtime.prepare(model)
            return runtime.plan.to_dict()["memory_format"]["reason"]

    assert "no convolutions" in reason(nn.Linear(2, 2))
    assert "no convolutions" not in reason(nn.Sequential(nn.Linear(2, 2), nn.ConvTranspose2d(2, 2, 1)))


@pytest.mark.parametrize(("precision", "dtype"), [("fp32", torch.float32), ("bf16", torch.bfloat16)])
def test_autocast_is_the_planned_precision(precision, dtype):
    with ft.Runtime(device="cpu", precision=precision) as runtime:
        model = runtime.prepare(nn.Linear(4, 4))
        with runtime.autocast():
            assert model(torch.ones(2, 4)).dtype == dtype
        assert model(torch.ones(2, 4)).dtype == torch.float32


def test_eval_puts_every_layers_mode_back():
    with ft.Runtime(device="cpu") as runtime:
        model = runtime.prepare(nn.Sequential(nn.Linear(4, 4), nn.Dropout(0.5), nn.BatchNorm1d(4)))
        model[2].eval()
        with pytest.raises(KeyError), runtime.eval():
            assert not model.training and not model[1].training and not torch.is_grad_enabled()
            raise KeyError
        assert model.training and model[1].training and not model[2].training and torch.is_grad_enabled()


def test_scaler_is_disabled_where_the_plan_does_not_scale():
    with ft.Runtime(device="cpu", precision="bf16") as runtime:
        assert not runtime.scaler.is_enabled() and runtime.scaler is runtime.scaler
