"""The machine a run was made on, as far as it decides speed."""

import os
import pathlib
import platform
import re

FLAGS = (
    "avx2",
    "fma",
    "avx512f",
    "avx512_bf16",
    "avx512_fp16",
    "amx_bf16",
    "amx_tile",
    "sve",
    "bf16",
)
BF16_FLAGS = {"avx512_bf16", "amx_bf16"}


def describe(cpuinfo: str | None = None) -> dict:
    text = pathlib.Path("/proc/cpuinfo").read_text() if cpuinfo is None else cpuinfo
    model = re.search(r"^model name\s*:\s*(.+)$", text, re.MULTILINE)
    present = re.search(r"^(?:flags|Features)\s*:\s*(.+)$", text, re.MULTILINE)
    release = platform.release().split("-")[0]
    words = set(present.group(1).split()) if present else set()
    return {
        "cpu": model.group(1) if model else platform.machine(),
        "flags": [flag for flag in FLAGS if flag in words],
        "cores": len(os.sched_getaffinity(0)),
        "memory_gb": round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 1e9),
        "system": f"{platform.system()} {release}, {' '.join(platform.libc_ver())}",
    }


def has_bf16(machine: dict) -> bool:
    """Whether the CPU multiplies bf16 itself."""
    return not BF16_FLAGS.isdisjoint(machine["flags"])
