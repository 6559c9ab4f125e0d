#pragma once

#include <span>
#include <string_view>

namespace libtrain {

/// Variables that training libraries and their installers are known to use, sorted. Sources: NCCL's
/// src/ (NCCL_PARAM and getenv, 2.30), LibTorch 2.15 (its Python files and the text of its
/// libraries), CUDA C++ Programming Guide "CUDA Environment Variables", OpenMP 5.2, libgomp and
/// LLVM manuals, oneMKL and oneDNN developer guides, NVIDIA Container Toolkit, glibc's mallopt(3).
std::span<const std::string_view> known_variables();

bool is_known_variable(std::string_view name);

}  // namespace libtrain
