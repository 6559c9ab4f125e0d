#include "libtrain/kernels/attention.hpp"
#include "libtrain/kernels/attention_buffers.hpp"

namespace libtrain::kernels {

int64_t attention_workspace(int64_t length, int64_t head_dim) {
  return AttentionBuffers(nullptr, length, head_dim).floats;
}

}  // namespace libtrain::kernels
