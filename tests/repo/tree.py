"""The files of this repository that people write."""

import pathlib

ROOT = pathlib.Path(__file__).resolve().parents[2]
FOLDERS = ("libtrain", "bindings", "examples", "benchmarks", "tests", "docs", "cmake", "tools", "requirements")
TEXT = {".hpp", ".cpp", ".cu", ".py", ".pyi", ".md", ".sh", ".cmake", ".txt", ".json", ".toml"}


def files(*suffixes: str, under: tuple[str, ...] = FOLDERS) -> list[pathlib.Path]:
    """Text files below the given folders, and those at the root itself; recorded data is no text."""
    found = [path for path in ROOT.iterdir() if path.is_file()] if under is FOLDERS else []
    for folder in under:
        found += (ROOT / folder).rglob("*")
    recorded = (ROOT / "tests/machines", ROOT / "tests/plans", ROOT / "tests/data")
    return sorted(
        path
        for path in found
        if path.is_file() and path.suffix in (suffixes or TEXT) and not any(map(path.is_relative_to, recorded))
    )


def name(path: pathlib.Path) -> str:
    return path.relative_to(ROOT).as_posix()
