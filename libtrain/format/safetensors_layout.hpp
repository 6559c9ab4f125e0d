#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace libtrain::format {

/// What reader and writer of safetensors files share.
inline constexpr size_t kLengthBytes = 8;                 ///< the header's length, little-endian
inline constexpr uint64_t kMaxHeaderBytes = 100'000'000;  ///< as the safetensors package
inline constexpr size_t kMaxDimensions = 64;              ///< as PyTorch
inline constexpr std::string_view kMetadataKey = "__metadata__";

}  // namespace libtrain::format
