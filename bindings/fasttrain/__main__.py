#!python
"""`python -m fasttrain`, and installed by itself the command `fasttrain`: becomes the C++ program of
that name, which lies in the package. The package is not imported here, since that imports torch.
"""

import importlib.util
import os
import signal
import sys


def main() -> None:
    spec = importlib.util.find_spec("fasttrain")
    folders = (spec and spec.submodule_search_locations) or []
    programs = [os.path.join(folder, "bin", "fasttrain") for folder in folders]
    program = next(filter(os.path.exists, programs), None)
    if program is None:
        sys.exit(f"fasttrain: the program was not built: none of {', '.join(programs)}")
    for ignored_by_python in (signal.SIGPIPE, signal.SIGXFSZ):
        signal.signal(ignored_by_python, signal.SIG_DFL)
    os.execv(program, ["fasttrain", *sys.argv[1:]])


if __name__ == "__main__":
    main()
