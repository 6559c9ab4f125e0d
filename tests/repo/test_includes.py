"""The layers: which folder of libtrain/ may include which, and who may see LibTorch."""

import re
import unittest

import tree

TORCH_FREE = {
    "core": set(),
    "facts": {"core"},
    "policy": {"core"},
    "format": {"core"},
    "kernels": {"core"},
    "probe": {"facts", "core"},
    "plan": {"facts", "core"},
    "doctor": {"plan", "facts", "core"},
    "cli": {"core", "facts", "probe", "plan", "doctor", "policy", "format", "kernels"},
}
RUNTIME = {"runtime", "plan", "policy", "facts", "kernels", "core"}
ON_TORCH = {
    "runtime": RUNTIME,
    **{folder: RUNTIME | {"format"} for folder in ("amp", "optim", "memory", "nn", "data", "comm")},
    "state": RUNTIME | {"optim", "amp", "data", "format"},
    "train": RUNTIME | {"format", "amp", "optim", "memory", "nn", "data", "comm", "state"},
    "step_time": RUNTIME | {"nn", "optim", "train", "cli"},
    "sim": {"facts", "core"},
}
ALLOWED = TORCH_FREE | ON_TORCH
ALLOWED_FILES = {
    # The one place where what was read from the machine meets what is done with it.
    ("libtrain/runtime/runtime.cpp", "libtrain/probe/probe.hpp"),
    # The one place that knows of the simulated device, and loads it by name.
    ("libtrain/runtime/simulation.cpp", "libtrain/sim/entry.hpp"),
}
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]', re.MULTILINE)
TORCH_HEADER = re.compile(r"(torch|ATen|c10|caffe2)/")

ROOTS = tree.ROOT / "cmake/LibtrainInstall.cmake"


def installed_headers():
    """What the roots that cmake/LibtrainInstall.cmake names reach."""
    lists = re.findall(r"set\((?:core|libtrain|sim)_roots\s+([^)]*)\)", ROOTS.read_text())
    open_headers = [f"libtrain/{header}" for headers in lists for header in headers.split()]
    reached = set()
    while open_headers:
        header = open_headers.pop()
        if header not in reached and (tree.ROOT / header).is_file():
            reached.add(header)
            open_headers += [name for name in includes(tree.ROOT / header) if name.startswith("libtrain/")]
    return reached


def includes(path):
    return [match.group(2) for match in INCLUDE.finditer(path.read_text())]


class Includes(unittest.TestCase):
    def test_every_edge_is_one_the_layers_allow(self):
        wrong = []
        for path in tree.files(".hpp", ".cpp", ".cu", under=("libtrain",)):
            parts = path.relative_to(tree.ROOT / "libtrain").parts
            if len(parts) == 1:  # the umbrella header
                continue
            area = parts[0]
            for header in includes(path):
                if not header.startswith("libtrain/") or (tree.name(path), header) in ALLOWED_FILES:
                    continue
                other = header.split("/")[1]
                if other != area and other not in ALLOWED.get(area, set()):
                    wrong.append(f"{tree.name(path)} includes {header}: {area} may include {sorted(ALLOWED.get(area, []))}")
        self.assertEqual([], wrong, "\n".join(wrong))

    def test_every_folder_has_its_place_among_the_layers(self):
        folders = {path.name for path in (tree.ROOT / "libtrain").iterdir() if path.is_dir()}
        self.assertEqual(set(), folders - set(ALLOWED))

    def test_torch_free_folders_do_not_include_libtorch(self):
        wrong = [
            f"{tree.name(path)} includes {header}"
            for folder in TORCH_FREE
            for path in tree.files(".hpp", ".cpp", under=(f"libtrain/{folder}", f"tests/unit/{folder}"))
            for header in includes(path)
            if TORCH_HEADER.match(header)
        ]
        self.assertEqual([], wrong)

    def test_public_headers_do_not_include_fmt(self):
        wrong = [
            tree.name(path)
            for path in tree.files(".hpp", under=("libtrain",))
            if any(header.startswith("fmt/") for header in includes(path))
        ]
        self.assertEqual([], wrong)

    def test_users_of_the_library_include_installed_headers_only(self):
        public = installed_headers()
        self.assertIn("libtrain/core/error.hpp", public)
        wrong = []
        for path in tree.files(".hpp", ".cpp", under=("examples", "bindings", "benchmarks", "libtrain/cli")):
            for header in includes(path):
                if header.startswith("libtrain/") and header not in public and "libtrain/cli/" not in header:
                    wrong.append(f"{tree.name(path)} includes {header}, which no root in {ROOTS.name} reaches")
                if ".." in header.split("/"):
                    wrong.append(f"{tree.name(path)} includes {header} by a relative path")
        self.assertEqual([], wrong, "\n".join(wrong))

    def test_no_public_header_opens_a_namespace_for_its_includers(self):
        wrong = [
            tree.name(path)
            for path in tree.files(".hpp", under=("libtrain",))
            if re.search(r"^\s*using\s+namespace\b", path.read_text(), re.MULTILINE)
        ]
        self.assertEqual([], wrong)


if __name__ == "__main__":
    unittest.main()
