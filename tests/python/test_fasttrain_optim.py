"""AdamW and SGD are torch.optim's: numbers, groups, schedulers, hooks, state dicts."""

import copy
import pickle

import fasttrain as ft
import pytest
import torch

SHAPES = [(7, 5), (5,), (), (3, 2, 4)]
CASES = {
    "adamw": (ft.AdamW, torch.optim.AdamW, {}),
    "adamw_all": (ft.AdamW, torch.optim.AdamW, {"betas": (0.8, 0.95), "eps": 1e-6, "weight_decay": 0.1, "amsgrad": True}),
    "adamw_maximize": (ft.AdamW, torch.optim.AdamW, {"maximize": True}),
    "sgd": (ft.SGD, torch.optim.SGD, {"weight_decay": 0.1}),
    "sgd_momentum": (ft.SGD, torch.optim.SGD, {"momentum": 0.9, "dampening": 0.2, "maximize": True}),
    "sgd_nesterov": (ft.SGD, torch.optim.SGD, {"momentum": 0.9, "nesterov": True}),
}
each_case = pytest.mark.parametrize("case", CASES.values(), ids=CASES)


def parameters(dtype=torch.float32):
    generator = torch.Generator().manual_seed(1)
    return [torch.nn.Parameter(torch.randn(shape, generator=generator).to(dtype)) for shape in SHAPES]


def set_gradients(step, *lists, dtype=torch.float32):
    generator = torch.Generator().manual_seed(100 + step)
    for index, shape in enumerate(SHAPES):
        gradient = torch.randn(shape, generator=generator).to(dtype)
        for parameters in lists:
            parameters[index].grad = gradient.clone()


def assert_close(ours, theirs):
    for a, b in zip(ours, theirs, strict=True):
        torch.testing.assert_close(a, b, rtol=1e-6, atol=1e-6)


def grouped(params, lr):
    return [{"params": params[:2], "lr": lr}, {"params": params[2:], "lr": lr / 3, "weight_decay": 0.3}]


def pair(case, lr=1e-2, groups=grouped):
    ours_type, theirs_type, options = case
    ours, theirs = parameters(), parameters()
    return ours, theirs, ours_type(groups(ours, lr), **options), theirs_type(groups(theirs, lr), **options)


@each_case
def test_fifty_steps_with_groups_and_a_scheduler_equal_pytorch(case):
    ours, theirs, a, b = pair(case)
    schedulers = [torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, 40) for optimizer in (a, b)]
    for step in range(50):
        set_gradients(step, ours, theirs)
        for optimizer, scheduler in zip((a, b), schedulers, strict=True):
            optimizer.step()
            scheduler.step()
            optimizer.zero_grad()
    assert ours[0].grad is None
    assert_close(ours, theirs)


@pytest.mark.parametrize("name", ["adamw", "sgd_momentum"])
def test_a_schedule_that_moves_the_momentum_too(name):
    ours, theirs, a, b = pair(CASES[name])
    schedulers = [torch.optim.lr_scheduler.OneCycleLR(optimizer, max_lr=0.05, total_steps=30) for optimizer in (a, b)]
    for step in range(29):
        set_gradients(step, ours, theirs)
        for optimizer, scheduler in zip((a, b), schedulers, strict=True):
            optimizer.step()
            scheduler.step()
    assert_close(ours, theirs)


@each_case
@pytest.mark.parametrize("ours_saves", [True, False], ids=["torch_loads_ours", "we_load_torchs"])
def test_each_loads_the_others_state(case, ours_saves, tmp_path):
    ours, theirs, a, b = pair(case)
    for step in range(5):
        set_gradients(step, ours, theirs)
        a.step()
        b.step()
    saver, weights = (a, ours) if ours_saves else (b, theirs)
    torch.save(saver.state_dict(), tmp_path / "state.pt")
    state = torch.load(tmp_path / "state.pt", weights_only=True)
    new_a, new_b, c, d = pair(case, lr=123.0)
    reader, read = (d, new_b) if ours_saves else (c, new_a)
    for target, source in zip(read, weights, strict=True):
        target.data.copy_(source.data)
    reader.load_state_dict(state)
    assert reader.param_groups[1]["lr"] == 1e-2 / 3
    for step in range(5, 30):
        set_gradients(step, read, weights)
        reader.step()
        saver.step()
    assert_close(read, weights)


@each_case
def test_the_state_dict_has_pytorchs_layout(case):
    ours, theirs, a, b = pair(case)
    set_gradients(0, ours, theirs)
    a.step()
    b.step()
    got, expected = a.state_dict(), b.state_dict()
    assert got["state"].keys() == expected["state"].keys()
    for index in got["state"]:
        entry, twin = got["state"][index], expected["state"][index]
        assert {k: (v.shape, v.dtype) for k, v in entry.items()} == {k: (v.shape, v.dtype) for k, v in twin.items()}
    assert got["param_groups"] == expected["param_groups"]


def test_state_is_live_and_shared_with_the_step():
    weight = torch.nn.Parameter(torch.zeros(3))
    optimizer = ft.AdamW([weight])
    assert len(optimizer.state) == 0
    weight.grad = torch.ones(3)
    optimizer.step()
    before = optimizer.state[weight]["exp_avg"].clone()
    optimizer.step()
    assert optimizer.state[weight]["step"].item() == 2
    assert not torch.equal(optimizer.state[weight]["exp_avg"], before)
    optimizer.state[weight]["exp_avg"].zero_()
    optimizer.step()
    torch.testing.assert_close(optimizer.state[weight]["exp_avg"], torch.full((3,), 0.1))


def test_parameters_without_gradients_stay_and_get_state_later():
    a, b = (torch.nn.Parameter(torch.ones(2)) for _ in range(2))
    optimizer = ft.AdamW([a, b])
    a.grad = torch.ones(2)
    optimizer.step()
    assert torch.equal(b, torch.ones(2)) and list(optimizer.state) == [a]
    again = ft.AdamW([a, b])
    again.load_state_dict(optimizer.state_dict())
    b.grad = torch.ones(2)
    again.step()
    assert again.state[a]["step"].item() == 2 and again.state[b]["step"].item() == 1


def test_a_group_added_later_trains_and_the_others_keep_their_state():
    ours, theirs = parameters(), parameters()
    a, b = (kind(p[:2], lr=1e-2) for kind, p in ((ft.AdamW, ours), (torch.optim.AdamW, theirs)))
    for step in range(10):
        if step == 4:
            for optimizer, p in ((a, ours), (b, theirs)):
                optimizer.add_param_group({"params": p[2:], "lr": 1e-3})
        set_gradients(step, ours, theirs)
        a.step()
        b.step()
    assert_close(ours, theirs)


def test_a_group_that_cannot_be_trained_is_not_added():
    optimizer = ft.AdamW(parameters())
    with pytest.raises(ft.InvalidOption, match="expected a floating-point type"):
        optimizer.add_param_group({"params": [torch.zeros(2, dtype=torch.int64)]})
    assert len(optimizer.param_groups) == 1


@pytest.mark.parametrize("take", [copy.deepcopy, lambda o: pickle.loads(pickle.dumps(o))], ids=["deepcopy", "pickle"])
def test_copies_have_their_own_state(take):
    weight = torch.nn.Parameter(torch.ones(2))
    optimizer = ft.AdamW([weight], skip_non_finite=False)
    weight.grad = torch.ones(2)
    optimizer.step()
    twin = take(optimizer)
    twin.param_groups[0]["params"][0].grad = torch.ones(2)
    twin.step()
    assert not twin.skip_non_finite
    assert [state["step"].item() for o in (optimizer, twin) for state in o.state.values()] == [1, 2]


def test_hooks_and_closures_run():
    weight = torch.nn.Parameter(torch.ones(2))
    optimizer = ft.SGD([weight], lr=0.5)
    seen = []
    optimizer.register_step_pre_hook(lambda *_: seen.append("before"))
    optimizer.register_step_post_hook(lambda *_: seen.append("after"))

    def closure():
        seen.append(torch.is_grad_enabled())
        optimizer.zero_grad()
        loss = weight.sum()
        loss.backward()
        return loss

    with torch.no_grad():
        assert optimizer.step(closure).item() == 2
    assert seen == ["before", True, "after"] and torch.equal(weight.detach(), torch.full((2,), 0.5))
    assert isinstance(optimizer, torch.optim.Optimizer) and isinstance(optimizer, torch.optim.SGD)


def test_autograd_notices_weights_that_changed_under_its_graph():
    weight = torch.nn.Parameter(torch.ones(2))
    loss = (weight * weight).sum()
    weight.grad = torch.ones(2)
    ft.SGD([weight]).step()
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        loss.backward()


@pytest.mark.parametrize("bad", [float("nan"), float("inf")])
def test_a_gradient_that_is_not_finite_skips_the_step_unless_told_otherwise(bad):
    for skip in (True, False):
        weight = torch.nn.Parameter(torch.ones(2))
        optimizer = ft.AdamW([weight], skip_non_finite=skip)
        weight.grad = torch.tensor([1.0, bad])
        optimizer.step()
        assert torch.isfinite(weight).all() == skip and len(optimizer.state) == (0 if skip else 1)


def test_other_dtypes_go_through_pytorchs_operator():
    ours, theirs = parameters(torch.float64), parameters(torch.float64)
    a, b = ft.AdamW(ours), torch.optim.AdamW(theirs)
    for step in range(20):
        set_gradients(step, ours, theirs, dtype=torch.float64)
        a.step()
        b.step()
    assert_close(ours, theirs)


def test_errors_name_the_parameter():
    named = [("encoder.weight", torch.nn.Parameter(torch.ones(2)))]
    optimizer = ft.AdamW(named)
    named[0][1].grad = torch.sparse_coo_tensor([[0]], [1.0], (2,), check_invariants=True)
    optimizer.step()  # rows of a sparse gradient are fine
    matrix = torch.nn.Parameter(torch.ones(2, 2))
    matrix.grad = torch.ones(2, 2).to_sparse()
    with pytest.raises(ft.Unsupported, match=r'gradient of "param_groups\[0\]\[.*params.*\]\[0\]" is sparse'):
        ft.AdamW([matrix]).step()
    optimizer.param_groups[0]["lr"] = -1.0
    with pytest.raises(ft.InvalidOption, match="lr=-1"):
        optimizer.step()


def test_what_decides_the_state_cannot_change():
    optimizer = ft.SGD(parameters(), momentum=0.9)
    optimizer.param_groups[0]["momentum"] = 0.0
    with pytest.raises(ft.InvalidOption, match="momentum=0"):
        optimizer.step()
    a, b = parameters()[:2]
    with pytest.raises(ft.InvalidOption, match="amsgrad"):
        ft.AdamW([{"params": [a], "amsgrad": True}, {"params": [b], "amsgrad": False}])


def test_a_state_that_does_not_fit_is_refused_and_nothing_changes():
    weight = torch.nn.Parameter(torch.ones(2))
    optimizer = ft.AdamW([weight], lr=0.5)
    weight.grad = torch.ones(2)
    optimizer.step()
    state = copy.deepcopy(optimizer.state_dict())
    state["param_groups"][0]["lr"] = 7.0
    state["state"][0]["exp_avg"] = torch.ones(3)
    with pytest.raises(ft.InvalidOption, match=r"exp_avg.*is Float \[3\], expected Float \[2\]"):
        optimizer.load_state_dict(state)
    assert optimizer.param_groups[0]["lr"] == 0.5 and optimizer.state[weight]["exp_avg"].shape == (2,)
    optimizer.step()


@pytest.mark.parametrize("case", [CASES["adamw"], CASES["sgd_momentum"]])
def test_parameters_put_into_the_groups_train_as_in_pytorch(case):
    ours, theirs, a, b = pair(case)
    for step in range(6):
        set_gradients(step, ours, theirs)
        if step == 2:  # one exchanged, as when a layer is made larger
            for params, optimizer in ((ours, a), (theirs, b)):
                params[0] = optimizer.param_groups[0]["params"][0] = torch.nn.Parameter(torch.ones(7, 5))
            set_gradients(step, ours, theirs)
        if step == 4:  # a group taken out: the rest goes on alone
            for optimizer in (a, b):
                optimizer.param_groups.pop()
        a.step()
        b.step()
    assert not torch.equal(ours[0], torch.ones(7, 5))
    assert_close(ours, theirs)


def test_a_state_without_steps_is_refused_and_nothing_changes():
    params = parameters()
    optimizer = ft.AdamW(params)
    set_gradients(0, params)
    optimizer.step()
    before = optimizer.state[params[0]]["step"].clone()
    state = copy.deepcopy(optimizer.state_dict())
    del state["state"][0]["step"]
    with pytest.raises(KeyError):
        optimizer.load_state_dict(state)
    assert optimizer.state[params[0]]["step"] == before
    optimizer.step()


@pytest.mark.parametrize("norm_type", [2.0, 1.0, float("inf")])
def test_clip_grad_norm_equals_pytorch(norm_type):
    ours, theirs = parameters(), parameters()
    set_gradients(0, ours, theirs)
    norm = ft.clip_grad_norm_(iter(ours), 0.7, norm_type)
    torch.testing.assert_close(norm, torch.nn.utils.clip_grad_norm_(theirs, 0.7, norm_type))
    torch.testing.assert_close([p.grad for p in ours], [p.grad for p in theirs])
    torch.testing.assert_close(ft.clip_grad_norm_(ours[0], 100.0), ours[0].grad.norm())


def test_clip_grad_norm_refuses_what_has_no_meaning():
    weight = torch.nn.Parameter(torch.ones(2))
    assert ft.clip_grad_norm_([weight], 1.0).item() == 0
    with pytest.raises(ft.InvalidOption, match="max_norm=-1"):
        ft.clip_grad_norm_([weight], -1.0)
    weight.grad = torch.tensor([1.0, float("nan")])
    with pytest.raises(ft.Error, match="expected a finite number"):
        ft.clip_grad_norm_([weight], 1.0, error_if_nonfinite=True)
