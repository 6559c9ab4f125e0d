"""What `fasttrain probe` tells of the GPUs is what nvidia-smi and torch.cuda tell, field by field.

LIBTRAIN_PROGRAM names the program. Skipped without a GPU, unless FASTTRAIN_REQUIRE_GPU=1.
"""

import json
import os
import shutil
import subprocess
import unittest

MIB = 1 << 20
# fact → nvidia-smi's field, and how its text reads
SAME = {
    "uuid": ("uuid", str),
    "name": ("name", str),
    "pci_bus_id": ("pci.bus_id", str),
    "pci_device_id": ("pci.device_id", lambda text: text[2:6].lower()),  # "0x233510DE"
    "compute_capability": ("compute_cap", str),
    "pcie_generation_max": ("pcie.link.gen.max", int),
    "pcie_width_max": ("pcie.link.width.max", int),
    "power_default_watts": ("power.default_limit", float),
    "power_limit_watts": ("enforced.power.limit", float),
    "persistence": ("persistence_mode", lambda text: text == "Enabled"),
    "compute_mode": ("compute_mode", lambda text: text.replace("Exclusive_Process", "exclusive process").lower()),
    "ecc_uncorrected": ("ecc.errors.uncorrected.volatile.total", int),
    "repair_pending": ("remapped_rows.pending", lambda text: text in ("Yes", "1")),
    "repair_failed": ("remapped_rows.failure", lambda text: text in ("Yes", "1")),
}
# What moves between two questions, or is rounded: the same within so much.
NEAR = {
    "memory_bytes": ("memory.total", MIB, MIB),
    "memory_free_bytes": ("memory.free", MIB, 1024 * MIB),
    "temperature_celsius": ("temperature.gpu", 1, 15),
}
NOT_KNOWN = ("[N/A]", "N/A", "[Not Supported]", "[Unknown Error]", "[Insufficient Permissions]")


def ask_nvidia_smi(fields):
    """One dictionary a GPU. A field that this nvidia-smi has not heard of is left out."""
    listing = subprocess.run(["nvidia-smi", "--help-query-gpu"], capture_output=True, text=True, timeout=60).stdout
    known = [field for field in fields if f'"{field}"' in listing]
    query = ["nvidia-smi", f"--query-gpu={','.join(known)}", "--format=csv,noheader,nounits"]
    rows = subprocess.run(query, capture_output=True, text=True, timeout=60, check=True).stdout
    return [dict(zip(known, row.split(", "))) for row in rows.strip().splitlines()]


class FactsOfTheGpus(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        listed = shutil.which("nvidia-smi") and subprocess.run(["nvidia-smi", "-L"], capture_output=True, text=True, timeout=60)
        if not listed or listed.returncode != 0 or "GPU 0" not in listed.stdout:
            if os.environ.get("FASTTRAIN_REQUIRE_GPU") == "1":
                raise AssertionError("FASTTRAIN_REQUIRE_GPU=1, but nvidia-smi lists no GPU")
            raise unittest.SkipTest("nvidia-smi lists no GPU")
        probe = subprocess.run([os.environ["LIBTRAIN_PROGRAM"], "probe", "--json"],
                               capture_output=True, text=True, timeout=60, check=True)
        cls.facts = json.loads(probe.stdout)
        cls.gpus = [gpu for gpu in cls.facts["gpu"] if not gpu["mig_instance"]]

    def test_equal_nvidia_smis(self):
        fields = [field for field, _ in SAME.values()] + [field for field, *_ in NEAR.values()]
        rows = {int(row["index"]): row for row in ask_nvidia_smi(["index", *fields])}
        compared = 0
        for gpu in self.gpus:
            row = rows[gpu["nvml_index"]]
            for fact, (field, read) in SAME.items():
                with self.subTest(gpu=gpu["nvml_index"], fact=fact):
                    if row.get(field, "N/A") in NOT_KNOWN:
                        continue
                    self.assertEqual(gpu[fact], read(row[field]))
                    compared += 1
            for fact, (field, unit, tolerance) in NEAR.items():
                with self.subTest(gpu=gpu["nvml_index"], fact=fact):
                    if row.get(field, "N/A") in NOT_KNOWN:
                        continue
                    self.assertAlmostEqual(gpu[fact], float(row[field]) * unit, delta=tolerance)
                    compared += 1
        self.assertGreaterEqual(compared, 5 * len(self.gpus))

    def test_driver_equals_nvidia_smis(self):
        row = ask_nvidia_smi(["driver_version"])[0]
        self.assertEqual(self.facts["gpu_driver"]["driver_version"], row["driver_version"])

    def test_equal_torchs(self):
        import torch

        if not torch.cuda.is_available():
            self.assertNotEqual(os.environ.get("FASTTRAIN_REQUIRE_GPU"), "1", "torch.cuda is not available")
            self.skipTest("torch.cuda is not available")
        visible = {gpu["cuda_index"]: gpu for gpu in self.facts["gpu"] if gpu["cuda_index"] is not None}
        self.assertEqual(sorted(visible), list(range(torch.cuda.device_count())))
        for index, gpu in visible.items():
            properties = torch.cuda.get_device_properties(index)
            with self.subTest(gpu=index):
                self.assertEqual(gpu["name"], properties.name)
                self.assertEqual(gpu["compute_capability"], f"{properties.major}.{properties.minor}")
                self.assertEqual(gpu["sm_count"], properties.multi_processor_count)
                self.assertTrue(gpu["uuid"].endswith(str(properties.uuid)))
                if gpu["memory_bytes"] is not None:  # CUDA leaves out what the driver keeps
                    self.assertLessEqual(properties.total_memory, gpu["memory_bytes"])
                    self.assertGreater(properties.total_memory, 0.9 * gpu["memory_bytes"])


if __name__ == "__main__":
    unittest.main()
