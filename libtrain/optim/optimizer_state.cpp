#include <ATen/core/grad_mode.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/zeros.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "libtrain/core/require.hpp"
#include "libtrain/optim/optimizer.hpp"

namespace libtrain {
namespace {

std::string key(const std::string& entry, const std::string& parameter) {
  return entry + "." + parameter;
}

std::string describe(at::ScalarType dtype, at::IntArrayRef sizes) {
  return libtrain::fill("{} {}", c10::toString(dtype), c10::str(sizes));
}

/// Reads entries out of a saved state and notes what is wrong with them.
class Reader {
 public:
  explicit Reader(const OptimizerState& state) : state_(state) {}

  /// Undefined, with a note, when the entry is missing or of another shape or dtype.
  at::Tensor read(const std::string& name, at::IntArrayRef sizes, at::ScalarType dtype) {
    const auto found = state_.find(name);
    if (found == state_.end()) {
      problems_.push_back(libtrain::fill("{} is missing", quote(name)));
      return {};
    }
    known_.insert(name);
    const at::Tensor& value = found->second;
    if (!value.defined() || value.sizes() != sizes || value.scalar_type() != dtype) {
      problems_.push_back(libtrain::fill(
          "{} is {}, expected {}", quote(name),
          value.defined() ? describe(value.scalar_type(), value.sizes()) : "undefined",
          describe(dtype, sizes)));
      return {};
    }
    return value;
  }

  bool has(const std::string& name) const { return state_.count(name) > 0; }
  void add_problem(std::string problem) { problems_.push_back(std::move(problem)); }

  /// Throws if anything was wrong or an entry was not read.
  void finish() {
    for (const auto& [name, value] : state_) {
      if (known_.count(name) == 0) {
        problems_.push_back(libtrain::fill("{} is unknown", quote(name)));
      }
    }
    require(problems_.empty(),
            "[optim.load_state_dict] the state does not fit: {}; nothing was changed",
            join(problems_, ", "));
  }

 private:
  const OptimizerState& state_;
  std::set<std::string> known_;
  std::vector<std::string> problems_;
};

}  // namespace

std::map<std::string, at::Tensor> Optimizer::state(size_t parameter) const {
  require(parameter < slots_.size(), "[optim.state] parameter={}, expected less than {}", parameter,
          slots_.size());
  const Slot& slot = slots_[parameter];
  std::map<std::string, at::Tensor> state;
  if (slot.step.defined()) {
    state.emplace("step", slot.step);
  }
  const std::vector<std::string> names = state_names();
  for (size_t i = 0; i < slot.values.size(); ++i) {
    state.emplace(names[i], slot.values[i]);
  }
  return state;
}

size_t Optimizer::state_count() const noexcept {
  return static_cast<size_t>(std::count_if(slots_.begin(), slots_.end(),
                                           [](const Slot& slot) { return slot.step.defined(); }));
}

OptimizerState Optimizer::state_dict() const {
  OptimizerState state;
  const std::vector<std::string> names = state_names();
  if (names.empty()) {
    return state;
  }
  for (const Slot& slot : slots_) {
    state[key("step", slot.name)] =
        slot.step.defined() ? slot.step.to(at::kCPU) : at::zeros({}, at::kFloat);
    for (size_t i = 0; i < slot.values.size(); ++i) {
      state[key(names[i], slot.name)] = slot.values[i].to(at::kCPU).contiguous();
    }
  }
  return state;
}

void Optimizer::load_state_dict(const OptimizerState& state) {
  const at::NoGradGuard no_grad;
  const std::vector<std::string> names = state_names();
  std::vector<Slot> loaded = slots_;
  Reader reader(state);
  for (Slot& slot : loaded) {
    slot.step.reset();
    slot.values.clear();
    if (names.empty()) {
      continue;
    }
    const at::Tensor step = reader.read(key("step", slot.name), {}, at::kFloat);
    const double count = step.defined() ? step.item<double>() : 0.0;
    if (!(count >= 0.0 && count == std::floor(count) && std::isfinite(count))) {
      reader.add_problem(libtrain::fill("{} is {}, expected a whole number >= 0",
                                        quote(key("step", slot.name)), count));
    }
    if (count == 0.0 && !reader.has(key(names.front(), slot.name))) {
      continue;
    }
    slot.step = step;
    for (const std::string& name : names) {
      slot.values.push_back(
          reader.read(key(name, slot.name), slot.parameter.sizes(), slot.parameter.scalar_type()));
    }
  }
  reader.finish();
  for (Slot& slot : loaded) {
    if (slot.step.defined()) {
      slot.step = at::empty({}, slot.parameter.options().dtype(at::kFloat)).copy_(slot.step);
    }
    for (at::Tensor& value : slot.values) {
      value = at::empty_like(slot.parameter).copy_(value);
    }
  }
  slots_ = std::move(loaded);
}

}  // namespace libtrain
