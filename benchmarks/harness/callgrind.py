"""Counts the instructions that are the library's own out of a callgrind file."""

import re

OWN = re.compile(r"/libtrain(_core)?\.so")
RUNTIME = re.compile(r"/(libc|libm|libstdc\+\+)\.so")
COST = re.compile(r"[\d+*-]")
KERNELS = "libtrain::kernels::"


def own_instructions(text: str) -> int:
    """Instructions in the library outside its kernels, and in the C and C++ runtime on its behalf.
    What LibTorch spends is left out, and so are kernels, which differ between CPUs.

    The format (valgrind's manual, "Callgrind Format Specification"): `ob=`, `fn=` name where the
    following costs belong, `cob=`, `cfn=` what is called; a line `calls=` is followed by one with
    the call's inclusive cost. A name stands once, as `(id) name`, and then as `(id)`.
    """
    names: dict[tuple[str, str], str] = {}

    def name_of(kind: str, value: str) -> str:
        number, _, name = value.partition(" ")
        return names.setdefault((kind, number), name)

    total = 0
    here = called = function = ""
    is_call = False
    for line in text.splitlines():
        key, _, value = line.partition("=")
        if key == "ob":
            here = called = name_of("object", value)
        elif key == "fn":
            function = name_of("function", value)
            called = here
        elif key == "cob":
            called = name_of("object", value)
        elif key == "cfn":
            name_of("function", value)
        elif key == "calls":
            is_call = True
        elif COST.match(line):
            cost = int(line.split()[-1])
            counts = OWN.search(here) and KERNELS not in function
            if counts and (not is_call or RUNTIME.search(called)):
                total += cost
            if is_call:
                called, is_call = here, False
    return total
