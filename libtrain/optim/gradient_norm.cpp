#include "libtrain/optim/gradient_norm.hpp"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/_foreach_norm.h>
#include <ATen/ops/linalg_vector_norm.h>
#include <ATen/ops/stack.h>
#include <ATen/ops/view_as_real.h>
#include <ATen/ops/zeros.h>

#include <cmath>
#include <map>

#include "libtrain/core/require.hpp"
#include "libtrain/kernels/table.hpp"
#include "libtrain/optim/norm_parts.hpp"
#include "libtrain/optim/parallel_chunks.hpp"
#include "libtrain/optim/row_gradient.hpp"

namespace libtrain {
namespace {

template <class T>
double sum_of_squares(const T* x, int64_t count) {
  double sum = 0.0;
  for (int64_t i = 0; i < count; ++i) {
    const double value = static_cast<double>(x[i]);
    sum += value * value;
  }
  return sum;
}

/// Sum over elements [first, first + count) in memory order.
double sum_of_squares(const at::Tensor& tensor, int64_t first, int64_t count) {
  const void* data = tensor.const_data_ptr();
  switch (tensor.scalar_type()) {
    case at::kFloat:
      return kernels::table().sum_of_squares_f32(static_cast<const float*>(data) + first, count);
    case at::kBFloat16:
      return kernels::table().sum_of_squares_bf16(
          static_cast<const kernels::BFloat16*>(data) + first, count);
    case at::kHalf:
      return sum_of_squares(static_cast<const c10::Half*>(data) + first, count);
    case at::kDouble:
      return sum_of_squares(static_cast<const double*>(data) + first, count);
    default:
      throw Unsupported(
          libtrain::fill("[optim.gradient_norm] gradients of dtype {}, expected Float, BFloat16, "
                         "Half or Double, real or complex",
                         c10::toString(tensor.scalar_type())));
  }
}

at::Tensor sparse_values(const at::Tensor& gradient) {
  return gradient.sparse_dim() == 1 && gradient.is_cpu() ? row_gradient(gradient).values
                                                         : gradient.coalesce().values();
}

}  // namespace

std::vector<at::Tensor> norm_parts(const std::vector<at::Tensor>& gradients) {
  std::vector<at::Tensor> parts;
  for (const at::Tensor& gradient : gradients) {
    if (!gradient.defined()) {
      continue;
    }
    at::Tensor part = gradient.detach();
    part = part.is_sparse() ? sparse_values(part) : part;
    part = part.is_complex() ? at::view_as_real(part.resolve_conj()) : part;
    if (part.numel() > 0) {
      parts.push_back(part.is_non_overlapping_and_dense() ? part : part.contiguous());
    }
  }
  return parts;
}

double gradient_norm(const std::vector<at::Tensor>& gradients) {
  const at::NoGradGuard no_grad;
  const std::vector<at::Tensor> parts = norm_parts(gradients);
  ParallelChunks chunks(kernels::kNormChunk);
  for (const at::Tensor& part : parts) {
    require(part.is_cpu(), "[optim.gradient_norm] a gradient is on {}, expected the CPU",
            part.device().str());
    chunks.add_tensor(part.numel());
  }
  std::vector<double> sums(static_cast<size_t>(chunks.count()));
  chunks.run([&](size_t tensor, int64_t first, int64_t count, int64_t chunk) {
    sums[static_cast<size_t>(chunk)] = sum_of_squares(parts[tensor], first, count);
  });
  double total = 0.0;
  for (const double sum : sums) {
    total += sum;
  }
  return std::sqrt(total);
}

at::Tensor norm_on_device(const std::vector<at::Tensor>& parts, double norm_type) {
  const at::NoGradGuard no_grad;
  if (parts.empty()) {
    return at::zeros({}, at::kDouble);
  }
  std::map<std::string, std::vector<at::Tensor>> by_kind;
  for (const at::Tensor& part : parts) {
    by_kind[part.device().str() + c10::toString(part.scalar_type())].push_back(part);
  }
  std::vector<at::Tensor> norms;
  for (const auto& [kind, list] : by_kind) {
    const at::Tensor norm = at::linalg_vector_norm(
        at::stack(at::_foreach_norm(list, norm_type, at::kDouble)), norm_type);
    norms.push_back(norm.to(parts.front().device(), /*non_blocking=*/true));
  }
  return norms.size() == 1 ? norms.front() : at::linalg_vector_norm(at::stack(norms), norm_type);
}

at::Tensor gradient_norm_on_device(const std::vector<at::Tensor>& gradients) {
  return norm_on_device(norm_parts(gradients), 2.0);
}

}  // namespace libtrain
