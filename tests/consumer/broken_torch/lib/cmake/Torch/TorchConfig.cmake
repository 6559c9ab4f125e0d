# What find_package(Torch) does with a CUDA toolkit that has no nvToolsExt any more.
message(FATAL_ERROR "Torch's own package was asked for: it links CUDA::nvToolsExt")
