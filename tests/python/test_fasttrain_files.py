"""safetensors files, both ways against the package of that name."""

import pathlib

import fasttrain as ft
import pytest
import torch

safetensors = pytest.importorskip("safetensors.torch")

TENSORS = {
    "bf16": torch.randn(3, 5).to(torch.bfloat16),
    "zero_dim": torch.tensor(1.5),
    "empty": torch.empty(0, 7),
    "bool": torch.tensor([True, False, True]),
    "int64": torch.tensor([-(2**62), 2**62]),
    "fp16": torch.randn(4).half(),
    "fp64": torch.randn(2, 2, dtype=torch.float64),
    "uint8": torch.arange(7, dtype=torch.uint8),
    "strange name é/.": torch.ones(1),
}
NOT_CONTIGUOUS = {"transposed": torch.randn(4, 3).t(), "strided": torch.arange(10)[::3], "expanded": torch.ones(1).expand(5)}


def assert_equal(got, expected):
    assert got.keys() == expected.keys()
    for name, tensor in expected.items():
        assert got[name].dtype == tensor.dtype and got[name].shape == tensor.shape, name
        assert torch.equal(got[name], tensor), name


def test_the_package_reads_what_we_write(tmp_path):
    tensors = TENSORS | NOT_CONTIGUOUS
    ft.save_file(tensors, tmp_path / "a.safetensors", {"note": "kept"})
    assert_equal(safetensors.load_file(tmp_path / "a.safetensors"), tensors)
    with safetensors.safe_open(tmp_path / "a.safetensors", "pt") as file:
        assert file.metadata() == {"note": "kept"}


def test_we_read_what_the_package_writes(tmp_path):
    safetensors.save_file(TENSORS, tmp_path / "a.safetensors")
    assert_equal(ft.load_file(tmp_path / "a.safetensors"), TENSORS)


def test_a_module_goes_out_and_comes_back(tmp_path):
    model, other = (torch.nn.Sequential(torch.nn.Linear(3, 3), torch.nn.BatchNorm1d(3)) for _ in range(2))
    ft.save_file(model.state_dict(), str(tmp_path / "m.safetensors"))
    other.load_state_dict(ft.load_file(str(tmp_path / "m.safetensors")))
    assert_equal(other.state_dict(), model.state_dict())


def test_tied_tensors_are_tied_again(tmp_path):
    weight = torch.randn(3, 2)
    ft.save_file({"a": weight, "b": weight}, tmp_path / "tied")
    loaded = ft.load_file(tmp_path / "tied")
    assert torch.equal(loaded["b"], weight) and loaded["a"].data_ptr() == loaded["b"].data_ptr()


def test_paths_of_every_kind(tmp_path):
    for path in (tmp_path / "é.safetensors", str(tmp_path / "b"), bytes(tmp_path / "c")):
        ft.save_file({"x": torch.ones(1)}, path)
        assert ft.load_file(path)["x"].item() == 1
    with pytest.raises(TypeError):
        ft.load_file(3)


def test_files_that_are_wrong_are_refused(tmp_path):
    bad = tmp_path / "bad"
    bad.write_bytes(b"\xff" * 64)
    with pytest.raises(ft.BadFile) as caught:
        ft.load_file(bad)
    assert caught.value.filename == str(bad) and isinstance(caught.value, OSError)
    with pytest.raises(ft.BadFile):
        ft.load_file(tmp_path / "missing")
    with pytest.raises(ft.BadFile):
        ft.save_file({"x": torch.ones(1)}, tmp_path / "no" / "folder")


def test_a_dtype_the_format_lacks_leaves_the_old_file(tmp_path):
    path = tmp_path / "kept"
    ft.save_file({"x": torch.ones(2)}, path)
    with pytest.raises(ft.Unsupported, match="ComplexDouble"):
        ft.save_file({"x": torch.ones(2, dtype=torch.complex128)}, path)
    assert torch.equal(ft.load_file(path)["x"], torch.ones(2))
    assert [entry.name for entry in pathlib.Path(tmp_path).iterdir()] == ["kept"]
