"""One build serves one minor version of torch: its C++ classes change their layout with each."""


def check_torch_version(found: str, built_with: str) -> None:
    """Raises ImportError unless both are of the same minor version."""
    if found.split(".")[:2] != built_with.split(".")[:2]:
        raise ImportError(
            f"fasttrain was built with torch {built_with}, and this Python has torch {found}; "
            "in libtrain's sources, with this Python active, build it again: ./dev build, or "
            "pip install --no-build-isolation --no-deps --force-reinstall ."
        )
