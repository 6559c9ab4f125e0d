#include "libtrain/sim/autocast.hpp"

#include <ATen/autocast_mode.h>

#include "libtrain/core/error.hpp"
#include "libtrain/sim/registration.hpp"

namespace libtrain::sim {
namespace {

/// As on CUDA: in 16 bits the logarithm of a probability near 0 or 1 is lost.
at::Tensor refuse_binary_cross_entropy(const at::Tensor&, const at::Tensor&,
                                       const std::optional<at::Tensor>&, int64_t) {
  throw Unsupported(
      "[sim.autocast] aten::binary_cross_entropy is unsafe under autocast, as on CUDA; use "
      "binary_cross_entropy_with_logits");
}

}  // namespace

void register_autocast() {
  constexpr auto kKey = c10::DispatchKey::AutocastPrivateUse1;
  // Operators on no list run as they are.
  if (!c10::Dispatcher::singleton().hasBackendFallbackForDispatchKey(kKey)) {
    library("_", kKey).fallback(torch::CppFunction::makeFallthrough());
  }
  // The macros of ATen/autocast_mode.h register on a library `m` and speak of types as at:: does;
  // the lists are those that LibTorch's autocast_mode.cpp gives CUDA.
  using namespace at;
  torch::Library& m = library("aten", kKey);
#define LOWER_PRECISION(...) KERNEL_PRIVATEUSEONE(__VA_ARGS__, lower_precision_fp)
#define FP32(...) KERNEL_PRIVATEUSEONE(__VA_ARGS__, fp32)
#define FP32_SET_OPT_DTYPE(...) KERNEL_PRIVATEUSEONE(__VA_ARGS__, fp32_set_opt_dtype)
#define PROMOTE(...) KERNEL_PRIVATEUSEONE(__VA_ARGS__, promote)
  AT_FORALL_LOWER_PRECISION_FP(LOWER_PRECISION)
  AT_FORALL_FP32(FP32)
  AT_FORALL_FP32_SET_OPT_DTYPE(FP32_SET_OPT_DTYPE)
  AT_FORALL_DIFFERENT_REDISPATCH_SIGNATURE(KERNEL_DIFFERENT_REDISPATCH_SIGNATURE_PRIVATEUSEONE)
  AT_FORALL_PROMOTE(PROMOTE)
#undef LOWER_PRECISION
#undef FP32
#undef FP32_SET_OPT_DTYPE
#undef PROMOTE
  m.impl("binary_cross_entropy", TORCH_FN(refuse_binary_cross_entropy));
}

}  // namespace libtrain::sim
