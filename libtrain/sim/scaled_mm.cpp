#include "libtrain/sim/scaled_mm.hpp"

#include <ATen/ops/mm.h>

#include "libtrain/core/require.hpp"

namespace libtrain::sim {
namespace {

constexpr int64_t kMultiple = 16;

std::string sizes(const at::Tensor& tensor) { return c10::str(tensor.sizes()); }

void require_operand(const at::Tensor& tensor, const char* name) {
  const c10::ScalarType dtype = tensor.scalar_type();
  require(tensor.dim() == 2, "[sim.scaled_mm] {}={}, expected a matrix", name, sizes(tensor));
  require(dtype == at::kFloat8_e4m3fn || dtype == at::kFloat8_e5m2,
          "[sim.scaled_mm] {} is {}, expected Float8_e4m3fn or Float8_e5m2", name,
          c10::toString(dtype));
}

void require_shapes(const at::Tensor& a, const at::Tensor& b) {
  require(a.size(1) == b.size(0), "[sim.scaled_mm] a={}, b={}, expected [M, K] and [K, N]",
          sizes(a), sizes(b));
  require(a.size(1) % kMultiple == 0, "[sim.scaled_mm] a={}, expected its columns divisible by {}",
          sizes(a), kMultiple);
  require(b.size(1) % kMultiple == 0, "[sim.scaled_mm] b={}, expected its columns divisible by {}",
          sizes(b), kMultiple);
  require(a.stride(1) == 1 && a.stride(0) >= a.size(1),
          "[sim.scaled_mm] a has strides {}, expected it row-major: [K, 1]", c10::str(a.strides()));
  require(b.stride(0) == 1 && b.stride(1) >= b.size(0),
          "[sim.scaled_mm] b has strides {}, expected it column-major: [1, K], as the transpose of "
          "a contiguous [N, K]",
          c10::str(b.strides()));
  require(a.scalar_type() != at::kFloat8_e5m2 || b.scalar_type() != at::kFloat8_e5m2,
          "[sim.scaled_mm] a and b are both Float8_e5m2, expected Float8_e4m3fn for one of them");
}

bool scales_rows(const at::Tensor& scale_a, const at::Tensor& scale_b) {
  return scale_a.numel() > 1 || scale_b.numel() > 1;
}

void require_scales(const at::Tensor& a, const at::Tensor& b, const at::Tensor& scale_a,
                    const at::Tensor& scale_b, c10::ScalarType out) {
  for (const auto& [scale, name] : {std::pair(scale_a, "scale_a"), std::pair(scale_b, "scale_b")}) {
    require<Unsupported>(scale.scalar_type() == at::kFloat,
                         "[sim.scaled_mm] {} is {}, expected Float: the simulated device has no "
                         "block scaling",
                         name, c10::toString(scale.scalar_type()));
  }
  if (!scales_rows(scale_a, scale_b)) {
    return;
  }
  const bool fits = scale_a.dim() == 2 && scale_b.dim() == 2 && scale_a.size(0) == a.size(0) &&
                    scale_a.size(1) == 1 && scale_b.size(0) == 1 && scale_b.size(1) == b.size(1) &&
                    scale_a.is_contiguous() && scale_b.is_contiguous();
  require(fits,
          "[sim.scaled_mm] scale_a={}, scale_b={}, expected one value each, or contiguous [{}, 1] "
          "and [1, {}]",
          sizes(scale_a), sizes(scale_b), a.size(0), b.size(1));
  require(out == at::kBFloat16,
          "[sim.scaled_mm] out_dtype={}, expected BFloat16 with a scale for each row",
          c10::toString(out));
}

void require_bias(const at::Tensor& b, const std::optional<at::Tensor>& bias, c10::ScalarType out) {
  if (!bias || !bias->defined()) {
    return;
  }
  require(bias->numel() == b.size(1), "[sim.scaled_mm] bias={}, expected {} values", sizes(*bias),
          b.size(1));
  require(out != at::kFloat, "[sim.scaled_mm] out_dtype=Float, expected another with a bias");
  const c10::ScalarType expected = out == at::kHalf ? at::kHalf : at::kBFloat16;
  const c10::ScalarType dtype = bias->scalar_type();
  const bool fits = dtype == expected || (dtype == at::kHalf && out != at::kBFloat16);
  require(fits, "[sim.scaled_mm] bias is {}, expected {} for {} results", c10::toString(dtype),
          c10::toString(expected), c10::toString(out));
}

}  // namespace

at::Tensor scaled_mm(const at::Tensor& a, const at::Tensor& b, const at::Tensor& scale_a,
                     const at::Tensor& scale_b, const std::optional<at::Tensor>& bias,
                     const std::optional<at::Tensor>& scale_result,
                     std::optional<c10::ScalarType> out_dtype, bool) {
  require_operand(a, "a");
  require_operand(b, "b");
  require_shapes(a, b);
  const c10::ScalarType out = out_dtype.value_or(a.scalar_type());
  require_scales(a, b, scale_a, scale_b, out);
  require_bias(b, bias, out);
  require<Unsupported>(!scale_result || !scale_result->defined(),
                       "[sim.scaled_mm] scale_result is given, expected none on the simulated "
                       "device");
  at::Tensor result = at::mm(a.to(at::kFloat).mul(scale_a), b.to(at::kFloat).mul(scale_b));
  if (bias && bias->defined()) {
    result.add_(*bias);
  }
  return result.to(out);
}

at::Tensor& scaled_mm_out(const at::Tensor& a, const at::Tensor& b, const at::Tensor& scale_a,
                          const at::Tensor& scale_b, const std::optional<at::Tensor>& bias,
                          const std::optional<at::Tensor>& scale_result,
                          std::optional<c10::ScalarType> out_dtype, bool use_fast_accum,
                          at::Tensor& out) {
  const at::Tensor result =
      scaled_mm(a, b, scale_a, scale_b, bias, scale_result, out_dtype, use_fast_accum);
  require(out.scalar_type() == result.scalar_type(), "[sim.scaled_mm] out is {}, expected {}",
          c10::toString(out.scalar_type()), c10::toString(result.scalar_type()));
  return out.resize_(result.sizes()).copy_(result);
}

}  // namespace libtrain::sim
