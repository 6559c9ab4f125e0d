"""Devices are reached by LibTorch's interfaces for any device, so that what runs on CUDA runs simulated too."""

import re
import unittest

import tree

FOLDERS = ("libtrain/runtime", "libtrain/amp", "libtrain/optim", "libtrain/nn", "libtrain/data",
           "libtrain/state", "libtrain/train", "examples")
# at::accelerator answers one device for the whole process; the rest is CUDA alone.
BANNED = re.compile(
    r"at::accelerator\b|\b(?:at|c10|torch)::cuda::|\b(?:ATen|c10)/cuda/|\bcuda[A-Z]\w*\s*\("
    r"|\bis_cuda\s*\(|\bkCUDA\b|DeviceType::CUDA\b")
# Where the plan's device becomes LibTorch's.
ALLOWED = {("libtrain/runtime/runtime.cpp", "kCUDA")}


class Devices(unittest.TestCase):
    def test_nothing_above_the_device_asks_for_cuda(self):
        wrong = []
        for path in tree.files(".hpp", ".cpp", under=FOLDERS):
            for number, line in enumerate(path.read_text().splitlines(), start=1):
                code = line.split("//", 1)[0]
                for match in BANNED.finditer(code):
                    if (tree.name(path), match.group()) not in ALLOWED:
                        wrong.append(f"{tree.name(path)}:{number}: {match.group()}")
        self.assertEqual([], wrong, "\n".join(wrong))


if __name__ == "__main__":
    unittest.main()
