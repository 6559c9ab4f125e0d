#pragma once

#include "libtrain/core/api.hpp"
#include "libtrain/plan/plan.hpp"
#include "libtrain/plan/request.hpp"

namespace libtrain {

/// On for fp16, off for everything else: fp16 loses gradients below 2^-24 (5 exponent bits), the
/// others have fp32's 8 exponent bits (Micikevicius et al., Mixed Precision Training, 2018).
LT_API Decision<bool> choose_loss_scaling(const Request<bool>& asked, PrecisionMode precision);

}  // namespace libtrain
