"""Encoders of transformers on the library's kernels: the same results and gradients as transformers' own, in float64
where it is the reference. Tolerances as in test_fasttrain_nn.py."""

import copy

import fasttrain as ft
import pytest
import torch

transformers = pytest.importorskip("transformers")

from fasttrain.integrations.transformers_attention import PackingCollator
from fasttrain.integrations.transformers_encoder import pack_encoder

SIZES = dict(vocab_size=50, hidden_size=32, num_hidden_layers=2, num_attention_heads=4, intermediate_size=48,
             max_position_embeddings=24, type_vocab_size=2, num_labels=3)
LENGTHS = [5, 12, 1, 9]
FAMILIES = ["bert", "roberta", "electra", "xlm-roberta", "camembert"]


def make(task="SequenceClassification", family="bert", attention="eager", **options):
    """The same weights for every attention."""
    torch.manual_seed(0)
    config = transformers.AutoConfig.for_model(family, **{**SIZES, **options})
    auto = getattr(transformers, f"AutoModelFor{task}" if task else "AutoModel")
    return auto.from_config(config, attn_implementation=attention).eval()


def padded(lengths=LENGTHS, left=False):
    ids = torch.randint(3, 50, (len(lengths), max(lengths)), generator=torch.Generator().manual_seed(1))
    ids[0, 2] = 0  # BERT's padding token among real ones
    mask = (torch.arange(max(lengths)) < torch.tensor(lengths)[:, None]).long()
    mask = mask.flip(1) if left else mask
    return {"input_ids": ids * mask + (1 - mask), "attention_mask": mask}


def assert_same(model, reference, batch, tolerance=None):
    """Hidden states at real tokens, logits and all gradients."""
    tolerance = tolerance or dict(rtol=1e-4, atol=2e-5)
    labels = torch.arange(len(batch["input_ids"])) % 3
    ours, theirs = model(**batch, labels=labels), reference(**batch, labels=labels)
    torch.testing.assert_close(ours.logits.double(), theirs.logits.double(), **tolerance)
    ours.loss.backward(), theirs.loss.backward()
    expected = dict(reference.named_parameters())
    assert list(dict(model.named_parameters())) == list(expected)
    for name, parameter in model.named_parameters():
        if expected[name].grad is not None:
            torch.testing.assert_close(parameter.grad.double(), expected[name].grad.double(), **tolerance,
                                       msg=lambda text, name=name: f"{name}: {text}")


@pytest.mark.parametrize("form", ["attention", "encoder"])
@pytest.mark.parametrize("family", FAMILIES)
def test_equals_eager_on_a_padded_batch(family, form):
    reference = make(family=family).double()
    model = make(family=family, attention="fasttrain") if form == "attention" else pack_encoder(make(family=family))
    assert model.config._attn_implementation == "fasttrain"
    assert_same(model, reference, padded())


@pytest.mark.parametrize("form", ["attention", "encoder"])
@pytest.mark.parametrize("batch", [padded([4, 4]), {"input_ids": padded([6, 6])["input_ids"]}],
                         ids=["full", "no mask"])
def test_equals_eager_on_other_batches(form, batch):
    model = make(attention="fasttrain")
    assert_same(pack_encoder(model) if form == "encoder" else model, make().double(), batch)


@pytest.mark.parametrize("form", ["attention", "encoder"])
def test_equals_eager_under_the_runtimes_autocast(form):
    model, reference = make(attention="fasttrain"), make().double()
    model = pack_encoder(model) if form == "encoder" else model
    with ft.Runtime(device="cpu", precision="bf16") as runtime:
        seen = []
        dense = model.base_model.encoder.layer[0].intermediate.dense
        dense.register_forward_hook(lambda module, inputs, output: seen.append(output.dtype))
        with runtime.autocast():
            out = model(**padded(), labels=torch.arange(4) % 3)
        out.loss.backward()
    assert seen == [torch.bfloat16]
    reference(**padded(), labels=torch.arange(4) % 3).loss.backward()
    for ours, theirs in zip(model.parameters(), reference.parameters(), strict=True):
        torch.testing.assert_close(ours.grad.double(), theirs.grad, rtol=5e-2, atol=5e-3)


@pytest.mark.parametrize("left", [False, True])
def test_hidden_states_at_padding_are_zero_and_not_read(left):
    batch, model = padded(left=left), pack_encoder(make(task=""))
    real = batch["attention_mask"].bool()
    hidden = model(**batch).last_hidden_state
    assert (hidden[~real] == 0).all()
    changed = {**batch, "input_ids": torch.where(real, batch["input_ids"], 7)}
    assert torch.equal(model(**changed).last_hidden_state, hidden)
    for other in (make(task=""), make(task="", attention="fasttrain")):
        torch.testing.assert_close(hidden[real], other(**batch).last_hidden_state[real], rtol=1e-4, atol=2e-5)


@pytest.mark.parametrize("form", ["attention", "encoder"])
@pytest.mark.parametrize("theirs", [False, True], ids=["ours", "DataCollatorWithFlattening"])
def test_a_packed_batch_gives_each_token_the_same_result(form, theirs):
    """position_ids alone say where samples begin to models that know flash attention, so here too."""
    batch = padded()
    real = batch["attention_mask"].bool()
    labels = batch["input_ids"] % 3
    features = [dict(input_ids=ids[keep].tolist(), labels=ls[keep].tolist())
                for ids, ls, keep in zip(batch["input_ids"], labels, real)]
    if theirs:
        packed = transformers.DataCollatorWithFlattening(return_tensors="pt")(features)
        assert "cu_seq_lens_q" not in packed
    else:
        packed = PackingCollator()(features)
        assert torch.equal(packed["labels"][0], labels[real]) and packed["max_length_q"] == 12
        assert packed["cu_seq_lens_q"].tolist() == [0, 5, 17, 18, 27]
    reference = make("TokenClassification")
    model = make("TokenClassification", attention="fasttrain")
    model = pack_encoder(model) if form == "encoder" else model
    logits = model(**packed).logits
    assert logits.shape == (1, sum(LENGTHS), 3)
    torch.testing.assert_close(logits[0], reference(**batch).logits[real], rtol=1e-4, atol=2e-5)


def test_the_collator_numbers_positions_and_types_and_refuses_a_label_a_sample():
    features = [dict(input_ids=[5, 6], token_type_ids=[0, 1]), dict(input_ids=[7], token_type_ids=[1])]
    batch = PackingCollator(first_position=2)(features)
    assert batch["position_ids"].tolist() == [[2, 3, 2]] and batch["token_type_ids"].tolist() == [[0, 1, 1]]
    for name in ("labels", "label"):
        with pytest.raises(ft.InvalidOption, match="one a token.*pack_encoder"):
            PackingCollator()([{**feature, name: 1} for feature in features])


@pytest.mark.parametrize("form, of_attention, hidden", [
    ("attention", 0.3, 0.0), ("encoder", 0.3, 0.0), ("encoder", 0.0, 0.3),
])
def test_dropout_is_on_in_training_only_and_follows_the_seed(form, of_attention, hidden):
    model = make(attention="fasttrain", attention_probs_dropout_prob=of_attention, hidden_dropout_prob=hidden)
    model = pack_encoder(model) if form == "encoder" else model

    def logits(seed):
        torch.manual_seed(seed)
        return model(**padded()).logits

    assert torch.equal(logits(1), logits(2))
    model.train()
    assert torch.equal(logits(1), logits(1)) and not torch.equal(logits(1), logits(2))


def test_what_layers_drop_does_not_depend_on_padding_or_the_other_samples():
    """docs/random.md: the last samples lie elsewhere when the first one is longer."""
    model = pack_encoder(make(hidden_dropout_prob=0.2, attention_probs_dropout_prob=0.2)).train()
    model.base_model.embeddings.dropout.p = model.dropout.p = 0.0
    batch = padded()
    longer = {name: torch.nn.functional.pad(value, (0, 7)) for name, value in batch.items()}
    longer["attention_mask"][0, :8] = 1
    torch.manual_seed(3)
    expected = model(**batch).logits
    torch.manual_seed(3)
    logits = model(**longer).logits
    torch.testing.assert_close(logits[1:], expected[1:])
    assert not torch.allclose(logits[0], expected[0], rtol=1e-2)


def test_pack_encoder_twice_and_a_copy_are_the_same_model():
    model = pack_encoder(pack_encoder(make()))
    encoder = model.base_model.encoder
    assert len(encoder._forward_hooks) == len(encoder._forward_pre_hooks) == 1
    twin = copy.deepcopy(model)
    with torch.no_grad():
        twin.base_model.encoder.layer[0].intermediate.dense.weight.zero_()
        twin.base_model.embeddings.word_embeddings.weight.zero_()
    assert_same(model, make().double(), padded())
    assert not torch.equal(twin(**padded()).logits, model(**padded()).logits)


def test_gradient_checkpointing_gives_the_same_gradients():
    plain, model = (pack_encoder(make(hidden_dropout_prob=0.3)).train() for _ in range(2))
    model.gradient_checkpointing_enable()
    for each in (plain, model):
        torch.manual_seed(4)
        each(**padded(), labels=torch.arange(4) % 3).loss.backward()
    for ours, theirs in zip(model.parameters(), plain.parameters(), strict=True):
        torch.testing.assert_close(ours.grad, theirs.grad)


def test_hidden_states_of_all_layers_keep_their_shape():
    batch = padded()
    real = batch["attention_mask"].bool()
    ours = pack_encoder(make())(**batch, output_hidden_states=True).hidden_states
    theirs = make()(**batch, output_hidden_states=True).hidden_states
    for a, b in zip(ours, theirs, strict=True):
        torch.testing.assert_close(a[real], b[real], rtol=1e-4, atol=2e-5)


def test_a_mask_of_four_dimensions_is_sdpas():
    mask = torch.ones(4, 1, 12, 12, dtype=torch.bool).tril()
    batch = {"input_ids": padded()["input_ids"], "attention_mask": mask}
    expected = make(attention="sdpa")(**batch).logits
    for model in (make(attention="fasttrain"), pack_encoder(make())):
        torch.testing.assert_close(model(**batch).logits, expected)


@pytest.mark.parametrize("dtype", [torch.float16, torch.float64])
def test_other_dtypes_are_sdpas(dtype):
    expected = make(attention="sdpa").to(dtype)(**padded()).logits
    for model in (make(attention="fasttrain"), pack_encoder(make())):
        seen = []
        model.base_model.encoder.layer[0].intermediate.register_forward_hook(lambda *_: seen.append("as written"))
        torch.testing.assert_close(model.to(dtype)(**padded()).logits, expected)
        assert seen == ["as written"]


@pytest.mark.parametrize("options", [
    dict(family="bert", is_decoder=True),
    dict(family="llama", num_key_value_heads=2, pad_token_id=0),
])
def test_decoders_are_sdpas(options):
    expected = make("CausalLM", attention="sdpa", **options)(**padded()).logits
    model = make("CausalLM", attention="fasttrain", **options)
    torch.testing.assert_close(model(**padded()).logits, expected)
    packed = PackingCollator()([dict(input_ids=[4, 5]), dict(input_ids=[6, 7, 8])])
    with pytest.raises(ft.Unsupported, match="packed batch in causal"):
        model(**packed)


def test_what_cannot_be_served_says_so():
    with pytest.raises(ft.Unsupported, match="output_attentions=True.*eager"):
        make(attention="fasttrain")(**padded(), output_attentions=True)
    with pytest.raises(ft.Unsupported, match="is_decoder=True"):
        pack_encoder(make("CausalLM", is_decoder=True))
    with pytest.raises(ft.Unsupported, match="model_type='distilbert'"):
        pack_encoder(make(family="distilbert"))


def test_distilbert_takes_the_attention():
    assert_same(make(family="distilbert", attention="fasttrain"), make(family="distilbert").double(), padded())


def test_fine_tuning_follows_eager():
    """Ten steps of the whole: packed encoder, autocast of the plan, AdamW and clipping, dropout off."""
    losses = {}
    for name in ("ours", "theirs"):
        with ft.Runtime(device="cpu", precision="fp32") as runtime:
            model = runtime.prepare(pack_encoder(make()) if name == "ours" else make())
            optimizer = (ft if name == "ours" else torch.optim).AdamW(model.parameters(), lr=1e-3)
            losses[name] = []
            for _ in range(10):
                with runtime.autocast():
                    loss = model(**padded(), labels=torch.arange(4) % 3).loss
                loss.backward()
                ft.clip_grad_norm_(model.parameters(), 1.0)
                optimizer.step()
                optimizer.zero_grad()
                losses[name].append(loss.item())
    assert losses["ours"] == pytest.approx(losses["theirs"], rel=1e-3) and losses["ours"][-1] < losses["ours"][0]


def test_the_trainer_takes_touched_rows_of_packed_models():
    """The C++ step asks for them; the update is that of the dense gradient."""
    model, twin = pack_encoder(make()), make()
    batch = {**padded(), "labels": torch.arange(4) % 3}
    with ft.Runtime(device="cpu", precision="fp32", seed=1) as runtime:
        seen = []
        for each in (model, twin):
            if each is model:
                each.base_model.embeddings.word_embeddings.weight.register_hook(lambda g: seen.append(g.is_sparse))
            trainer = ft.Trainer(runtime, ft.AdamW(runtime.prepare(each).parameters(), lr=1e-2))
            for _ in range(3):
                trainer.step(batch, lambda part, each=each: each(**part).loss)
    assert seen == [True] * 3
    for ours, theirs in zip(model.parameters(), twin.parameters(), strict=True):
        torch.testing.assert_close(ours, theirs, rtol=1e-3, atol=1e-4)
