#include "libtrain/plan/choose_loss_scaling.hpp"

namespace libtrain {

Decision<bool> choose_loss_scaling(const Request<bool>& asked, PrecisionMode precision) {
  const bool fp16 = precision == PrecisionMode::kFp16;
  const std::string range = fp16 ? "fp16 flushes gradients below 2^-24 to zero"
                                 : fill("{} has 8 exponent bits", to_text(precision));
  if (asked.value) {
    return grant(asked, *asked.value == fp16 ? "" : range);
  }
  return {fp16, Source::kFacts, range};
}

}  // namespace libtrain
