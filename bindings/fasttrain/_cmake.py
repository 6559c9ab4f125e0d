"""The C++ library in this package, for programs of one's own."""

import os

import fasttrain
from fasttrain._errors import Unsupported


def cmake_prefix_path() -> str:
    """The folder for CMAKE_PREFIX_PATH with which find_package(libtrain) finds the C++ library that
    pip installed with this package. Raises Unsupported for a package in a build folder.

        prefix=$(python -c 'import fasttrain; print(fasttrain.cmake_prefix_path())')
        cmake -B build -DCMAKE_PREFIX_PATH=$prefix
    """
    for folder in fasttrain.__path__:
        if os.path.exists(os.path.join(folder, "lib", "cmake", "libtrain", "libtrainConfig.cmake")):
            return folder
    raise Unsupported("[cmake.prefix] this fasttrain lies in a build folder, without libtrain's "
                      "files for CMake; install it with pip install --no-build-isolation .")
