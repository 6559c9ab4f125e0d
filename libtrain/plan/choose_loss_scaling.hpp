#pragma once

#include "libtrain/core/api.hpp"
#include "libtrain/plan/plan.hpp"
#include "libtrain/plan/request.hpp"

namespace libtrain {

/// On for fp16, off for everything else: fp16 loses gradients below 2^-24 (5 exponent bits), bf16
/// has the exponent range of fp32 (Micikevicius et al., Mixed Precision Training, 2018).
LT_API Decision<bool> choose_loss_scaling(const Request<bool>& asked, PrecisionMode precision);

}  // namespace libtrain
