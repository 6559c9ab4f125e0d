#include "libtrain/kernels/dropout.hpp"

#include "libtrain/kernels/isa_kernels.hpp"
#include "libtrain/kernels/philox.hpp"

namespace libtrain::kernels::LT_ISA {
namespace {

/// kPhiloxWords elements whose first is element 4 * block of the sample.
template <class T>
[[gnu::always_inline]] inline void drop_group(const T* in, T* out, const RandomStream& stream,
                                              int64_t block, uint32_t threshold, float scale) {
  Words numbers[kPhiloxVectors];
  philox_draw(stream, static_cast<uint64_t>(block), numbers);
  for (int i = 0; i < kPhiloxVectors; ++i) {
    const Words kept = Words(numbers[i] >= threshold);
    const Words scaled = Words(load_floats(in + i * kLanes) * scale);
    store_floats(out + i * kLanes, Floats(scaled & kept));
  }
}

/// The same for `count` elements that start `skip` into the group.
template <class T>
void drop_part(const T* in, T* out, const RandomStream& stream, int64_t block, int64_t skip,
               int64_t count, uint32_t threshold, float scale) {
  T group[kPhiloxWords] = {};
  for (int64_t i = 0; i < count; ++i) {
    group[skip + i] = in[i];
  }
  drop_group(group, group, stream, block, threshold, scale);
  for (int64_t i = 0; i < count; ++i) {
    out[i] = group[skip + i];
  }
}

template <class T>
void dropout(const T* in, T* out, const DropoutArgs& args) {
  const RandomStream stream = args.stream;
  const uint64_t wide_threshold = dropout_threshold(args.probability);
  if (wide_threshold > UINT32_MAX) {
    for (int64_t i = 0; i < args.count; ++i) {
      out[i] = T{};
    }
    return;
  }
  const uint32_t threshold = static_cast<uint32_t>(wide_threshold);
  const float scale = static_cast<float>(1.0 / (1.0 - args.probability));
  int64_t block = args.first / 4;
  int64_t done = 0;
  if (const int64_t skip = args.first % 4; skip != 0) {
    done = args.count < kPhiloxWords - skip ? args.count : kPhiloxWords - skip;
    drop_part(in, out, stream, block, skip, done, threshold, scale);
    block += kPhiloxBlocks;
  }
  for (; args.count - done >= kPhiloxWords; done += kPhiloxWords, block += kPhiloxBlocks) {
    drop_group(in + done, out + done, stream, block, threshold, scale);
  }
  if (done < args.count) {
    drop_part(in + done, out + done, stream, block, 0, args.count - done, threshold, scale);
  }
}

}  // namespace

void dropout_f32(const float* in, float* out, const DropoutArgs& args) { dropout(in, out, args); }

void dropout_bf16(const BFloat16* in, BFloat16* out, const DropoutArgs& args) {
  dropout(in, out, args);
}

}  // namespace libtrain::kernels::LT_ISA
