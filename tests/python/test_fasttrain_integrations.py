"""The plan in Hugging Face's and in Lightning's Trainer, with a tiny BERT."""

import os
import pathlib
import subprocess
import sys

import fasttrain as ft
import pytest
import torch

CLASSES = 3


def make_bert():
    transformers = pytest.importorskip("transformers")
    torch.manual_seed(0)
    config = transformers.BertConfig(
        vocab_size=40, hidden_size=32, num_hidden_layers=1, num_attention_heads=2, intermediate_size=64,
        max_position_embeddings=16, num_labels=CLASSES, hidden_dropout_prob=0.0,
    )  # fmt: skip
    return transformers.BertForSequenceClassification(config)


def samples(count=48):
    generator = torch.Generator().manual_seed(1)
    ids = torch.randint(3, 40, (count, 12), generator=generator)
    return [{"input_ids": row, "attention_mask": torch.ones_like(row), "labels": row[1] % CLASSES} for row in ids]


class TestHuggingFace:
    @pytest.fixture(autouse=True)
    def needs(self):
        pytest.importorskip("accelerate")
        pytest.importorskip("transformers")

    def arguments(self, tmp_path, **options):
        from transformers import TrainingArguments

        return TrainingArguments(
            str(tmp_path), max_steps=6, per_device_train_batch_size=8, learning_rate=1e-2, report_to=[],
            save_strategy="no", disable_tqdm=True, seed=3, **options,
        )  # fmt: skip

    def planned(self, runtime, **arguments):
        from fasttrain.integrations.huggingface import trainer_arguments

        return trainer_arguments(runtime, train_dataset=samples(), **arguments)

    def trained(self, arguments):
        from transformers import Trainer

        trainer = Trainer(**arguments)
        return trainer, trainer.train().training_loss

    def test_training_is_as_without_it_where_the_plan_is_what_the_trainer_does(self, tmp_path):
        plain = {"model": make_bert(), "args": self.arguments(tmp_path, use_cpu=True), "train_dataset": samples()}
        _, expected = self.trained(plain)
        with ft.Runtime(device="cpu", precision="fp32") as runtime:
            model = make_bert()
            trainer, loss = self.trained(self.planned(runtime, model=model, args=self.arguments(tmp_path)))
            assert "pending" not in str(runtime.plan)
        assert loss == pytest.approx(expected, rel=1e-4)
        assert type(trainer.optimizer.optimizer) is ft.AdamW and trainer.optimizer.state
        assert trainer.args.use_cpu and not trainer.args.bf16
        for ours, theirs in zip(model.parameters(), plain["model"].parameters(), strict=True):
            torch.testing.assert_close(ours, theirs, rtol=1e-3, atol=1e-4)

    def test_the_planned_precision_is_the_trainers(self, tmp_path):
        args = self.arguments(tmp_path)
        with ft.Runtime(device="cpu", precision="bf16") as runtime:
            trainer, loss = self.trained(self.planned(runtime, model=make_bert(), args=args))
        assert trainer.accelerator.mixed_precision == "bf16" and 0 < loss < 2
        assert not args.bf16 and not args.use_cpu  # the caller's own stays as it was

    def test_what_is_set_stays(self, tmp_path):
        model = make_bert()
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        with ft.Runtime(device="cpu", precision="fp32") as runtime:
            args = self.arguments(tmp_path, bf16=True, use_cpu=True, optim="adamw_torch")
            by_name = self.planned(runtime, model=model, args=args)
            by_object = self.planned(runtime, args=self.arguments(tmp_path), optimizers=(optimizer, None))
            by_class = self.planned(runtime, optimizer_cls_and_kwargs=(torch.optim.SGD, {"lr": 1.0}))
        assert by_name["args"].bf16 and "optimizer_cls_and_kwargs" not in by_name
        assert "optimizer_cls_and_kwargs" not in by_object and by_object["optimizers"][0] is optimizer
        assert by_class["optimizer_cls_and_kwargs"][0] is torch.optim.SGD


class TestLightning:
    @pytest.fixture(autouse=True)
    def needs(self):
        pytest.importorskip("lightning")

    def trained(self, runtime, tmp_path, **arguments):
        import lightning
        from fasttrain.integrations.lightning import trainer_arguments

        class Module(lightning.LightningModule):
            def __init__(self):
                super().__init__()
                self.bert = make_bert()
                self.dtypes, self.losses = set(), []

            def training_step(self, batch):
                out = self.bert(**batch)
                self.dtypes.add(out.logits.dtype)
                self.losses.append(out.loss.item())
                return out.loss

            def configure_optimizers(self):
                self.plan_was_whole = "pending" not in str(runtime.plan)
                return ft.AdamW(self.parameters(), lr=1e-2)

        quiet = dict.fromkeys(["logger", "enable_progress_bar", "enable_model_summary", "enable_checkpointing"], False)
        trainer = lightning.Trainer(
            **trainer_arguments(runtime, max_epochs=3, gradient_clip_val=1.0, default_root_dir=tmp_path, **quiet, **arguments)
        )
        module = Module()
        trainer.fit(module, torch.utils.data.DataLoader(samples(), batch_size=8))
        return trainer, module

    @pytest.mark.parametrize(("precision", "dtype"), [("fp32", torch.float32), ("bf16", torch.bfloat16)])
    def test_the_plan_is_applied(self, tmp_path, precision, dtype):
        with ft.Runtime(device="cpu", precision=precision) as runtime:
            trainer, module = self.trained(runtime, tmp_path)
        assert module.dtypes == {dtype} and module.plan_was_whole and module.device.type == "cpu"
        assert type(trainer.optimizers[0]) is ft.AdamW and module.losses[-1] < module.losses[0]

    def test_what_is_given_stays(self, tmp_path):
        import lightning

        class Mine(lightning.Callback):
            pass

        mine = Mine()
        with ft.Runtime(device="cpu", precision="bf16") as runtime:
            trainer, module = self.trained(runtime, tmp_path, precision="32-true", callbacks=mine)
        assert module.dtypes == {torch.float32} and mine in trainer.callbacks


def test_importing_fasttrain_imports_neither():
    code = "import sys, fasttrain; assert not {'transformers', 'lightning', 'accelerate'} & sys.modules.keys()"
    environment = {**os.environ, "PYTHONPATH": str(pathlib.Path(ft.__file__).parents[1])}
    subprocess.run([sys.executable, "-c", code], env=environment, check=True, timeout=250)
