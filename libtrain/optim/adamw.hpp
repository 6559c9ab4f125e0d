#pragma once

#include <string>
#include <vector>

#include "libtrain/core/api.hpp"
#include "libtrain/optim/optimizer.hpp"

namespace libtrain {

/// Defaults and formulas of torch.optim.Adam.
struct AdamOptions {
  double lr = 1e-3;
  double beta1 = 0.9;
  double beta2 = 0.999;
  double eps = 1e-8;
  double weight_decay = 0.0;  ///< added to the gradient
  bool amsgrad = false;
  bool maximize = false;
};

/// Defaults and formulas of torch.optim.AdamW.
struct AdamWOptions {
  double lr = 1e-3;
  double beta1 = 0.9;
  double beta2 = 0.999;
  double eps = 1e-8;
  double weight_decay = 0.01;  ///< takes lr * weight_decay off the weights, apart from the gradient
  bool amsgrad = false;
  bool maximize = false;
};

enum class WeightDecay { kInGradient, kDecoupled };

/// What Adam and AdamW share: all but where the weight decay goes.
/// State: "step", "exp_avg", "exp_avg_sq" and, with amsgrad, "max_exp_avg_sq".
class LT_API AdamBase : public Optimizer {
 public:
  GradientForms gradient_forms() const final;

 protected:
  AdamBase(Parameters parameters, const AdamOptions& options, WeightDecay weight_decay);
  void set_group_options(size_t group, const AdamOptions& options);

  std::vector<std::string> state_names() const override;
  void update_with_kernels(const std::vector<Moving>& moving, const HostUpdate& numbers) override;
  void update_fused(const Group& group, const std::vector<Moving>& moving,
                    const FusedNumbers& numbers) override;

 private:
  const AdamOptions& options_of(const Moving& moving) const { return options_[moving.slot->group]; }

  std::vector<AdamOptions> options_;  ///< one a group; lr and weight_decay are the base's
  WeightDecay weight_decay_;
};

/// Adam (Kingma, Ba 2015), amsgrad (Reddi, Kale, Kumar 2018).
class LT_API Adam final : public AdamBase {
 public:
  /// Throws InvalidOption for options out of range.
  explicit Adam(Parameters parameters, const AdamOptions& options = {});
  /// All options of one group from now on. Throws InvalidOption for options out of range and for
  /// another amsgrad, which decides what state there is; nothing has changed then.
  void set_options(size_t group, const AdamOptions& options) { set_group_options(group, options); }
};

/// Adam with decoupled weight decay (Loshchilov, Hutter 2019).
class LT_API AdamW final : public AdamBase {
 public:
  /// Throws InvalidOption for options out of range.
  explicit AdamW(Parameters parameters, const AdamWOptions& options = {});
  /// As Adam's.
  void set_options(size_t group, const AdamWOptions& options);
};

}  // namespace libtrain
