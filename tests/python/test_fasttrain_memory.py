"""Memory stays flat over many objects and steps."""

import gc
import resource
import weakref

import fasttrain as ft
import torch


def resident_kib():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * resource.getpagesize() // 1024


def growth_kib(repeat, times, warm_up):
    for _ in range(warm_up):
        repeat()
    gc.collect()
    before = resident_kib()
    for _ in range(times):
        repeat()
    gc.collect()
    return resident_kib() - before


def test_a_thousand_runtimes():
    def repeat():
        with ft.Runtime(device="cpu") as runtime:
            str(runtime.plan), runtime.plan.to_dict(), runtime.scaler

    assert growth_kib(repeat, 1000, 50) < 2048


def test_a_thousand_optimizers_and_steps():
    weight = torch.nn.Parameter(torch.ones(4096))

    def repeat():
        optimizer = ft.AdamW([weight])
        weight.grad = torch.ones(4096)
        optimizer.step()
        optimizer.load_state_dict(optimizer.state_dict())
        optimizer.zero_grad()

    assert growth_kib(repeat, 1000, 50) < 2048  # the state alone would be 32 MiB


def test_a_thousand_scaled_steps_and_files(tmp_path):
    weight = torch.nn.Parameter(torch.ones(4096))
    optimizer, scaler = ft.SGD([weight]), ft.GradScaler("cpu")

    def repeat():
        scaler.scale(weight.sum()).backward()
        scaler.step(optimizer)
        scaler.update()
        optimizer.zero_grad()
        ft.save_file({"w": weight}, tmp_path / "w")
        ft.load_file(tmp_path / "w")

    assert growth_kib(repeat, 1000, 50) < 2048


def test_a_thousand_trainers_and_steps():
    model = torch.nn.Linear(64, 64)
    x = torch.ones(8, 64)
    with ft.Runtime(device="cpu") as runtime:
        optimizer = ft.AdamW(runtime.prepare(model).parameters())

        def repeat():
            ft.Trainer(runtime, optimizer).step({"x": x}, lambda part: model(part["x"]).mean())

        assert growth_kib(repeat, 1000, 50) < 2048


def test_nothing_keeps_an_optimizer_or_a_model_alive():
    model = torch.nn.Linear(2, 2)
    runtime = ft.Runtime(device="cpu")
    optimizer = ft.AdamW(runtime.prepare(model).parameters())
    trainer = ft.Trainer(runtime, optimizer)
    trainer.step([torch.ones(2, 2)], lambda part: model(part[0]).sum())
    scaler = ft.GradScaler("cpu")
    scaler.scale(model(torch.ones(1, 2)).sum()).backward()
    scaler.step(optimizer)
    scaler.update()
    gone = [weakref.ref(model), weakref.ref(optimizer), weakref.ref(next(model.parameters()))]
    del model, runtime, optimizer, trainer
    gc.collect()
    assert [reference() for reference in gone] == [None, None, None]
