#pragma once

#include <functional>
#include <vector>

#include "libtrain/core/api.hpp"
#include "libtrain/plan/plan.hpp"

namespace libtrain {

/// Puts back, in reverse order, what apply_settings() changed. Move-only.
class LT_API SettingsGuard {
 public:
  SettingsGuard() = default;
  ~SettingsGuard();
  SettingsGuard(SettingsGuard&& other) noexcept;
  SettingsGuard& operator=(SettingsGuard&& other) noexcept;
  SettingsGuard(const SettingsGuard&) = delete;
  SettingsGuard& operator=(const SettingsGuard&) = delete;

  void on_exit(std::function<void()> undo) { undo_.push_back(std::move(undo)); }

 private:
  std::vector<std::function<void()>> undo_;
};

/// Makes the plan's settings true in this process: threads, fp32 precision, cuDNN benchmark and
/// attention order are put back by the guard; malloc and CUDA allocator settings stay.
LT_API [[nodiscard]] SettingsGuard apply_settings(const Plan& plan);

}  // namespace libtrain
