#pragma once

#include <cmath>
#include <vector>

#include "libtrain/kernels/attention.hpp"

namespace libtrain::kernels {

/// Attention of one head in double, straight from the formulas; row t of each matrix starts at
/// t * head_dim.
class AttentionReference {
 public:
  using Matrix = std::vector<double>;

  AttentionReference(const AttentionArgs& args, Matrix q, Matrix k, Matrix v)
      : args_(args), q_(std::move(q)), k_(std::move(k)), v_(std::move(v)) {
    const size_t n = length();
    out.assign(n * dim(), 0.0);
    log_sum_exp.resize(n);
    p_.resize(n * n);
    kept_.resize(n * n);
    for (size_t i = 0; i < n; ++i) {
      double largest = -INFINITY;
      for (size_t j = 0; j < n; ++j) {
        p_[i * n + j] = args_.scale * dot(q_, i, k_, j);
        largest = std::max(largest, p_[i * n + j]);
      }
      double sum = 0;
      for (size_t j = 0; j < n; ++j) {
        sum += std::exp(p_[i * n + j] - largest);
      }
      log_sum_exp[i] = largest + std::log(sum);
      for (size_t j = 0; j < n; ++j) {
        p_[i * n + j] = std::exp(p_[i * n + j] - log_sum_exp[i]);
        kept_[i * n + j] = kept(i, j);
        add(out, i, p_[i * n + j] * kept_[i * n + j], v_, j);
      }
    }
  }

  void backward(const Matrix& grad_out) {
    const size_t n = length();
    grad_q.assign(n * dim(), 0.0);
    grad_k = grad_v = grad_q;
    for (size_t i = 0; i < n; ++i) {
      double delta = 0;  // sum over keys of P * dP
      for (size_t j = 0; j < n; ++j) {
        delta += p_[i * n + j] * kept_[i * n + j] * dot(grad_out, i, v_, j);
      }
      for (size_t j = 0; j < n; ++j) {
        const double p = p_[i * n + j];
        const double mask = kept_[i * n + j];
        const double grad_score = p * (mask * dot(grad_out, i, v_, j) - delta);
        add(grad_v, j, p * mask, grad_out, i);
        add(grad_q, i, args_.scale * grad_score, k_, j);
        add(grad_k, j, args_.scale * grad_score, q_, i);
      }
    }
  }

  Matrix out, log_sum_exp, grad_q, grad_k, grad_v;

 private:
  size_t length() const { return static_cast<size_t>(args_.length); }
  size_t dim() const { return static_cast<size_t>(args_.head_dim); }

  double dot(const Matrix& a, size_t i, const Matrix& b, size_t j) const {
    double sum = 0;
    for (size_t c = 0; c < dim(); ++c) {
      sum += a[i * dim() + c] * b[j * dim() + c];
    }
    return sum;
  }

  void add(Matrix& to, size_t i, double factor, const Matrix& from, size_t j) const {
    for (size_t c = 0; c < dim(); ++c) {
      to[i * dim() + c] += factor * from[j * dim() + c];
    }
  }

  double kept(size_t query, size_t key) const {
    const size_t element = (static_cast<size_t>(args_.head) * length() + query) * length() + key;
    const RandomStream& s = args_.stream;
    const auto words =
        philox4x32({static_cast<uint32_t>(element / 4), s.sample, s.site, s.step},
                   {static_cast<uint32_t>(s.seed), static_cast<uint32_t>(s.seed >> 32)});
    return words[element % 4] >= dropout_threshold(args_.dropout) ? 1 / (1 - args_.dropout) : 0;
  }

  AttentionArgs args_;
  Matrix q_, k_, v_, p_, kept_;
};

}  // namespace libtrain::kernels
