#include "libtrain/plan/plan.hpp"

#include "libtrain/core/text.hpp"
#include "libtrain/plan/enum_names.hpp"

namespace libtrain {

std::string to_text(const DeviceChoice& value) {
  return value.type == DeviceType::kCpu ? "cpu" : fill("cuda:{}", value.index);
}

std::string_view to_text(PrecisionMode value) { return enum_name(value); }
std::string_view to_text(MatmulPrecision value) { return enum_name(value); }
std::string_view to_text(AttentionKind value) { return enum_name(value); }
std::string_view to_text(OptimizerForm value) { return enum_name(value); }
std::string_view to_text(MemoryFormat value) { return enum_name(value); }
std::string_view to_text(AllocatorSetting value) { return enum_name(value); }
std::string_view to_text(ParallelForm value) { return enum_name(value); }
std::string_view to_text(CommBackend value) { return enum_name(value); }
std::string_view to_text(NcclSettings value) { return enum_name(value); }
std::string to_text(const NumaChoice& value) {
  return value.node ? to_text(*value.node) : std::string(kUnbound);
}

std::optional<PrecisionMode> parse_precision(std::string_view text) {
  return parse_enum<PrecisionMode>(text);
}

}  // namespace libtrain
