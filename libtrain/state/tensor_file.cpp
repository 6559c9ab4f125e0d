#include "libtrain/state/tensor_file.hpp"

#include <ATen/Parallel.h>
#include <ATen/ops/empty.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

#include "libtrain/core/error.hpp"
#include "libtrain/core/text.hpp"
#include "libtrain/format/aliases.hpp"
#include "libtrain/format/safetensors.hpp"

namespace libtrain {
namespace {

using format::DType;

constexpr std::array<std::pair<DType, at::ScalarType>, 19> kTypes = {{
    {DType::kBool, at::kBool},
    {DType::kU8, at::kByte},
    {DType::kI8, at::kChar},
    {DType::kF8E5M2, at::kFloat8_e5m2},
    {DType::kF8E4M3, at::kFloat8_e4m3fn},
    {DType::kF8E8M0, at::kFloat8_e8m0fnu},
    {DType::kF8E4M3Fnuz, at::kFloat8_e4m3fnuz},
    {DType::kF8E5M2Fnuz, at::kFloat8_e5m2fnuz},
    {DType::kI16, at::kShort},
    {DType::kU16, at::kUInt16},
    {DType::kF16, at::kHalf},
    {DType::kBF16, at::kBFloat16},
    {DType::kI32, at::kInt},
    {DType::kU32, at::kUInt32},
    {DType::kF32, at::kFloat},
    {DType::kC64, at::kComplexFloat},
    {DType::kF64, at::kDouble},
    {DType::kI64, at::kLong},
    {DType::kU64, at::kUInt64},
}};

at::ScalarType scalar_type_of(DType dtype) {
  for (const auto& [stored, scalar] : kTypes) {
    if (stored == dtype) {
      return scalar;
    }
  }
  throw InternalError("[state.load] a safetensors dtype has no LibTorch twin");
}

DType dtype_of(const std::string& name, at::ScalarType scalar) {
  for (const auto& [stored, candidate] : kTypes) {
    if (candidate == scalar) {
      return stored;
    }
  }
  throw Unsupported(
      fill("[state.save] tensor {} has dtype {}, which safetensors cannot hold; convert "
           "it first",
           quote(name), c10::toString(scalar)));
}

void check_has_numbers(const std::string& name, const at::Tensor& tensor) {
  if (tensor.layout() != at::kStrided || tensor.is_meta()) {
    throw Unsupported(
        fill("[state.save] tensor {} is {} on {}, expected a dense one with numbers; "
             "convert it first",
             quote(name), c10::str(tensor.layout()), tensor.device().str()));
  }
}

/// Two names stand for one tensor when these are equal.
using Identity =
    std::tuple<const void*, at::ScalarType, std::vector<int64_t>, std::vector<int64_t>, bool, bool>;

Identity identity_of(const at::Tensor& tensor) {
  return {tensor.const_data_ptr(), tensor.scalar_type(), tensor.sizes().vec(),
          tensor.strides().vec(),  tensor.is_conj(),     tensor.is_neg()};
}

/// Bytes out of a mapped file, in pieces: most of a copy's time are page faults, which threads
/// share.
class Copies {
 public:
  void add(std::span<const std::byte> from, void* to) {
    for (size_t at = 0; at < from.size(); at += kPieceBytes) {
      pieces_.push_back({from.subspan(at, std::min(kPieceBytes, from.size() - at)),
                         static_cast<std::byte*>(to) + at});
    }
  }

  void run() const {
    at::parallel_for(0, static_cast<int64_t>(pieces_.size()), 1, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        const auto& [from, to] = pieces_[static_cast<size_t>(i)];
        std::memcpy(to, from.data(), from.size());
      }
    });
  }

 private:
  static constexpr size_t kPieceBytes = size_t{4} << 20;
  std::vector<std::pair<std::span<const std::byte>, std::byte*>> pieces_;
};

}  // namespace

void save_file(const TensorMap& tensors, const std::string& path,
               const std::map<std::string, std::string>& metadata) {
  std::map<std::string, format::TensorEntry> entries;
  std::map<std::string, std::string> aliases;
  std::map<Identity, std::string> first_names;
  std::vector<at::Tensor> kept;  // contiguous CPU copies the entries point into
  for (const auto& [name, tensor] : tensors) {
    check_has_numbers(name, tensor);
    if (tensor.numel() > 0) {
      const auto [first, is_new] = first_names.emplace(identity_of(tensor), name);
      if (!is_new) {
        aliases.emplace(name, first->second);
        continue;
      }
    }
    const at::Tensor& plain =
        kept.emplace_back(tensor.detach().cpu().resolve_conj().resolve_neg().contiguous());
    entries[name] = {dtype_of(name, plain.scalar_type()),
                     plain.sizes().vec(),
                     {static_cast<const std::byte*>(plain.const_data_ptr()), plain.nbytes()}};
  }
  std::map<std::string, std::string> notes = metadata;
  if (!aliases.empty()) {
    notes[std::string(format::kAliasesKey)] = format::format_aliases(aliases);
  }
  format::write_safetensors(path, entries, notes);
}

TensorMap load_file(const std::string& path) {
  const format::SafetensorsFile file(path);
  TensorMap out;
  Copies copies;
  for (const auto& [name, entry] : file.tensors()) {
    at::Tensor tensor = at::empty(entry.shape, scalar_type_of(entry.dtype));
    copies.add(entry.bytes, tensor.mutable_data_ptr());
    out.emplace(name, std::move(tensor));
  }
  copies.run();
  for (const auto& [alias, name] : format::parse_aliases(file.header(), path)) {
    out.emplace(alias, out.at(name));
  }
  return out;
}

}  // namespace libtrain
