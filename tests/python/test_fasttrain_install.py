"""What pip gets: a source archive that holds the whole build, and where CMake finds the library."""

import pathlib
import subprocess
import sys
import tarfile

import fasttrain as ft
import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]


def test_the_source_archive_holds_what_the_build_reads(tmp_path):
    pytest.importorskip("scikit_build_core")
    code = f"from scikit_build_core.build import build_sdist; build_sdist({str(tmp_path)!r})"
    subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=True, capture_output=True, timeout=250)
    with tarfile.open(tmp_path / f"fasttrain-{ft.__version__}.tar.gz") as archive:
        files = {name.split("/", 1)[1] for name in archive.getnames()}
    read = ["CMakeLists.txt", "pyproject.toml", "README.md", "LICENSE"]
    for folder in ("libtrain", "bindings", "cmake"):
        read += [str(path.relative_to(ROOT)) for path in (ROOT / folder).rglob("*") if path.is_file() and path.suffix != ".pyc"]
    assert len(read) > 300 and set(read) <= files
    assert not any(name.startswith(("build/", ".venv", ".git/")) for name in files)


def test_the_prefix_for_cmake_is_the_package_that_has_the_files(tmp_path, monkeypatch):
    config = tmp_path / "lib/cmake/libtrain/libtrainConfig.cmake"
    config.parent.mkdir(parents=True)
    config.touch()
    monkeypatch.setattr(ft, "__path__", [str(tmp_path / "sources"), str(tmp_path)])  # an editable install has two
    assert ft.cmake_prefix_path() == str(tmp_path)
    config.unlink()
    with pytest.raises(ft.Unsupported, match="lies in a build folder"):
        ft.cmake_prefix_path()
