#include "libtrain/format/safetensors_header.hpp"

#include <optional>
#include <utility>

#include "libtrain/core/error.hpp"
#include "libtrain/core/text.hpp"
#include "libtrain/format/json_events.hpp"
#include "libtrain/format/safetensors_layout.hpp"

namespace libtrain::format {
namespace {

/// Takes {"NAME": {"dtype": "F32", "shape": [2, 3], "data_offsets": [0, 24]}, ...,
/// "__metadata__": {"KEY": "VALUE", ...}} and nothing else.
class HeaderReader final : public JsonEvents {
 public:
  explicit HeaderReader(const std::string& file) : file_(file) {}

  void begin_object(int64_t offset) override {
    if (place_ == Place::kOutside) {
      place_ = Place::kHeader;
    } else if (place_ == Place::kHeader && tensor_.name == kMetadataKey) {
      place_ = Place::kMetadata;
    } else if (place_ == Place::kHeader) {
      place_ = Place::kTensor;
    } else {
      unexpected(offset, "an object");
    }
  }

  void begin_array(int64_t offset) override {
    if (place_ == Place::kTensor && key_ == "shape") {
      place_ = Place::kShape;
      shape_.emplace();
    } else if (place_ == Place::kTensor && key_ == "data_offsets") {
      place_ = Place::kRange;
      range_.emplace();
    } else {
      unexpected(offset, "an array");
    }
  }

  void key(std::string text, int64_t offset) override {
    if (place_ == Place::kHeader) {
      tensor_.name = std::move(text);
      tensor_.offset = offset;
      dtype_.reset();
      shape_.reset();
      range_.reset();
      return;
    }
    key_ = std::move(text);
    if (place_ == Place::kTensor && key_ != "dtype" && key_ != "shape" && key_ != "data_offsets") {
      fail(offset, "unknown key",
           fill("key={}, expected dtype, shape or data_offsets", quote(key_)));
    }
  }

  void scalar(Json value, int64_t offset) override {
    if (place_ == Place::kMetadata && value.is_string()) {
      header_.metadata.emplace(std::move(key_), std::move(value.get_ref<std::string&>()));
    } else if (place_ == Place::kTensor && key_ == "dtype" && value.is_string()) {
      read_dtype(value.get_ref<const std::string&>(), offset);
    } else if (place_ == Place::kShape) {
      append(*shape_, value, offset, kMaxDimensions);
    } else if (place_ == Place::kRange) {
      append(*range_, value, offset, 2);
    } else {
      unexpected(offset, value.type_name());
    }
  }

  void end() override {
    switch (place_) {
      case Place::kShape:
      case Place::kRange:
        place_ = Place::kTensor;
        break;
      case Place::kTensor:
        finish_tensor();
        place_ = Place::kHeader;
        break;
      case Place::kMetadata:
        place_ = Place::kHeader;
        break;
      case Place::kHeader:
      case Place::kOutside:
        place_ = Place::kOutside;
        break;
    }
  }

  RawHeader take() { return std::move(header_); }

 private:
  enum class Place { kOutside, kHeader, kMetadata, kTensor, kShape, kRange };

  void read_dtype(const std::string& text, int64_t offset) {
    dtype_ = parse_dtype(text);
    if (!dtype_) {
      fail(offset, "unknown element type",
           fill("dtype={}, expected BOOL, U8 to U64, I8 to I64, F16, BF16, F32, F64, C64 or F8_*",
                quote(text)));
    }
  }

  void append(std::vector<int64_t>& values, const Json& value, int64_t offset, size_t limit) {
    const bool fits = value.is_number_unsigned() && value.get<uint64_t>() <= INT64_MAX;
    if (!fits) {
      fail(offset, "not a size",
           fill("{}={}, expected an integer from 0 to 2^63-1", key_,
                value.is_number() ? value.dump() : value.type_name()));
    }
    if (values.size() == limit) {
      fail(offset, "too many values", fill("key={}, expected at most {}", key_, limit));
    }
    values.push_back(value.get<int64_t>());
  }

  void finish_tensor() {
    if (!dtype_ || !shape_ || !range_) {
      fail(tensor_.offset, "missing key",
           fill("key={}", !dtype_   ? "dtype"
                          : !shape_ ? "shape"
                                    : "data_offsets"));
    }
    if (range_->size() != 2 || range_->at(0) > range_->at(1)) {
      fail(tensor_.offset, "data_offsets are no range", "expected [begin, end] with begin <= end");
    }
    tensor_.dtype = *dtype_;
    tensor_.shape = *std::move(shape_);
    tensor_.begin = range_->at(0);
    tensor_.end = range_->at(1);
    header_.tensors.push_back(std::move(tensor_));
  }

  [[noreturn]] void unexpected(int64_t offset, std::string_view found) const {
    fail(offset, "unexpected value",
         fill("found {}, expected dtype, shape and data_offsets of each tensor, and strings in {}",
              found, kMetadataKey));
  }

  [[noreturn]] void fail(int64_t offset, std::string_view what, std::string_view detail) const {
    fail_safetensors(file_, offset, what, fill("tensor={}, {}", quote(tensor_.name), detail));
  }

  const std::string& file_;
  RawHeader header_;
  Place place_ = Place::kOutside;
  std::string key_;      // in the innermost object that is not the header itself
  HeaderTensor tensor_;  // being read
  std::optional<DType> dtype_;
  std::optional<std::vector<int64_t>> shape_;
  std::optional<std::vector<int64_t>> range_;
};

}  // namespace

RawHeader parse_safetensors_header(std::string_view json, const std::string& file) {
  HeaderReader reader(file);
  parse_json_events(json, file, kLengthBytes, reader);
  return reader.take();
}

void fail_safetensors(const std::string& file, int64_t offset, std::string_view what,
                      std::string_view detail) {
  throw BadFile(
      fill("[safetensors.read] {}: file={}, byte={}, {}; write the file or fetch it again", what,
           quote(file, 400), offset, detail),
      file, offset);
}

}  // namespace libtrain::format
