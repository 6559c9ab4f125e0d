"""fasttrain.nn against PyTorch in float64. Tolerances: fp32 sums of a few hundred terms of size 1 err by
some 1e-5; under bf16 every tensor between two functions is rounded to 2^-9 of its value, and few roundings follow
one another."""

import fasttrain as ft
import pytest
import torch
from torch.nn import functional as F

LENGTHS = [5, 1, 9, 0, 3]
ROWS, HEADS, HEAD_DIM = sum(LENGTHS), 4, 8
WIDTH = HEADS * HEAD_DIM
TOLERANCES = {torch.float64: dict(rtol=1e-12, atol=1e-12), torch.float32: dict(rtol=1e-4, atol=2e-5),
              torch.bfloat16: dict(rtol=3e-2, atol=3e-2)}
dtypes = pytest.mark.parametrize("dtype", TOLERANCES, ids=str)


def layout():
    return ft.nn.PackedLayout(LENGTHS)


def randn(*shape, seed=0):
    return torch.randn(*shape, dtype=torch.float64, generator=torch.Generator().manual_seed(seed))


def check(function, reference, *inputs, dtype):
    """Values and gradients of `function` in `dtype` against those of `reference` in float64."""
    inputs = [x.to(dtype) for x in inputs]  # the same numbers for both
    ours = [x.clone().requires_grad_() for x in inputs]
    theirs = [x.double().requires_grad_() for x in inputs]
    out, expected = function(*ours), reference(*theirs)
    torch.testing.assert_close(out.double(), expected, **TOLERANCES[dtype])
    weights = randn(*expected.shape, seed=9)
    got = torch.autograd.grad((out.double() * weights).sum(), ours)
    for gradient, correct in zip(got, torch.autograd.grad((expected * weights).sum(), theirs), strict=True):
        assert gradient.dtype == dtype
        torch.testing.assert_close(gradient.double(), correct, **TOLERANCES[dtype])


def sample_by_sample(query, key, value, scale=None):
    parts = [
        F.scaled_dot_product_attention(*(x.transpose(0, 1) for x in part), scale=scale).transpose(0, 1)
        for part in zip(*(x.split(LENGTHS) for x in (query, key, value)), strict=True)
    ]
    return torch.cat(parts)


@dtypes
@pytest.mark.parametrize("scale", [None, 0.5])
def test_attention(dtype, scale):
    inputs = [randn(ROWS, HEADS, HEAD_DIM, seed=seed) for seed in range(3)]
    check(lambda q, k, v: ft.nn.varlen_attention(q, k, v, layout(), scale=scale),
          lambda q, k, v: sample_by_sample(q, k, v, scale), *inputs, dtype=dtype)
    check(lambda qkv: ft.nn.varlen_attention_qkvpacked(qkv, layout(), scale=scale),
          lambda qkv: sample_by_sample(*qkv.unbind(1), scale), torch.stack(inputs, 1), dtype=dtype)


@dtypes
def test_gelu(dtype):
    check(ft.nn.gelu, F.gelu, 3 * randn(7, 33), dtype=dtype)


@dtypes
@pytest.mark.parametrize("shape", [(6, WIDTH), (2, 3, WIDTH)])
def test_dropout_add_layer_norm_without_dropout(dtype, shape):
    inputs = [randn(*shape), randn(*shape, seed=1), 1 + randn(WIDTH, seed=2) / 8, randn(WIDTH, seed=3)]
    check(lambda x, r, w, b: ft.nn.dropout_add_layer_norm(x, r, w, b, p=0.5, eps=1e-3, training=False),
          lambda x, r, w, b: F.layer_norm(x + r, (WIDTH,), w, b, 1e-3), *inputs, dtype=dtype)


def test_dropout_add_layer_norm_drops_what_dropout_drops():
    x, residual, weight, bias = (randn(ROWS, WIDTH, seed=seed).float() for seed in range(4))
    torch.manual_seed(3)
    fused = ft.nn.dropout_add_layer_norm(x, residual, weight[0], bias[0], 0.3, layout=layout())
    torch.manual_seed(3)
    dropped = ft.nn.dropout(x, 0.3, layout=layout())
    assert 0.2 < (dropped == 0).float().mean() < 0.4
    torch.testing.assert_close(fused, F.layer_norm(dropped + residual, (WIDTH,), weight[0], bias[0]))


@dtypes
def test_dropout_keeps_the_mean_and_passes_the_same_elements_back(dtype):
    x = torch.ones(64, 512, dtype=dtype, requires_grad=True)
    torch.manual_seed(0)
    out = ft.nn.dropout(x, 0.25)
    out.sum().backward()
    assert torch.equal(out, x.grad) and set(out.unique().tolist()) == {0.0, torch.tensor(1 / 0.75, dtype=dtype).item()}
    assert (out == 0).double().mean().item() == pytest.approx(0.25, abs=0.01)
    assert ft.nn.dropout(x, 0.25, training=False) is x and ft.nn.dropout(x, 0.0) is x


def test_dropout_module_follows_train_and_eval():
    module, x = ft.nn.Dropout(0.5), torch.ones(4, 64)
    assert isinstance(module, torch.nn.Dropout) and (module(x) == 0).any()
    assert module.eval()(x) is x


@pytest.mark.parametrize("function", [
    lambda x, where: ft.nn.dropout(x, 0.5, layout=where),
    lambda x, where: ft.nn.varlen_attention(*[x.view(-1, HEADS, HEAD_DIM)] * 3, where, 0.5).flatten(1),
])
def test_what_a_sample_drops_depends_on_its_number_not_on_where_it_lies(function):
    """docs/random.md: the third sample lies elsewhere when the first ones are longer."""
    x = randn(20, WIDTH).float()
    torch.manual_seed(1)
    a = function(x, ft.nn.PackedLayout([2, 3, 7, 8]))[5:12]
    torch.manual_seed(1)
    b = function(x[[*range(5), 0, 1, 2, *range(5, 12)]], ft.nn.PackedLayout([4, 4, 7]))[8:15]
    torch.manual_seed(2)
    c = function(x, ft.nn.PackedLayout([2, 3, 7, 8]))[5:12]
    assert torch.equal(a, b) and not torch.equal(a, c)


def test_attention_dropout_in_backward_is_that_of_forward():
    """With value = identity the output holds the dropped weights, so the derivative is a finite difference's."""
    q, k, v = (randn(4, 1, 4, seed=seed).float().requires_grad_() for seed in range(3))
    one = ft.nn.PackedLayout([4])
    weights = randn(4, 1, 4, seed=5).float()

    def loss(q, k, v):
        torch.manual_seed(11)
        return (ft.nn.varlen_attention(q, k, v, one, 0.4) * weights).sum()

    for x in (q, k, v):
        others = [y.detach() for y in (q, k, v)]
        where = next(i for i, y in enumerate((q, k, v)) if y is x)
        (gradient,) = torch.autograd.grad(loss(q, k, v), x)
        for index in [(0, 0, 0), (2, 0, 3)]:
            step = torch.zeros_like(x)
            step[index] = 1e-2
            up, down = ([*others[:where], x.detach() + s, *others[where + 1:]] for s in (step, -step))
            difference = (loss(*up) - loss(*down)) / 2e-2
            torch.testing.assert_close(gradient[index], difference.detach(), rtol=2e-2, atol=2e-3)


@pytest.mark.parametrize("shape", [(7,), (2, 5)])
def test_embedding(shape):
    ids = torch.randint(0, 6, shape, generator=torch.Generator().manual_seed(0))
    check(lambda weight: ft.nn.embedding(ids, weight, padding_idx=2), lambda weight: F.embedding(ids, weight, 2),
          randn(6, 3), dtype=torch.float32)
    weight = randn(6, 3).float().requires_grad_()
    weight.grad = torch.ones(6, 3)
    ft.nn.embedding(ids, weight).sum().backward()
    times = torch.bincount(ids.flatten(), minlength=6)[:, None]
    torch.testing.assert_close(weight.grad, 1 + times.expand(6, 3).float())


def test_pack_and_pad():
    padded = randn(3, 4, 2).requires_grad_()
    mask = torch.tensor([[1, 1, 0, 0], [0, 1, 1, 1], [0, 0, 0, 0]])
    rows, where = ft.nn.pack_padded(padded, mask)
    assert (where.samples, where.rows, where.longest, where.offsets) == (3, 5, 3, [0, 2, 5, 5])
    assert torch.equal(rows, padded[mask.bool()])
    back = ft.nn.pad_packed(rows, where, padding_value=7.0)
    assert back.shape == (3, 3, 2)
    assert torch.equal(back[0, :2], padded[0, :2]) and torch.equal(back[1], padded[1, 1:]) and (back[2] == 7).all()
    assert ft.nn.pad_packed(rows, where, total_length=6).shape == (3, 6, 2)
    back.sum().backward()
    assert torch.equal(padded.grad[..., 0], mask.double())


def test_for_products_fills_rows_up_under_autocast_only():
    where = ft.nn.PackedLayout([400, 17])
    assert where.for_products(torch.device("cpu")).rows == 417
    with torch.autocast("cpu", torch.bfloat16):
        filled = where.for_products(torch.device("cpu"))
    assert filled.rows == 448 and filled.offsets[:3] == [0, 400, 417]


def test_a_small_layer_under_the_runtimes_autocast():
    """Projection, attention, residual and norm in planned bf16 against float64."""
    projection = torch.nn.Linear(WIDTH, 3 * WIDTH)
    norm = torch.nn.LayerNorm(WIDTH)
    x = randn(ROWS, WIDTH).float().requires_grad_()

    def layer(x, projection, norm, attention, add_norm):
        return add_norm(attention(projection(x).view(-1, 3, HEADS, HEAD_DIM)).flatten(1), x, norm)

    with ft.Runtime(device="cpu", precision="bf16") as runtime, runtime.autocast():
        out = layer(x, projection, norm, lambda qkv: ft.nn.varlen_attention_qkvpacked(qkv, layout()),
                    lambda y, x, norm: ft.nn.dropout_add_layer_norm(y, x, norm.weight, norm.bias))
        assert projection(x).dtype == torch.bfloat16 and out.dtype == torch.float32
    out.square().sum().backward()
    ours = [p.grad.clone() for p in (x, *projection.parameters(), *norm.parameters())]
    exact = x.detach().double().requires_grad_()
    projection, norm = projection.double(), norm.double()
    projection.zero_grad(), norm.zero_grad()
    expected = layer(exact, projection, norm, lambda qkv: sample_by_sample(*qkv.unbind(1)),
                     lambda y, x, norm: norm(x + y))
    expected.square().sum().backward()
    torch.testing.assert_close(out.double(), expected, **TOLERANCES[torch.bfloat16])
    for mine, exact in zip(ours, (exact, *projection.parameters(), *norm.parameters()), strict=True):
        torch.testing.assert_close(mine.double(), exact.grad, rtol=5e-2, atol=5e-2)


@pytest.mark.parametrize("call, words", [
    (lambda x: ft.nn.varlen_attention(x, x, x, layout()), "query is"),
    (lambda x: ft.nn.varlen_attention_qkvpacked(x, layout()), "qkv is"),
    (lambda x: ft.nn.varlen_attention(*[x.view(ROWS, HEADS, -1)] * 3, ft.nn.PackedLayout([2])), "match the layout"),
    (lambda x: ft.nn.varlen_attention(*[x.view(ROWS, HEADS, -1)] * 3, layout(), 1.0), "dropout=1"),
    (lambda x: ft.nn.dropout(x, 1.5), "probability=1.5"),
    (lambda x: ft.nn.dropout(x, 0.5, layout=ft.nn.PackedLayout([2])), "do not match the layout"),
    (lambda x: ft.nn.PackedLayout([3, -1]), "length=-1"),
    (lambda x: ft.nn.pack_padded(x, torch.ones(3)), "mask is"),
    (lambda x: ft.nn.pad_packed(x, layout(), total_length=4), "longest sample, 9"),
    (lambda x: ft.nn.pad_packed(x[1:], layout()), "17 rows"),
])
def test_what_does_not_fit_is_refused(call, words):
    with pytest.raises(ft.InvalidOption, match=words):
        call(torch.ones(ROWS, WIDTH))


def test_second_derivatives_say_what_to_use_instead():
    x = torch.ones(3, requires_grad=True)
    with pytest.raises(RuntimeError, match="no second derivative.*create_graph=true"):
        torch.autograd.grad(ft.nn.gelu(x).sum(), x, create_graph=True)
