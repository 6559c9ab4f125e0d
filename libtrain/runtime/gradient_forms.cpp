#include "libtrain/runtime/gradient_forms.hpp"

#include <utility>

namespace libtrain {
namespace {

thread_local GradientForms t_forms;

}  // namespace

GradientFormsScope::GradientFormsScope(GradientForms forms)
    : previous_(std::exchange(t_forms, forms)) {}

GradientFormsScope::~GradientFormsScope() { t_forms = previous_; }

GradientForms gradient_forms() noexcept { return t_forms; }

}  // namespace libtrain
