#include "libtrain/runtime/planned_forms.hpp"

#include <atomic>

namespace libtrain {
namespace {

std::atomic<PlannedForms> forms_in_force{PlannedForms{}};

}  // namespace

PlannedForms planned_forms() noexcept { return forms_in_force.load(std::memory_order_relaxed); }

void set_planned_forms(PlannedForms forms) noexcept {
  forms_in_force.store(forms, std::memory_order_relaxed);
}

}  // namespace libtrain
