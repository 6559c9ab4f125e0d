#pragma once

#include <ATen/core/Tensor.h>

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "libtrain/core/api.hpp"
#include "libtrain/runtime/parameters.hpp"
#include "libtrain/runtime/updatable.hpp"

namespace libtrain {

/// Saved state by parameter name: "exp_avg.NAME" and the like, all on the CPU.
using OptimizerState = std::map<std::string, at::Tensor>;

/// Base of AdamW, Adam and SGD. A parameter that is frozen (requires_grad false) or has no gradient
/// does not move, and its state stays as it is. State is made at a parameter's first update and
/// lies on the parameter's device, in its dtype and layout.
///
/// fp32 parameters on the CPU are updated by the library's own kernels, with the same bits for any
/// number of threads; all others, and every update(DeviceUpdate), by ATen's fused operators, whose
/// number does not grow with the number of parameters. Both clear autocast's cache of cast weights.
class LT_API Optimizer : public Updatable {
 public:
  ~Optimizer() override;
  Optimizer(const Optimizer&) = delete;
  Optimizer& operator=(const Optimizer&) = delete;
  Optimizer(Optimizer&&) = delete;
  Optimizer& operator=(Optimizer&&) = delete;

  /// PyTorch's step: applies the gradients as they are. Unlike PyTorch it skips when one is not
  /// finite (set_skip_non_finite(false) leaves that check, one pass over the gradients, out).
  StepOutcome step() final;
  void set_skip_non_finite(bool skip) noexcept { skip_non_finite_ = skip; }

  /// Both throw InvalidOption, with the parameter's name, when a gradient or the state is not on
  /// the parameter's device or not of its dtype or shape, and Unsupported for a sparse gradient;
  /// nothing has moved then. The first also takes what gradient_forms() says, for fp32 parameters
  /// on the CPU: the numbers are those of the dense fp32 gradient it stands for.
  void update(const HostUpdate& numbers) final;
  void update(const DeviceUpdate& numbers) final;

  /// Undefined gradients move nothing; zeros (`set_to_none` false) still let weight decay and
  /// momentum move a parameter.
  void zero_grad(bool set_to_none = true);

  /// Learning rates are not part of the saved state: a schedule sets them.
  size_t group_count() const noexcept { return groups_.size(); }
  double lr(size_t group = 0) const { return groups_.at(group).lr; }
  /// Sets that of all groups, or of one. Throws InvalidOption for a negative or non-finite value.
  void set_lr(double lr);
  void set_lr(size_t group, double lr);

  /// The state tensors of one parameter, a number in group order, by name, "step" among them: the
  /// optimizer's own, on the parameter's device. None before its first update.
  std::map<std::string, at::Tensor> state(size_t parameter) const;
  /// How many parameters have state.
  size_t state_count() const noexcept;

  /// Holds "step.NAME" (fp32 [], the updates so far) for every parameter, and the rest of a
  /// parameter's state once it has had an update; empty for an optimizer without state. Tensors of
  /// a CPU parameter share its state's memory.
  OptimizerState state_dict() const;
  /// Copies the values to the parameters' devices. Throws InvalidOption that lists every missing,
  /// unknown or misshapen entry, and then changes nothing.
  void load_state_dict(const OptimizerState& state);

  const Parameters& parameters() const final { return parameters_; }

 protected:
  struct Group {
    double lr = 0.0;
    double weight_decay = 0.0;
  };

  struct Slot {
    std::string name;
    at::Tensor parameter;
    size_t group = 0;
    at::Tensor step;                 ///< fp32 [], undefined until the first update
    std::vector<at::Tensor> values;  ///< in the order of state_names(), like the parameter
  };

  /// A slot that moves in this update. Complex tensors are viewed as real.
  struct Moving {
    Slot* slot = nullptr;
    at::Tensor parameter{};
    at::Tensor gradient{};  ///< in the parameter's layout, or the values of `rows`; fp32 or, for
                            ///< the kernels, bf16
    at::Tensor rows{};      ///< int64 [n], ascending; undefined: the gradient is dense
    bool gradient_is_copy = false;  ///< or the kernels do not zero it
    std::vector<at::Tensor> values{};
  };

  /// Numbers for ATen's fused operators.
  struct FusedNumbers {
    at::Tensor lr;                           ///< [], on the CPU when the host knows it
    std::optional<at::Tensor> grad_divisor;  ///< fp32 []
    std::optional<at::Tensor> found_inf;     ///< fp32 []
  };

  /// Empty fields of a group's options take `defaults`. Throws InvalidOption for parameters that
  /// cannot be optimized.
  Optimizer(Parameters parameters, Group defaults);

  /// Names of a parameter's state tensors, always the same; empty: no state, no step count.
  virtual std::vector<std::string> state_names() const = 0;
  /// One update of fp32 CPU slots. A step count, where there is one, is the number of this update.
  virtual void update_with_kernels(const std::vector<Moving>& moving,
                                   const HostUpdate& numbers) = 0;
  /// One update of slots of one group, device and dtype. Step counts as above.
  virtual void update_fused(const Group& group, const std::vector<Moving>& moving,
                            const FusedNumbers& numbers) = 0;

  const Group& group_of(const Moving& moving) const { return groups_[moving.slot->group]; }
  /// Throws InvalidOption for a group that does not exist and for values out of range.
  void set_group(size_t group, const Group& values);
  /// One list out of many slots, as ATen's list operators want them.
  static std::vector<at::Tensor> parameters_of(const std::vector<Moving>& moving);
  static std::vector<at::Tensor> gradients_of(const std::vector<Moving>& moving);
  static std::vector<at::Tensor> values_of(const std::vector<Moving>& moving, size_t index);
  static std::vector<at::Tensor> steps_of(const std::vector<Moving>& moving);

 private:
  using NumbersFor = std::function<FusedNumbers(const Group&, at::Device)>;

  std::vector<at::Tensor> gradients() const;
  static void check_moving(const Slot& slot, bool by_rows, bool in_bf16);
  std::vector<Moving> collect_moving(GradientForms forms);
  void prepare_state(Slot& slot) const;
  void run_fused(const std::vector<Moving>& moving, const NumbersFor& numbers_for);
  void finish(const std::vector<Moving>& moving, GradientsAfter after, bool zeroed);

  Parameters parameters_;
  std::vector<Group> groups_;
  std::vector<Slot> slots_;
  bool skip_non_finite_ = true;
};

}  // namespace libtrain
