#pragma once

#include <ATen/core/Tensor.h>

#include <map>
#include <string>

#include "libtrain/core/api.hpp"

namespace libtrain {

/// Tensors by name.
using TensorMap = std::map<std::string, at::Tensor>;

/// Writes a safetensors file atomically. Tensors are saved contiguous and without their device; one
/// that stands under several names is stored once, and the other names go to an alias table in the
/// file's metadata. Throws BadFile (kOutput), and Unsupported for a dtype the format lacks.
LT_API void save_file(const TensorMap& tensors, const std::string& path,
                      const std::map<std::string, std::string>& metadata = {});

/// Reads a safetensors file into CPU tensors of their own; names of one shared tensor share it
/// again. Throws BadFile.
LT_API TensorMap load_file(const std::string& path);

}  // namespace libtrain
