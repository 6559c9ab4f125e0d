"""Writes safetensors/every_dtype.safetensors with the safetensors package (0.8.0, torch 2.15).

One tensor of every element type with three bytes-distinct values, a scalar, two empty tensors, and
names that need escaping in JSON. One metadata key only: the package orders several at random.
"""

import pathlib

import torch
from safetensors.torch import save_file

DTYPES = """bool uint8 int8 float8_e5m2 float8_e4m3fn float8_e8m0fnu float8_e4m3fnuz float8_e5m2fnuz
int16 uint16 float16 bfloat16 int32 uint32 float32 complex64 float64 int64 uint64""".split()

tensors = {}
for index, name in enumerate(DTYPES):
    dtype = getattr(torch, name)
    raw = torch.arange(3 * dtype.itemsize, dtype=torch.uint8) + index
    raw = raw % 2 if dtype == torch.bool else raw
    tensors[f"of.{name}"] = raw.view(dtype)
tensors["scalar"] = torch.tensor(1.5)
tensors["empty"] = torch.zeros(0, 3)
tensors["empty.inside"] = torch.zeros(2, 0, 2, dtype=torch.int16)
tensors["matrix"] = torch.arange(6, dtype=torch.float32).reshape(2, 3)
tensors['quote " backslash \\ slash /'] = torch.tensor([7], dtype=torch.uint8)
tensors["tab \t bell \x07 delete \x7f"] = torch.tensor([8], dtype=torch.uint8)
tensors["größe 長さ 🙂"] = torch.tensor([9], dtype=torch.uint8)

out = pathlib.Path(__file__).parent / "safetensors" / "every_dtype.safetensors"
save_file(tensors, out, metadata={"format": "pt\n"})
print(out, out.stat().st_size)
