"""The gradient scaler is torch.amp's: decisions, state dict, optimizers of either kind."""

import fasttrain as ft
import pytest
import torch

OPTIMIZERS = {"ours": ft.AdamW, "theirs": torch.optim.AdamW}
SCALERS = {"ours": ft.GradScaler, "theirs": torch.amp.GradScaler}
OPTIONS = {"init_scale": 8.0, "growth_interval": 3, "growth_factor": 4.0, "backoff_factor": 0.5}
GRADIENTS = [1.0, 2.0, float("inf"), 0.5, 1.0, -2.0, float("nan"), float("nan"), 3.0, 1.0]


def train(scaler_type, optimizer_type, clip=False, optimizer_options=None):
    """Weights and scale after each iteration; a gradient of the list goes into each."""
    weight = torch.nn.Parameter(torch.tensor([1.0, -1.0]))
    optimizer = optimizer_type([weight], lr=0.1, **(optimizer_options or {}))
    scaler = scaler_type("cpu", **OPTIONS)
    seen = []
    for gradient in GRADIENTS:
        scaler.scale((weight * torch.tensor([gradient, 1.0])).sum()).backward()
        if clip:
            scaler.unscale_(optimizer)
            torch.nn.utils.clip_grad_norm_([weight], 0.5)
        scaler.step(optimizer)
        scaler.update()
        optimizer.zero_grad()
        seen.append([*weight.tolist(), scaler.get_scale()])
    return torch.tensor(seen, dtype=torch.float64), scaler


@pytest.mark.parametrize("clip", [False, True], ids=["", "clipped"])
@pytest.mark.parametrize("optimizer", OPTIMIZERS)
@pytest.mark.parametrize("scaler", SCALERS)
def test_every_pair_decides_as_pytorchs(scaler, optimizer, clip):
    expected, _ = train(torch.amp.GradScaler, torch.optim.AdamW, clip)
    got, _ = train(SCALERS[scaler], OPTIMIZERS[optimizer], clip)
    torch.testing.assert_close(got, expected, rtol=1e-6, atol=1e-6)
    assert {row[2] for row in got.tolist()} == {4.0, 8.0, 16.0}  # the scale did grow and back off


def test_a_fused_optimizer_of_pytorch_works_too():
    expected, _ = train(torch.amp.GradScaler, torch.optim.AdamW)
    got, _ = train(ft.GradScaler, torch.optim.AdamW, optimizer_options={"fused": True})
    torch.testing.assert_close(got, expected, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize(("saver", "reader"), [("ours", "theirs"), ("theirs", "ours")])
def test_each_loads_the_others_state(saver, reader):
    _, saved = train(SCALERS[saver], torch.optim.AdamW)
    other = SCALERS[reader]("cpu")
    other.scale(torch.ones(1))
    other.load_state_dict(saved.state_dict())
    got, expected = other.state_dict(), saved.state_dict()
    assert got == expected
    assert {key: type(value) for key, value in got.items()} == {key: type(value) for key, value in expected.items()}


def test_step_returns_what_the_optimizer_returns_and_passes_arguments_on():
    weight = torch.nn.Parameter(torch.ones(1))
    optimizer, scaler = ft.SGD([weight]), ft.GradScaler("cpu")
    scaler.scale(weight.sum()).backward()
    assert scaler.step(optimizer, lambda: "loss") == "loss"
    scaler.update(32.0)
    assert scaler.get_scale() == 32.0
    scaler.scale(weight.sum() * float("inf")).backward()
    assert scaler.step(optimizer) is None


def test_calls_out_of_order_are_refused():
    weight = torch.nn.Parameter(torch.ones(1))
    optimizer, scaler = ft.SGD([weight]), ft.GradScaler("cpu")
    with pytest.raises(ft.InvalidOption, match="scale\\(\\) was never called"):
        scaler.step(optimizer)
    scaler.scale(weight.sum()).backward()
    scaler.unscale_(optimizer)
    with pytest.raises(ft.InvalidOption, match="already called"):
        scaler.unscale_(optimizer)
    with pytest.raises(ft.InvalidOption, match="is missing"):
        scaler.load_state_dict({"scale": 1.0})


def test_a_disabled_scaler_passes_everything_through():
    weight = torch.nn.Parameter(torch.ones(1))
    optimizer, scaler = ft.SGD([weight], lr=1.0), ft.GradScaler("cpu", enabled=False)
    loss = weight.sum()
    assert scaler.scale([loss, (loss,)]) == [loss, (loss,)]
    loss.backward()
    scaler.step(optimizer)
    scaler.update()
    assert weight.item() == 0 and scaler.state_dict() == {} and scaler.get_scale() == 1


def test_without_cuda_the_default_is_disabled_with_a_warning():
    if torch.cuda.is_available():
        pytest.skip("there is a CUDA device")
    with pytest.warns(UserWarning, match="no CUDA device"):
        assert not ft.GradScaler().is_enabled()


def test_an_exception_in_the_optimizer_comes_out():
    weight = torch.nn.Parameter(torch.ones(1))
    optimizer, scaler = torch.optim.SGD([weight]), ft.GradScaler("cpu")
    optimizer.register_step_pre_hook(lambda *_: {}["key"])
    scaler.scale(weight.sum()).backward()
    with pytest.raises(KeyError, match="key"):
        scaler.step(optimizer)
