#pragma once

#include <string>
#include <vector>

#include "libtrain/core/api.hpp"
#include "libtrain/optim/optimizer.hpp"

namespace libtrain {

/// Defaults and formulas of torch.optim.SGD.
struct SGDOptions {
  double lr = 1e-3;
  double momentum = 0.0;
  double dampening = 0.0;
  double weight_decay = 0.0;
  bool nesterov = false;
  bool maximize = false;
};

/// Stochastic gradient descent. State: none without momentum, else "step" and "momentum_buffer".
class LT_API SGD final : public Optimizer {
 public:
  /// Throws InvalidOption for options out of range.
  explicit SGD(Parameters parameters, const SGDOptions& options = {});
  /// All options of one group from now on. Throws InvalidOption for options out of range and for a
  /// momentum that starts or ends, which decides what state there is; nothing has changed then.
  void set_options(size_t group, const SGDOptions& options);

 private:
  std::vector<std::string> state_names() const override;
  void update_with_kernels(const std::vector<Moving>& moving, const HostUpdate& numbers) override;
  void update_fused(const Group& group, const std::vector<Moving>& moving,
                    const FusedNumbers& numbers) override;
  void start_buffers(const Group& group, const std::vector<Moving>& moving,
                     const FusedNumbers& numbers) const;

  const SGDOptions& options_of(const Moving& moving) const { return options_[moving.slot->group]; }

  std::vector<SGDOptions> options_;  ///< one a group; lr and weight_decay are the base's
};

}  // namespace libtrain
