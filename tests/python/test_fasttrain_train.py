"""The C++ step with models, losses, Functions and hooks of Python's."""

import copy
import signal
import threading

import fasttrain as ft
import pytest
import torch
from torch import nn

X, Y = torch.randn(16, 8, generator=torch.Generator().manual_seed(0)), torch.arange(16) % 4


def make_model():
    torch.manual_seed(5)
    return nn.Sequential(nn.Linear(8, 16), nn.GELU(), nn.Linear(16, 4))


@pytest.fixture
def runtime():
    with ft.Runtime(device="cpu", precision="fp32") as runtime:
        yield runtime


def loss_of(model):
    return lambda part: nn.functional.cross_entropy(model(part["x"]), part["y"])


def plain_loop(model, steps, clip):
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
    scheduler = torch.optim.lr_scheduler.LambdaLR(optimizer, ft.linear_warmup(2, steps).factor)
    for _ in range(steps):
        nn.functional.cross_entropy(model(X), Y).backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), clip)
        optimizer.step()
        scheduler.step()
        optimizer.zero_grad()


@pytest.mark.parametrize("accumulate", [1, 4])
def test_steps_equal_the_plain_loop(accumulate):
    ours, theirs = make_model(), make_model()
    with ft.Runtime(device="cpu", precision="fp32", accumulate=accumulate) as runtime:
        optimizer = ft.AdamW(runtime.prepare(ours).parameters(), lr=1e-2)
        trainer = ft.Trainer(runtime, optimizer, clip_norm=0.3, schedule=ft.linear_warmup(2, 30))
        sizes = []
        for step in range(30):
            report = trainer.step({"x": X, "y": Y}, lambda part: (sizes.append(len(part["x"])), loss_of(ours)(part))[1])
            assert (report.step, report.samples, report.latest.applied) == (step, 16, True)
    plain_loop(theirs, 30, 0.3)
    assert set(sizes) == {16 // accumulate} and trainer.steps == trainer.applied_steps() == 30
    for a, b in zip(ours.parameters(), theirs.parameters(), strict=True):
        torch.testing.assert_close(a, b, rtol=1e-5, atol=1e-6)
    assert optimizer.state[ours[0].weight]["step"].item() == 30
    assert all(p.grad is None for p in ours.parameters())


@pytest.mark.parametrize("form", [lambda x, y: {"x": x, "y": y}, lambda x, y: [x, y], lambda x, y: (x, y)])
def test_batches_by_name_and_in_order(runtime, form):
    model = runtime.prepare(make_model())
    trainer = ft.Trainer(runtime, ft.SGD(model.parameters()))

    def loss(part):
        x, y = (part["x"], part["y"]) if isinstance(part, dict) else part
        return nn.functional.cross_entropy(model(x), y)

    report = trainer.step(form(X, Y), loss)
    assert report.latest.loss == pytest.approx(nn.functional.cross_entropy(make_model()(X), Y).item())
    assert trainer.values(report).grad_norm > 0
    assert trainer.step(X, lambda x: model(x).sum()).samples == 16


def test_python_functions_and_hooks_run_in_backward(runtime):
    """Autograd calls them from C++, under the GIL it takes itself."""
    seen = []

    class Double(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, gradient):
            seen.append("function")
            return gradient * 2

    model = runtime.prepare(make_model())
    model[0].register_forward_hook(lambda *_: seen.append("module"))
    model[0].weight.register_hook(lambda gradient: seen.append("tensor"))
    model[0].bias.register_post_accumulate_grad_hook(lambda parameter: seen.append("accumulated"))
    trainer = ft.Trainer(runtime, ft.AdamW(model.parameters()))
    trainer.step({"x": X, "y": Y}, lambda part: Double.apply(model(part["x"])).square().mean())
    assert sorted(seen) == ["accumulated", "function", "module", "tensor"]


@pytest.mark.parametrize("where", ["loss", "hook"])
def test_an_exception_comes_out_and_changes_nothing(runtime, where):
    model = runtime.prepare(make_model())
    before = copy.deepcopy(model.state_dict())
    optimizer = ft.AdamW(model.parameters())
    trainer = ft.Trainer(runtime, optimizer)

    def fail(*_):
        raise KeyError(where)

    def loss(part):
        value = loss_of(model)(part)
        if where == "loss":
            fail()
        value.register_hook(fail)
        return value

    with pytest.raises(KeyError, match=where):
        trainer.step({"x": X, "y": Y}, loss)
    assert all(torch.equal(value, before[name]) for name, value in model.state_dict().items())
    assert len(optimizer.state) == 0 and all(p.grad is None for p in model.parameters())
    assert trainer.step({"x": X, "y": Y}, loss_of(model)).latest.applied


def test_interrupt_in_mid_step_comes_out_and_training_goes_on(runtime):
    model = runtime.prepare(make_model())
    trainer = ft.Trainer(runtime, ft.AdamW(model.parameters()))

    def interrupted(part):
        signal.raise_signal(signal.SIGINT)
        return loss_of(model)(part)

    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # a job in the background ignores it
    try:
        with pytest.raises(KeyboardInterrupt):
            trainer.step({"x": X, "y": Y}, interrupted)
    finally:
        signal.signal(signal.SIGINT, before)
    assert trainer.step({"x": X, "y": Y}, loss_of(model)).latest.applied


def test_two_trainers_in_two_threads(runtime):
    models = [runtime.prepare(make_model()) for _ in range(2)]
    expected = make_model()
    plain_loop(expected, 20, 1.0)

    def train(model):
        trainer = ft.Trainer(runtime, ft.AdamW(model.parameters(), lr=1e-2), clip_norm=1.0, schedule=ft.linear_warmup(2, 20))
        for _ in range(20):
            trainer.step({"x": X, "y": Y}, loss_of(model))

    threads = [threading.Thread(target=train, args=(model,), daemon=True) for model in models]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(100)
        assert not thread.is_alive()
    for model in models:
        for a, b in zip(model.parameters(), expected.parameters(), strict=True):
            torch.testing.assert_close(a, b, rtol=1e-5, atol=1e-6)


def test_learning_rates_of_param_groups_are_read_at_every_step(runtime):
    weight = nn.Parameter(torch.zeros(1))
    optimizer = ft.SGD([weight], lr=1.0)
    trainer = ft.Trainer(runtime, optimizer)
    for lr, expected in ((1.0, -1.0), (0.25, -1.25)):
        optimizer.param_groups[0]["lr"] = lr
        trainer.step([torch.ones(1)], lambda part: (weight * part[0]).sum())
        assert weight.item() == expected


def test_autocast_holds_in_the_loss_function_and_not_after():
    with ft.Runtime(device="cpu", precision="bf16") as runtime:
        model = runtime.prepare(make_model())
        seen = []
        trainer = ft.Trainer(runtime, ft.AdamW(model.parameters()))
        trainer.step([X], lambda part: (seen.append(model(part[0]).dtype), model(part[0]).float().sum())[1])
        assert seen == [torch.bfloat16] and model(X).dtype == torch.float32


@pytest.mark.parametrize(
    ("loss", "message"),
    [
        (lambda part: 3.0, "returned .*float.*, expected a tensor"),
        (lambda part: part["x"].sum(), "does not depend on any parameter"),
        (lambda part: None, "returned .*NoneType"),
    ],
)
def test_a_loss_that_is_none_is_refused(runtime, loss, message):
    model = runtime.prepare(make_model())
    with pytest.raises(ft.InvalidOption, match=message):
        ft.Trainer(runtime, ft.AdamW(model.parameters())).step({"x": X, "y": Y}, loss)


def test_batches_and_options_that_are_wrong_are_refused(runtime):
    model = runtime.prepare(make_model())
    optimizer = ft.AdamW(model.parameters())
    with pytest.raises(ft.InvalidOption, match="clip_norm=0"):
        ft.Trainer(runtime, optimizer, clip_norm=0.0)
    with pytest.raises(TypeError, match="got a torch.optim.adamw.AdamW"):
        ft.Trainer(runtime, torch.optim.AdamW(model.parameters()))
    trainer = ft.Trainer(runtime, optimizer)
    with pytest.raises(ft.InvalidOption):
        trainer.step({"x": X, "y": Y[:3]}, loss_of(model))
    with pytest.raises(ft.InvalidOption):
        trainer.step({"x": X, "y": Y}, loss_of(model), weights=[1.0])
    optimizer.load_state_dict(optimizer.state_dict())
    with pytest.raises(ft.InvalidOption, match="make a new Trainer"):
        trainer.step({"x": X, "y": Y}, loss_of(model))


def test_endless_skipping_is_an_error_that_names_the_parameter(runtime):
    model = runtime.prepare(make_model())
    trainer = ft.Trainer(runtime, ft.AdamW(model.parameters()), max_skips_in_row=2)
    nan = {"x": torch.full_like(X, float("nan")), "y": Y}
    assert not trainer.step(nan, loss_of(model)).latest.applied
    with pytest.raises(ft.Error, match=r"not finite, now in param_groups\[0\]"):
        trainer.step(nan, loss_of(model))


def test_weights_are_what_the_loss_is_a_mean_over():
    def gradient(weights):
        weight = nn.Parameter(torch.zeros(1))
        with ft.Runtime(device="cpu", accumulate=2) as runtime:
            trainer = ft.Trainer(runtime, ft.SGD([weight], lr=1.0))
            trainer.step([torch.tensor([1.0, 3.0])], lambda part: (weight * part[0]).mean(), weights)
        return -weight.item()

    assert gradient(None) == 2.0 and gradient([3.0, 1.0]) == 1.5


def test_parameters_put_into_the_groups_end_a_trainer(runtime):
    model = runtime.prepare(make_model())
    optimizer = ft.AdamW(model.parameters())
    trainer = ft.Trainer(runtime, optimizer)
    trainer.step({"x": X, "y": Y}, loss_of(model))
    model[0].weight = optimizer.param_groups[0]["params"][0] = nn.Parameter(torch.ones(16, 8))
    with pytest.raises(ft.InvalidOption, match="make a new Trainer"):
        trainer.step({"x": X, "y": Y}, loss_of(model))
    ft.Trainer(runtime, optimizer).step({"x": X, "y": Y}, loss_of(model))
    assert not torch.equal(model[0].weight, torch.ones(16, 8))
