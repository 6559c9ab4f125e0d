#include "libtrain/runtime/row_gradients.hpp"

#include <utility>

namespace libtrain {
namespace {

thread_local bool t_wanted = false;

}  // namespace

RowGradientScope::RowGradientScope(bool wanted) : previous_(std::exchange(t_wanted, wanted)) {}

RowGradientScope::~RowGradientScope() { t_wanted = previous_; }

bool row_gradients_wanted() noexcept { return t_wanted; }

}  // namespace libtrain
